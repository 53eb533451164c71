// SPDX-License-Identifier: Apache-2.0
#include "server/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <new>

#include "cli/compare.hpp"
#include "cli/request.hpp"
#include "server/errors.hpp"
#include "server/openapi.hpp"
#include "server/page.hpp"
#include "server/search_job.hpp"
#include "sextant/answer/measured.hpp"
#include "sextant/answer/presets.hpp"
#include "sextant/io/bytes.hpp"
#include "sextant/io/node.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/text.hpp"
#include "sextant/units/parse.hpp"

namespace sextant::server {
namespace {

const std::string base = "/api/v1";

Response error(int status, std::string_view message, std::string_view hint = "") {
  return {.status = status, .body = error_answer(errors_json(message, hint))};
}

Response json(std::string body) { return {.body = std::move(body)}; }

Document parse(const Request& request) { return parse_json(request.body, "request"); }

// "localhost:8080" to "localhost", "[::1]:8080" to "[::1]".
std::string_view without_port(std::string_view host) {
  const std::size_t bracket = host.find(']');
  const std::size_t colon = host.find(':', bracket == host.npos ? 0 : bracket);
  return host.substr(0, colon);
}

bool is_wildcard(std::string_view host) {
  return host == "0.0.0.0" || host == "::" || host == "[::]";
}

// An address, not a name: nobody can make the browser's name service point one elsewhere.
bool is_address(std::string_view host) {
  if (host.starts_with("[")) return true;
  return !host.empty() && host.find_first_not_of("0123456789.") == host.npos;
}

/// "Application/JSON; charset=utf-8" to "application/json".
std::string type_of(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  while (type.ends_with(' ')) type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type;
}
bool is_json(std::string_view content_type) { return type_of(content_type) == "application/json"; }
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
  if (!given || std::find(known.begin(), known.end(), kernel->string) == known.end()) {
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
  return json(cli::compare(document, cli::Asker::network).json());
}

Response presets(const Request&) {
  static const std::string all = to_json(to_node(presets_record())) + "\n";
  return json(all);
}

Response cases(const Request&) {
  static const std::string all = to_json(to_node(measured_record())) + "\n";
  return json(all);
}

Response one_preset(const std::string& kind, const std::string& name) {
  const auto kinds = names_of(PresetKind{});
  PresetKind found{};
  const bool known = std::any_of(kinds.begin(), kinds.end(), [&](std::string_view k) {
    return (kind == k || kind == std::string(k) + "s") && parse_enum(k, found);
  });
  if (!known) return error(404, "no kind of preset is called " + in_quotes(kind));
  const std::vector<std::string> names = preset_names(found);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return error(404, "no " + std::string(name_of(found)) + " is called " + in_quotes(name),
                 did_you_mean(name, names));
  }
  Node request = Node::table();
  request.set("name", Node::of(name));
  request.set("kind", Node::of(name_of(found)));
  request.set("json", Node::of(true));
  return json(run_command("show", {.file = "request", .text = {}, .root = {}}, request));
}

Response page(const Request& request) {
  const Page& p = the_page();
  Response r{.type = "text/html; charset=utf-8"};
  r.headers = {{"ETag", std::string(p.etag)},
               {"Cache-Control", "no-cache"},
               {"Vary", "Accept-Encoding"},
               {"Content-Security-Policy",
                "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                "img-src data: blob:; font-src data:; connect-src 'self'; base-uri 'none'; "
                "form-action 'none'; frame-ancestors 'none'"}};
  if (request.if_none_match.find(p.etag) != std::string::npos) {
    r.status = 304;
  } else if (request.accepts_gzip) {
    r.headers.emplace_back("Content-Encoding", "gzip");
    r.constant = p.gzip;
  } else {
    r.constant = page_text();
  }
  return r;
}

/// Of what a client may keep: the same text has the same tag.
std::string tag_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return fmt::format("\"{:016x}\"", hash);
}

