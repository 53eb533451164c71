// SPDX-License-Identifier: Apache-2.0
#include "cli/scenario_reader.hpp"

#include "sextant/io/presets.hpp"
#include "sextant/validate/validate.hpp"

namespace sextant::cli {

void ScenarioReader::load(const std::string& system_name, const std::string& model_name,
                          const std::string& runtime_name) {
  attempt([&] { scenario.system = load_system(system_name, settings); });
  attempt([&] { model = load_model(model_name, settings); });
  attempt([&] { runtime = load_runtime(runtime_name, settings); });
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
