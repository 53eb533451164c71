// SPDX-License-Identifier: Apache-2.0
// What no strategy of a group can go below, from the parts that a prediction is made of: so that a
// search may leave the group alone. Each floor says why it holds; floor_test.cpp holds each against
// predictions of random strategies.
#pragma once

#include <array>

#include "sextant/predict/block.hpp"
#include "sextant/predict/mapping.hpp"

namespace sextant {

/// Kernels and exchange of one microbatch on its way through the whole model, at the highest clock:
/// whatever is recomputed, and however layers are dealt to stages. A lower clock makes kernels
/// longer, and what they hide is never more than what they take longer.
struct PassFloor {
  Seconds forward;
  Seconds backward;
  Seconds again;  ///< all layers computed again
  double forward_launches = 0;
  double backward_launches = 0;
  double again_launches = 0;
};
/// `beside`: exchange between experts may hide beside the compute of another microbatch.
PassFloor pass_floor(const Problem& problem, const Strategy& strategy, bool beside,
                     GemmMemo* memo = nullptr) noexcept;

/// Strategies that deal layers to stages alike and differ in how replicas share states.
struct ShapeFloor {
  Mapping least;     ///< of states each part's least, and replicas send each other nothing
  bool even = true;  ///< the stages hold all layers of the model, each once

  explicit ShapeFloor(const Problem& problem, const Mapping& first);
  void add(const Mapping& other);
};

/// A step, where `again` of a stage's layers are recomputed in full. The slowest of the stages
/// takes at least their average, T >= m·Σ t_i / p, no pace of a host is faster than its device, and
/// of what replicas send each other at least the cores show that it takes. `pass` is nothing where
/// the stages do not hold each layer once.
Seconds step_floor(const Problem& problem, const Strategy& strategy, const PassFloor* pass,
                   const Mapping& mapping, double again) noexcept;

/// Memory of a device, where recompute_layers is as the strategy has it: 1F1B holds the fewest
/// microbatches of all schedules, on every stage.
Bytes memory_floor(const Problem& problem, const Strategy& strategy, const Kept& kept,
                   const Mapping& mapping) noexcept;

}  // namespace sextant
