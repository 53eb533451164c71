// SPDX-License-Identifier: Apache-2.0
// How a measurement was taken, as far as it changes the number: what was in the cache, how long the
// device had been busy, and what the host added.
#pragma once

#include <string_view>

#include "sextant/units/units.hpp"

namespace sextant {

struct Protocol {
  double weight_copies = 0;  ///< copies of the weights used in turn; 0: always cold
  double repeats = 20;       ///< back-to-back runs, so the power controller sees that much load
  Seconds busy;              ///< or that long, however short a run is; 0: the repeats count
  Seconds host_backward;     ///< host time of a backward pass that was not captured in a graph
};

/// The protocol of a case, from its kind and the text of its source; unknown sources are cold.
Protocol protocol_of(std::string_view kind, std::string_view source);

/// Share of the weights found in L2 when `weight_copies` of them are used in turn.
double weight_residency(const Protocol& protocol, Bytes weights, Bytes others, Bytes l2);

}  // namespace sextant
