// SPDX-License-Identifier: Apache-2.0
// What arguments said, field by field, with the place of each; two that say different things are a
// contradiction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {

struct Fact {
  std::string value;
  std::string from;  ///< the argument that said it; empty: the tool's default
  Place place;
  bool given = false;  ///< by whoever imports, over what the file says
};

class Facts {
 public:
  Facts(const Document& document, std::vector<Diagnostic>& problems)
      : document_(document), problems_(problems) {}

  /// False, and a problem, where another argument said something else. What was given stays.
  bool set(const std::string& field, Fact fact);
  /// Says it where nobody has.
  void otherwise(const std::string& field, const std::string& value);
  /// Over whatever was said.
  void replace(const std::string& field, const std::string& value);
  void drop(const std::string& field) { facts_.erase(field); }
  /// Drops what the tool itself passes over beside other arguments, and says why.
  void pass_over(const std::string& field, const std::string& why);
  /// Why, by argument.
  const std::map<std::string, std::string>& passed_over() const { return passed_over_; }

  const Fact* find(std::string_view field) const;
  std::string text(std::string_view field) const;
  bool yes(std::string_view field) const { return text(field) == "true"; }
  /// A whole number above zero; a problem at its place where it is none.
  std::optional<std::int64_t> count(std::string_view field);

  /// A problem at the place of a field's argument.
  void problem(std::string_view field, std::string message, std::string hint = "");

  const std::map<std::string, Fact, std::less<>>& all() const { return facts_; }

 private:
  const Document& document_;
  std::vector<Diagnostic>& problems_;
  std::map<std::string, Fact, std::less<>> facts_;
  std::map<std::string, std::string> passed_over_;
};

/// The scenario's field that a fact ends up in, for people.
std::string shown_as(const std::string& fact);

/// Follows from the facts what the tool would: devices from nodes, the batch from accumulation,
/// chunks from layers, a model from its dimensions. Fields that begin with '_' are gone after it.
void finish(Facts& facts, bool trains);

}  // namespace sextant
