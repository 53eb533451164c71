// SPDX-License-Identifier: Apache-2.0
// How a case was measured: its own columns, over the habits of its source (presets/measurements).
#pragma once

#include <string>
#include <string_view>

#include "sextant/spec/measurement.hpp"
#include "sextant/units/units.hpp"

namespace sextant {

/// The habits of the source of a case; nothing is known of a source that no preset names.
const Measurement& measurement_of(std::string_view kind, std::string_view source,
                                  std::string_view dtype = {});

/// The preset of the system that was really measured, where it is not the one of that name.
std::string measured_system(const Measurement& measurement, const std::string& system);

/// What the text of a case says of its network ("4x100Gb/s EFA" is four adapters of 12.5 GB/s), or
/// its source of its systems.
Adapters adapters_of(const Measurement& measurement, std::string_view network,
                     std::string_view system);

/// How much such operands switch, over random ones, where a copy of the weights takes so much (0:
/// all are initialised).
double activity_of(const Protocol& protocol, Bytes weights);

/// Share of the weights found in the cache when all copies of them are used in turn.
double weight_residency(const Protocol& protocol, Bytes weights, Bytes others, Bytes l2);

}  // namespace sextant
