// SPDX-License-Identifier: Apache-2.0
// `--nearest`: how far off predictions of this kind were where someone measured.
#pragma once

#include <string>
#include <string_view>

#include "sextant/report/record.hpp"

namespace sextant {

/// The shipped cases of the kind ("train", "infer"; none of an empty one) on the same device or
/// with the same runtime, by source, the nearest first; "device" and "runtime" say what they share
/// with the question.
Records track_record(std::string_view kind, const std::string& device, const std::string& runtime);

}  // namespace sextant
