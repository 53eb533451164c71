// SPDX-License-Identifier: Apache-2.0
// The command `sextant serve`.
#pragma once

#include <string>

#include "cli/command_table.hpp"

namespace sextant::server {

struct ServeOptions {
  int port = 8080;
  std::string host = "127.0.0.1";
  bool open = false;
  bool verbose = false;
};

template <class V>
void describe(V& v, ServeOptions& o) {
  v("port", o.port, {.help = "to listen on; 0: any that is free", .min = 0, .max = 65535});
  v("host", o.host, {.help = "address to listen on; others than 127.0.0.1 open it to a network"});
  v("open", o.open, {.help = "show the page in the browser"});
  v("verbose", o.verbose, {.help = "a line on standard error for each request"});
}

/// For the table of commands.
cli::Command serve_command();

}  // namespace sextant::server
