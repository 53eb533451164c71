// SPDX-License-Identifier: Apache-2.0
// Any bytes as another tool's configuration, of each syntax: a scenario that reads back, or an
// InputError.
#include <cstdint>
#include <string>

#include "sextant/answer/import.hpp"
#include "sextant/spec/diagnostic.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sextant;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char* file : {"a.sh", "a.yaml", "a.json", "a.toml"}) {
    try {
      const Imported imported = import_text(text, file);
      import_text(scenario_file(imported), "b.toml");
    } catch (const InputError&) {
      continue;
    }
  }
  return 0;
}
