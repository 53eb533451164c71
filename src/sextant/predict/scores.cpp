// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/scores.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sextant/cost/gemm.hpp"
#include "sextant/cost/stream.hpp"

namespace sextant {

std::span<const ScorePiece> score_pieces(const Fusion& f, double heads, double element) {
  static constexpr std::array fused{ScorePiece{"softmax", StreamOp::gelu, 3, 4, 1}};
  static constexpr std::array cast{ScorePiece{"softmax in pieces", StreamOp::gelu, 30, 24, 9}};
  static constexpr std::array plain{ScorePiece{"scale and mask", StreamOp::add, 8, 4, 2},
                                    ScorePiece{"softmax", StreamOp::softmax, 4, 6, 1}};
  if (f.softmax_heads > 0 && std::fmod(heads, f.softmax_heads) == 0) return fused;
  if (element > 2) return plain;
  return cast;
}

KernelCost pieces(const Chip& chip, const Kernels& kernels, const Fusion& fusion,
                  const graph::Mixer& mixer, const MixerShape& shape, Clocks clocks) {
  const double element = activation_bytes(shape.type);
  const double heads = shape.batch * mixer.heads / shape.ranks;
  const double context = std::ceil(shape.context / fusion.cache_cells) * fusion.cache_cells;
  const auto product = [&](double n, double k) {
    const Gemm g{.m = shape.queries,
                 .n = n,
                 .k = k,
                 .batch = heads,
                 .type = shape.type,
                 .result_bytes = element};
    return gemm(chip, g, clocks.matrix);
  };
  const auto moved = [&](StreamOp op, double rows, double cols, double bytes) {
    return stream(chip, kernels.stream[op], following(moving(op, rows, cols, bytes, element)),
                  clocks.others);
  };
  KernelCost c = product(context, mixer.head_dim);
  // A pass of a mean has parts of sequences: their heads are whole.
  for (const ScorePiece& piece : score_pieces(fusion, std::ceil(heads), element)) {
    c = then(c, moved(piece.op, heads * shape.queries, context, piece.ahead));
  }
  c = then(c, product(mixer.value_dim, context));
  const double rows = heads * shape.queries;
  c = then(c, moved(StreamOp::copy, rows, mixer.value_dim, reorder_bytes));
  if (takes_packed(fusion)) return c;
  const double keys = shape.batch * std::max(1.0, mixer.kv_heads / shape.ranks) * context;
  c = then(c, moved(StreamOp::copy, rows, mixer.head_dim, reorder_bytes));
  return then(c, moved(StreamOp::copy, keys, mixer.head_dim + mixer.value_dim, reorder_bytes));
}

}  // namespace sextant
