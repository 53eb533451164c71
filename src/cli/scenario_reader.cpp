// SPDX-License-Identifier: Apache-2.0
#include "cli/scenario_reader.hpp"

#include "sextant/io/presets.hpp"
#include "sextant/validate/validate.hpp"

namespace sextant::cli {

void ScenarioReader::load(const PresetRef& wanted_system, const PresetRef& wanted_model,
                          const PresetRef& wanted_runtime) {
  attempt([&] { scenario.system = load_system(wanted_system, settings, lookup); });
  attempt([&] { model = load_model(wanted_model, settings, lookup); });
  attempt([&] { runtime = load_runtime(wanted_runtime, settings, lookup); });
}

Kernels ScenarioReader::kernels() const {
  Catalogue catalogue;
  std::string reason;
  const std::string library(kernel_library(runtime));
  const Kernels* found = catalogue.kernels(library, scenario.system.device, reason);
  if (found == nullptr) throw InputError(reason);
  Kernels own = *found;
  apply(settings, own, "kernel");
  return own;
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
