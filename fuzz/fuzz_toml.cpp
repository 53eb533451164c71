// SPDX-License-Identifier: Apache-2.0
// Any bytes as TOML: read into a device and a system, every problem reported, nothing else thrown;
// what was read is written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/read.hpp"
#include "sextant/io/write.hpp"

namespace {

template <class T>
void read_and_write(const sextant::Document& document) {
  T value;
  std::vector<sextant::Diagnostic> problems;
  sextant::read(document, document.root, value, problems, {.require = true});
  for (const sextant::Diagnostic& d : sextant::arranged(problems)) sextant::to_text(d);
  const std::string text = sextant::to_toml(sextant::write(value));
  const sextant::Document again = sextant::parse_toml(text, "again.toml");
  if (sextant::to_toml(again.root) != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const sextant::Document document =
        sextant::parse_toml(std::string(reinterpret_cast<const char*>(data), size), "fuzz.toml");
    read_and_write<sextant::Device>(document);
    read_and_write<sextant::System>(document);
    const std::string text = sextant::to_toml(document.root);
    if (sextant::to_toml(sextant::parse_toml(text, "again.toml").root) != text) std::abort();
    sextant::load_system(document, document.root, {}, sextant::Lookup::presets);
  } catch (const sextant::InputError&) {
  }
  return 0;
}
