// SPDX-License-Identifier: Apache-2.0
// What follows from a model's shape: defaults, contradictions, parameter counts.
#include "sextant/spec/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "sextant/spec/problems.hpp"

namespace sextant {
namespace {

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
    const int heads = a.global_heads > 0 ? a.global_heads : a.heads;
    const int kv_heads = a.global_kv_heads > 0 ? a.global_kv_heads : a.kv_heads;
    const bool apart = a.global_heads > 0 || a.global_kv_heads > 0;
    p.require(!apart || kv_heads <= 0 || heads % kv_heads == 0,
              a.global_kv_heads > 0 ? "attention.global_kv_heads" : "attention.global_heads",
              show(kv_heads) + " does not divide " + show(heads) + " heads");
    p.require(a.output_groups > 0 && a.heads % a.output_groups == 0, "attention.output_groups",
              show(a.output_groups) + " does not divide " + show(a.heads) + " heads");
  }
  const bool indexed = a.index_heads > 0;
  p.require(!indexed || a.kind == AttentionKind::latent, "attention.index_heads",
            "an indexer goes with latent attention", "give attention.kind = \"latent\"");
  p.require(indexed == (a.index_dim > 0) && indexed == (a.index_top > 0), "attention.index_heads",
            "an indexer needs index_heads, index_dim and index_top",
            "DeepSeek-V3.2 has 64, 128 and 2048");
  p.require(a.global_heads == 0 || a.kind == AttentionKind::grouped, "attention.global_heads",
            "goes with attention.kind = \"grouped\"");
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
            recurrent ? "" : "give hybrid.kind, such as mamba2 or gated-delta");
  p.require(r.recurrent_layers <= m.layers, "hybrid.recurrent_layers",
            "more than the " + show(m.layers) + " layers");
  p.require(!r.parallel || (r.kind == Recurrence::mamba2 && r.attention_layers == m.layers &&
                            r.recurrent_layers == m.layers),
            "hybrid.parallel", "every layer has attention and mamba2 then",
            "give hybrid.kind, hybrid.recurrent_layers and hybrid.attention_layers");
  p.require(r.parallel || r.attention_layers <= m.layers - r.recurrent_layers,
            "hybrid.attention_layers",
            "with the recurrent ones more than the " + show(m.layers) + " layers");
  p.require(r.mlp_layers <= m.layers, "hybrid.mlp_layers",
            "more than the " + show(m.layers) + " layers");
  const int mixing = r.parallel ? m.layers : r.attention_layers + r.recurrent_layers;
  p.require(
      mixing + r.mlp_layers >= m.layers, "layers",
      "of " + show(m.layers) + " layers only " + show(mixing + r.mlp_layers) +
          " have attention, a recurrence or an MLP",
      "give hybrid.recurrent_layers, hybrid.attention_layers and hybrid.mlp_layers with them");
  p.require(m.mlp != Mlp::none || (r.mlp_layers == 0 && m.experts.count == 0), "mlp",
            "none, yet hybrid.mlp_layers or experts are given");
  const bool selective = r.kind == Recurrence::mamba1;
  p.require(selective || r.dt_rank == 0, "hybrid.dt_rank", "goes with hybrid.kind = \"mamba1\"");
  p.require(selective || r.inner_norms == InnerNorms::none, "hybrid.inner_norms",
            "go with hybrid.kind = \"mamba1\"");
  p.require(r.kind == Recurrence::gated_delta || r.gate_rank == 0, "hybrid.gate_rank",
            "goes with hybrid.kind = \"gated-delta\"");
  p.require(!r.channel_gates || (r.kind == Recurrence::gated_delta && r.gate_rank == 0),
            "hybrid.channel_gates", "go with hybrid.kind = \"gated-delta\" without a gate_rank");
  if (!recurrent || r.kind == Recurrence::convolution) return;
  p.require(r.heads > 0, "hybrid.heads", "recurrent layers need it");
  p.require(r.head_dim > 0, "hybrid.head_dim", "recurrent layers need it");
  p.require(r.state > 0, "hybrid.state", "recurrent layers need it");
  p.require(r.groups > 0 && r.heads % r.groups == 0, "hybrid.groups",
            show(r.groups) + " does not divide " + show(r.heads) + " heads");
  p.require(!selective || (r.head_dim == 1 && r.groups == 1), "hybrid.head_dim",
            "channels of mamba1 are heads of dimension 1 in one group", "give hybrid.heads alone");
}

