// SPDX-License-Identifier: Apache-2.0
// Paths to commands: what the API answers from the request alone, without jobs, threads or a
// network. The server and the page without one ask here, so that both say the same.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/http.hpp"
#include "sextant/io/node.hpp"

namespace sextant::server {

inline const std::string base = "/api/v1";

using Action = std::function<Response(const Request&)>;
using Routes = std::map<std::string, std::map<std::string, Action>>;  ///< by path, then method

/// The commands, the presets and the measured cases.
Routes command_routes();
/// Of a path that names a preset: its kind and its name.
Response one_preset(const std::string& kind, const std::string& name);

/// The answer, or the diagnostics of what was thrown.
Response answered(const std::function<Response()>& answer);

Response json(std::string body);
Response error(int status, std::string_view message, std::string_view hint = "");
Document parse(const Request& request);

bool is_json(std::string_view content_type);
/// Whether a body of this type is taken at this path.
bool takes(const Request& request);

/// What else a command is given beside its options.
struct Beside {
  std::vector<std::string_view> skip = {};  ///< members of the request that someone else reads
  std::string_view sent = {};               ///< a file
};

/// A request's body as options of a command; runs it and returns its JSON.
std::string run_command(std::string_view command, const Document& document, const Node& request,
                        const Beside& beside = {});

}  // namespace sextant::server
