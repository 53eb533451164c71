// SPDX-License-Identifier: Apache-2.0
// Work that takes longer than a request should: started, watched, cancelled by id.
//
// A job is a function (request, progress) → JSON text. It reports how far it is, looks now and then
// whether it is cancelled, and then returns the best it has.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "server/http.hpp"
#include "sextant/io/node.hpp"

namespace sextant::server {

/// Between a job and whoever watches it; both from any thread.
class Progress {
 public:
  void report(double done, double total) {
    total_ = total;
    done_ = done;
  }
  /// The best so far as JSON, where there is one.
  void report_best(std::string json) {
    const std::scoped_lock lock(mutex_);
    if (json == best_) return;
    best_ = std::move(json);
    ++better_;
  }
  std::string best() const {
    const std::scoped_lock lock(mutex_);
    return best_;
  }
  /// How often that changed.
  int better() const { return better_; }
  bool cancelled() const { return cancelled_; }
  const std::atomic<bool>& cancelling() const { return cancelled_; }

  void cancel() { cancelled_ = true; }
  double done() const { return done_; }
  double total() const { return total_; }

 private:
  std::atomic<double> done_ = 0;
  std::atomic<double> total_ = 0;
  std::atomic<bool> cancelled_ = false;
  std::atomic<int> better_ = 0;
  mutable std::mutex mutex_;
  std::string best_;
};

using Job = std::function<std::string(const Node& request, Progress&)>;

struct JobLimits {
  std::size_t running = 2;
  std::size_t kept = 32;                     ///< finished ones; the oldest is forgotten
  std::chrono::milliseconds patience{3000};  ///< with one that nobody watches any more; ten times
                                             ///< as much with one that nobody ever watched
  std::size_t result_bytes = std::size_t{8} << 20;  ///< larger ones fail
};

class Jobs {
 public:
  explicit Jobs(JobLimits limits = {}) : limits_(limits) {}
  /// Cancels what runs and waits for it.
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// Its id, or nothing when too many run. Those that were watched and then left are cancelled.
  std::optional<std::string> start(Job job, Node request);
  /// {"id", "state", "progress": {…}, "result"} as JSON text, or nothing for an unknown id.
  std::optional<std::string> status(const std::string& id) const;
  /// Cancels all and waits so long. False: one still runs.
  bool finish(std::chrono::milliseconds patience);
  /// False for an unknown id. What the job returns stays its result.
  bool cancel(const std::string& id);
  /// Server-sent events: "progress" where something changed, then one "done".
  std::optional<EventSource> events(const std::string& id) const;

 private:
  struct Entry;
  std::shared_ptr<Entry> find(const std::string& id) const;
  void forget_old();

  const JobLimits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
  std::size_t started_ = 0;
};

}  // namespace sextant::server
