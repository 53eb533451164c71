// SPDX-License-Identifier: Apache-2.0
#include "server/openapi.hpp"

#include <algorithm>

#include "cli/command_table.hpp"
#include "sextant/io/node.hpp"
#include "sextant/units/parse.hpp"

namespace sextant::server {
namespace {

using cli::CommandDescription;
using cli::OptionDescription;

Node text(std::string_view value) { return Node::of(value); }

Node object(std::initializer_list<std::pair<const char*, Node>> members) {
  Node n = Node::table();
  for (const auto& [key, value] : members) n.set(key, value);
  return n;
}

Node list(const std::vector<std::string>& items) {
  Node n = Node::array();
  for (const std::string& item : items) n.push(text(item));
  return n;
}

Node reference(const std::string& schema) {
  return object({{"$ref", text("#/components/schemas/" + schema)}});
}

Node body(Node schema) {
  return object({{"application/json", object({{"schema", std::move(schema)}})}});
}

Node property(const OptionDescription& o) {
  Node scalar = object({{"type", text(o.type)}});
  if (o.type == "array") {
    Node items = object({{"type", text("string")}});
    if (!o.choices.empty()) items.set("enum", list(o.choices));
    scalar.set("items", std::move(items));
  } else if (!o.choices.empty()) {
    scalar.set("enum", list(o.choices));
  }
  if (!o.default_text.empty()) {
    const std::optional<double> number = parse_number(o.default_text);
    if (o.type == "string") scalar.set("default", text(o.default_text));
    if ((o.type == "integer" || o.type == "number") && number) {
      scalar.set("default", Node::of(*number));
    }
  }
  if (o.maximum) scalar.set("maximum", Node::of(*o.maximum));
  if (o.object) {
    Node either = Node::table();
    Node& of = either.set("oneOf", Node::array());
    of.push(std::move(scalar));
    of.push(object({{"type", text("object")}}));
    scalar = std::move(either);
  }
  scalar.set("description", text(o.preset.empty() || !o.object
                                     ? o.help
                                     : "the name of a " + o.preset + " preset, or an object"));
  return scalar;
}

Node schema_of(const CommandDescription& command) {
  Node schema = object({{"type", text("object")}, {"additionalProperties", Node::of(false)}});
  Node properties = Node::table();
  std::vector<std::string> required;
  for (const OptionDescription& o : command.options) {
    if (o.local) continue;  // for the machine the server runs on
    properties.set(o.name, property(o));
    if (o.required) required.push_back(o.name);
  }
  schema.set("properties", std::move(properties));
  if (!required.empty()) schema.set("required", list(required));
  return schema;
}

Node answers(const char* status, const char* what, std::initializer_list<const char*> errors) {
  Node all = Node::table();
  all.set(status, object({{"description", text(what)},
                          {"content", body(object({{"type", text("object")}}))}}));
  for (const char* e : errors) {
    all.set(e, object({{"description", text("what is wrong")},
                       {"content", body(reference("Errors"))}}));
  }
  return all;
}

Node post(const std::string& summary, Node schema, bool job = false) {
  Node operation =
      object({{"summary", text(summary)},
              {"requestBody",
               object({{"required", Node::of(true)}, {"content", body(std::move(schema))}})},
              {"responses", job ? answers("202", "started", {"400", "413", "415", "429"})
                                : answers("200", "the answer", {"400", "413", "415"})}});
  return object({{"post", std::move(operation)}});
}

Node parameter(const char* name, const char* what) {
  return object({{"name", text(name)},
                 {"in", text("path")},
                 {"required", Node::of(true)},
                 {"description", text(what)},
                 {"schema", object({{"type", text("string")}})}});
}

Node get(const std::string& summary, std::vector<Node> parameters = {}) {
  Node operation =
      object({{"summary", text(summary)},
              {"responses", parameters.empty() ? answers("200", "the answer", {})
                                               : answers("200", "the answer", {"404"})}});
  if (!parameters.empty()) {
    Node& all = operation.set("parameters", Node::array());
    for (Node& p : parameters) all.push(std::move(p));
  }
  return operation;
}

Node errors_schema() {
  const Node string = object({{"type", text("string")}});
  Node error =
      object({{"type", text("object")},
              {"properties", object({{"field", string}, {"message", string}, {"hint", string}})}});
  Node errors = object({{"type", text("array")}, {"items", std::move(error)}});
  return object(
      {{"type", text("object")}, {"properties", object({{"errors", std::move(errors)}})}});
}

Node compare_schema() {
  Node kind = object({{"type", text("string")}, {"enum", list({"train", "infer"})}});
  Node scenario = Node::table();
  Node& either = scenario.set("oneOf", Node::array());
  either.push(reference("train"));
  either.push(reference("infer"));
  Node scenarios = object({{"type", text("array")},
                           {"items", std::move(scenario)},
                           {"minItems", Node::of(2)},
                           {"maxItems", Node::of(6)}});
  Node schema = object(
      {{"type", text("object")},
       {"properties", object({{"kind", std::move(kind)}, {"scenarios", std::move(scenarios)}})}});
  schema.set("required", list({"kind", "scenarios"}));
  return schema;
}

Node paths(const std::vector<CommandDescription>& commands, const std::vector<std::string>& jobs) {
  Node all = Node::table();
  Node kernels = Node::table();
  Node& one_of = kernels.set("oneOf", Node::array());
  for (const CommandDescription& c : commands) {
    const bool job = std::find(jobs.begin(), jobs.end(), c.name) != jobs.end();
    if (c.name.starts_with("ops ")) {
      one_of.push(reference("ops-" + c.name.substr(4)));
    } else if (job || c.name == "train" || c.name == "infer" || c.name == "tech" ||
               c.name == "validate") {
      all.set("/" + c.name, post(c.help, reference(c.name), job));
    }
  }
  all.set("/ops", post("kernels, one or all of a scenario", std::move(kernels)));
  all.set("/compare",
          post("scenarios side by side, and what makes the difference", reference("compare")));
  all.set("/presets", object({{"get", get("what comes with the program")}}));
  all.set(
      "/presets/{kind}/{name}",
      object({{"get", get("one preset in SI base units", {parameter("kind", "devices, systems, …"),
                                                          parameter("name", "the preset")})}}));
  const Node id = parameter("id", "as POST answered");
  Node job = object({{"get", get("how far a job is, and its result", {id})}});
  job.set("delete", get("cancels a job; the best so far is its result", {id}));
  all.set("/jobs/{id}", std::move(job));
  all.set("/jobs/{id}/events",
          object({{"get", get("the same as server-sent events: progress, then done", {id})}}));
  return all;
}

}  // namespace

std::string openapi(const std::vector<std::string>& jobs) {
  const std::vector<CommandDescription> commands = cli::describe_commands();
  Node schemas = Node::table();
  schemas.set("Errors", errors_schema());
  schemas.set("compare", compare_schema());
  for (const CommandDescription& c : commands) {
    std::string name = c.name;
    std::replace(name.begin(), name.end(), ' ', '-');
    Node schema = schema_of(c);
    if (c.name.starts_with("ops ")) {
      Node kernel = object({{"type", text("string")}, {"enum", list({c.name.substr(4)})}});
      for (Node::Member& m : schema.members) {
        if (m.key == "properties") m.value.set("kernel", kernel);
      }
    }
    schemas.set(name, std::move(schema));
  }
  Node root = object(
      {{"openapi", text("3.0.3")},
       {"info", object({{"title", text("Sextant")},
                        {"version", text(SEXTANT_VERSION)},
                        {"description", text("How fast, in how much memory, and why, a large "
                                             "language model trains or serves")}})}});
  Node& servers = root.set("servers", Node::array());
  servers.push(object({{"url", text("/api/v1")}}));
  root.set("paths", paths(commands, jobs));
  root.set("components", object({{"schemas", std::move(schemas)}}));
  return to_json(root) + "\n";
}

}  // namespace sextant::server