/// What does not change while the server runs is kept by those who ask; what is longer than a
/// packet is packed.
void prepare_to_send(const Request& request, Response& r) {
  constexpr std::size_t one_packet = 1400;
  const bool constant = request.method == "GET" && r.status == 200 && !r.events &&
                        !request.path.starts_with(base + "/jobs/");
  r.headers.emplace_back("Cache-Control", constant ? "no-cache" : "no-store");
  if (r.events) return;
  if (constant) {
    const std::string tag = tag_of(r.body);
    r.headers.emplace_back("ETag", tag);
    if (request.if_none_match.find(tag) != std::string::npos) {
      r.status = 304;
      r.body.clear();
    }
  }
  r.headers.emplace_back("Vary", "Accept-Encoding");
  if (!request.accepts_gzip || r.body.size() <= one_packet) return;
  r.body = packed(r.body);
  r.headers.emplace_back("Content-Encoding", "gzip");
}

}  // namespace

std::string run_command(std::string_view command, const Document& document, const Node& request,
                        const Beside& beside) {
  const std::unique_ptr<cli::Invocation> invocation = cli::find_command(command)->prepare();
  std::vector<Diagnostic> problems;
  cli::read_request(document, request, invocation->all_options(), problems,
                    {.asker = cli::Asker::network, .skip = beside.skip});
  throw_if_any(std::move(problems));
  invocation->common.format = cli::Format::json;
  invocation->common.lookup = Lookup::presets;
  invocation->common.sent = beside.sent;
  return invocation->run();
}

std::vector<std::string> slow_paths() {
  return {base + "/best", base + "/compare", base + "/profile",
          base + "/tech", base + "/traffic", base + "/validate"};
}

std::span<const std::string_view> upload_paths() {
  static constexpr std::array<std::string_view, 2> paths = {"/api/v1/profile", "/api/v1/traffic"};
  return paths;
}

std::vector<JobRoute> job_routes() { return {search_job()}; }

Api::Api(ApiOptions options) : options_(std::move(options)), jobs_(options_.limits) {
  add_routes();
}

void Api::add(const std::string& path, const std::string& method, Action action) {
  routes_[path][method] = std::move(action);
}

void Api::add_routes() {
  add("/", "GET", page);
  for (const std::string_view name : direct_commands) {
    add(base + "/" + std::string(name), "POST", [name](const Request& r) {
      const Document document = parse(r);
      return json(run_command(name, document, document.root));
    });
  }
  add(base + "/ops", "POST", ops);
  add(base + "/profile", "POST", profile);
  add(base + "/compare", "POST", compare);
  add(base + "/best", "POST", [](const Request& r) { return json(search_at_once(parse(r))); });
  add(base + "/presets", "GET", presets);
  add(base + "/cases", "GET", cases);
  add(base + "/openapi.json", "GET", [this](const Request&) {
    std::vector<std::string> names;
    for (const JobRoute& j : options_.jobs) names.push_back(j.name);
    return json(openapi(names));
  });
  for (const JobRoute& route : options_.jobs) {
    add(base + "/" + route.name, "POST",
        [this, &route](const Request& r) { return start(route, r); });
  }
}

Response Api::handle(const Request& request) {
  Response response;
  try {
    response = dispatch(request);
  } catch (const InputError& e) {
    response = {.status = 400, .body = error_answer(errors_json(e))};
  } catch (const std::bad_alloc&) {
    response = error(503, "out of memory");
  } catch (const std::exception& e) {
    response = error(500, e.what());
  }
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  if (request.path.starts_with(base)) prepare_to_send(request, response);
  return response;
}

// A page of another site may have a name that leads here (DNS rebinding), or post to this address;
// neither gets an answer.
bool Api::allowed_host(std::string_view host) const {
  const std::string_view name = without_port(host);
  if (name == "localhost" || name == "127.0.0.1" || name == "[::1]") return true;
  return name == options_.host || name == "[" + options_.host + "]" ||
         (is_wildcard(options_.host) && is_address(name));
}

