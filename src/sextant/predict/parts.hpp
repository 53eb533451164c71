// SPDX-License-Identifier: Apache-2.0
// The kernels and collectives of each part of a model in one microbatch of training, on one rank.
// Internal to predict: a template over how operators are recorded, so that a search pays nothing
// for what only people read.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/predict/record.hpp"

namespace sextant::training {

/// Communication inside a layer.
enum class Exchange : std::uint8_t { tensor, context, expert, count };
constexpr auto names_of(Exchange) {
  return std::array<std::string_view, 3>{"tensor", "context", "expert"};
}

/// One pass of one microbatch.
struct Phase {
  Seconds compute;  ///< kernels
  Seconds weights;  ///< of these, weight gradients
  Table<Span, Exchange> exchange;
  double launches = 0;     ///< kernels and collectives that the host issues
  double collectives = 0;  ///< of these, tensor-parallel collectives
  Flops flops;
  Joules energy;  ///< beyond idling
  Joules memory;  ///< of that, traffic of device memory
  Joules links;   ///< what is sent to other devices

  Seconds time() const;
  void add(const Phase& other, double times);
};

/// Of a layer, or of the embedding or the head. Nothing in it depends on the number of replicas,
/// stages or microbatches, so that a search composes it once for all of them.
struct Part {
  Phase forward;
  Phase recompute;
  Phase backward;
  Phase once;        ///< a step, in its first forward pass: 8-bit copies of the weights
  Phase accumulate;  ///< of the backward pass, where gradients are added up in kernels of their own
  void add(const Part& other, double times);
};

/// Every part at one clock.
struct Parts {
  std::array<Part, graph::most_types> layers;  ///< by type
  Part embedding;
  Part head;
  Part tower;  ///< that makes tokens of images, its layers together
};

/// The parts that the model has. Explicitly instantiated for Silent and Recorder in parts.cpp.
template <class Trace>
void compose(const Problem& problem, const Strategy& strategy, const Widths& widths, Hertz clock,
             Trace& trace, Parts& parts);

}  // namespace sextant::training
