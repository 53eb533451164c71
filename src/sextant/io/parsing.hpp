// SPDX-License-Identifier: Apache-2.0
// What our own parsers of text share: places counted forward, keys given twice, code points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {

/// Places of byte offsets, counted forward from the last one asked for, so that a long line costs
/// no more than a short one; going back counts anew.
class PlaceCounter {
 public:
  explicit PlaceCounter(std::string_view text) : text_(text) {}
  Place at(std::size_t offset);
  /// The one asked for last; the beginning before that.
  Place last() const { return place_; }

 private:
  std::string_view text_;
  std::size_t counted_ = 0;
  Place place_{1, 1};
};

/// Adds a problem for every key of a table that was given before.
void find_duplicates(const Document& document, const Node& table,
                     std::vector<Diagnostic>& problems);

/// The code point as UTF-8.
void append_utf8(std::string& to, std::uint32_t code);

/// Without the blanks around it.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r");

/// With small letters for those of ASCII.
std::string lower(std::string_view text);

}  // namespace sextant
