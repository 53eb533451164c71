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

}  // namespace sextant
