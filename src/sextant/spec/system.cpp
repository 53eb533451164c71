// SPDX-License-Identifier: Apache-2.0
// Contradictions in a system that the bounds of single fields cannot catch.
#include "sextant/spec/system.hpp"

#include "sextant/spec/problems.hpp"

namespace sextant {

std::vector<Diagnostic> check(const System& s) {
  Problems p;
  // Whom an outer fabric does not reach would be served by it all the same.
  for (std::size_t i = 1; i < s.fabrics.size(); ++i) {
    const int inner = s.fabrics[i - 1].reach;
    const int reach = s.fabrics[i].reach;
    p.require(reach >= inner, "fabrics[" + std::to_string(i) + "].reach",
              std::to_string(reach) + " devices, fewer than the " + std::to_string(inner) +
                  " of the fabric before",
              "innermost first");
  }
  for (const Diagnostic& d : check(s.device)) {
    p.require(false, "device." + d.field, d.message, d.hint);
  }
  return p.take();
}

}  // namespace sextant
