// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/block.hpp"

#include "sextant/cost/power.hpp"
#include "sextant/predict/tuning.hpp"

namespace sextant {
namespace {

using namespace training;

/// Matrix multiply FLOPs of one token's forward pass, attention not halved for causality.
double forward_flops(const Problem& p) {
  const Model& m = p.model;
  const ParameterCount& n = p.parameters;
  const double images = p.work.images;
  double weights = n.attention + n.recurrent + n.mlp + n.shared + n.router;
  if (m.experts.count > 0) weights += n.experts * m.experts.topk / m.experts.count;
  weights += static_cast<double>(m.hidden) * m.vocab;
  double mixing = 0;
  for (const graph::Branch& b : p.graph.branches) {
    for (const graph::Operator& op : b.operators) {
      mixing += b.layers * graph::mixing_flops(op, p.work.seq, images);
      // Layers that look at images are passed over without any, and make keys of them alone.
      if (b.cross && (images == 0 || op.per_image > 0)) {
        weights -= b.layers * graph::multiplied(op);
      }
    }
  }
  return 2 * weights + mixing + images / p.work.seq * graph::image_flops(p.graph);
}

/// Of these, what multiplies with weights that are not trained; adapters count as weights that are.
double frozen_flops(const Problem& p) {
  const Tuning& t = p.work.tuning;
  if (trains_all(t)) return 0;
  const double images = p.work.images;
  double weights = 0;
  for (const std::vector<graph::Branch>* part : {&p.graph.branches, &p.graph.tower}) {
    for (const graph::Branch& b : *part) {
      for (const graph::Operator& op : b.operators) {
        if (is_trained(t, op) || (b.cross && images == 0)) continue;
        const double tokens = op.per_image > 0 ? images * op.per_image / p.work.seq : 1;
        weights += b.layers * tokens * graph::multiplied(op);
        // Of a frozen tower nothing goes back at all.
        if (op.bucket == graph::Bucket::vision) {
          weights += b.layers * tokens * (graph::multiplied(op) + graph::mixing_flops(op, 0));
        }
      }
    }
  }
  return 2 * weights;
}

double masked_flops(const Problem& p) {
  double masked = 0;
  for (const graph::Branch& b : p.graph.branches) {
    for (const graph::Operator& op : b.operators) {
      masked += b.layers * graph::masked_flops(op, p.work.seq);
    }
  }
  return masked;
}

double adapter_flops(const Problem& p) {
  if (p.work.tuning.rank == 0) return 0;
  double weights = 0;
  for (const graph::Branch& b : p.graph.branches) {
    for (const graph::Operator& op : b.operators) {
      // Of a token's experts alone.
      const graph::Routed& r = op.routed;
      const double used = op.kind == graph::Kind::experts ? r.topk / r.count : 1;
      weights += b.layers * used * adapter_parameters(p.work.tuning, op, 1);
    }
  }
  return 2 * weights;
}

/// Power beyond idling while one microbatch goes through the whole model.
Watts demand_of(const Problem& p, const Strategy& s, const Block& b) {
  const double layers = p.model.layers;
  const graph::TypeCount count = p.graph.all();
  Part model = b.parts.embedding;
  for (int t = 0; t < p.graph.type_count; ++t) {
    const auto at = static_cast<std::size_t>(t);
    model.add(b.parts.layers[at], count[at]);
  }
  model.add(b.parts.head, 1);
  model.add(b.parts.tower, 1);
  const Phase& ahead = model.forward;
  Phase back = model.recompute;
  back.add(model.backward, 1);
  const Seconds time = paced(ahead.time(), host_time(p, s, ahead.launches, layers)) +
                       paced(back.time(), host_time(p, s, back.launches, layers));
  return (ahead.energy + back.energy) / time;
}

}  // namespace

Block block_of(const Problem& p, const Strategy& s, GemmMemo* memo) noexcept {
  const Chip& chip = p.chip;
  const Watts budget = dynamic_budget(chip);
  Block b;
  b.widths = widths_of(p, s);
  b.flops = forward_flops(p) + adapter_flops(p);
  b.frozen = frozen_flops(p);
  b.masked = masked_flops(p);
  b.kept = kept_of(p, s, b.widths);
  b.clock = chip.clock;
  Silent silent{.memo = memo};
  // The clock at which the model's load meets the power limit, exchange included: bubbles last
  // longer than the controller's memory, so they do not help.
  for (int i = 0;; ++i) {
    compose(p, s, b.widths, b.clock, silent, b.parts);
    const Watts demand = demand_of(p, s, b);
    b.power = chip.idle + demand;
    if (i == 6 || demand <= budget * (i == 0 ? 1 : 1.002)) return b;
    b.clock = slowed(chip, b.clock, demand, budget);
  }
}

}  // namespace sextant
