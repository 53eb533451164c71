// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/schema.hpp"

#include <algorithm>
#include <cctype>

#include "sextant/io/reflect.hpp"

namespace sextant {
namespace {

bool is_basic(const std::string& base) {
  return base == "number" || base == "string" || base == "boolean" || base == "unknown";
}

std::string capitalised(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 0 || text[i - 1] == '_') {
      text[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[i])));
    }
  }
  std::erase(text, '_');
  return text;
}

}  // namespace

void AnswerTypes::merge(const std::string& name, const Fields& fields) {
  const auto [at, fresh] = types_.emplace(name, fields);
  if (fresh) return;
  Fields& known = at->second;
  const auto named = [](const Fields& list, const std::string& n) {
    return std::find_if(list.begin(), list.end(), [&](const Field& f) { return f.name == n; });
  };
  for (Field& f : known) {
    const auto other = named(fields, f.name);
    f.optional = f.optional || other == fields.end() || other->optional;
    if (other != fields.end() && f.type.base == "unknown") f.type = other->type;
  }
  for (const Field& f : fields) {
    if (named(known, f.name) != known.end()) continue;
    known.push_back(f);
    known.back().optional = true;
  }
}

void AnswerTypes::add(const std::string& name, const Record& record) {
  merge(name, fields_of(record));
}

AnswerTypes::Fields AnswerTypes::fields_of(const Record& record) {
  Fields fields;
  for (const Record::Entry& e : record.entries()) {
    if (e.name.empty()) continue;
    const bool nothing = !e.object && !e.list && !e.tree && e.cell.value.kind == Node::Kind::null;
    const bool plain = e.cell.unit == Dimension{};
    fields.push_back(
        {e.name, type_of(e), plain ? "" : unit_of(e.cell.unit), e.optional || nothing});
  }
  return fields;
}

AnswerTypes::Type AnswerTypes::type_of(const Record::Entry& e) {
  if (e.object) {
    add(e.type, *e.object);
    return {e.type};
  }
  if (e.list) {
    for (const Record& r : e.list->rows) {
      if (!r.empty()) add(e.type, r);
    }
    if (e.list->empty() && e.list->sample) add(e.type, *e.list->sample);
    return {e.type, true};
  }
  if (e.tree) {
    merge("Part", {{"label", {"string"}, "", false},
                   {"seconds", {"number"}, "s", false},
                   {"share", {"number"}, "", false},
                   {"parts", {"Part", true}, "", false}});
    return {"Part"};
  }
  if (e.cell.value.kind != Node::Kind::null) return type_of(e.type, e.cell.value);
  Node like;
  like.kind = e.cell.kind;
  return type_of(e.type, like);
}

AnswerTypes::Type AnswerTypes::type_of(const std::string& name, const Node& node) {
  switch (node.kind) {
    case Node::Kind::boolean:
      return {"boolean"};
    case Node::Kind::integer:
    case Node::Kind::number:
      return {"number"};
    case Node::Kind::string:
      return {"string"};
    case Node::Kind::null:
      return {};
    case Node::Kind::array: {
      Type items{is_basic(name) ? name : "unknown"};
      for (const Node& item : node.items) items = type_of(name, item);
      items.list = true;
      return items;
    }
    case Node::Kind::table:
      break;
  }
  if (name.empty() || is_basic(name)) {
    const bool lists =
        !node.members.empty() && node.members.front().value.kind == Node::Kind::array;
    return {name.empty() ? "unknown" : name, lists, true};
  }
  if (node.members.empty() && types_.contains(name)) return {name};
  Fields fields;
  for (const Node::Member& m : node.members) {
    fields.push_back({m.key, type_of(name + capitalised(m.key), m.value), "", false});
  }
  merge(name, fields);
  return {name};
}

Node AnswerTypes::schema_of(const Type& type) {
  Node one = Node::table();
  if (!is_basic(type.base)) {
    one.set("$ref", Node::of("#/components/schemas/" + type.base));
  } else if (type.base != "unknown") {
    one.set("type", Node::of(type.base));
  }
  const auto wrap = [](Node inner, const char* outer_type, const char* key) {
    Node outer = Node::table();
    outer.set("type", Node::of(outer_type));
    outer.set(key, std::move(inner));
    return outer;
  };
  if (type.list) one = wrap(std::move(one), "array", "items");
  if (type.map) one = wrap(std::move(one), "object", "additionalProperties");
  return one;
}

Node AnswerTypes::open_api() const {
  Node all = Node::table();
  for (const auto& [name, fields] : types_) {
    Node& schema = all.set(name, Node::table());
    schema.set("type", Node::of("object"));
    Node& properties = schema.set("properties", Node::table());
    Node required = Node::array();
    for (const Field& f : fields) {
      Node& property = properties.set(f.name, schema_of(f.type));
      if (!f.unit.empty()) property.set("description", Node::of("in " + f.unit));
      if (!f.optional) required.push(Node::of(f.name));
    }
    if (!required.items.empty()) schema.set("required", std::move(required));
  }
  return all;
}

std::string AnswerTypes::type_script() const {
  constexpr std::size_t width = 117;  // of 120, with what closes a type
  std::string text;
  for (const auto& [name, fields] : types_) {
    std::string line = "export type " + name + " = {";
    for (const Field& f : fields) {
      std::string type = f.type.base + (f.type.list ? "[]" : "");
      if (f.type.map) type = "Record<string, " + type + ">";
      const bool plain =
          f.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
      const std::string field =
          " " + (plain ? f.name : "'" + f.name + "'") + (f.optional ? "?" : "") + ": " + type + ";";
      if (line.size() + field.size() > width) {
        text += line + "\n";
        line = " ";
      }
      line += field;
    }
    text += line + " };\n";
  }
  return text;
}

}  // namespace sextant
