// SPDX-License-Identifier: Apache-2.0
// Searches of training, run: their variants, their size, their time.
#pragma once

#include <chrono>
#include <thread>

#include "sextant/search/question.hpp"

namespace sextant {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Throws InputError where a space would take longer than anyone waits.
void check_size(double points, const TrainingSearch& asked);

/// Stops a search when its time is over.
class Deadline {
 public:
  Deadline(Seconds time, SearchProgress& progress);

 private:
  std::jthread thread_;
};

/// Every variant of the runtime.
SearchResult search_all(const TrainingSearch& asked, const SearchPlan& plan,
                        SearchProgress& progress);

}  // namespace sextant
