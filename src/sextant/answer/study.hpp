// SPDX-License-Identifier: Apache-2.0
// What `sextant study` says of a published analysis, and its page in a folder.
#pragma once

#include <string>

#include "sextant/answer/answer.hpp"
#include "sextant/study/study.hpp"

namespace sextant {

Answer answer_of(const study::Study& study);

/// The table, the figures beside it as files, the sentences.
std::string markdown_of(const study::Study& study);

}  // namespace sextant
