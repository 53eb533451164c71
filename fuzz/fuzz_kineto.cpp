// SPDX-License-Identifier: Apache-2.0
// Any bytes as a profiler's trace, plain or packed, and what is said of it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sextant/io/kineto.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/profile/analyse.hpp"
#include "sextant/spec/diagnostic.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sextant::profile::Question question = [] {
    sextant::profile::Question q;
    q.attainable.chip = sextant::lower(sextant::load_device("h200-sxm"));
    q.attainable.libraries = {sextant::load_kernels("pytorch"), sextant::load_kernels("cudnn")};
    q.attainable.grouped = sextant::load_kernels("pytorch-grouped").experts;
    return q;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    sextant::profile::Recording recording =
        sextant::parse_kineto(std::make_unique<sextant::TextSource>(text), "fuzz.json");
    sextant::profile::analyse(recording, question);
  } catch (const sextant::InputError&) {
  }
  return 0;
}
