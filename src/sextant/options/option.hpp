// SPDX-License-Identifier: Apache-2.0
// Each command's options are described once, by a describe() beside their struct, as
// spec/describe.hpp does for presets. Flags, requests in JSON, help, OpenAPI and completion all
// come from it:
//
//   template <class V> void describe(V& v, ShowOptions& o) {
//     v("name", o.name, {.help = "a preset or a file", .required = true, .positional = true});
//   }
//
// The name is the request's, with '_'; the flag has '-' ("kv_precision", --kv-precision). A name of
// one letter is a short flag (-m).
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "sextant/io/presets.hpp"
#include "sextant/io/reflect.hpp"

namespace sextant {

/// What a reader must know of one option beyond its type and its default.
struct OptionInfo {
  std::string_view help = {};
  bool required = false;
  bool positional = false;      ///< on the command line without a flag
  char letter = 0;              ///< -o
  std::string_view alias = {};  ///< another name, with '_'
  std::string_view no = {};     ///< the flag that says false where true and nothing differ: "no_sp"
  std::string_view placeholder = {};                ///< for its value in help: "FILE"
  std::span<const std::string_view> choices = {};   ///< all that may be said, where it is a list
  std::optional<PresetKind> preset = std::nullopt;  ///< the value is the name of one
  bool doubled = false;                             ///< --x, for all that it is one letter
  bool commas = false;                              ///< one flag may give several: a,b,c
  bool number = false;                              ///< of a text: a number may stand for it
  bool local = false;            ///< a file of this machine, or its terminal: never from a network
  bool reads = false;            ///< of such a file: it is read, not written
  std::string_view unless = {};  ///< options that may stand for a required one: "a,b"
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  /// Who reads the command says what lies outside, with all else that is wrong.
  bool late = false;
  /// The most that a network may ask for, where work grows with it.
  double max_remote = std::numeric_limits<double>::infinity();
};

inline constexpr std::string_view price_help =
    "dollars a device and hour, or a public tier: aws, lambda";

/// A field of a scenario: its value, a text or of JSON, waits in a table until all are read
/// together. The slot says its type and its range; where it points is nobody's.
struct GivenRef {
  Node* table;
  const Slot* field;
};

/// Where an option's value is.
using OptionValue =
    std::variant<std::string*, bool*, int*, double*, std::optional<int>*, std::optional<double>*,
                 std::optional<bool>*, std::vector<std::string>*, PresetRef*, EnumRef, GivenRef>;

struct Option {
  std::string_view name;
  OptionInfo info;
  OptionValue value;
};

namespace detail {
template <NamedEnum E>
inline constexpr auto names_table = names_of(E{});
}  // namespace detail

/// All choices of an enumeration, for OptionInfo.
template <NamedEnum E>
constexpr std::span<const std::string_view> choices_of() {
  return detail::names_table<E>;
}

namespace detail {
struct OptionCollector {
  std::vector<Option> options;
  template <class T>
  void operator()(std::string_view name, T& value, OptionInfo info = {}) {
    if constexpr (std::is_same_v<T, GivenRef>) {
      options.push_back({name, info, value});
    } else if constexpr (std::is_enum_v<T>) {
      const EnumRef ref = sextant::detail::enum_ref(value);
      info.choices = ref.names;
      options.push_back({name, info, ref});
    } else {
      options.push_back({name, info, &value});
    }
  }
};
}  // namespace detail

/// The options of a struct, bound to it.
template <class T>
std::vector<Option> options_of(T& value) {
  detail::OptionCollector collector;
  describe(collector, value);
  return std::move(collector.options);
}

}  // namespace sextant
