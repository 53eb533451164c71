// SPDX-License-Identifier: Apache-2.0
// Options of `study`.
#pragma once

#include <array>

#include "sextant/options/option.hpp"
#include "sextant/study/study.hpp"

namespace sextant {

/// All of them, and "all".
inline constexpr auto study_names = [] {
  std::array<std::string_view, study::studies.size() + 1> names;
  for (std::size_t i = 0; i < study::studies.size(); ++i) names[i] = study::studies[i].name;
  names.back() = "all";
  return names;
}();

/// A published analysis, reproduced.
struct StudyOptions {
  std::string name;
  std::string folder;  ///< for its files; empty: none are written
};

template <class V>
void describe(V& v, StudyOptions& o) {
  v("name", o.name,
    {.help = "training-validation, memory-footprint, inference-validation, gemm-bounds, "
             "gpu-generations, node-scaling, dram-scaling, bottleneck-evolution, "
             "regeneration, long-runs or all",
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

}  // namespace sextant
