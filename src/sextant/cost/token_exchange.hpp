// SPDX-License-Identifier: Apache-2.0
// Tokens to the ranks of their experts and back, by kernels made for it (DeepEP and its like): they
// write into each other's memory and know what goes to the same place.
#pragma once

#include "sextant/cost/collective.hpp"

namespace sextant {

struct TokenExchange {
  Group group;
  double tokens = 0;      ///< that a rank sends, or gets back
  double choices = 1;     ///< experts each goes to
  Bytes token;            ///< of one copy
  double most_nodes = 0;  ///< that a token reaches; 0: any
  /// Kernels of decoding: a copy for every choice straight to its rank. Others send one copy to a
  /// node, which hands it on inside.
  bool low_latency = false;
};
Seconds token_exchange(const Network& network, const TokenExchange& exchange);

/// Ranks of a group that meet without leaving the innermost network between nodes.
int group_inside(const Network& network, Group group);

}  // namespace sextant
