// SPDX-License-Identifier: Apache-2.0
// `--plot`: an answer's figure in a file.
#pragma once

#include <string>

#include "sextant/answer/answer.hpp"

namespace sextant::cli {

/// Asked before the work: the path is empty, or ends in .svg or .html and can be written.
void check_figure_path(const std::string& path);
/// The same answer, its first figure written; nothing where the path is empty.
Answer with_figure(Answer answer, const std::string& path);

}  // namespace sextant::cli
