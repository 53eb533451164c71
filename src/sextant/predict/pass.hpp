// SPDX-License-Identifier: Apache-2.0
// One pass of a served model on one rank, as serving composes it.
#pragma once

#include "sextant/predict/infer.hpp"

namespace sextant {

/// A pass with what a mixed batch adds: pieces of prompts beside the decoding sequences.
struct Tokens {
  double sequences = 0;  ///< on this rank, decoding or prompting alike
  double queries = 1;    ///< tokens of each
  double context = 1;
  double chunk = 0;          ///< tokens of pieces of prompts
  double chunk_context = 0;  ///< and what a piece looks at, itself included
  double pieces = 1;
  double images = 0;    ///< to make tokens of, on this rank
  double seen = 0;      ///< images that each sequence looks at
  Residence home = {};  ///< of weights and cache
  bool every_logit = false;
  double all() const { return sequences * queries + chunk; }
};

/// At the clock that power allows.
PassCost pass_over(const Problem& problem, const Strategy& strategy, const Tokens& tokens);

/// A rank's share of a shape, its weights and cache at home there.
Tokens tokens_of(const Problem& problem, const Strategy& strategy, const PassShape& shape,
                 const Residence& home);

/// Whether steps with prompts attend to what decodes beside them in the same launch.
bool joins_tokens(const Problem& problem);

/// A step with what the engine's host does for it, so many requests decoding and so many prompts:
/// the longer of the two shows, or both.
Seconds with_host(const Engine& engine, Seconds device, double decoding, double prompts) noexcept;

/// Decode steps from the first generated token to the last, averaged exactly: only attention
/// changes with the context.
struct MeanDecode {
  PassCost cost;
  double context = 0;  ///< in the middle
  Seconds there;       ///< what a pass takes at it
};
MeanDecode mean_decode(const Problem& problem, const Strategy& strategy, Tokens tokens,
                       double first, double steps);

}  // namespace sextant
