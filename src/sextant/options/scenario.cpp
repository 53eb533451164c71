// SPDX-License-Identifier: Apache-2.0
#include "sextant/options/scenario.hpp"

#include "sextant/options/settings.hpp"

namespace sextant {

Question question_of(const ScenarioOptions& o, const Common& common, Task task) {
  return {.task = task,
          .model = o.model,
          .system = o.system,
          .runtime = o.runtime,
          .given = o.given,
          .settings = settings_of(common, setting_roots()),
          .notes = o.notes,
          .lookup = common.lookup};
}

Scenario read_training(const TrainOptions& options, const Common& common) {
  return read_scenario(question_of(options, common, Task::train));
}

Scenario read_serving(const InferOptions& options, const Common& common) {
  return read_scenario(question_of(options, common, Task::infer));
}

}  // namespace sextant
