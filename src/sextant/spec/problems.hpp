// SPDX-License-Identifier: Apache-2.0
// Collects what check() finds wrong, by field; io/read.hpp adds file and place.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sextant/spec/diagnostic.hpp"

namespace sextant {

class Problems {
 public:
  /// Records the problem unless the condition holds.
  void require(bool holds, std::string field, std::string message, std::string hint = "") {
    if (holds) return;
    Diagnostic& d = found_.emplace_back();
    d.field = std::move(field);
    d.message = std::move(message);
    d.hint = std::move(hint);
  }
  std::vector<Diagnostic> take() { return std::move(found_); }

 private:
  std::vector<Diagnostic> found_;
};

}  // namespace sextant
