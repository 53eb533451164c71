// SPDX-License-Identifier: Apache-2.0
// What is wrong with an input, where, and what to write instead. Collected, then thrown once.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

/// One problem of an input. Line and column count from 1; 0 means "no such place" (a flag, say).
struct Diagnostic {
  std::string file = {};  ///< path, preset name or "--set"
  int line = 0;
  int column = 0;
  std::string field = {};    ///< dotted path, "memory.bandwidth"
  std::string message = {};  ///< what is wrong and what was expected
  std::string hint = {};     ///< a suggestion, or empty
  std::string excerpt = {};  ///< the source line (a part of it when it is long), or empty
  int caret = 0;             ///< where in the excerpt the column is, from 1; 0: at `column`
};

/// "file:2:10: matrix: expected …" with the source line and a caret under it.
std::string to_text(const Diagnostic& diagnostic);

/// The user's input is wrong: exit status 2, HTTP 400, sextant.InputError.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Diagnostic> problems);
  explicit InputError(std::string message, std::string hint = "");
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// Problems beyond this many are not collected: a hostile file must not fill the memory.
inline constexpr std::size_t max_collected = 200;
/// Problems beyond this many are only counted in the report.
inline constexpr std::size_t max_reported = 20;

/// Sorts problems by place (those without one last), keeps the first of them and counts the rest.
std::vector<Diagnostic> arranged(std::vector<Diagnostic> problems);
/// Throws InputError with the arranged problems, if there are any.
void throw_if_any(std::vector<Diagnostic> problems);

/// The candidate closest to `word` by edit distance, or that it begins or ends with; empty when
/// none is close enough to suggest.
std::string closest(std::string_view word, const std::vector<std::string>& candidates);

/// "did you mean 'x'?" or empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sextant
