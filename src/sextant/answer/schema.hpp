// SPDX-License-Identifier: Apache-2.0
// The types of answers, read off answers: for OpenAPI, and for the page's TypeScript.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sextant/report/record.hpp"

namespace sextant {

/// Types by name. What not every record of a name has is optional.
class AnswerTypes {
 public:
  void add(const std::string& name, const Record& record);

  /// A schema each, as components/schemas of OpenAPI 3.0.
  Node open_api() const;
  /// A type each, with as many fields on a line as fit.
  std::string type_script() const;

 private:
  struct Type {
    std::string base = "unknown";  ///< "number", "string", "boolean", or the name of another
    bool list = false;
    bool map = false;  ///< any names, values of `base`
  };
  struct Field {
    std::string name;
    Type type;
    std::string unit;
    bool optional = false;
  };
  using Fields = std::vector<Field>;

  void merge(const std::string& name, const Fields& fields);
  Fields fields_of(const Record& record);
  Type type_of(const Record::Entry& entry);
  Type type_of(const std::string& name, const Node& node);
  static Node schema_of(const Type& type);

  std::map<std::string, Fields> types_;
};

}  // namespace sextant
