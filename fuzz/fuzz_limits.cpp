// SPDX-License-Identifier: Apache-2.0
// Any bytes as what --fix or --limit says of a search: a smaller space, or a problem that can be
// told.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/search/constraints.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sextant;
  const std::vector<std::string> one = {std::string(reinterpret_cast<const char*>(data), size)};
  const std::vector<std::string> none;
  Flags flags;
  SearchSpace training;
  ServingSpace serving;
  for (const Constraints& c : {Constraints{one, none}, Constraints{none, one}}) {
    constrain(training, c, flags);
    constrain(serving, c, flags);
  }
  for (const Diagnostic& d : flags.problems) to_text(d);
  return 0;
}
