// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/errors.hpp"

#include "sextant/io/embedded.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/read.hpp"
#include "sextant/io/reflect.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {

const Errors& measured_errors() {
  static const Errors errors = [] {
    constexpr std::string_view path = "errors/measured.toml";
    for (const EmbeddedFile& file : embedded_presets()) {
      if (file.path != path) continue;
      return read_document<Errors>(parse_toml(file.text(), "presets/" + std::string(path)));
    }
    return Errors{};
  }();
  return errors;
}

std::string known_as(Device device) {
  const std::vector<std::string>& measured = measured_errors().devices;
  if (!contains(measured, device.name)) {
    return device.name;
  }
  Device preset = load_device(device.name, {}, Lookup::presets);
  device.memory.capacity = preset.memory.capacity;
  device.tier = preset.tier;
  return same_values(reflect(device), reflect(preset)) ? device.name : device.name + " as changed";
}

std::string known_as(const System& system) {
  std::string device = known_as(system.device);
  const bool shipped = contains(preset_names(PresetKind::system), system.name);
  if (!shipped || device != system.device.name) return device;
  System mine = system;
  System preset = load_system(system.name, {}, Lookup::presets);
  bool same = mine.fabrics.size() == preset.fabrics.size();
  for (std::size_t i = 0; same && i < mine.fabrics.size(); ++i) {
    same = same_values(reflect(mine.fabrics[i]), reflect(preset.fabrics[i]));
  }
  return same ? device : device + " on changed fabrics";
}

}  // namespace sextant
