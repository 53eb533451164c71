// SPDX-License-Identifier: Apache-2.0
#include "server/openapi.hpp"

#include <algorithm>

#include "cli/answer_types.hpp"
#include "cli/command_table.hpp"
#include "sextant/io/node.hpp"
#include "sextant/units/lists.hpp"
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
  if (o.object || o.number) {
    Node either = Node::table();
    Node& of = either.set("oneOf", Node::array());
    of.push(std::move(scalar));
    of.push(object({{"type", text(o.object ? "object" : "number")}}));
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
    if (o.required && o.unless.empty()) required.push_back(o.name);
  }
  schema.set("properties", std::move(properties));
  if (!required.empty()) schema.set("required", list(required));
  return schema;
}

/// The schema of one type, or of one of several.
Node either_of(const std::vector<std::string>& types) {
  if (types.size() == 1) return reference(types.front());
  Node schema = Node::table();
  // One may hold what another holds and more.
  Node& either = schema.set("anyOf", Node::array());
  for (const std::string& t : types) either.push(reference(t));
  return schema;
}

struct Responses {
  const char* status = "200";
  const char* what = "the answer";
  std::vector<std::string> types;
  std::vector<const char*> errors = {};
};

Node answers(const Responses& r) {
  Node all = Node::table();
  all.set(r.status, object({{"description", text(r.what)}, {"content", body(either_of(r.types))}}));
  // Before they look at a request: of another site, and for another host.
  std::vector<const char*> errors = {"403", "421"};
  errors.insert(errors.end(), r.errors.begin(), r.errors.end());
  for (const char* e : errors) {
    all.set(e, object({{"description", text("what is wrong")},
                       {"content", body(reference("Errors"))}}));
  }
  return all;
}

Node post(const std::string& summary, Node schema, std::vector<std::string> types) {
  const bool job = types.front() == "JobStarted";
  Responses responses{.types = std::move(types), .errors = {"400", "413", "415"}};
  if (job) {
    responses.status = "202";
    responses.what = "started";
    responses.errors.push_back("429");
  }
  Node operation =
      object({{"summary", text(summary)},
              {"requestBody",
               object({{"required", Node::of(true)}, {"content", body(std::move(schema))}})},
              {"responses", answers(responses)}});
  return object({{"post", std::move(operation)}});
}

Node parameter(const char* name, const char* what) {
  return object({{"name", text(name)},
                 {"in", text("path")},
                 {"required", Node::of(true)},
                 {"description", text(what)},
                 {"schema", object({{"type", text("string")}})}});
}

Node get(const std::string& summary, const char* type, std::vector<Node> parameters = {}) {
  Responses responses{.types = {type}};
  if (!parameters.empty()) responses.errors = {"404"};
  Node operation = object({{"summary", text(summary)}, {"responses", answers(responses)}});
  if (!parameters.empty()) {
    Node& all = operation.set("parameters", Node::array());
    for (Node& p : parameters) all.push(std::move(p));
  }
  return operation;
}

/// What the server itself answers, beside the commands' own.
AnswerTypes server_types() {
  AnswerTypes types = cli::answer_types();
  Record error;
  error("field", "");
  error("message", "");
  error("hint", "");
  Record errors;
  errors.list("errors", "Problem", {{error}, {}});
  types.add("Errors", errors);
  Record started;
  started("id", "");
  types.add("JobStarted", started);
  Record progress;
  for (const char* field : {"done", "total", "rate", "seconds_left"}) progress(field, 0.0);
  types.add("JobProgress", progress);
  progress.node("best", "BestSoFar", Node::table());  // which is known
  Record job;
  job("id", "");
  job("state", "");
  job.object("progress", "JobProgress", std::move(progress));
  types.add("Job", job);
  job.node("result", "SearchAnswer", Node::table());
  job.list("errors", "Problem", {{error}, {}});
  types.add("Job", job);
  types.add("AnyPreset", Record());
  return types;
}

