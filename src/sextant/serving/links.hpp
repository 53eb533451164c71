// SPDX-License-Identifier: Apache-2.0
// Caches on their way from the engine that read a prompt to the one that answers it; transfers
// share a link fairly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "sextant/serving/requests.hpp"

namespace sextant {

class Links {
 public:
  struct Transfer {
    Request request;
    int from = 0;
    int to = 0;
    double left = 0;  // bytes
    double start = 0;
  };

  Links(int senders, int receivers, double bytes_per_second)
      : rate_(bytes_per_second),
        sending_(static_cast<std::size_t>(senders), 0),
        receiving_(static_cast<std::size_t>(receivers), 0) {}

  void begin(const Transfer& t) {
    advance(std::max(now_, t.start));
    active_.push_back(t);
    count(t, 1);
  }

  /// When the next one ends if none begins; infinity where there is none.
  double next_end() const {
    double next = std::numeric_limits<double>::infinity();
    for (const Transfer& t : active_) next = std::min(next, now_ + t.left / rate_of(t));
    return next;
  }

  /// The one that ends next, at that time.
  Transfer end_next() {
    advance(next_end());
    const auto done =
        std::min_element(active_.begin(), active_.end(),
                         [](const Transfer& a, const Transfer& b) { return a.left < b.left; });
    const Transfer t = *done;
    active_.erase(done);
    count(t, -1);
    return t;
  }

  double now() const { return now_; }

 private:
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

  double rate_;
  double now_ = 0;
  std::vector<Transfer> active_;
  std::vector<int> sending_, receiving_;
};

}  // namespace sextant
