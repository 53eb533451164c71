// SPDX-License-Identifier: Apache-2.0
// What every command has.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/options/option.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {

enum class Format : std::uint8_t { text, json, csv, html };
constexpr auto names_of(Format) {
  return std::array<std::string_view, 4>{"text", "json", "csv", "html"};
}

struct Common {
  Format format = Format::text;
  std::string output;            ///< -o; empty: standard output
  std::vector<std::string> set;  ///< --set path=value
  /// Where names of presets may lead. Not an option: whoever takes requests from a network says it.
  Lookup lookup = Lookup::anywhere;
  /// Options that were given and could not be read, by name: problems of others that may come of it
  /// are not said. Not an option.
  std::vector<std::string> unread = {};
  /// A file that came with the request, in place of its name. Not an option.
  std::string_view sent = {};
};

/// Whether one of these options could not be read: what follows from it is not known.
inline bool unread(const Common& common, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return contains(common.unread, name); });
}

template <class V>
void describe(V& v, Common& o) {
  v("format", o.format, {.help = "text, json, csv or html", .local = true});
  v("output", o.output,
    {.help = "write to this file instead of standard output",
     .letter = 'o',
     .placeholder = "FILE",
     .local = true});
  v("set", o.set,
    {.help = "override a field: device.memory.bandwidth='8 TB/s'", .placeholder = "PATH=VALUE"});
}

}  // namespace sextant