Node compare_schema() {
  Node kind = object({{"type", text("string")}, {"enum", list({"train", "infer"})}});
  Node scenarios = object({{"type", text("array")},
                           {"items", either_of({"train", "infer"})},
                           {"minItems", Node::of(2)},
                           {"maxItems", Node::of(6)}});
  Node schema = object(
      {{"type", text("object")},
       {"properties", object({{"kind", std::move(kind)}, {"scenarios", std::move(scenarios)}})}});
  schema.set("required", list({"kind", "scenarios"}));
  return schema;
}

/// Of one system, of several, of requests over time, of a plan.
const std::vector<std::string> search_answers = {"SearchAnswer", "SystemsAnswer", "CapacityAnswer",
                                                 "PlanAnswer"};

/// "train" to "TrainAnswer".
std::vector<std::string> types_of(std::string command) {
  if (command == "validate") return {"ValidateAnswer", "RankingAnswer"};
  command.front() = static_cast<char>(command.front() - 'a' + 'A');
  return {command + "Answer"};
}

Node paths(const std::vector<CommandDescription>& commands, const std::vector<std::string>& jobs) {
  Node all = Node::table();
  Node kernels = Node::table();
  Node& one_of = kernels.set("oneOf", Node::array());
  for (const CommandDescription& c : commands) {
    const bool job = contains(jobs, c.name);
    if (c.name.starts_with("ops ")) {
      one_of.push(reference("ops-" + c.name.substr(4)));
    } else if (job || contains(direct_commands, c.name)) {
      all.set("/" + c.name, post(c.help, reference(c.name),
                                 job ? std::vector<std::string>{"JobStarted"} : types_of(c.name)));
    }
  }
  all.set("/ops", post("kernels, one or all of a scenario", std::move(kernels),
                       {"OpsAnswer", "KernelAnswer", "CollectiveAnswer"}));
  all.set("/compare", post("scenarios side by side, and what makes the difference",
                           reference("compare"), {"CompareAnswer"}));
  all.set("/best", post("a search that is answered within seconds, with the best so far",
                        reference("search"), search_answers));
  all.set("/presets", object({{"get", get("what comes with the program", "Presets")}}));
  all.set("/cases", object({{"get", get("what was measured, and the request that predicts it",
                                        "MeasuredCases")}}));
  all.set("/presets/{kind}/{name}", object({{"get", get("one preset in SI base units", "AnyPreset",
                                                        {parameter("kind", "devices, systems, …"),
                                                         parameter("name", "the preset")})}}));
  const Node id = parameter("id", "as POST answered");
  Node job = object({{"get", get("how far a job is, and its result", "Job", {id})}});
  job.set("delete", get("cancels a job; the best so far is its result", "Job", {id}));
  all.set("/jobs/{id}", std::move(job));
  all.set(
      "/jobs/{id}/events",
      object({{"get", get("the same as server-sent events: progress, then done", "Job", {id})}}));
  return all;
}

}  // namespace

std::string openapi(const std::vector<std::string>& jobs) {
  const std::vector<CommandDescription> commands = cli::describe_commands();
  Node schemas = server_types().open_api();
  const auto describe = [&](const char* type, const char* field, Node as) {
    Node schema = *schemas.find(type);
    Node fields = *schema.find("properties");
    fields.set(field, std::move(as));
    schema.set("properties", std::move(fields));
    schemas.set(type, std::move(schema));
  };
  describe("Job", "result", either_of(search_answers));
  describe("CompareAnswer", "answers",
           object({{"type", text("array")}, {"items", either_of({"TrainAnswer", "InferAnswer"})}}));
  for (const CommandDescription& c : commands) {
    std::string name = c.name;
    std::replace(name.begin(), name.end(), ' ', '-');
    Node schema = schema_of(c);
    if (c.name.starts_with("ops ")) {
      Node kernel = object({{"type", text("string")}, {"enum", list({c.name.substr(4)})}});
      for (Node::Member& m : schema.members) {
        if (m.key == "properties") m.value.set("kernel", kernel);
      }
      Node required = list({"kernel"});
      if (const Node* others = schema.find("required")) {
        for (const Node& name_of : others->items) required.push(name_of);
      }
      schema.set("required", std::move(required));
    }
    schemas.set(name, std::move(schema));
  }
  schemas.set("compare", compare_schema());  // scenarios, where the command has files
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
