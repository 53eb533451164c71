// SPDX-License-Identifier: Apache-2.0
// `--nearest`: how far off predictions of this kind were where someone measured.
#pragma once

#include <string>
#include <string_view>

#include "sextant/io/node.hpp"

namespace sextant::cli {

/// The shipped cases of the kind ("train", "infer") on the same device or with the same runtime, by
/// source, the nearest first: [{"group", "cases", "median_ape", "mape", "device", "runtime"}],
/// where the last two say what they share with the question.
Node track_record(std::string_view kind, const std::string& device, const std::string& runtime);

}  // namespace sextant::cli
