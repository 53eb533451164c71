// SPDX-License-Identifier: Apache-2.0
// So many of a part, as people write it: "hbf x2".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sextant/spec/diagnostic.hpp"

namespace sextant {

/// "x4": nothing where it is no count from x1 to x64, which `wrong_count` says.
std::optional<int> read_count(std::string_view word);
std::string wrong_count(std::string_view word);

struct NamedParts {
  std::string name;  ///< of a preset; empty: of none
  int count = 0;
};
/// "hbf x2"; "hbf" is one, "none" and no text are none. Nothing where it is neither, and the
/// problem says why.
std::optional<NamedParts> read_parts(const std::string& text, Diagnostic& problem);

}  // namespace sextant
