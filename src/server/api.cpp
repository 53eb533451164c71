// SPDX-License-Identifier: Apache-2.0
#include "server/api.hpp"

#include <fmt/format.h>

#include <array>

#include "server/openapi.hpp"
#include "server/page.hpp"
#include "server/search_job.hpp"
#include "sextant/io/bytes.hpp"
#include "sextant/io/fnv.hpp"
#include "sextant/io/text.hpp"

namespace sextant::server {
namespace {

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
  Fnv hash;
  hash.add(text);
  return fmt::format("\"{:016x}\"", hash.value());
}

/// What does not change while the server runs is kept by those who ask; what is longer than a
/// connection's first packets is packed.
void prepare_to_send(const Request& request, Response& r) {
  // Ten packets leave before anything is acknowledged (RFC 6928): less arrives no sooner packed.
  constexpr std::size_t first_flight = 14000;
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
  if (!request.accepts_gzip || r.body.size() <= first_flight) return;
  r.body = packed(r.body);
  r.headers.emplace_back("Content-Encoding", "gzip");
}

}  // namespace

std::vector<std::string> slow_paths() {
  return {base + "/best", base + "/compare", base + "/profile", base + "/rl",
          base + "/tech", base + "/traffic", base + "/validate"};
}

std::span<const std::string_view> upload_paths() {
  static constexpr std::array<std::string_view, 2> paths = {"/api/v1/profile", "/api/v1/traffic"};
  return paths;
}

std::vector<JobRoute> job_routes() { return {search_job()}; }

Api::Api(ApiOptions options)
    : options_(std::move(options)), routes_(command_routes()), jobs_(options_.limits) {
  add_routes();
}

void Api::add(const std::string& path, const std::string& method, Action action) {
  routes_[path][method] = std::move(action);
}

void Api::add_routes() {
  add("/", "GET", page);
  add(base + "/best", "POST", [](const Request& r) { return json(search_at_once(parse(r))); });
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
  Response response = answered([&] { return dispatch(request); });
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
                 "use its address; whoever started it may name others");
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
  if (request.method == "POST" && !takes(request)) {
    return error(415,
                 request.path == base + "/profile"
                     ? "expected a body of type application/json, application/gzip or "
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
