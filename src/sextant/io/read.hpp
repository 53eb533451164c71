// SPDX-License-Identifier: Apache-2.0
// From a document to a described struct: every problem is found at once, each with its place.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/io/reflect.hpp"
#include "sextant/spec/diagnostic.hpp"
#include "sextant/spec/range.hpp"

namespace sextant {

/// Dotted paths of the fields that were given, over all documents read into one struct; relative to
/// that struct, whatever its place in each document.
using GivenFields = std::set<std::string, std::less<>>;

struct ReadOptions {
  std::string prefix = {};                  ///< path of the struct in messages
  std::vector<std::string_view> skip = {};  ///< members of the table that someone else reads
  GivenFields* given = nullptr;             ///< collects what was given
  bool require = false;                     ///< fields marked required must be in this table
  Ranges* ranges = nullptr;  ///< collects those of numbers; without, a number has none
};

/// Overlays the fields that `table` gives. Lists are replaced as a whole; JSON's null leaves the
/// field as it is. Problems are added, nothing is thrown.
void read_fields(const Document& document, const Node& table, StructRef fields,
                 std::vector<Diagnostic>& problems, const ReadOptions& options = {});

/// Reports required fields that are not among `given`. `table` is for places only.
void require_fields(const Document& document, const Node& table, const StructRef& fields,
                    const GivenFields& given, std::vector<Diagnostic>& problems,
                    const ReadOptions& options = {});

/// One value into one field; false when there was a problem.
bool read_value(const Document& document, const Node& node, Slot& slot, const std::string& path,
                std::vector<Diagnostic>& problems, Ranges* ranges = nullptr);

template <Described T>
void read(const Document& document, const Node& table, T& value, std::vector<Diagnostic>& problems,
          const ReadOptions& options = {}) {
  read_fields(document, table, reflect(value), problems, options);
}

/// Fills in file, place and excerpt of problems that know only their field (those of check()).
void locate(const Document& document, const Node& table, std::vector<Diagnostic>& problems,
            std::string_view prefix = "");

/// A whole document into a struct, required fields included; throws InputError.
template <Described T>
T read_document(const Document& document) {
  T value;
  std::vector<Diagnostic> problems;
  read(document, document.root, value, problems, {.require = true});
  throw_if_any(std::move(problems));
  return value;
}

}  // namespace sextant
