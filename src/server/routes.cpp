// SPDX-License-Identifier: Apache-2.0
#include "server/routes.hpp"

#include <algorithm>
#include <cctype>
#include <memory>
#include <new>
#include <optional>

#include "cli/command_table.hpp"
#include "cli/compare.hpp"
#include "server/errors.hpp"
#include "server/openapi.hpp"
#include "sextant/answer/measured.hpp"
#include "sextant/answer/presets.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/text.hpp"
#include "sextant/options/request.hpp"
#include "sextant/spec/patience.hpp"
#include "sextant/units/lists.hpp"
#include "sextant/units/parse.hpp"

namespace sextant::server {
namespace {

/// "Application/JSON; charset=utf-8" to "application/json".
std::string type_of(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  while (type.ends_with(' ')) type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type;
}
bool is_file(std::string_view content_type) {
  const std::string type = type_of(content_type);
  return type == "application/gzip" || type == "application/octet-stream";
}

Response ops(const Request& request) {
  const Document document = parse(request);
  const Node* kernel = document.root.find("kernel");
  std::vector<std::string> known;
  for (const cli::Command& c : cli::commands()) {
    if (c.name.starts_with("ops ")) known.emplace_back(c.name.substr(4));
  }
  std::string list;
  for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
  const bool given = kernel != nullptr && kernel->kind == Node::Kind::string;
  if (!given || !contains(known, kernel->string)) {
    const std::string hint = given ? did_you_mean(kernel->string, known) : "";
    throw InputError({problem_at(
        document, kernel == nullptr ? Place{} : kernel->place, "kernel",
        given ? "unknown kernel " + in_quotes(kernel->string) : "which kernel to show is missing",
        hint.empty() ? "one of " + list : hint)});
  }
  return json(run_command("ops " + kernel->string, document, document.root, {.skip = {"kernel"}}));
}

/// A trace in the request, or as it is, packed or not: then the rest is in the query.
Response profile(const Request& request) {
  if (is_json(request.content_type)) {
    const Document document = parse(request);
    return json(run_command("profile", document, document.root));
  }
  Node options = Node::table();
  options.set("trace", Node::of("trace"));
  for (const auto& [name, value] : request.query) {
    const std::optional<double> number = name == "gpu" ? parse_number(value) : std::nullopt;
    options.set(name, number            ? Node::of(*number)
                      : value == "true" ? Node::of(true)
                                        : Node::of(value));
  }
  if (request.body.empty())
    throw InputError("trace: the body is empty", "send the file as the body");
  return json(run_command("profile", {.file = "query", .text = {}, .root = {}}, options,
                          {.sent = request.body}));
}

Response compare(const Request& request) {
  const Document document = parse(request);
  return json(cli::compare(document, Asker::network).json());
}

Response presets(const Request&) {
  static const std::string all = to_json(presets_record()) + "\n";
  return json(all);
}

Response cases(const Request&) {
  static const std::string all = to_json(measured_record()) + "\n";
  return json(all);
}

}  // namespace

Response error(int status, std::string_view message, std::string_view hint) {
  return {.status = status, .body = error_answer(errors_json(message, hint))};
}

Response json(std::string body) { return {.body = std::move(body)}; }

Document parse(const Request& request) { return parse_json(request.body, "request"); }

bool is_json(std::string_view content_type) { return type_of(content_type) == "application/json"; }

bool takes(const Request& request) {
  return is_json(request.content_type) ||
         (request.path == base + "/profile" && is_file(request.content_type));
}

Response one_preset(const std::string& kind, const std::string& name) {
  const auto kinds = names_of(PresetKind{});
  PresetKind found{};
  const bool known = std::any_of(kinds.begin(), kinds.end(), [&](std::string_view k) {
    return (kind == k || kind == std::string(k) + "s") && parse_enum(k, found);
  });
  if (!known) return error(404, "no kind of preset is called " + in_quotes(kind));
  const std::vector<std::string> names = preset_names(found);
  if (!contains(names, name)) {
    return error(404, "no " + std::string(name_of(found)) + " is called " + in_quotes(name),
                 did_you_mean(name, names));
  }
  Node request = Node::table();
  request.set("name", Node::of(name));
  request.set("kind", Node::of(name_of(found)));
  request.set("json", Node::of(true));
  return json(run_command("show", {.file = "request", .text = {}, .root = {}}, request));
}

Response answered(const std::function<Response()>& answer) {
  try {
    return answer();
  } catch (const InputError& e) {
    return {.status = 400, .body = error_answer(errors_json(e))};
  } catch (const Abandoned&) {
    return error(503, "the answer took longer than it may", "ask for less at a time");
  } catch (const std::bad_alloc&) {
    return error(503, "out of memory");
  } catch (const std::exception& e) {
    return error(500, e.what());
  }
}

std::string run_command(std::string_view command, const Document& document, const Node& request,
                        const Beside& beside) {
  const std::unique_ptr<cli::Invocation> invocation = cli::find_command(command)->prepare();
  invocation->common.lookup = Lookup::presets;
  invocation->fill(document, request, {.asker = Asker::network, .skip = beside.skip});
  invocation->common.format = Format::json;
  invocation->common.sent = beside.sent;
  std::string answer = invocation->run();
  Patience::check();  // what ended early is no answer
  return answer;
}

Routes command_routes() {
  Routes routes;
  for (const std::string_view name : direct_commands) {
    routes[base + "/" + std::string(name)]["POST"] = [name](const Request& r) {
      const Document document = parse(r);
      return json(run_command(name, document, document.root));
    };
  }
  routes[base + "/ops"]["POST"] = ops;
  routes[base + "/profile"]["POST"] = profile;
  routes[base + "/compare"]["POST"] = compare;
  routes[base + "/presets"]["GET"] = presets;
  routes[base + "/cases"]["GET"] = cases;
  return routes;
}

}  // namespace sextant::server
