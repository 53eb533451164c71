// SPDX-License-Identifier: Apache-2.0
// Each spec struct is described once, by a describe() function beside it. The description drives
// reading, writing, --set, schemas, help and forms, so a field list is never written twice.
//
//   template <class V> void describe(V& v, Memory& m) {
//     v("capacity", m.capacity, {.help = "memory a job may use", .required = true});
//   }
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sextant/units/quantity.hpp"

namespace sextant {

/// What an axis of a strategy changes, and so what is made again where it differs.
enum class Scope : std::uint8_t {
  step = 0,     ///< the schedule and the sums alone
  block = 1,    ///< the kernels and collectives of a layer
  mapping = 2,  ///< how stages and replicas lie on the devices
  both = 3,
};

/// What all who list a strategy's axes know of one: keys of caches, flags, spaces and summaries.
struct AxisInfo {
  Scope scope = Scope::step;
  bool serves = false;  ///< it means something to serving, too
  bool held = false;    ///< a search leaves it as it is unless told to explore it
  bool bare = false;    ///< a summary says its value without its name: "bf16"
  bool always = false;  ///< a summary says it even where it is the default
};

/// What a reader must know of one field beyond its type. Bounds are inclusive, in base units.
struct Field {
  std::string_view help = {};
  bool required = false;
  double min = 0;
  double max = 1e30;
  std::string_view inert = {};  ///< why no prediction depends on it; empty: some do
  AxisInfo axis = {};           ///< of a strategy's
};

/// Bounds for quantities that may not be zero.
inline constexpr double above_zero = std::numeric_limits<double>::min();
/// More of anything countable than any machine or model has; keeps products inside 2^53.
inline constexpr double count_limit = 1e9;

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires {
  names_of(E{});
};

/// The enumerator's name, from the table that names_of() returns in order of value.
template <NamedEnum E>
constexpr std::string_view name_of(E e) {
  const auto names = names_of(E{});
  const auto i = static_cast<std::size_t>(e);
  return i < names.size() ? names[i] : std::string_view("?");
}

template <NamedEnum E>
constexpr bool parse_enum(std::string_view text, E& out) {
  const auto names = names_of(E{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return out = static_cast<E>(i), true;
  }
  return false;
}

template <class T>
inline constexpr bool is_quantity = false;
template <Dimension D>
inline constexpr bool is_quantity<Quantity<D>> = true;

namespace detail {
struct AnyVisitor {
  template <class T>
  void operator()(std::string_view, T&, Field = {}) {}
};
}  // namespace detail

/// A struct with a describe() function.
template <class T>
concept Described = requires(detail::AnyVisitor& v, T& t) {
  describe(v, t);
};

/// A fixed array indexed by an enumeration that ends in `count`.
template <class T, class E>
struct Table {
  static constexpr std::size_t size = static_cast<std::size_t>(E::count);
  std::array<T, size> values{};
  constexpr T& operator[](E e) { return values[static_cast<std::size_t>(e)]; }
  constexpr const T& operator[](E e) const { return values[static_cast<std::size_t>(e)]; }
};

/// Describes a table as one field per enumerator.
template <class V, class T, NamedEnum E>
void describe(V& v, Table<T, E>& table) {
  const auto names = names_of(E{});
  for (std::size_t i = 0; i < Table<T, E>::size; ++i) v(names[i], table.values[i], Field{});
}

}  // namespace sextant
