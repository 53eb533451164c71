// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/errors.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "sextant/io/embedded.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/read.hpp"
#include "sextant/io/reflect.hpp"

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

namespace {

bool same(const StructRef& a, const StructRef& b);

bool same(const Target& a, const Target& b) {
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        const T& y = std::get<T>(b);
        if constexpr (std::is_pointer_v<T>) {
          return *x == *y;
        } else if constexpr (std::is_same_v<T, QuantityRef>) {
          return *x.value == *y.value;
        } else if constexpr (std::is_same_v<T, EnumRef>) {
          return x.get(x.value) == y.get(y.value);
        } else if constexpr (std::is_same_v<T, StructRef>) {
          return same(x, y);
        } else {
          const std::size_t size = x.size(x.list);
          if (size != y.size(y.list)) return false;
          for (std::size_t i = 0; i < size; ++i) {
            if (!same(x.element(x.list, i).target, y.element(y.list, i).target)) return false;
          }
          return true;
        }
      },
      a);
}

/// Of two values of one type.
bool same(const StructRef& a, const StructRef& b) {
  const auto alike = [](const Slot& x, const Slot& y) { return same(x.target, y.target); };
  return std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), alike);
}

}  // namespace

std::string known_as(Device device) {
  const std::vector<std::string>& measured = measured_errors().devices;
  if (std::find(measured.begin(), measured.end(), device.name) == measured.end()) {
    return device.name;
  }
  Device preset = load_device(device.name, {}, Lookup::presets);
  device.memory.capacity = preset.memory.capacity;
  device.tier = preset.tier;
  return same(reflect(device), reflect(preset)) ? device.name : device.name + " as changed";
}

}  // namespace sextant
