// SPDX-License-Identifier: Apache-2.0
// Memory that is faster than the cache that all of it crosses.
#pragma once

#include <string>

#include "sextant/spec/device.hpp"

namespace sextant {

/// Says so, where a long stream is faster than `cache`; else nothing.
std::string outruns_cache(const Device& device, BytesPerSecond cache);

}  // namespace sextant
