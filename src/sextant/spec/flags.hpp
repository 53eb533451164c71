// SPDX-License-Identifier: Apache-2.0
// What is given by name as text, a flag's value say: every problem is collected and said at once.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sextant/spec/describe.hpp"
#include "sextant/spec/diagnostic.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {

/// What a quantity may be.
struct QuantityRange {
  bool zero = false;  ///< it may be nothing
  double most = 1e30;
};

/// The problems of an error; one of a name alone has no place but the flag that gave it.
inline std::vector<Diagnostic> placed_at(const char* flag, const InputError& e) {
  std::vector<Diagnostic> problems = e.diagnostics();
  for (Diagnostic& d : problems) {
    if (d.file.empty() && d.field.empty()) d.file = flag;
  }
  return problems;
}

/// Which of the names may have been meant, or all of them.
inline std::string choice_hint(std::string_view text, std::span<const std::string_view> names) {
  std::string hint = did_you_mean(text, {names.begin(), names.end()});
  if (!hint.empty()) return hint;
  for (const std::string_view n : names) hint += (hint.empty() ? "one of " : ", ") + std::string(n);
  return hint;
}

/// Collects what is wrong with the flags.
struct Flags {
  std::vector<Diagnostic> problems;

  template <NamedEnum E>
  E choice(const char* flag, const std::string& text) {
    E value{};
    if (parse_enum(text, value)) return value;
    add(flag, "unknown value '" + text + "'", choice_hint(text, names_of(E{})));
    return value;
  }
  /// "64 MiB"; `otherwise` where it is not given.
  template <class Q>
  Q quantity(const char* flag, const std::string& text, QuantityRange range = {},
             Q otherwise = Q(0)) {
    if (text.empty()) return otherwise;
    const ParseResult r = parse_quantity(text);
    const bool right = r.quantity && r.quantity->dimension == Q::dimension;
    if (right && r.quantity->value >= 0 && (range.zero || r.quantity->value > 0) &&
        r.quantity->value <= range.most) {
      return Q(r.quantity->value);
    }
    const std::string got = ", got '" + text + "'";
    if (right && r.quantity->value > range.most) {
      add(flag, "expected at most " + format_quantity(range.most, Q::dimension) + got);
    } else {
      add(flag,
          "expected a quantity with its unit" + std::string(range.zero ? "" : ", above zero") + got,
          "such as \"" + example_of(Q::dimension) + "\"");
    }
    return otherwise;
  }
  double size(const char* flag, double value) {
    if (!(value >= 1 && value <= 1e9) || value != std::floor(value)) {
      add(flag, "expected a whole number from 1 to 1e9, got " + write_number(value));
      return 1;
    }
    return value;
  }
  void add(const InputError& e) {
    problems.insert(problems.end(), e.diagnostics().begin(), e.diagnostics().end());
  }
  /// What work throws is kept; a problem of a name alone is its flag's.
  template <class Work>
  bool attempt(const char* flag, const Work& work) {
    try {
      work();
    } catch (const InputError& e) {
      for (Diagnostic& d : placed_at(flag, e)) problems.push_back(std::move(d));
      return false;
    }
    return true;
  }
  void add(const char* flag, std::string message, std::string hint = "") {
    Diagnostic d;
    d.file = flag;
    d.message = std::move(message);
    d.hint = std::move(hint);
    problems.push_back(std::move(d));
  }
};

}  // namespace sextant
