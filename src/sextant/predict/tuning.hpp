// SPDX-License-Identifier: Apache-2.0
// What of a model is trained: all of it, parts, or adapters beside frozen weights.
#pragma once

#include "sextant/graph/graph.hpp"
#include "sextant/predict/problem.hpp"
#include "sextant/spec/workload.hpp"

namespace sextant {

/// Bytes of a weight in NF4: a scale of 8 bits for a block of 64, and of fp32 for 256 of those
/// (arXiv 2305.14314, section 3).
inline constexpr double nf4_bytes = 0.5 + 1.0 / 64 + 4.0 / (64 * 256);

/// Values that share a scale in multiplies of this type (arXiv 2412.19437, section 3.3.2); 0 where
/// nobody asks for blocks, or the chip does not multiply in 8 bits.
inline double block_of_scales(const Chip& chip, Precision type, bool asked) {
  return asked && type == Precision::fp8 && chip.runs[type] == type ? 128 : 0;
}

/// The same in training. Sums in registers are at hand for it; chips that keep them elsewhere train
/// with scales of their own (Blackwell's MXFP8) or of whole rows (TPUs).
inline double training_block(const Problem& p, Precision type) {
  const bool in_registers = p.chip.matrix_rows <= 64;
  return block_of_scales(p.chip, type, p.model.block_training && in_registers);
}

/// Whether weights of layers are stored so.
inline bool is_packed(const Tuning& t) { return t.rank > 0 && t.adapter == Adapter::qlora; }

/// The type that training multiplies in. Nobody casts to a narrow type that the device cannot
/// multiply: it trains in the narrow type that runs in its place, or in 16 bits.
inline Precision trained_in(const Problem& p, const Strategy& s) {
  if (!narrow(s.precision)) return s.precision;
  const Precision runs = p.chip.runs[s.precision];
  return narrow(runs) ? runs : Precision::bf16;
}

/// Whether the type of the multiplies is all that layers' weights are kept in.
inline bool keeps_narrow(const Problem& p, const Strategy& s) {
  return p.runtime.footprint.narrow_weights && narrow(trained_in(p, s)) &&
         !is_packed(p.work.tuning);
}

/// Whether gradients of an operator's own weights are made.
inline bool is_trained(const Tuning& t, const graph::Operator& op) {
  if (t.rank > 0) return false;
  using enum graph::Bucket;
  switch (op.bucket) {
    case embedding:
    case per_layer_embedding:
      return !t.frozen.embedding;
    case attention:
    case recurrent:
      return !t.frozen.attention;
    case mlp:
    case shared:
      return !t.frozen.mlp;
    case experts:
    case router:
      return !t.frozen.experts;
    case norms:
      return !t.frozen.norms;
    case head:
      return !t.frozen.head;
    case vision:
      return !t.frozen.vision;
    case count:
      break;
  }
  return true;
}

/// Projections that have adapters: where none are named, all but those of routed experts.
inline Projections adapted(const Tuning& t) {
  if (t.rank == 0 || t.targets != Projections{}) return t.targets;
  return {.qkv = true, .output = true, .up = true, .down = true};
}

/// The rank of the adapter beside an operator; 0: there is none. Routed experts have some where
/// they are named; what is no projection of a layer has none.
inline double adapter_rank(const Tuning& t, const graph::Operator& op) {
  const Projections p = adapted(t);
  if (t.rank > 0 && op.kind == graph::Kind::experts) return p.experts ? t.rank : 0;
  if (t.rank == 0 || op.kind != graph::Kind::linear) return 0;
  const bool out = op.cut == graph::Cut::rows;
  bool has = false;
  switch (op.bucket) {
    case graph::Bucket::attention:
    case graph::Bucket::recurrent:
      has = out ? p.output : p.qkv;
      break;
    case graph::Bucket::mlp:
    case graph::Bucket::shared:
      has = out ? p.down : p.up;
      break;
    default:
      break;
  }
  return has ? t.rank : 0;
}

/// Parameters of that adapter on one of `ranks` tensor-parallel ranks: both thin matrices, and
/// DoRA's lengths. Of routed experts each has two of its own, into it and out of it, and all of
/// them count here.
inline double adapter_parameters(const Tuning& t, const graph::Operator& op, double ranks) {
  const double rank = adapter_rank(t, op);
  if (rank <= 0) return 0;
  if (op.kind == graph::Kind::experts) {
    const graph::Routed& r = op.routed;
    const double ffn = r.ffn / ranks;
    const double outs = r.halves * ffn + r.width;
    return r.count * (rank * (r.width + ffn + outs) + (t.adapter == Adapter::dora ? outs : 0));
  }
  const double groups = std::max(1.0, op.groups / ranks);
  const double lengths = t.adapter == Adapter::dora ? op.out.on(ranks) : 0;
  return groups * (rank * (op.in.on(ranks) + op.out.on(ranks)) + lengths);
}

/// Whether the backward pass needs what an operator took in: for gradients of its weights, or of an
/// adapter's.
inline bool needs_input(const Tuning& t, const graph::Operator& op) {
  return is_trained(t, op) || adapter_rank(t, op) > 0;
}

/// Whether everything is trained, as most models are.
inline bool trains_all(const Tuning& t) { return t.rank == 0 && t.frozen == Frozen{}; }

}  // namespace sextant
