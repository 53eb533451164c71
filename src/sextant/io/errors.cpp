// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/errors.hpp"

#include "sextant/io/embedded.hpp"
#include "sextant/io/read.hpp"

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

}  // namespace sextant
