// SPDX-License-Identifier: Apache-2.0
#include "server/errors.hpp"

#include <algorithm>

#include "sextant/io/node.hpp"

namespace sextant::server {
namespace {

// "--kv-precision" to "kv_precision".
std::string field_of(std::string_view flag) {
  flag.remove_prefix(std::min(flag.find_first_not_of('-'), flag.size()));
  std::string name(flag);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

struct Error {
  std::string field;
  std::string message;
};

// Commands speak of flags, readers of files and fields in them; a request knows only its fields.
Error translated(const Diagnostic& d) {
  if (d.file.starts_with("-")) {
    return {field_of(d.file), d.field.empty() ? d.message : d.field + ": " + d.message};
  }
  if (d.message.starts_with("--")) {
    const std::size_t colon = d.message.find(": ");
    if (colon != d.message.npos && d.message.find(' ') > colon) {
      return {field_of(d.message.substr(0, colon)), d.message.substr(colon + 2)};
    }
  }
  if (d.file.empty() || d.file == "request" || d.field.empty()) return {d.field, d.message};
  return {d.file + "." + d.field, d.message};
}

Node error_node(const std::string& field, std::string_view message, std::string_view hint) {
  Node e = Node::table();
  e.set("field", Node::of(field));
  e.set("message", Node::of(message));
  e.set("hint", Node::of(hint));
  return e;
}

}  // namespace

std::string errors_json(const InputError& error) {
  Node list = Node::array();
  for (const Diagnostic& d : error.diagnostics()) {
    const Error e = translated(d);
    list.push(error_node(e.field, e.message, d.hint));
  }
  return to_json(list);
}

std::string errors_json(std::string_view message, std::string_view hint) {
  Node list = Node::array();
  list.push(error_node("", message, hint));
  return to_json(list);
}

std::string error_answer(const std::string& list) { return "{\"errors\": " + list + "}\n"; }

}  // namespace sextant::server
