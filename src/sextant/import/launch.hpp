// SPDX-License-Identifier: Apache-2.0
// Which program a command line launches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/import/format.hpp"
#include "sextant/import/shell.hpp"

namespace sextant {

struct ProgramLaunch {
  const ImportFormat* format = nullptr;
  std::size_t first = 0;  ///< the words that name the program
  std::size_t last = 0;   ///< one past them
};
/// Of any format, or of one only.
std::optional<ProgramLaunch> launch_in(const std::vector<Word>& words, const ImportFormat* only);
/// Arguments alone: the format that has all the flags that give it away.
std::optional<ProgramLaunch> bare_arguments(const std::vector<Word>& words,
                                            const ImportFormat* only);

/// A program that is known and launches nothing that could be imported.
struct NoLaunch {
  std::size_t word = 0;
  std::string program;
  std::string why;
  std::string hint;  ///< what to do instead
};
/// In words that launch nothing else, or in place of what they seem to launch.
std::optional<NoLaunch> no_launch(const std::vector<Word>& words,
                                  const std::optional<ProgramLaunch>& launch);

}  // namespace sextant
