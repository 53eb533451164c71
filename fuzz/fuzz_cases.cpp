// SPDX-License-Identifier: Apache-2.0
// Any bytes as a case file; what can be read is predicted, and every row is accounted for.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sextant/validate/validate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static sextant::Catalogue catalogue;
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto cases = sextant::read_cases(sextant::parse_csv(text, "fuzz.csv"));
    const auto results = sextant::validate(cases, catalogue);
    if (results.size() < cases.size()) std::abort();
    for (const sextant::CaseResult& r : results) {
      if (r.unsupported.empty() && !std::isfinite(r.predicted)) std::abort();
    }
  } catch (const sextant::InputError&) {
  }
  return 0;
}
