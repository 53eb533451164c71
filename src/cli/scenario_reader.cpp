// SPDX-License-Identifier: Apache-2.0
#include "cli/scenario_reader.hpp"

#include "sextant/io/presets.hpp"

namespace sextant::cli {

void ScenarioReader::load(const PresetRef& wanted_system, const PresetRef& wanted_model,
                          const PresetRef& wanted_runtime) {
  const auto named = [&](const char* flag, const std::function<void()>& work) {
    const std::size_t before = flags.problems.size();
    attempt(work);
    // A name that leads nowhere has no place but the flag that gave it.
    for (std::size_t i = before; i < flags.problems.size(); ++i) {
      Diagnostic& d = flags.problems[i];
      if (d.file.empty() && d.field.empty()) d.file = flag;
    }
  };
  named("--system", [&] { scenario.system = load_system(wanted_system, settings, lookup); });
  named("--model", [&] { model = load_model(wanted_model, settings, lookup); });
  named("--runtime", [&] { runtime = load_runtime(wanted_runtime, settings, lookup); });
}

Libraries ScenarioReader::libraries() const {
  return load_libraries(scenario.system, runtime, settings, lookup);
}

void ScenarioReader::say_device() {
  const Device& device = scenario.system.device;
  const Precision asked = scenario.strategy.precision;
  const Precision real = runs_as(device, asked);
  if (real != asked) {
    assume("{} has no {} matrix units: multiplies run as {}", device.name, name_of(asked),
           name_of(real));
  }
  if (device.provenance.cases == 0) {
    assume("constants of {} are the defaults: it was not measured", device.name);
  }
}

}  // namespace sextant::cli
