// SPDX-License-Identifier: Apache-2.0
// A described struct as a tree of typed references, so that reading, writing, settings and field
// lists are ordinary functions (read.cpp, write.cpp, settings.cpp) instead of templates.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sextant/spec/describe.hpp"

namespace sextant {

struct Slot;

struct EnumRef {
  void* value;
  std::span<const std::string_view> names;
  std::size_t (*get)(const void*);
  void (*set)(void*, std::size_t);
};

struct QuantityRef {
  double* value;
  Dimension dimension;
};

struct StructRef {
  std::vector<Slot> fields;
};

struct ListRef {
  void* list;
  std::size_t (*size)(const void*);
  void (*reset)(void*, std::size_t);    ///< so many elements, all as new
  Slot (*element)(void*, std::size_t);  ///< unnamed
};

using Target = std::variant<bool*, int*, std::int64_t*, double*, std::string*, EnumRef, QuantityRef,
                            StructRef, ListRef>;

/// One field of a struct: what describe() says of it, and where its value is.
struct Slot {
  std::string_view name;
  Field field;
  Target target;
};

template <Described T>
StructRef reflect(T& value);

/// Of two values of one type.
bool same_values(const StructRef& a, const StructRef& b);

/// The bounds of a quantity: what its description leaves open, physics does not. No machine has an
/// exabyte of memory, nor a part of a byte.
Field within_physics(Field field, Dimension dimension);

namespace detail {

template <class T>
Target target_of(T& value);

template <NamedEnum E>
EnumRef enum_ref(E& value) {
  static constexpr auto names = names_of(E{});
  return {&value, names,
          [](const void* e) { return static_cast<std::size_t>(*static_cast<const E*>(e)); },
          [](void* e, std::size_t i) { *static_cast<E*>(e) = static_cast<E>(i); }};
}

template <class T>
ListRef list_ref(std::vector<T>& list) {
  using List = std::vector<T>;
  return {&list, [](const void* l) { return static_cast<const List*>(l)->size(); },
          [](void* l, std::size_t n) { static_cast<List*>(l)->assign(n, T{}); },
          [](void* l, std::size_t i) {
            return Slot{{}, {}, target_of((*static_cast<List*>(l))[i])};
          }};
}
template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = !std::same_as<T, bool>;

template <class T>
Target target_of(T& value) {
  if constexpr (is_quantity<T>) {
    return QuantityRef{&value.value, T::dimension};
  } else if constexpr (NamedEnum<T>) {
    return enum_ref(value);
  } else if constexpr (is_list<T>) {
    return list_ref(value);
  } else if constexpr (Described<T>) {
    return reflect(value);
  } else {
    static_assert(std::constructible_from<Target, T*>, "a field of a type no reader knows");
    return &value;
  }
}

struct Binder {
  std::vector<Slot> slots;
  template <class T>
  void operator()(std::string_view name, T& value, Field field = {}) {
    if constexpr (is_quantity<T>) field = within_physics(field, T::dimension);
    slots.push_back({name, field, target_of(value)});
  }
};

}  // namespace detail

template <Described T>
StructRef reflect(T& value) {
  detail::Binder binder;
  describe(binder, value);
  return {std::move(binder.slots)};
}

/// For readers of the tree only: describe() takes its struct by reference, as most visitors write.
template <Described T>
StructRef reflect(const T& value) {
  return reflect(const_cast<T&>(value));
}

/// "memory" and "bandwidth" to "memory.bandwidth".
std::string join_path(std::string_view prefix, std::string_view name);

/// A base unit of the dimension: "B/s".
std::string unit_of(Dimension dimension);

/// What may be written for a field: "quantity in B/s", "one of none, full", "whole number".
std::string type_of(const Target& target);

/// The field that was probably meant by an unknown `key`: one spelt alike, or one of that very name
/// deeper in the struct ("bandwidth" for "memory.bandwidth"); empty when there is none.
std::string suggest_field(std::string_view key, const StructRef& fields);

}  // namespace sextant