void check_vision(const Model& m, Problems& p) {
  const Vision& t = m.vision;
  if (t.layers == 0) {
    p.require(t.hidden == 0 && t.heads == 0 && t.cross_layers == 0, "vision.layers",
              "0 means no tower, yet other fields of it are set", "give vision.layers");
    return;
  }
  p.require(t.hidden > 0, "vision.hidden", "the width of the tower is needed");
  p.require(t.heads > 0, "vision.heads", "at least one is needed");
  p.require(t.mlp != Mlp::none, "vision.mlp", "layers of a tower have an MLP");
  p.require(t.heads <= 0 || t.head_dim > 0, "vision.head_dim",
            "hidden " + show(t.hidden) + " is not a multiple of " + show(t.heads) + " heads",
            "give vision.head_dim");
  p.require(t.window_layers == 0 || t.window > 0, "vision.window_layers", "there is no window",
            "give vision.window");
  p.require(t.window_layers <= t.layers, "vision.window_layers",
            "more than the " + show(t.layers) + " layers of the tower");
  p.require(t.image >= t.patch, "vision.image",
            show(t.image) + " pixels are less than a patch of " + show(t.patch));
  p.require(t.cross_layers < m.hybrid.attention_layers, "vision.cross_layers",
            "some layer must look at text; " + show(m.hybrid.attention_layers) +
                " layers have attention");
  p.require(t.cross_layers == 0 ||
                (m.attention.kind == AttentionKind::grouped && m.attention.window == 0 &&
                 m.experts.count == 0 && m.hybrid.kind == Recurrence::none),
            "vision.cross_layers", "they go with full attention and dense MLPs",
            "Llama 3.2 Vision has such layers");
}

}  // namespace

ImageShape image_shape(const Vision& t) {
  if (t.layers == 0) return {};
  // As Qwen's smart_resize rounds, to whole merged patches.
  const double unit = double(t.patch) * t.merge;
  const double edge = std::max(1.0, std::round(t.image / unit));
  const double tile = edge * edge * t.merge * t.merge + t.class_tokens;
  ImageShape s;
  s.sequence = t.joint ? t.tiles * tile : tile;
  s.sequences = t.joint ? 1 : t.tiles;
  // What cross-attention looks at keeps the class tokens; else they have done their work.
  s.tokens = t.tiles * (edge * edge + (t.cross_layers > 0 ? t.class_tokens : 0));
  return s;
}

double image_tokens(const Vision& t) { return t.cross_layers > 0 ? 0 : image_shape(t).tokens; }

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
  const bool has_mlp = m.mlp != Mlp::none;
  if (m.ffn == 0 && has_mlp) m.ffn = 4 * m.hidden;
  Hybrid& r = m.hybrid;
  if (r.kind == Recurrence::mamba1) {
    if (r.head_dim == 0) r.head_dim = 1;
    if (r.dt_rank == 0) r.dt_rank = (m.hidden + 15) / 16;
  }
  if (r.attention_layers == 0 && r.recurrent_layers <= m.layers) {
    r.attention_layers = r.parallel ? m.layers : m.layers - r.recurrent_layers;
  }
  if (r.mlp_layers == 0 && has_mlp) r.mlp_layers = m.layers;
  if (a.window > 0 && a.window_layers == 0) a.window_layers = r.attention_layers;
  Vision& t = m.vision;
  if (t.ffn == 0) t.ffn = 4 * t.hidden;
  if (t.head_dim == 0 && t.heads > 0 && t.hidden % t.heads == 0) t.head_dim = t.hidden / t.heads;
  if (t.window > 0 && t.window_layers == 0) t.window_layers = t.layers;
  if (t.layers > 0 && t.projector_in == 0) t.projector_in = t.hidden * t.merge * t.merge;
  if (t.projector == 0) t.projector = t.projector_in;
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
  n.cross = m.vision.cross_layers;
  return n;
}

bool one_branch_each(const Model& m) {
  const LayerCount n = count_layers(m);
  const int mixers = n.attention + (m.hybrid.parallel ? 0 : n.recurrent);
  const int mlps = n.dense + n.experts;
  return mixers + mlps == m.layers && mlps < m.layers;
}

std::vector<Diagnostic> check(const Model& m) {
  Problems p;
  const LayerCount layers = count_layers(m);
  check_hybrid(m, p);
  check_attention(m, layers, p);
  check_experts(m, m.hybrid.mlp_layers, p);
  check_vision(m, p);
  p.require(m.rest == Precision::bf16 || m.rest == Precision::fp8 || m.rest == Precision::int8,
            "rest", "expected what a checkpoint of narrow weights leaves", "bf16, fp8 or int8");
  p.require(m.wide_mlp_layers <= layers.dense, "wide_mlp_layers",
            "more than the " + show(layers.dense) + " layers with an ordinary MLP");
  p.require(m.position != Position::learned || m.max_context > 0, "max_context",
            "learned positions need it", "GPT-2 has 1024");
  return p.take();
}

}  // namespace sextant
