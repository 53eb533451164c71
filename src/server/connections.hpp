// SPDX-License-Identifier: Apache-2.0
// The sockets of the server. One thread reads and writes them all, so that an idle connection, a
// slow sender or a slow reader costs a buffer and no thread; a few workers compute answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "server/exchange.hpp"
#include "server/framing.hpp"

namespace sextant::server {

struct ConnectionLimits {
  FrameLimits frame = {};
  std::size_t connections = 1200;                ///< beyond, one that holds a place gives way
  std::size_t received = std::size_t{64} << 20;  ///< bytes of unfinished requests, all together;
                                                 ///< beyond, who has sent the most gives way
  std::size_t quick = 64 * 1024;                 ///< a longer request takes long to read
  std::size_t unsent = std::size_t{64} << 20;    ///< of answers not yet taken; beyond, the slowest
                                                 ///< readers give way
  std::size_t workers = 0;                       ///< 0: as many as cores, at least two
  std::chrono::milliseconds compute{60'000};     ///< an answer; beyond, it is given up
  std::chrono::milliseconds idle{60'000};        ///< between requests
  std::chrono::milliseconds request{15'000};     ///< from its first byte to its last
  std::chrono::milliseconds answer{30'000};      ///< to take it
  std::chrono::milliseconds drain{1'000};        ///< to read what we said before we hung up
  std::chrono::milliseconds finish{600};         ///< for answers under way when all ends
};

class Connections {
 public:
  /// Listens; port 0 takes any free one. Throws std::system_error.
  Connections(const std::string& host, int port, const Exchange& exchange,
              const ConnectionLimits& limits = {});
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  int port() const;
  /// Until stop(), or where asked until SIGINT or SIGTERM. Answers under way are finished first,
  /// for a moment: false where one is still being computed, whose thread then may use `exchange`
  /// until the process ends.
  bool run(bool until_signal);
  /// From any thread.
  void stop();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace sextant::server
