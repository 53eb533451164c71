// SPDX-License-Identifier: Apache-2.0
// Threads that compute answers. There is at most one task a connection, so the queue is bounded.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "server/exchange.hpp"
#include "sextant/spec/patience.hpp"

namespace sextant::server {

/// Who is answered before whom.
enum class Lane : std::uint8_t {
  quick,
  behind,  ///< was sent before the one before it was answered
  slow,    ///< takes long: such tasks get half of the threads at most
};

class Workers {
 public:
  struct Task {
    std::uint64_t id = 0;
    std::function<Answer()> run;
    Lane lane = Lane::quick;
  };
  struct Done {
    std::uint64_t id = 0;
    Answer answer;
  };

  /// `notify` is called, from any thread, when there is something done. A task that takes longer
  /// than `most` is asked to give up (spec/patience.hpp).
  Workers(std::size_t count, std::function<void()> notify,
          std::chrono::milliseconds most = std::chrono::seconds(60))
      : notify_(std::move(notify)), most_(most) {
    // More than cores: what takes long must not keep what does not from being started.
    if (count == 0) count = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 4, 16);
    most_slow_ = std::max<std::size_t>(1, count / 2);
    for (std::size_t i = 0; i < count; ++i) {
      places_.push_back(std::make_unique<Place>());
      threads_.emplace_back([this, &place = *places_.back()] { work(place); });
    }
    threads_.emplace_back([this] { watch(); });
  }
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void add(Task task) {
    {
      const std::scoped_lock lock(mutex_);
      tasks_[static_cast<std::size_t>(task.lane)].push_back(std::move(task));
    }
    ready_.notify_one();
  }

  std::vector<Done> take_done() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(done_, {});
  }

  /// What was not begun is left; waits for what was.
  void stop() {
    request_stop();
    for (std::thread& t : threads_) t.join();
    threads_.clear();
  }
  /// The same, but for so long at most. False: something still runs.
  bool stop_within(std::chrono::milliseconds patience) {
    request_stop();
    {
      std::unique_lock lock(mutex_);
      if (!idle_.wait_for(lock, patience, [&] { return running_ == 0; })) return false;
    }
    stop();
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// A thread's own: what it does is to be given up.
  struct Place {
    std::atomic<bool> over = false;
    Clock::time_point until = Clock::time_point::max();  ///< guarded by mutex_
  };

  /// What has begun is asked to give up, too.
  void request_stop() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
      for (const auto& place : places_) place->over = true;
    }
    ready_.notify_all();
    begun_.notify_all();
  }

  /// Ends what takes too long; sleeps while nothing runs.
  void watch() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      Clock::time_point next = Clock::time_point::max();
      const Clock::time_point now = Clock::now();
      for (const auto& place : places_) {
        if (place->until <= now) {
          place->over = true;
        } else {
          next = std::min(next, place->until);
        }
      }
      if (next == Clock::time_point::max()) {
        begun_.wait(lock);
      } else {
        begun_.wait_until(lock, next);
      }
    }
  }

  /// The first lane that one may be taken from, or nothing.
  std::deque<Task>* next_lane() {
    for (std::deque<Task>& lane : tasks_) {
      if (lane.empty()) continue;
      if (lane.front().lane == Lane::slow && slow_running_ >= most_slow_) continue;
      return &lane;
    }
    return nullptr;
  }

  void work(Place& place) {
    for (;;) {
      Task task;
      {
        std::unique_lock lock(mutex_);
        std::deque<Task>* from = nullptr;
        ready_.wait(lock, [&] { return stopping_ || (from = next_lane()) != nullptr; });
        if (stopping_) return;
        task = std::move(from->front());
        from->pop_front();
        slow_running_ += task.lane == Lane::slow ? 1 : 0;
        ++running_;
        place.over = false;
        place.until = Clock::now() + most_;
      }
      begun_.notify_one();
      Done done = [&] {
        const Patience patience(place.over);
        return Done{task.id, task.run()};
      }();
      bool first = false;
      {
        const std::scoped_lock lock(mutex_);
        place.until = Clock::time_point::max();
        first = done_.empty();
        done_.push_back(std::move(done));
        slow_running_ -= task.lane == Lane::slow ? 1 : 0;
        if (--running_ == 0) idle_.notify_all();
      }
      if (first) notify_();                              // the others are taken with it
      if (task.lane == Lane::slow) ready_.notify_one();  // one that waited for a place
    }
  }

  std::function<void()> notify_;
  std::chrono::milliseconds most_;
  std::vector<std::unique_ptr<Place>> places_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::condition_variable begun_;
  std::array<std::deque<Task>, 3> tasks_;  ///< by lane
  std::condition_variable idle_;
  std::size_t running_ = 0;
  std::size_t slow_running_ = 0;
  std::size_t most_slow_ = 1;
  std::vector<Done> done_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sextant::server
