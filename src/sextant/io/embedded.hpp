// SPDX-License-Identifier: Apache-2.0
// Files compiled into the program by sextant_embed() (cmake/SextantEmbed.cmake).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sextant {

struct EmbeddedFile {
  std::string_view path;                     ///< relative to the folder that was embedded
  std::span<const std::string_view> chunks;  ///< the text, in pieces that compilers accept

  std::string text() const {
    std::string out;
    for (const std::string_view chunk : chunks) out += chunk;
    return out;
  }
};

/// presets/**.toml
std::span<const EmbeddedFile> embedded_presets();
/// cases/*.csv: measurements that ship with the program
std::span<const EmbeddedFile> embedded_cases();

}  // namespace sextant
