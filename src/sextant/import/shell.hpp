// SPDX-License-Identifier: Apache-2.0
// A shell script as the commands it would start, read and never run: words, quotes, comments,
// variables and arrays that the script itself sets. What only running it could tell is unknown, and
// says why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"

namespace sextant {

/// What separates words and may surround a line.
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// One word of a command.
struct Word {
  std::string text;
  Place place;
  std::string unknown = {};  ///< why its text is not known; empty: it is
};

struct ShellCommand {
  std::vector<Word> words;
};

/// The commands of a script, in order. Throws InputError where quotes or brackets do not close.
std::vector<ShellCommand> read_script(const Document& script);

/// Words as a shell would be given them, for a document of their own.
std::string quoted_words(const std::vector<std::string>& words);

}  // namespace sextant
