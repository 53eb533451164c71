// SPDX-License-Identifier: Apache-2.0
// Any bytes as JSON, and as a model's config.json; what was read is written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sextant/io/huggingface.hpp"
#include "sextant/io/node.hpp"
#include "sextant/spec/diagnostic.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const sextant::Document document =
        sextant::parse_json(std::string(reinterpret_cast<const char*>(data), size), "fuzz.json");
    const std::string text = sextant::to_json(document.root, 0);
    if (sextant::to_json(sextant::parse_json(text, "again.json").root, 0) != text) std::abort();
    sextant::Model model = sextant::model_from_hugging_face(document);
    sextant::complete(model);
    sextant::check(model);
  } catch (const sextant::InputError&) {
  }
  return 0;
}
