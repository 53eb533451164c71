// SPDX-License-Identifier: Apache-2.0
// Options of `study`.
#pragma once

#include <array>

#include "cli/options/option.hpp"

namespace sextant::cli {

inline constexpr std::array<std::string_view, 9> study_names = {
    "training-validation", "memory-footprint",     "inference-validation",
    "gemm-bounds",         "gpu-generations",      "node-scaling",
    "dram-scaling",        "bottleneck-evolution", "all"};

/// A published analysis, reproduced.
struct StudyOptions {
  std::string name;
  std::string folder;  ///< for its files; empty: none are written
};

template <class V>
void describe(V& v, StudyOptions& o) {
  v("name", o.name,
    {.help = "training-validation, memory-footprint, inference-validation, gemm-bounds, "
             "gpu-generations, node-scaling, dram-scaling, bottleneck-evolution or all",
     .required = true,
     .positional = true,
     .choices = study_names});
  // Here -o is a folder: a study is several files.
  v("output", o.folder,
    {.help = "write its CSV, JSON, SVG and Markdown here",
     .letter = 'o',
     .placeholder = "FOLDER",
     .local = true});
}

}  // namespace sextant::cli
