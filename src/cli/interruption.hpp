// SPDX-License-Identifier: Apache-2.0
// Ctrl-C as a wish: long work ends at the next good moment, with what it has.
#pragma once

#include <array>
#include <csignal>
#include <mutex>

namespace sextant::cli {

/// While this lives, Ctrl-C and a polite kill ask for an end instead of making one. Of several at
/// the same time, in threads of a Python program say, the first catches them for all.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Whether an end was asked for; from any thread.
  static bool asked();

 private:
  std::unique_lock<std::mutex> catches_;
  static constexpr std::array signals = {SIGINT, SIGTERM};
  std::array<void (*)(int), signals.size()> before_{};
};

}  // namespace sextant::cli
