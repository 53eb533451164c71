// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/block.hpp"

#include "sextant/cost/power.hpp"

namespace sextant {
namespace {

using namespace training;

void set_parts(const LayerMix& mix, const Parts& parts, Block& b) {
  b.layer = {};
  b.layer.add(parts.full, mix.full);
  b.layer.add(parts.windowed, mix.windowed);
  b.layer.add(parts.recurrent, mix.recurrent);
  b.layer.add(parts.dense, mix.dense);
  b.layer.add(parts.experts, mix.experts);
  b.embedding = parts.embedding;
  b.head = parts.head;
}

/// Power beyond idling while one microbatch goes through the whole model.
Watts demand_of(const Problem& p, const Strategy& s, const Block& b) {
  const double layers = p.model.layers;
  Part model = b.embedding;
  model.add(b.layer, layers);
  model.add(b.head, 1);
  const Phase& ahead = model.forward;
  Phase back = model.recompute;
  back.add(model.backward, 1);
  const Seconds time = paced(ahead.time(), host_time(p, s, ahead.launches, layers)) +
                       paced(back.time(), host_time(p, s, back.launches, layers));
  return (ahead.energy + back.energy) / time;
}

}  // namespace

Block block_of(const Problem& p, const Strategy& s) noexcept {
  const Chip& chip = p.chip;
  const Watts budget = dynamic_budget(chip);
  const LayerMix mix = average_layer(p);
  Block b;
  b.widths = widths_of(p, s);
  b.kept = kept_of(p, s, b.widths);
  b.clock = chip.clock;
  Silent silent;
  // The clock at which the model's load meets the power limit, exchange included: bubbles last
  // longer than the controller's memory, so they do not help.
  for (int i = 0;; ++i) {
    set_parts(mix, compose(p, s, b.widths, b.clock, silent), b);
    const Watts demand = demand_of(p, s, b);
    b.power = chip.idle + demand;
    if (i == 6 || demand <= budget * (i == 0 ? 1 : 1.002)) return b;
    b.clock = slowed(chip, b.clock, demand, budget);
  }
}

bool same_block(const Strategy& a, const Strategy& b) noexcept {
  const RecomputeModules& m = a.modules;
  const RecomputeModules& n = b.modules;
  return a.tp == b.tp && a.cp == b.cp && a.ep == b.ep && a.etp == b.etp && a.sp == b.sp &&
         a.context == b.context && a.microbatch == b.microbatch && a.recompute == b.recompute &&
         a.precision == b.precision && m.norms == n.norms && m.activation == n.activation &&
         m.mlp == n.mlp && m.experts == n.experts && m.latent == n.latent;
}

}  // namespace sextant
