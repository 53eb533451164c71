// SPDX-License-Identifier: Apache-2.0
// How a measurement was taken, as far as it changes the number: what was in the cache, how long the
// device had been busy, and what the host added.
#pragma once

#include <string_view>

#include "sextant/units/units.hpp"

namespace sextant {

/// The network adapters of one node, where a measurement used others than its system's preset has.
struct Adapters {
  int count = 0;  ///< 0: as the preset says
  BytesPerSecond rate;
  double both_ways = 1;  ///< share of the rate that each direction keeps when both are busy
};

struct Protocol {
  double weight_copies = 0;  ///< copies of the weights used in turn; 0: always cold
  double repeats = 20;       ///< back-to-back runs, so the power controller sees that much load
  Seconds busy;              ///< or that long, however short a run is; 0: the repeats count
  Seconds host_backward;     ///< host time of a backward pass that was not captured in a graph
  Seconds eager;             ///< added to a collective that was not captured in a graph
  Adapters adapters;
  bool per_device = false;    ///< a rate is of one device, though the column says of all
  bool median_token = false;  ///< a time per token is the median token's, which no prompt delays
};

/// The protocol of a case, from its kind and the text of its source; unknown sources are cold.
Protocol protocol_of(std::string_view kind, std::string_view source);

/// The preset of the system that a source really measured, where it is not the one of that name.
std::string_view measured_system(std::string_view system, std::string_view source);

/// What the text of a case says of its network: "4x100Gb/s EFA" is four adapters of 12.5 GB/s.
Adapters adapters_of(std::string_view network, std::string_view system);

/// Share of the weights found in L2 when `weight_copies` of them are used in turn.
double weight_residency(const Protocol& protocol, Bytes weights, Bytes others, Bytes l2);

}  // namespace sextant
