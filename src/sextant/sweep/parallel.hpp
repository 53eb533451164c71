// SPDX-License-Identifier: Apache-2.0
// Work in chunks by several threads, results in order by the caller: the one place with threads.
// Chunks are handed out by a counter; a thread that runs too far ahead of the caller waits.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace sextant::sweep {

/// Calls `work(chunk)` for the chunks 0 … count−1 on `threads` threads, each with a worker of its
/// own from `make_work()`, and `take(result)` for each result, in order, on the calling thread.
/// Once `stopped()` no further chunk is begun; those begun are still taken. What a worker or the
/// caller throws ends the work, and is thrown on. With one thread all happens on the calling one.
template <class Result>
class OrderedWork {
 public:
  using Work = std::function<Result(std::uint64_t chunk)>;

  std::function<Work()> make_work;
  std::function<void(Result)> take;
  std::function<bool()> stopped = [] { return false; };

  void run(std::uint64_t count, int threads) {
    if (threads <= 1) return run_alone(count);
    count_ = count;
    window_ = std::vector<Slot>(static_cast<std::size_t>(threads) * 4);
    std::vector<std::jthread> crew;  // joined before anything it uses goes
    for (int t = 0; t < threads; ++t) crew.emplace_back([this] { labour(); });
    try {
      take_in_order();
    } catch (...) {
      end();
      throw;
    }
    end();
  }

 private:
  struct Slot {
    std::optional<Result> result;
    std::exception_ptr failure;
    bool ready() const { return result.has_value() || failure != nullptr; }
  };

  void run_alone(std::uint64_t count) {
    const Work work = make_work();
    for (std::uint64_t chunk = 0; chunk < count && !stopped(); ++chunk) take(work(chunk));
  }

  // The next chunk, or nothing where there is none left. Chunks that are begun are begun in order,
  // so those before `next_` are all under way or done.
  std::optional<std::uint64_t> begin() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || next_ < taken_ + window_.size(); });
    if (ended_ || next_ >= count_ || stopped()) {
      ended_ = true;
      changed_.notify_all();
      return std::nullopt;
    }
    return next_++;
  }

  void labour() {
    Work work;
    while (const std::optional<std::uint64_t> chunk = begin()) {
      Slot slot;
      try {
        if (!work) work = make_work();
        slot.result.emplace(work(*chunk));
      } catch (...) {
        slot.failure = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      window_[*chunk % window_.size()] = std::move(slot);
      changed_.notify_all();
    }
  }

  void take_in_order() {
    while (true) {
      Slot slot;
      {
        std::unique_lock lock(mutex_);
        Slot& place = window_[taken_ % window_.size()];
        changed_.wait(lock, [&] { return place.ready() || (ended_ && taken_ == next_); });
        if (!place.ready()) return;
        slot = std::exchange(place, Slot{});
      }
      if (slot.failure) std::rethrow_exception(slot.failure);
      take(*std::move(slot.result));
      const std::lock_guard lock(mutex_);
      ++taken_;
      changed_.notify_all();
    }
  }

  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> window_;  ///< chunk c at place c modulo its size
  std::uint64_t count_ = 0;
  std::uint64_t next_ = 0;   ///< chunk to be begun
  std::uint64_t taken_ = 0;  ///< chunks that the caller is done with
  bool ended_ = false;       ///< no chunk is begun any more
};

/// As many as the machine runs at once.
inline int usual_threads() {
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 256U));
}

}  // namespace sextant::sweep
