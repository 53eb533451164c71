// SPDX-License-Identifier: Apache-2.0
#include "cli/search_capacity.hpp"

#include "cli/figure.hpp"
#include "cli/search_training.hpp"
#include "sextant/answer/capacity.hpp"
#include "sextant/options/search_capacity.hpp"

namespace sextant::cli {

Answer capacity_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                       const Announce& announce) {
  const CapacitySearch asked = read_capacity_search(options, common);
  announce(static_cast<double>(count_layouts(asked.scenario.problem, asked.space)));
  const Stopwatch watch;
  const Deadline deadline(asked.time, progress);
  CapacityAnswer a{
      .asked = asked,
      .result = plan_capacity(asked.scenario.problem, asked.space, asked.aim, progress)};
  a.seconds = watch.seconds();
  return with_figure(answer_of(a), options.plot);
}

}  // namespace sextant::cli
