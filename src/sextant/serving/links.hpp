// SPDX-License-Identifier: Apache-2.0
// Caches on their way from the engine that read a prompt to the one that answers it; transfers
// share a link fairly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "sextant/serving/requests.hpp"

namespace sextant {

class Links {
 public:
  struct Transfer {
    Request request;
    int from = 0;
    std::int32_t place = 0;  // there
    int to = 0;
    double left = 0;  // bytes
    double start = 0;
  };

  Links(int senders, int receivers, double bytes_per_second)
      : rate_(bytes_per_second),
        sending_(static_cast<std::size_t>(senders), 0),
        receiving_(static_cast<std::size_t>(receivers), 0) {}

  /// One that starts when its prompt is read: engines say so when the step begins, so one that is
  /// told later may start earlier.
  void begin(const Transfer& t) {
    coming_.push_back(t);
    std::push_heap(coming_.begin(), coming_.end(), later);
  }

  /// When the next one starts or ends; infinity where there is none.
  double next_event() const { return std::min(next_start(), next_end()); }

  /// Goes on to that event. The transfer that has ended, if one has.
  std::optional<Transfer> next() {
    if (next_start() <= next_end()) {
      std::pop_heap(coming_.begin(), coming_.end(), later);
      const Transfer t = coming_.back();
      coming_.pop_back();
      advance(std::max(now_, t.start));
      active_.push_back(t);
      count(t, 1);
      return std::nullopt;
    }
    const auto done = std::min_element(
        active_.begin(), active_.end(),
        [this](const Transfer& a, const Transfer& b) { return time_of(a) < time_of(b); });
    const Transfer t = *done;
    advance(now_ + time_of(t));
    active_.erase(done);
    count(t, -1);
    return t;
  }

  double now() const { return now_; }

 private:
  static bool later(const Transfer& a, const Transfer& b) { return a.start > b.start; }
  double next_start() const { return coming_.empty() ? never : coming_.front().start; }
  double next_end() const {
    double next = never;
    for (const Transfer& t : active_) next = std::min(next, now_ + time_of(t));
    return next;
  }
  double time_of(const Transfer& t) const { return t.left / rate_of(t); }
  double rate_of(const Transfer& t) const {
    const int shared = std::max(sending_[static_cast<std::size_t>(t.from)],
                                receiving_[static_cast<std::size_t>(t.to)]);
    return rate_ / shared;
  }
  void count(const Transfer& t, int by) {
    sending_[static_cast<std::size_t>(t.from)] += by;
    receiving_[static_cast<std::size_t>(t.to)] += by;
  }
  void advance(double to) {
    for (Transfer& t : active_) t.left = std::max(0.0, t.left - (to - now_) * rate_of(t));
    now_ = to;
  }

  static constexpr double never = std::numeric_limits<double>::infinity();
  double rate_;
  double now_ = 0;
  std::vector<Transfer> coming_;  // a heap, the earliest in front
  std::vector<Transfer> active_;
  std::vector<int> sending_, receiving_;
};

}  // namespace sextant
