// SPDX-License-Identifier: Apache-2.0
#include "server/errors.hpp"

#include <fmt/format.h>

#include "sextant/io/node.hpp"
#include "sextant/options/request.hpp"

namespace sextant::server {
namespace {

// What is said to people at a terminal, as a request knows it: "--max-tpot" is max_tpot, and the
// lists of presets are not a command's.
std::string without_flags(std::string_view text) {
  const std::size_t command = text.find("'sextant list");
  if (command != text.npos) {
    if (command == 0) return "/api/v1/presets lists all";
    text = text.substr(0, text.find_last_not_of(" (", command - 1) + 1);
  }
  return flags_as_fields(text);
}

struct Error {
  std::string field;
  std::string message;
};

// Commands speak of flags, readers of files and fields in them; a request knows only its fields.
Error translated(const Diagnostic& d) {
  if (d.file.starts_with("-")) {
    return {field_of_flag(d.file), d.field.empty() ? d.message : d.field + ": " + d.message};
  }
  if (d.message.starts_with("--")) {
    const std::size_t colon = d.message.find(": ");
    if (colon != d.message.npos && d.message.find(' ') > colon) {
      return {field_of_flag(d.message.substr(0, colon)), d.message.substr(colon + 2)};
    }
  }
  // A field of the request is found by its name, all else by its place.
  const bool own = d.file.empty() || d.file == "request";
  const bool placed = d.line > 0 && !(own && !d.field.empty());
  const std::string message =
      placed ? fmt::format("{} (line {}, column {})", d.message, d.line, d.column) : d.message;
  if (own) return {d.field, message};
  return {d.field.empty() ? d.file : d.file + "." + d.field, message};
}

Node error_node(const std::string& field, std::string_view message, std::string_view hint) {
  Node e = Node::table();
  e.set("field", Node::of(field));
  e.set("message", Node::of(without_flags(message)));
  e.set("hint", Node::of(without_flags(hint)));
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
