// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/sensitivity.hpp"

namespace sextant {
namespace {

void turn_compute(Chip& chip, double factor) {
  for (Flops& rate : chip.per_clock.values) rate *= factor;
  chip.width *= factor;
  chip.mechanism.feed /= factor;  // counted for each FLOP: the way in from L2 stays as it was
}

void turn_launch(Problem& p, double factor) {
  p.chip.mechanism.start_cycles *= factor;
  p.chip.mechanism.dispatch *= factor;
  p.runtime.launch.gap *= factor;
  p.runtime.launch.host *= factor;
  p.runtime.launch.graph_start *= factor;
}

void turn_host(Runtime& r, double factor) {
  r.host_per_step *= factor;
  r.host_per_microbatch *= factor;
  r.host_per_layer *= factor;
  r.host_per_optimizer *= factor;
  r.host_per_recompute *= factor;
}

}  // namespace

std::string_view meaning_of(Knob k) {
  constexpr Table<std::string_view, Knob> meanings = {
      {"DRAM bandwidth", "matrix rate", "L2 bandwidth", "link bandwidth", "link latency",
       "kernel launch", "host work", "power limit"}};
  return meanings[k];
}

Problem turned(const Problem& problem, Knob knob) {
  Problem p = problem;
  const double factor = 1 + turn_of(knob);
  switch (knob) {
    case Knob::dram:
      p.chip.bandwidth *= factor;
      break;
    case Knob::compute:
      turn_compute(p.chip, factor);
      break;
    case Knob::l2:
      p.chip.l2_per_clock *= factor;
      p.chip.mechanism.feed *= factor;
      break;
    case Knob::links:
      for (NetworkLevel& level : p.network.levels) {
        level.peak *= factor;
        level.rate *= factor;
      }
      break;
    case Knob::link_latency:
      for (NetworkLevel& level : p.network.levels) level.latency *= factor;
      break;
    case Knob::launch:
      turn_launch(p, factor);
      break;
    case Knob::host:
      turn_host(p.runtime, factor);
      break;
    case Knob::power:
      p.chip.power_limit *= factor;
      break;
    case Knob::count:
      break;
  }
  return p;
}

}  // namespace sextant
