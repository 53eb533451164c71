// SPDX-License-Identifier: Apache-2.0
// What follows from a model's shape: defaults, contradictions, parameter counts.
#include "sextant/spec/model.hpp"

#include <cstdint>
#include <string>

#include "sextant/spec/problems.hpp"

namespace sextant {
namespace {

/// Matrices of one MLP and the vectors beside them.
double mlp_parameters(Mlp kind, double in, double width, bool bias) {
  const double ups = gated(kind) ? 2 : 1;
  return (ups + 1) * in * width + (bias ? ups * width + in : 0);
}

/// Shape of the attention in one kind of layer; layers with and without a window may differ.
struct HeadShape {
  double kv_heads;
  double head_dim;
  bool shared_kv;
};

/// Projections of queries and output: every layer has them, also one that reuses keys and values.
double query_output_parameters(const Model& m, const HeadShape& s) {
  const Attention& a = m.attention;
  const double width = a.heads * s.head_dim;
  const double queries = a.gate ? 2 * width : width;
  double sum = a.q_rank > 0 ? a.q_rank * (m.hidden + queries) : m.hidden * queries;
  sum += a.output_rank > 0
             ? width * a.output_rank + double(a.output_groups) * a.output_rank * m.hidden
             : width * m.hidden;
  if (a.qkv_bias) sum += queries;
  if (a.output_bias) sum += m.hidden;
  if (a.sinks) sum += a.heads;
  return sum;
}

double key_value_parameters(const Model& m, const HeadShape& s) {
  const double width = (s.shared_kv ? 1 : 2) * s.kv_heads * s.head_dim;
  return width * (m.hidden + (m.attention.qkv_bias ? 1 : 0));
}

double qk_norm_parameters(const Attention& a, const HeadShape& s) {
  if (a.qk_norm_wide) return (a.heads + s.kv_heads) * s.head_dim;
  return a.qk_norm ? 2 * s.head_dim : 0;
}

/// Grouped attention of all layers: a windowed and a global kind. Reuse of keys and values is
/// spread over both in proportion, which is how Gemma 3n and Gemma 4 place it.
void count_grouped(const Model& m, const LayerCount& layers, ParameterCount& n) {
  const Attention& a = m.attention;
  const bool differ = a.global_kv_heads > 0 || a.global_head_dim > 0 || a.global_shared_kv;
  const double own = layers.attention > 0 ? 1 - a.kv_shared_layers / double(layers.attention) : 0;
  auto add = [&](double count, const HeadShape& s) {
    n.attention += count * (query_output_parameters(m, s) + own * key_value_parameters(m, s));
    n.norms += count * (qk_norm_parameters(a, s) + a.q_rank);
  };
  const HeadShape local{double(a.kv_heads), double(a.head_dim), a.shared_kv};
  if (!differ) return add(layers.attention, local);
  add(layers.windowed, local);
  add(layers.attention - layers.windowed,
      {a.global_kv_heads > 0 ? double(a.global_kv_heads) : local.kv_heads,
       a.global_head_dim > 0 ? double(a.global_head_dim) : local.head_dim,
       a.shared_kv || a.global_shared_kv});
}

/// DeepSeek-V2, arXiv 2405.04434, section 2.1: W_DQ, W_UQ, W_DKV with W_KR, W_UK with W_UV, W_O.
void count_latent(const Model& m, const LayerCount& layers, ParameterCount& n) {
  const Attention& a = m.attention;
  const double h = m.hidden;
  const double heads = a.heads;
  const double queries = heads * (double(a.nope_dim) + a.rope_dim);
  double sum = a.q_rank > 0 ? a.q_rank * (h + queries) : h * queries;
  sum += h * (double(a.kv_rank) + a.rope_dim);
  sum += a.kv_rank * heads * (double(a.nope_dim) + a.value_dim);
  sum += heads * a.value_dim * h;
  if (a.qkv_bias) sum += (a.q_rank > 0 ? a.q_rank : queries) + a.kv_rank + a.rope_dim;
  if (a.output_bias) sum += h;
  n.attention += layers.attention * sum;
  n.norms += layers.attention * (double(a.q_rank) + a.kv_rank);
}

void count_recurrent(const Model& m, const LayerCount& layers, ParameterCount& n) {
  const Hybrid& r = m.hybrid;
  const double inner = double(r.heads) * r.head_dim;
  const double shared = 2.0 * r.groups * r.state;  // B and C, or queries and keys
  double sum = inner * m.hidden;                   // output projection
  switch (r.kind) {
    case Recurrence::none:
      return;
    case Recurrence::mamba2:
      // z, x, B, C, dt; convolution with bias over x, B, C; A, D, dt bias; the gated norm.
      sum += m.hidden * (2 * inner + shared + r.heads) + (inner + shared) * (r.conv + 1.0) +
             3.0 * r.heads + inner;
      break;
    case Recurrence::gated_delta:
      // q, k, v, z, beta, alpha; convolution over q, k, v; A, dt bias; a norm per head.
      sum += m.hidden * (2 * inner + shared + 2.0 * r.heads) + (inner + shared) * r.conv +
             2.0 * r.heads + r.head_dim;
      break;
  }
  n.recurrent += layers.recurrent * sum;
}

void count_mlps(const Model& m, const LayerCount& layers, ParameterCount& n) {
  const double h = m.hidden;
  n.mlp += (layers.dense - m.wide_mlp_layers) * mlp_parameters(m.mlp, h, m.ffn, m.mlp_bias);
  n.mlp += m.wide_mlp_layers * mlp_parameters(m.mlp, h, 2.0 * m.ffn, m.mlp_bias);
  const Experts& e = m.experts;
  if (e.count == 0) return;
  const double in = e.latent > 0 ? e.latent : h;
  n.experts += double(layers.experts) * e.count * mlp_parameters(m.mlp, in, e.ffn, e.bias);
  n.router += layers.experts * (e.count * (h + (e.router_bias ? 1 : 0)));
  if (e.latent > 0) n.shared += layers.experts * 2 * h * e.latent;
  if (e.shared > 0) {
    n.shared +=
        layers.experts * (mlp_parameters(m.mlp, h, e.shared_ffn, e.bias) + (e.shared_gate ? h : 0));
  }
}

void count_embeddings(const Model& m, ParameterCount& n) {
  const double h = m.hidden;
  const double width = m.embedding_width > 0 ? m.embedding_width : h;
  n.embedding = m.vocab * width;
  if (m.embedding_width > 0) n.embedding += 2 * h * width;  // in and out again
  if (m.position == Position::learned) n.embedding += m.max_context * h;
  n.head = (m.tied ? 0 : m.vocab * width) + (m.head_bias ? m.vocab : 0);
  if (m.per_layer_embedding > 0) {
    // Gemma 3n: a table, one projection of the embedding, then gate, projection and norm a layer.
    const double p = m.per_layer_embedding;
    n.per_layer_embedding = double(m.vocab) * m.layers * p;
    n.mlp += h * m.layers * p + m.layers * 2 * h * p;
    n.norms += p + m.layers * h;
  }
}

std::string show(int value) { return std::to_string(value); }

void check_attention(const Model& m, const LayerCount& layers, Problems& p) {
  const Attention& a = m.attention;
  p.require(a.heads > 0, "attention.heads", "at least one is needed");
  if (a.kind == AttentionKind::latent) {
    p.require(a.kv_rank > 0, "attention.kv_rank", "latent attention needs it",
              "DeepSeek-V3 has 512");
    p.require(a.nope_dim > 0, "attention.nope_dim", "latent attention needs it",
              "DeepSeek-V3 has 128");
    p.require(a.rope_dim > 0, "attention.rope_dim", "latent attention needs it",
              "DeepSeek-V3 has 64");
    p.require(a.value_dim > 0, "attention.value_dim", "latent attention needs it",
              "DeepSeek-V3 has 128");
  } else {
    p.require(a.head_dim > 0, "attention.head_dim",
              "hidden " + show(m.hidden) + " is not a multiple of " + show(a.heads) + " heads",
              "give head_dim");
    p.require(a.kv_heads > 0 && a.heads % a.kv_heads == 0, "attention.kv_heads",
              show(a.kv_heads) + " does not divide " + show(a.heads) + " heads");
    p.require(a.global_kv_heads == 0 || a.heads % a.global_kv_heads == 0,
              "attention.global_kv_heads",
              show(a.global_kv_heads) + " does not divide " + show(a.heads) + " heads");
    p.require(a.output_groups > 0 && a.heads % a.output_groups == 0, "attention.output_groups",
              show(a.output_groups) + " does not divide " + show(a.heads) + " heads");
  }
  p.require(a.window_layers == 0 || a.window > 0, "attention.window_layers", "there is no window",
            "give attention.window");
  p.require(a.window_layers <= layers.attention, "attention.window_layers",
            "more than the " + show(layers.attention) + " layers with attention");
  p.require(a.kv_shared_layers == 0 || a.kv_shared_layers < layers.attention,
            "attention.kv_shared_layers",
            "some layer must have keys and values of its own; " + show(layers.attention) +
                " layers have attention");
}

void check_experts(const Model& m, int mlp_layers, Problems& p) {
  const Experts& e = m.experts;
  if (e.count == 0) {
    p.require(e.topk == 0 && e.ffn == 0 && e.shared == 0 && e.dense_layers == 0, "experts.count",
              "0 means a dense model, yet other expert fields are set", "give experts.count");
    return;
  }
  p.require(e.topk >= 1 && e.topk <= e.count, "experts.topk",
            "expected 1 to " + show(e.count) + " (experts.count), not " + show(e.topk));
  p.require(e.ffn > 0, "experts.ffn", "the width of one expert is needed");
  p.require(e.shared == 0 || e.shared_ffn > 0, "experts.shared_ffn", "out of range");
  p.require(e.dense_layers <= mlp_layers, "experts.dense_layers",
            "more than the " + show(mlp_layers) + " layers with an MLP");
}

void check_hybrid(const Model& m, Problems& p) {
  const Hybrid& r = m.hybrid;
  const bool recurrent = r.kind != Recurrence::none;
  p.require(recurrent == (r.recurrent_layers > 0), "hybrid.recurrent_layers",
            recurrent ? "a hybrid needs at least one" : "hybrid.kind is none",
            recurrent ? "" : "give hybrid.kind: mamba2 or gated-delta");
  p.require(r.recurrent_layers <= m.layers, "hybrid.recurrent_layers",
            "more than the " + show(m.layers) + " layers");
  p.require(r.attention_layers <= m.layers - r.recurrent_layers, "hybrid.attention_layers",
            "with the recurrent ones more than the " + show(m.layers) + " layers");
  p.require(r.mlp_layers <= m.layers, "hybrid.mlp_layers",
            "more than the " + show(m.layers) + " layers");
  if (!recurrent) return;
  p.require(r.heads > 0, "hybrid.heads", "recurrent layers need it");
  p.require(r.head_dim > 0, "hybrid.head_dim", "recurrent layers need it");
  p.require(r.state > 0, "hybrid.state", "recurrent layers need it");
  p.require(r.groups > 0 && r.heads % r.groups == 0, "hybrid.groups",
            show(r.groups) + " does not divide " + show(r.heads) + " heads");
}

}  // namespace

void complete(Model& m) {
  Attention& a = m.attention;
  if (a.kv_heads == 0) a.kv_heads = a.heads;
  if (a.head_dim == 0) {
    if (a.kind == AttentionKind::latent) {
      a.head_dim = a.nope_dim + a.rope_dim;
    } else if (a.heads > 0 && m.hidden % a.heads == 0) {
      a.head_dim = m.hidden / a.heads;
    }
  }
  if (m.ffn == 0) m.ffn = 4 * m.hidden;
  Hybrid& r = m.hybrid;
  if (r.attention_layers == 0 && r.recurrent_layers <= m.layers) {
    r.attention_layers = m.layers - r.recurrent_layers;
  }
  if (r.mlp_layers == 0) r.mlp_layers = m.layers;
  if (a.window > 0 && a.window_layers == 0) a.window_layers = r.attention_layers;
  Experts& e = m.experts;
  if (e.shared > 0 && e.shared_ffn == 0) {
    const std::int64_t width = std::int64_t{e.shared} * e.ffn;
    if (width <= static_cast<std::int64_t>(count_limit)) e.shared_ffn = static_cast<int>(width);
  }
}

LayerCount count_layers(const Model& m) {
  LayerCount n;
  n.attention = m.hybrid.attention_layers;
  n.windowed = m.attention.window > 0 ? m.attention.window_layers : 0;
  n.recurrent = m.hybrid.recurrent_layers;
  n.dense = m.experts.count > 0 ? m.experts.dense_layers : m.hybrid.mlp_layers;
  n.experts = m.hybrid.mlp_layers - n.dense;
  return n;
}

ParameterCount count_parameters(const Model& m) {
  const LayerCount layers = count_layers(m);
  ParameterCount n;
  count_embeddings(m, n);
  if (m.attention.kind == AttentionKind::latent) {
    count_latent(m, layers, n);
  } else {
    count_grouped(m, layers, n);
  }
  count_recurrent(m, layers, n);
  count_mlps(m, layers, n);
  const double norms = double(m.layers) * m.norms_per_layer + 1 + (m.embedding_norm ? 1 : 0);
  n.norms += norms * m.hidden * (m.norm_bias ? 2 : 1);
  return n;
}

double active_parameters(const Model& m) {
  const ParameterCount n = count_parameters(m);
  const double idle =
      m.experts.count > 0 ? n.experts * (1 - double(m.experts.topk) / m.experts.count) : 0;
  return n.total() - n.per_layer_embedding - idle;
}

std::vector<Diagnostic> check(const Model& m) {
  Problems p;
  const LayerCount layers = count_layers(m);
  check_hybrid(m, p);
  check_attention(m, layers, p);
  check_experts(m, m.hybrid.mlp_layers, p);
  p.require(m.wide_mlp_layers <= layers.dense, "wide_mlp_layers",
            "more than the " + show(layers.dense) + " layers with an ordinary MLP");
  p.require(m.position != Position::learned || m.max_context > 0, "max_context",
            "learned positions need it", "GPT-2 has 1024");
  return p.take();
}

}  // namespace sextant
