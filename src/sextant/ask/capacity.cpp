// SPDX-License-Identifier: Apache-2.0
#include "sextant/ask/capacity.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/answer/capacity.hpp"
#include "sextant/ask/training.hpp"
#include "sextant/options/search_capacity.hpp"

namespace sextant {
namespace {

/// Devices that are looked at where nobody says how many there are.
constexpr int most_unasked = 4096;

}  // namespace

Answer capacity_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                       const Announce& announce) {
  CapacitySearch asked = read_capacity_search(options, common);
  announce(static_cast<double>(count_layouts(asked.scenario.problem, asked.space)));
  const Stopwatch watch;
  const Deadline deadline(asked.time, progress);
  const auto plan = [&] {
    return plan_capacity(asked.scenario.problem, asked.space, asked.aim, progress);
  };
  CapacityResult result = plan();
  if (!options.gpus) {
    const int most = std::min(asked.scenario.system.max_devices, most_unasked);
    while (result.best.empty() && !result.stopped && asked.space.devices < most) {
      asked.space.devices = std::min(2 * asked.space.devices, most);
      result = plan();
    }
    asked.scenario.assumptions.push_back(
        fmt::format("gpus {} at most: 8, doubled until the limits hold", asked.space.devices));
  }
  CapacityAnswer a{.asked = asked, .result = std::move(result)};
  a.seconds = watch.seconds();
  return answer_of(a);
}

}  // namespace sextant
