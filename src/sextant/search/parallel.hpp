// SPDX-License-Identifier: Apache-2.0
// The one place where the library starts threads: units of work are handed out one by one, so that
// none waits for another's long ones.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace sextant {

/// So many threads, or as many as there are cores.
inline int threads_or_all(int wanted) {
  if (wanted > 0) return wanted;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// A value that threads take turns at.
template <class T>
class Guarded {
 public:
  template <class Use>
  void with(const Use& use) {
    const std::scoped_lock lock(guard_);
    use(value_);
  }

 private:
  std::mutex guard_;
  T value_;
};

/// Calls work(thread, unit) for each unit, on so many threads, until all are done or `stop` is set.
/// The first exception is thrown again after all threads have ended.
template <class Work>
void for_each_unit(int threads, std::size_t units, const std::atomic<bool>& stop,
                   const Work& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr first;
  std::mutex guard;
  const auto loop = [&](int thread) {
    try {
      while (!stop && !failed) {
        const std::size_t unit = next++;
        if (unit >= units) return;
        work(thread, unit);
      }
    } catch (...) {
      const std::scoped_lock lock(guard);
      if (!first) first = std::current_exception();
      failed = true;
    }
  };
  {
    std::vector<std::jthread> pool;
    for (int i = 1; i < threads; ++i) pool.emplace_back(loop, i);
    loop(0);
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace sextant
