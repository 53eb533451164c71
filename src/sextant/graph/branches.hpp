// SPDX-License-Identifier: Apache-2.0
// How the operators of a branch are made, and the branches that mix tokens. Internal to graph.
#pragma once

#include <utility>

#include "sextant/graph/graph.hpp"

namespace sextant::graph {

inline Width cut(double n) { return {.cut = n}; }
inline Width whole(double n) { return {.whole = n}; }

/// Makes the operators of one branch.
class BranchMaker {
 public:
  BranchMaker(const Model& m, std::string_view name, Module module = Module::none) : m_(m) {
    branch_.name = name;
    branch_.module = module;
  }

  Branch take() { return std::move(branch_); }

  Operator& add(Operator op) {
    branch_.operators.push_back(std::move(op));
    return branch_.operators.back();
  }

  /// A norm of the model's own kind over the residual stream.
  void norm(const char* name, bool input = true) {
    const double statistics = m_.norm == Norm::layernorm ? 8 : 4;  // fp32 mean and 1/σ
    Operator op{.kind = Kind::norm, .name = name, .out = whole(m_.hidden)};
    op.module = input ? Module::norms : Module::none;
    op.stream = m_.norm == Norm::layernorm ? StreamOp::layernorm : StreamOp::rmsnorm;
    op.bucket = Bucket::norms;
    op.weights = whole(m_.hidden * (m_.norm_bias ? 2.0 : 1.0));
    op.kept = {.wide = whole(m_.hidden), .bytes = whole(statistics)};
    add(op);
  }

  Operator& linear(const char* name, Cut how, Width in, Width out, Bucket bucket,
                   bool bias = false) {
    Operator op{.kind = Kind::linear, .name = name, .cut = how, .in = in, .out = out};
    op.bias = bias;
    op.bucket = bucket;
    const double rows = in.all() + (bias ? 1 : 0);
    if (how == Cut::whole) {
      op.weights = whole(rows * out.all());
    } else if (how == Cut::columns) {
      op.weights = {.cut = rows * out.cut, .kv = rows * out.kv, .kv_heads = out.kv_heads};
    } else {
      op.weights = cut(rows * out.all());
    }
    return add(op);
  }

  /// Numbers that stream: so many bytes an element, forward and backward.
  Operator& streamed(const char* name, StreamOp stream, Cut how, Width width, double ahead,
                     double back) {
    Operator op{.kind = Kind::elementwise, .name = name, .cut = how, .out = width};
    op.stream = stream;
    op.ahead = ahead;
    op.back = back;
    return add(op);
  }

  void residual() { add({.kind = Kind::residual, .name = "residual", .out = whole(m_.hidden)}); }

  /// Norms of the branch: the first before it, the others behind it.
  bool begin(int norms) {
    behind_ = std::max(0, norms - 1);
    if (norms > 0) norm("norm");
    return norms > 0;
  }
  void end() {
    for (int i = 0; i < behind_; ++i) norm("output norm", false);
    residual();
  }

  /// Up, activation, down. `input`: its norm's output is kept for it.
  void mlp(bool shared, double ffn, Bucket bucket, bool bias, bool input) {
    const double halves = gated(m_.mlp) ? 2 : 1;
    Operator& up = linear(shared ? "shared up" : "up", Cut::columns, whole(m_.hidden),
                          cut(halves * ffn), bucket, bias);
    up.after_norm = true;
    up.gated = gated(m_.mlp);
    up.kept = {.gate = cut(halves * ffn), .input = input};
    up.alone = input || shared;
    up.aside = shared;
    Operator act{.kind = Kind::activation, .cut = Cut::columns, .out = cut(ffn)};
    act.name = shared ? "shared activation" : "activation";
    act.module = Module::activation;
    act.gated = gated(m_.mlp);
    act.kept.operand = cut(ffn);
    act.aside = shared;
    add(act);
    Operator& down = linear(shared ? "shared down" : "down", Cut::rows, cut(ffn), whole(m_.hidden),
                            bucket, bias);
    down.last = !shared;
    down.aside = shared;
  }

 private:
  const Model& m_;
  Branch branch_;
  int behind_ = 0;
};

/// Multi-head and grouped attention. Layers that reuse keys and values of an earlier one have
/// neither projections nor a cache of them.
Branch grouped_attention(const Model& m, bool windowed, bool reuses, int norms);

/// DeepSeek-V2, arXiv 2405.04434, section 2.1: W_DQ, W_UQ, W_DKV with W_KR, W_UK with W_UV, W_O.
/// Down-projections are on every rank; up-projections are cut by heads.
Branch latent_attention(const Model& m, bool windowed, bool reuses, int norms);

/// Llama 3.2 Vision: text asks, what the tower made of images answers; its keys and values are made
/// once and kept. Positions play no part.
Branch cross_attention(const Model& m, int norms);

/// What mixes tokens in layers that have a recurrence.
Branch recurrence(const Model& m, int norms);

/// Falcon-H1 (arXiv 2507.22448, section 2.1): attention and a recurrence read one norm's output,
/// and what both make is added to the layer's input.
Branch side_by_side(const Model& m, Branch attention, Branch recurrence);

}  // namespace sextant::graph
