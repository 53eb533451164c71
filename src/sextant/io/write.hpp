// SPDX-License-Identifier: Apache-2.0
// From a described struct to a document, and the list of its fields.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/io/reflect.hpp"
#include "sextant/spec/range.hpp"

namespace sextant {

/// How quantities are written: with their unit for files ("3.35 TB/s"), or as plain numbers in SI
/// base units for programs.
enum class Quantities : std::uint8_t { text, si };

Node write_fields(const StructRef& fields, Quantities quantities = Quantities::text);

/// Numbers with their ranges: for files as `{ low, value, high }`, for programs plain and the
/// bounds under "ranges".
Node with_ranges(Node fields, const StructRef& described, const Ranges& ranges,
                 Quantities quantities);

template <Described T>
Node write(const T& value, Quantities quantities = Quantities::text) {
  Node fields = write_fields(reflect(value), quantities);
  if constexpr (Ranged<T>) {
    return with_ranges(std::move(fields), reflect(value), value.ranges, quantities);
  } else {
    return fields;
  }
}

/// The value as it would be written in a file, without quotes; empty for structs and lists.
std::string text_of(const Target& target);

/// One line of `sextant show --fields`.
struct FieldInfo {
  std::string path;  ///< "memory.bandwidth", "fabrics[].reach"
  std::string type;  ///< "quantity in B/s", "one of none, full"
  std::string help;
  bool required = false;
  std::string default_text;  ///< empty where there is none
  std::string inert = {};    ///< why no prediction depends on it
};

std::vector<FieldInfo> list_fields(const StructRef& fields, const std::string& prefix = "");

template <Described T>
std::vector<FieldInfo> fields_of() {
  T defaults{};
  return list_fields(reflect(defaults));
}

}  // namespace sextant
