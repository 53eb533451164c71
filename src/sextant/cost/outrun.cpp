// SPDX-License-Identifier: Apache-2.0
#include "sextant/cost/outrun.hpp"

#include "sextant/units/format.hpp"

namespace sextant {

std::string outruns_cache(const Device& device, BytesPerSecond cache) {
  const BytesPerSecond rate = device.memory.bandwidth;
  if (device.mechanism.memory_efficiency * rate <= cache) return "";
  return "memory of " + format(rate) + " is faster than the cache that it crosses, " +
         format(cache) + ": the rest is never seen";
}

}  // namespace sextant
