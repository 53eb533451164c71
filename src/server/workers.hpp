// SPDX-License-Identifier: Apache-2.0
// Threads that compute answers. There is at most one task a connection, so the queue is bounded.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "server/exchange.hpp"

namespace sextant::server {

class Workers {
 public:
  struct Task {
    std::uint64_t id = 0;
    std::function<Answer()> run;
  };
  struct Done {
    std::uint64_t id = 0;
    Answer answer;
  };

  /// `notify` is called, from any thread, when there is something done.
  Workers(std::size_t count, std::function<void()> notify) : notify_(std::move(notify)) {
    if (count == 0) count = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 2, 16);
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void add(Task task) {
    {
      const std::scoped_lock lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    ready_.notify_one();
  }

  std::vector<Done> take_done() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(done_, {});
  }

  /// What was not begun is left.
  void stop() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    ready_.notify_all();
    for (std::thread& t : threads_) t.join();
    threads_.clear();
  }

 private:
  void work() {
    for (;;) {
      Task task;
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
        if (stopping_) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      Done done{task.id, task.run()};
      bool first = false;
      {
        const std::scoped_lock lock(mutex_);
        first = done_.empty();
        done_.push_back(std::move(done));
      }
      if (first) notify_();  // the others are taken with it
    }
  }

  std::function<void()> notify_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Task> tasks_;
  std::vector<Done> done_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sextant::server
