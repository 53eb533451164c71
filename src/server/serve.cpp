// SPDX-License-Identifier: Apache-2.0
#include "server/serve.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <spawn.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "server/api.hpp"
#include "server/connections.hpp"
#include "server/exchange.hpp"
#include "sextant/options/settings.hpp"

namespace sextant::server {
namespace {

bool only_this_machine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string address_of(const std::string& host, int port) {
  const bool six = host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/", six ? "[" : "", host, six ? "]" : "", port);
}

// What desktops have; where there is none, the address has been printed.
void open_browser(std::string address) {
  std::string program = "xdg-open";
  const std::array<char*, 3> arguments = {program.data(), address.data(), nullptr};
  pid_t child = 0;
  posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ);
}

/// Buffers and tables of requests go back to the system when they are freed: by itself the library
/// keeps those of up to 32 MiB for each thread once it has seen one freed.
void return_memory() { ::mallopt(M_MMAP_THRESHOLD, 256 * 1024); }

/// SIGINT and SIGTERM wait for whoever asks for them, in all threads started from now on.
void hold_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_IGN);  // a browser that ends leaves nothing behind
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

std::string run_serve(const ServeOptions& options, const Common& common) {
  no_settings(common, "a server has nothing to set", "requests do, each for itself");
  return_memory();
  hold_signals();
  Api api({.host = options.host, .jobs = job_routes()});
  const Exchange exchange([&](const Request& r) { return api.handle(r); }, options.verbose,
                          slow_paths());
  Connections connections(options.host, options.port, exchange,
                          {.frame = {.uploads = upload_paths()}});
  const std::string address = address_of(options.host, connections.port());
  fmt::print("{}\n", address);
  if (!only_this_machine(options.host)) {
    fmt::print("open to the network: whoever reaches {} can use it\n", options.host);
  }
  fmt::print("the page is there, the API under {}api/v1/openapi.json; Ctrl-C ends it\n", address);
  std::fflush(stdout);
  if (options.open) open_browser(address);
  const bool all_ended = connections.run(true) && api.finish(std::chrono::milliseconds(300));
  if (!all_ended) {
    // Something computes on, and threads cannot be ended one by one.
    std::fflush(nullptr);
    std::_Exit(0);
  }
  return "";
}

}  // namespace

cli::Command serve_command() {
  return cli::command<ServeOptions, run_serve>(
      "serve", "the web page and the HTTP API, from this machine to this machine",
      "sextant serve --port 8080 --open");
}

}  // namespace sextant::server
