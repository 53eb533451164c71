// SPDX-License-Identifier: Apache-2.0
// Any bytes as TOML: read into everything that there are presets of, every problem reported,
// nothing else thrown; what was read is written and read again.
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

template <class... T>
void read_and_write_each(const sextant::Document& document) {
  (read_and_write<T>(document), ...);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const sextant::Document document =
        sextant::parse_toml(std::string(reinterpret_cast<const char*>(data), size), "fuzz.toml");
    using namespace sextant;
    read_and_write_each<Device, System, Model, Runtime, Kernels, CollectiveLibrary, LogicNode,
                        MemoryPart, LinkPart, CoreTemplate>(document);
    const std::string text = to_toml(document.root);
    if (to_toml(parse_toml(text, "again.toml").root) != text) std::abort();
    load_system(document, document.root, {}, Lookup::presets);
  } catch (const sextant::InputError&) {
  }
  return 0;
}