Response Api::dispatch(const Request& request) {
  if (!allowed_host(request.host)) {
    return error(421, "this server does not answer for the host " + in_quotes(request.host),
                 "use its address, or start it with --host");
  }
  const std::size_t scheme = request.origin.find("://");
  if (!request.origin.empty() &&
      (scheme == std::string::npos ||
       !allowed_host(std::string_view(request.origin).substr(scheme + 3)))) {
    return error(403, "pages of other sites get no answer");
  }
  const auto at = routes_.find(request.path);
  if (at == routes_.end()) return route_by_name(request);
  const auto action = at->second.find(request.method == "HEAD" ? "GET" : request.method);
  if (action == at->second.end()) {
    std::string allow;
    for (const auto& [method, unused] : at->second) {
      allow += (allow.empty() ? "" : ", ") + method + (method == "GET" ? ", HEAD" : "");
    }
    Response r = error(405, request.method + " is not for " + in_quotes(request.path),
                       "it answers " + allow);
    r.headers.emplace_back("Allow", allow);
    return r;
  }
  const bool takes_file = request.path == base + "/profile";
  if (request.method == "POST" && !is_json(request.content_type) &&
      !(takes_file && is_file(request.content_type))) {
    return error(415,
                 takes_file ? "expected a body of type application/json, application/gzip or "
                              "application/octet-stream"
                            : "expected a body of type application/json",
                 "send the header Content-Type: application/json");
  }
  return action->second(request);
}

// Paths that hold a name.
Response Api::route_by_name(const Request& request) {
  std::vector<std::string> parts;
  if (request.path.starts_with(base + "/")) {
    std::string_view rest = std::string_view(request.path).substr(base.size() + 1);
    while (parts.size() < 4) {
      const std::size_t slash = rest.find('/');
      parts.emplace_back(rest.substr(0, slash));
      if (slash == rest.npos) break;
      rest.remove_prefix(slash + 1);
    }
  }
  const bool preset = parts.size() == 3 && parts[0] == "presets";
  const bool one_job = parts.size() == 2 && parts[0] == "jobs";
  const bool events = parts.size() == 3 && parts[0] == "jobs" && parts[2] == "events";
  if (!preset && !one_job && !events) return error(404, "there is nothing at this path");
  const bool get = request.method == "GET" || request.method == "HEAD";
  if (!get && !(one_job && request.method == "DELETE")) {
    Response r = error(405, request.method + " is not for " + in_quotes(request.path));
    r.headers.emplace_back("Allow", one_job ? "GET, HEAD, DELETE" : "GET, HEAD");
    return r;
  }
  if (preset) return one_preset(parts[1], parts[2]);
  return events ? job_events(parts[1]) : job(request, parts[1]);
}

Response Api::start(const JobRoute& route, const Request& request) {
  Document document = parse(request);
  if (route.check) route.check(document);
  const std::optional<std::string> id = jobs_.start(route.run, std::move(document.root));
  if (!id) {
    return error(429, "as many jobs run as may at once", "wait for one to end, or cancel one");
  }
  Response r = json("{\"id\": \"" + *id + "\"}\n");
  r.status = 202;
  r.headers.emplace_back("Location", base + "/jobs/" + *id);
  return r;
}

Response Api::job(const Request& request, const std::string& id) {
  if (request.method == "DELETE" && !jobs_.cancel(id)) return error(404, "there is no such job");
  const std::optional<std::string> status = jobs_.status(id);
  return status ? json(*status) : error(404, "there is no such job");
}

Response Api::job_events(const std::string& id) {
  std::optional<EventSource> source = jobs_.events(id);
  if (!source) return error(404, "there is no such job");
  Response r;
  r.type = "text/event-stream";
  r.events = std::move(*source);
  return r;
}

}  // namespace sextant::server
