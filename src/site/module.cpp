// SPDX-License-Identifier: Apache-2.0
// The API for a page without a server: what the server's routes answer, from a worker of the page.
// Searches run here, too, in one thread; there is nobody to watch them.
#include <memory>
#include <string>

#include "cli/command_table.hpp"
#include "server/routes.hpp"
#include "server/search_request.hpp"
#include "sextant/ask/search.hpp"
#include "sextant/io/bytes.hpp"
#include "sextant/validate/calibrate.hpp"

namespace sextant::cli {

std::vector<Command> local_commands() { return {}; }

}  // namespace sextant::cli

namespace sextant {

/// The page has unpacked what it sends.
std::unique_ptr<ByteSource> unpacking(std::unique_ptr<ByteSource> source, std::string) {
  return source;
}

// Fits need a library that is not here.
std::vector<CaseResult> leave_families_out(const std::vector<Case>&, Catalogue&,
                                           const CalibrationOptions&) {
  throw InputError("a page without a server cannot fit anything anew", "run sextant validate");
}
std::vector<CaseResult> leave_devices_out(const std::vector<Case>& cases, Catalogue& catalogue,
                                          const CalibrationOptions& options) {
  return leave_families_out(cases, catalogue, options);
}

namespace server {
namespace {

Response search(const Request& request) {
  const Document document = parse(request);
  check_search(document);
  const SearchAsked asked = read_search(document, document.root);
  SearchProgress progress;
  return json(search_answer(asked.options, asked.common, progress, [](double) {}).json());
}

/// "/api/v1/presets/KIND/NAME".
Response preset(const std::string& path) {
  const std::string start = base + "/presets/";
  const std::size_t slash = path.find('/', start.size());
  if (!path.starts_with(start) || slash == path.npos)
    return error(404, "there is nothing at this path");
  return one_preset(path.substr(start.size(), slash - start.size()), path.substr(slash + 1));
}

Response answer(const Request& request) {
  static const Routes routes = [] {
    Routes all = command_routes();
    all[base + "/search"]["POST"] = search;
    all[base + "/best"]["POST"] = search;
    return all;
  }();
  return answered([&] {
    const auto at = routes.find(request.path);
    if (at == routes.end()) return preset(request.path);
    const auto action = at->second.find(request.method);
    return action == at->second.end() ? error(405, request.method + " is not for this path")
                                      : action->second(request);
  });
}

Response last;

}  // namespace
}  // namespace server
}  // namespace sextant

extern "C" {

/// The body of the answer, as it is until the next question. `query` holds name=value pairs, a line
/// each.
const char* sextant_answer(const char* method, const char* path, const char* query,
                           const char* type, const char* body, int size) {
  sextant::server::Request request{.method = method,
                                   .path = path,
                                   .body = std::string(body, static_cast<std::size_t>(size)),
                                   .content_type = type};
  const std::string pairs = query;
  for (std::size_t from = 0; from < pairs.size();) {
    const std::size_t to = std::min(pairs.find('\n', from), pairs.size());
    const std::size_t equals = std::min(pairs.find('=', from), to);
    request.query.emplace_back(pairs.substr(from, equals - from),
                               equals < to ? pairs.substr(equals + 1, to - equals - 1) : "");
    from = to + 1;
  }
  sextant::server::last = sextant::server::answer(request);
  return sextant::server::last.body.c_str();
}

int sextant_status() { return sextant::server::last.status; }

}  // extern "C"
