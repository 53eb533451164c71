// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/parts.hpp"

namespace sextant::training {

Seconds Phase::time() const {
  Seconds sum = compute;
  for (const Span& s : exchange.values) sum += s.exposed;
  return sum;
}

void Phase::add(const Phase& o, double times) {
  compute += times * o.compute;
  weights += times * o.weights;
  for (std::size_t i = 0; i < exchange.size; ++i) {
    exchange.values[i].busy += times * o.exchange.values[i].busy;
    exchange.values[i].exposed += times * o.exchange.values[i].exposed;
  }
  launches += times * o.launches;
  collectives += times * o.collectives;
  flops += times * o.flops;
  energy += times * o.energy;
  memory += times * o.memory;
  links += times * o.links;
}

void Part::add(const Part& o, double times) {
  forward.add(o.forward, times);
  recompute.add(o.recompute, times);
  backward.add(o.backward, times);
  once.add(o.once, times);
  accumulate.add(o.accumulate, times);
}

}  // namespace sextant::training
