// SPDX-License-Identifier: Apache-2.0
#include "cli/search_capacity.hpp"

#include "cli/search_training.hpp"
#include "sextant/answer/capacity.hpp"
#include "sextant/options/search_capacity.hpp"

namespace sextant::cli {

Answer capacity_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                       const Announce& announce) {
  const CapacitySearch x = read_capacity_search(options, common);
  announce(1000);
  const Stopwatch watch;
  const CapacityResult r = plan_capacity(x.scenario.problem, x.space, x.aim, progress);
  return answer_of({.scenario = x.scenario,
                    .result = r,
                    .rate = x.aim.traffic.rate,
                    .price = x.aim.price,
                    .seconds = watch.seconds()},
                   common.format == Format::json);
}

}  // namespace sextant::cli
