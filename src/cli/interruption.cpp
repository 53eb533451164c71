// SPDX-License-Identifier: Apache-2.0
#include "cli/interruption.hpp"

#include <atomic>

namespace sextant::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler writes it
std::mutex catching_now;

}  // namespace

Interruption::Interruption() : catches_(catching_now, std::try_to_lock) {
  if (!catches_) return;
  interrupted = false;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    before_[i] = std::signal(signals[i], [](int) { interrupted = true; });
  }
}

Interruption::~Interruption() {
  if (!catches_) return;
  for (std::size_t i = 0; i < signals.size(); ++i) std::signal(signals[i], before_[i]);
}

bool Interruption::asked() { return interrupted; }

}  // namespace sextant::cli
