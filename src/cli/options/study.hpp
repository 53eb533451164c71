// SPDX-License-Identifier: Apache-2.0
// Options of `study`.
#pragma once

#include "cli/options/option.hpp"

namespace sextant::cli {

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
     .positional = true});
  // Here -o is a folder: a study is several files.
  v("output", o.folder,
    {.help = "write its CSV, JSON, SVG and Markdown here",
     .letter = 'o',
     .placeholder = "FOLDER",
     .local = true});
}

}  // namespace sextant::cli
