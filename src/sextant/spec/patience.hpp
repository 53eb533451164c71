// SPDX-License-Identifier: Apache-2.0
// Whether whoever asked still waits for the answer. Whoever asks says so for the thread that
// computes; long loops look now and then. Where nobody says anything, everybody waits.
#pragma once

#include <atomic>
#include <exception>

namespace sextant {

/// Thrown where nobody waits any more.
struct Abandoned : std::exception {
  const char* what() const noexcept override { return "nobody waits for this answer any more"; }
};

namespace detail {
inline thread_local const std::atomic<bool>* abandoned = nullptr;
}  // namespace detail

/// While it lives, work of this thread is given up once the flag is set.
class Patience {
 public:
  explicit Patience(const std::atomic<bool>& over) : outer_(detail::abandoned) {
    detail::abandoned = &over;
  }
  ~Patience() { detail::abandoned = outer_; }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  /// For what throws nothing: it may end early with any result, whose user asks check() next.
  static bool over() noexcept {
    return detail::abandoned != nullptr && detail::abandoned->load(std::memory_order_relaxed);
  }
  static void check() {
    if (over()) throw Abandoned();
  }

 private:
  const std::atomic<bool>* outer_;
};

}  // namespace sextant
