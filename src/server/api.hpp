// SPDX-License-Identifier: Apache-2.0
// The HTTP API: paths to commands. Answers come from the functions behind the command line, so that
// both say the same; what is refused is refused with the command line's diagnostics.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/command_table.hpp"
#include "server/http.hpp"
#include "server/jobs.hpp"
#include "server/routes.hpp"

namespace sextant::server {

/// POST /api/v1/NAME starts this as a job.
struct JobRoute {
  std::string name;
  /// Throws InputError for a request that need not be started at all.
  std::function<void(const Document& request)> check;
  Job run;
};

/// Commands that run as jobs: one line each.
std::vector<JobRoute> job_routes();

/// Paths whose answers may take seconds.
std::vector<std::string> slow_paths();

/// Paths that files may be sent to: their bodies may be longer.
std::span<const std::string_view> upload_paths();

struct ApiOptions {
  std::string host = "127.0.0.1";  ///< that the server listens on
  std::vector<JobRoute> jobs = {};
  JobLimits limits = {};
};

class Api {
 public:
  explicit Api(ApiOptions options);
  Response handle(const Request& request);
  /// Cancels all jobs and waits for them so long. False: one still runs.
  bool finish(std::chrono::milliseconds patience) { return jobs_.finish(patience); }

 private:
  void add_routes();
  void add(const std::string& path, const std::string& method, Action action);
  Response dispatch(const Request& request);
  Response route_by_name(const Request& request);
  Response start(const JobRoute& route, const Request& request);
  Response job(const Request& request, const std::string& id);
  Response job_events(const std::string& id);
  bool allowed_host(std::string_view host) const;

  const ApiOptions options_;
  Routes routes_;
  Jobs jobs_;
};

}  // namespace sextant::server
