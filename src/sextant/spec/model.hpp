// SPDX-License-Identifier: Apache-2.0
// The architecture of a language model, and what follows from it by counting.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/spec/describe.hpp"
#include "sextant/spec/device.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {

enum class Mlp : std::uint8_t { gelu, relu, squared_relu, swiglu, geglu, none };
constexpr auto names_of(Mlp) {
  return std::array<std::string_view, 6>{"gelu", "relu", "squared-relu", "swiglu", "geglu", "none"};
}
constexpr bool gated(Mlp m) { return m == Mlp::swiglu || m == Mlp::geglu; }

enum class Norm : std::uint8_t { layernorm, rmsnorm };
constexpr auto names_of(Norm) { return std::array<std::string_view, 2>{"layernorm", "rmsnorm"}; }

enum class Position : std::uint8_t { rope, learned, alibi, none };
constexpr auto names_of(Position) {
  return std::array<std::string_view, 4>{"rope", "learned", "alibi", "none"};
}

enum class AttentionKind : std::uint8_t { grouped, latent };
constexpr auto names_of(AttentionKind) {
  return std::array<std::string_view, 2>{"grouped", "latent"};
}

/// Attention of one layer: multi-head, grouped (GQA, MQA) or latent (MLA).
struct Attention {
  AttentionKind kind = AttentionKind::grouped;
  int heads = 1;
  int kv_heads = 0;       ///< 0: as many as heads
  int head_dim = 0;       ///< 0: hidden / heads; latent: nope + rope
  int window = 0;         ///< sliding window in tokens, 0: none
  int window_layers = 0;  ///< layers that use the window (the others see everything); 0: all
  bool qkv_bias = false;
  bool output_bias = false;
  bool qk_norm = false;       ///< a norm per head on queries and keys
  bool qk_norm_wide = false;  ///< that norm spans all heads (OLMo 2, MiniMax-M2)
  bool sinks = false;         ///< a learned logit per head (gpt-oss)
  bool gate = false;          ///< an output gate as wide as the queries (Qwen3-Next)
  bool head_gate = false;     ///< an output gate of one number a head (Step-3.5, Ling 3)
  bool shared_kv = false;     ///< keys are also the values: one projection, one cache
  int kv_shared_layers = 0;   ///< layers that reuse keys and values of an earlier one (Gemma 3n, 4)
  // Layers without the window may be shaped differently (Gemma 4). Zero: as the others.
  int global_heads = 0;  ///< (Step-3.5)
  int global_kv_heads = 0;
  int global_head_dim = 0;
  bool global_shared_kv = false;
  // Low-rank projections (DeepSeek).
  int q_rank = 0;       ///< query compression, 0: none
  int output_rank = 0;  ///< of each output group, 0: none (DeepSeek-V4)
  int output_groups = 1;
  // Latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1).
  int kv_rank = 0;
  int nope_dim = 0;
  int rope_dim = 0;
  int value_dim = 0;  ///< grouped: 0 is as of keys
  // A lightning indexer chooses the tokens that latent attention looks at (DeepSeek-V3.2).
  int index_heads = 0;  ///< 0: attention looks at all
  int index_dim = 0;
  int index_top = 0;  ///< tokens a query looks at
};
template <class V>
void describe(V& v, Attention& a) {
  v("kind", a.kind, {.help = "grouped (MHA, GQA, MQA) or latent (MLA)"});
  v("heads", a.heads, {.help = "query heads", .required = true, .min = 1, .max = 1e6});
  v("kv_heads", a.kv_heads, {.help = "key-value heads; 0: as many as heads", .max = 1e6});
  v("head_dim", a.head_dim, {.help = "0: hidden / heads", .max = 1e6});
  v("window", a.window, {.help = "sliding window in tokens; 0: none", .max = count_limit});
  v("window_layers", a.window_layers, {.help = "layers that use the window; 0: all", .max = 1e5});
  v("qkv_bias", a.qkv_bias, {.help = "biases on q, k, v"});
  v("output_bias", a.output_bias, {.help = "bias on the output projection"});
  v("qk_norm", a.qk_norm, {.help = "a norm per head on queries and keys"});
  v("qk_norm_wide", a.qk_norm_wide, {.help = "that norm spans all heads"});
  v("sinks", a.sinks, {.help = "a learned logit per head"});
  v("gate", a.gate, {.help = "an output gate as wide as the queries"});
  v("head_gate", a.head_gate, {.help = "an output gate of one number a head"});
  v("shared_kv", a.shared_kv, {.help = "keys are also the values"});
  v("kv_shared_layers", a.kv_shared_layers,
    {.help = "layers that reuse keys and values of an earlier one", .max = 1e5});
  v("global_heads", a.global_heads,
    {.help = "query heads of layers without the window; 0: as the others", .max = 1e6});
  v("global_kv_heads", a.global_kv_heads,
    {.help = "key-value heads of layers without the window; 0: as the others", .max = 1e6});
  v("global_head_dim", a.global_head_dim,
    {.help = "head dimension of layers without the window; 0: as the others", .max = 1e6});
  v("global_shared_kv", a.global_shared_kv,
    {.help = "keys are also the values in layers without the window"});
  v("q_rank", a.q_rank, {.help = "rank of the queries; 0: full", .max = 1e6});
  v("output_rank", a.output_rank,
    {.help = "rank of the output projection of one group; 0: full", .max = 1e6});
  v("output_groups", a.output_groups,
    {.help = "groups of heads with an output projection each", .min = 1, .max = 1e6});
  v("kv_rank", a.kv_rank, {.help = "latent: rank of keys and values", .max = 1e6});
  v("nope_dim", a.nope_dim, {.help = "latent: head dimension without position", .max = 1e6});
  v("rope_dim", a.rope_dim, {.help = "latent: head dimension with position", .max = 1e6});
  v("value_dim", a.value_dim,
    {.help = "head dimension of values; 0: as of keys, where attention is grouped", .max = 1e6});
  v("index_heads", a.index_heads,
    {.help = "latent: heads of the indexer that chooses tokens; 0: none", .max = 1e6});
  v("index_dim", a.index_dim, {.help = "their dimension", .max = 1e6});
  v("index_top", a.index_top, {.help = "tokens a query looks at", .max = count_limit});
}

/// Mixture of experts. `count` 0 means a dense model.
struct Experts {
  int count = 0;
  int topk = 0;
  int shared = 0;        ///< experts every token passes
  int ffn = 0;           ///< width of one routed expert
  int shared_ffn = 0;    ///< width of all shared experts together; 0: shared * ffn
  int dense_layers = 0;  ///< layers with an ordinary MLP instead
  bool spread = false;   ///< these lie between the others, not before them (Llama 4, Jamba)
  int latent = 0;        ///< routed experts act on a projection of this width; 0: on hidden
  bool bias = false;     ///< biases in the experts (gpt-oss)
  bool router_bias = false;
  bool shared_gate = false;  ///< a sigmoid gate on the shared experts (Qwen2-MoE)
  int most_nodes = 0;        ///< that a token's experts lie on (DeepSeek-V3); 0: any
  int redundant = 0;         ///< copies of popular ones that are held beside them, when served
  double imbalance = 1;      ///< tokens of the busiest rank over the mean
  double skew = 0.7;         ///< spread of the experts' popularity over its mean, when served
};
template <class V>
void describe(V& v, Experts& e) {
  v("count", e.count, {.help = "routed experts; 0: dense", .max = 1e6});
  v("topk", e.topk, {.help = "experts a token is sent to", .max = 1e6});
  v("shared", e.shared, {.help = "experts every token passes", .max = 1e6});
  v("ffn", e.ffn, {.help = "width of one routed expert", .max = count_limit});
  v("shared_ffn", e.shared_ffn,
    {.help = "width of all shared experts together; 0: shared * ffn", .max = count_limit});
  v("dense_layers", e.dense_layers, {.help = "layers with an ordinary MLP", .max = 1e5});
  v("spread", e.spread, {.help = "they lie evenly between the others, not before them"});
  v("latent", e.latent,
    {.help = "width of the projection routed experts act on; 0: hidden", .max = 1e7});
  v("bias", e.bias, {.help = "biases in the experts"});
  v("router_bias", e.router_bias, {.help = "a bias per expert in the router"});
  v("shared_gate", e.shared_gate, {.help = "a gate on the shared experts"});
  v("most_nodes", e.most_nodes,
    {.help = "nodes that a token's experts may lie on; 0: any", .max = 1e6});
  v("redundant", e.redundant,
    {.help = "copies of popular experts held beside them, when served", .max = 1e6});
  v("imbalance", e.imbalance,
    {.help = "tokens of the busiest rank over the mean", .min = 1, .max = 1e3});
  v("skew", e.skew,
    {.help = "standard deviation of the experts' popularity over its mean, when served; training "
             "balances it",
     .max = 10});
}

/// Experts that ranks hold when they serve: each once, and copies.
constexpr int served(const Experts& e) { return e.count + e.redundant; }

/// What mixes tokens in the layers of a hybrid that have no attention.
enum class Recurrence : std::uint8_t {
  none,
  mamba1,
  mamba2,
  gated_delta,
  lightning,   ///< linear attention that decays by a constant of each head (MiniMax-01)
  convolution  ///< a short convolution between two gates, without a state (LFM2)
};
constexpr auto names_of(Recurrence) {
  return std::array<std::string_view, 6>{"none",        "mamba1",    "mamba2",
                                         "gated-delta", "lightning", "convolution"};
}

/// RMS norms of the time steps, of B and of C.
enum class InnerNorms : std::uint8_t { none, bare, weighted };
constexpr auto names_of(InnerNorms) {
  return std::array<std::string_view, 3>{"none", "bare", "weighted"};
}

/// Layers that are not attention followed by an MLP: state-space models (Mamba, arXiv 2312.00752,
/// and Mamba-2, arXiv 2405.21060), linear attention (gated DeltaNet, arXiv 2412.06464, Kimi's of
/// it, arXiv 2510.26692, and lightning attention, arXiv 2501.08313), or parts left out by pruning.
struct Hybrid {
  Recurrence kind = Recurrence::none;
  int recurrent_layers = 0;
  int attention_layers = 0;    ///< 0: all that are not recurrent
  int mlp_layers = 0;          ///< layers with an MLP or experts; 0: every layer
  bool parallel = false;       ///< attention and recurrence side by side in a layer (Falcon-H1)
  int heads = 0;               ///< of the state (gated-delta: value heads; mamba1: channels)
  int head_dim = 0;            ///< mamba1: 1
  int state = 0;               ///< state size (gated-delta: dimension of a key head)
  int groups = 1;              ///< groups that share B and C (gated-delta: key heads)
  int conv = 4;                ///< taps of the short convolution
  int gate_rank = 0;           ///< gated-delta: gates of every channel, of this rank; 0: of heads
  bool channel_gates = false;  ///< gated-delta: gates of every channel, of full rank (Ling 3)
  // Mamba-1 alone: every channel has a time step of its own, projected from a few numbers.
  int dt_rank = 0;                            ///< 0: a sixteenth of hidden
  InnerNorms inner_norms = InnerNorms::none;  ///< weighted: Jamba; bare: Falcon Mamba
};
template <class V>
void describe(V& v, Hybrid& h) {
  v("kind", h.kind, {.help = "what recurrent layers are"});
  v("recurrent_layers", h.recurrent_layers,
    {.help = "layers with a recurrence", .max = 1e5, .axis = {.serves = true}});
  v("attention_layers", h.attention_layers,
    {.help = "layers with attention; 0: all that are not recurrent", .max = 1e5});
  v("mlp_layers", h.mlp_layers,
    {.help = "layers with an MLP or experts; 0: every layer", .max = 1e5});
  v("parallel", h.parallel,
    {.help = "layers with a recurrence have attention beside it, of the same input"});
  v("heads", h.heads,
    {.help = "heads of the state (gated-delta: value heads; mamba1: channels)", .max = 1e6});
  v("head_dim", h.head_dim, {.help = "their dimension; mamba1: 1", .max = 1e6});
  v("state", h.state, {.help = "state size (gated-delta: key dimension)", .max = 1e6});
  v("groups", h.groups,
    {.help = "groups that share B and C (gated-delta: key heads)", .min = 1, .max = 1e6});
  v("conv", h.conv, {.help = "taps of the short convolution", .min = 1, .max = 1e3});
  v("gate_rank", h.gate_rank,
    {.help = "gated-delta: rank of the gates, where every channel has its own; 0: heads have them",
     .max = 1e6});
  v("channel_gates", h.channel_gates,
    {.help = "gated-delta: every channel has gates of its own, of full rank"});
  v("dt_rank", h.dt_rank,
    {.help = "mamba1: rank of the time steps; 0: a sixteenth of hidden", .max = 1e6});
  v("inner_norms", h.inner_norms,
    {.help = "mamba1: RMS norms of time steps, B and C, with weights or bare"});
}

/// A tower that makes tokens of images, or what cross-attention looks at: a transformer over
/// patches, whose tokens all see each other, and a projector into the language model. An image is
/// of about a megapixel where a family takes images as they are: 1024 by 1024 pixels.
struct Vision {
  int layers = 0;  ///< 0: there is no tower
  int hidden = 0;
  int ffn = 0;
  int heads = 0;
  int head_dim = 0;  ///< 0: hidden / heads
  Mlp mlp = Mlp::gelu;
  Norm norm = Norm::layernorm;
  int norms_per_layer = 2;
  bool qk_norm = false;
  bool attention_bias = true;
  bool mlp_bias = true;
  int window = 0;         ///< patches of a block that see each other alone; 0: all do
  int window_layers = 0;  ///< layers that look at blocks; 0: all
  // What an image is made into.
  int image = 1024;  ///< edge in pixels, of an image or of each of its tiles
  int tiles = 1;
  bool joint = false;  ///< tiles of an image see each other (Llama 3.2)
  int patch = 14;      ///< edge in pixels
  int frames = 1;      ///< of a video that a patch spans (Qwen: 2, an image counts twice)
  bool patch_bias = false;
  int class_tokens = 0;  ///< beside the patches of a tile
  int positions = 0;     ///< learned, in rows as wide as the tower
  int norms = 0;         ///< before and behind the layers
  // On the way into the language model.
  int merge = 1;             ///< patches an edge of what becomes one token
  int projector_layers = 1;  ///< multiplies
  int projector_in = 0;      ///< width of what comes in; 0: the merged patches side by side
  int projector = 0;         ///< width between them; 0: as what comes in
  bool projector_bias = false;
  int projectors = 1;    ///< of several depths (Qwen3-VL)
  int cross_layers = 0;  ///< layers of the language model that look at images instead of text
};
template <class V>
void describe(V& v, Vision& t) {
  v("layers", t.layers, {.help = "layers of the tower; 0: there is none", .max = 1e4});
  v("hidden", t.hidden, {.help = "its width", .max = 1e6});
  v("ffn", t.ffn, {.help = "width of its MLP; 0: 4 * hidden", .max = count_limit});
  v("heads", t.heads, {.help = "heads of its attention", .max = 1e6});
  v("head_dim", t.head_dim, {.help = "their dimension; 0: hidden / heads", .max = 1e6});
  v("mlp", t.mlp, {.help = "activation of its MLP"});
  v("norm", t.norm, {.help = "kind of its norms"});
  v("norms_per_layer", t.norms_per_layer, {.help = "norms a layer", .max = 8});
  v("qk_norm", t.qk_norm, {.help = "a norm per head on queries and keys"});
  v("attention_bias", t.attention_bias, {.help = "biases in its attention"});
  v("mlp_bias", t.mlp_bias, {.help = "biases in its MLP"});
  v("window", t.window, {.help = "patches of a block that see each other; 0: all", .max = 1e8});
  v("window_layers", t.window_layers, {.help = "layers that look at blocks; 0: all", .max = 1e4});
  v("image", t.image,
    {.help = "edge in pixels of an image, or of each of its tiles", .min = 1, .max = 1e5});
  v("tiles", t.tiles, {.help = "tiles of an image, its overview included", .min = 1, .max = 1e4});
  v("joint", t.joint, {.help = "the tiles of an image see each other"});
  v("patch", t.patch, {.help = "edge of a patch in pixels", .min = 1, .max = 1e4});
  v("frames", t.frames, {.help = "frames that a patch spans", .min = 1, .max = 64});
  v("patch_bias", t.patch_bias, {.help = "a bias where patches are embedded"});
  v("class_tokens", t.class_tokens, {.help = "tokens beside the patches of a tile", .max = 1e4});
  v("positions", t.positions, {.help = "learned positions, in rows of the tower", .max = 1e8});
  v("norms", t.norms, {.help = "norms before and behind the layers", .max = 8});
  v("merge", t.merge, {.help = "patches an edge that become one token", .min = 1, .max = 16});
  v("projector_layers", t.projector_layers,
    {.help = "multiplies on the way into the language model", .max = 8});
  v("projector_in", t.projector_in,
    {.help = "width of what is projected; 0: merged patches side by side", .max = 1e7});
  v("projector", t.projector,
    {.help = "width between the multiplies; 0: as what is projected", .max = 1e7});
  v("projector_bias", t.projector_bias, {.help = "biases in the projector"});
  v("projectors", t.projectors, {.help = "projectors, of as many depths", .min = 1, .max = 64});
  v("cross_layers", t.cross_layers,
    {.help = "layers of the language model that look at images; 0: images are tokens of the prompt",
     .max = 1e4});
}

/// What an image is to a completed tower.
struct ImageShape {
  double sequence = 0;   ///< patches that see each other
  double sequences = 0;  ///< of them, an image
  double tokens = 0;     ///< that reach the language model
  double patches() const { return sequence * sequences; }
};
ImageShape image_shape(const Vision& vision);

/// Tokens that an image adds to a prompt; none where cross-attention looks at it.
double image_tokens(const Vision& vision);

/// What a quantised checkpoint says of its cache: scales for 8 bits, or none.
enum class CheckpointCache : std::uint8_t { unsaid, wide, narrow };
constexpr auto names_of(CheckpointCache) {
  return std::array<std::string_view, 3>{"unsaid", "wide", "narrow"};
}

/// What of a checkpoint of narrow weights is narrow; for the rest, see Model::rest.
enum class Narrow : std::uint8_t {
  layers,   ///< all of them but routers and norms
  outputs,  ///< MLPs and attention's way out, whose other projections stay (DeepSeek-R1-FP4-v2)
  mlps,     ///< attention stays as it was trained (NVIDIA's first NVFP4 of DeepSeek-R1)
  experts,  ///< all stays but the routed experts (gpt-oss, Kimi K2 Thinking)
};
constexpr auto names_of(Narrow) {
  return std::array<std::string_view, 4>{"layers", "outputs", "mlps", "experts"};
}

struct Model {
  std::string name;
  std::string family;
  std::string notes;
  int layers = 1;
  int hidden = 1;
  int ffn = 0;                ///< width of the dense MLP; 0: 4 * hidden
  int wide_mlp_layers = 0;    ///< layers whose MLP is twice as wide (Gemma 4 E2B)
  int prediction_layers = 0;  ///< beside these: of a checkpoint that predicts further tokens (MTP)
  int vocab = 1;
  int max_context = 0;  ///< 0: unknown
  Mlp mlp = Mlp::gelu;
  bool mlp_bias = false;
  Norm norm = Norm::layernorm;
  bool norm_bias = false;
  int norms_per_layer = 2;
  bool embedding_norm = false;
  int embedding_width = 0;      ///< 0: hidden; else projected to hidden and back (OPT-350m)
  int per_layer_embedding = 0;  ///< width of a second embedding every layer has (Gemma 3n, 4)
  Position position = Position::rope;
  bool tied = false;  ///< the output head is the input embedding
  bool head_bias = false;
  bool parallel_block = false;  ///< attention and MLP read the same input
  Attention attention;
  Experts experts;
  Hybrid hybrid;
  Vision vision;
  Precision stored =
      Precision::bf16;               ///< of the published weights; served so unless told otherwise
  Narrow narrow = Narrow::layers;    ///< of the published weights, or of those made narrower
  Precision rest = Precision::bf16;  ///< of what `narrow` leaves
  Activations activations = Activations::usual;  ///< what the narrow weights are multiplied with
  /// 8-bit checkpoints scale blocks of 128 values, of activations too: a kernel of its own makes
  /// those, where one scale a tensor can be known before and folded into the kernel before.
  bool block_scales = false;
  bool block_training = false;  ///< and in 8 bits it is trained so
  /// 4-bit floats that share a scale of 8 bits: 16 of NVFP4, 32 of MXFP4.
  int fp4_block = 16;
  CheckpointCache cache = CheckpointCache::unsaid;
  double published_parameters = 0;  ///< what the authors state; 0: unknown
  double published_active = 0;
};
/// Whether `narrow` holds for weights of a type. Blocks of 128 are of all layers, and so are 8 bits
/// where what has fewer leaves 8; what was made narrower than that afterwards leaves more.
inline bool leaves_some(const Model& m, Precision type) {
  const bool all_of_8_bits = m.block_scales || narrow(m.rest);
  return narrow(type) && !(all_of_8_bits && element_bytes(type) == 1);
}
template <class V>
void describe(V& v, Model& m) {
  v("name", m.name, {.help = "preset name", .inert = "a name"});
  v("family", m.family, {.help = "for people", .inert = "for people"});
  v("notes", m.notes, {.help = "remarks", .inert = "a remark"});
  v("layers", m.layers, {.help = "transformer layers", .required = true, .min = 1, .max = 1e4});
  v("hidden", m.hidden, {.help = "model width", .required = true, .min = 1, .max = 1e7});
  v("ffn", m.ffn, {.help = "width of the MLP; 0: 4 * hidden", .max = count_limit});
  v("wide_mlp_layers", m.wide_mlp_layers,
    {.help = "layers whose MLP is twice as wide", .max = 1e5});
  v("prediction_layers", m.prediction_layers,
    {.help = "beside the others, each predicting one token further: trained unless --predict-ahead "
             "says otherwise, and what drafts tokens",
     .max = 16});
  v("vocab", m.vocab, {.help = "vocabulary", .required = true, .min = 1, .max = count_limit});
  v("max_context", m.max_context,
    {.help = "longest context; 0: unknown",
     .max = count_limit,
     .inert = "limits what may be asked"});
  v("mlp", m.mlp,
    {.help = "activation of the MLP; swiglu and geglu are gated; none: no layer has an MLP"});
  v("mlp_bias", m.mlp_bias, {.help = "biases in the MLP"});
  v("norm", m.norm, {.help = "kind of norm"});
  v("norm_bias", m.norm_bias, {.help = "norms have a bias"});
  v("norms_per_layer", m.norms_per_layer, {.help = "norms of width hidden a layer", .max = 8});
  v("embedding_norm", m.embedding_norm, {.help = "a norm after the embedding"});
  v("embedding_width", m.embedding_width,
    {.help = "width of the embedding, projected to hidden; 0: hidden", .max = 1e7});
  v("per_layer_embedding", m.per_layer_embedding,
    {.help = "width of a second embedding every layer has; 0: none", .max = 1e6});
  v("position", m.position, {.help = "position encoding"});
  v("tied", m.tied, {.help = "the output head is the input embedding"});
  v("head_bias", m.head_bias, {.help = "the output head has a bias"});
  v("parallel_block", m.parallel_block, {.help = "attention and MLP read the same input"});
  v("attention", m.attention, {.help = "attention of a layer", .required = true});
  v("experts", m.experts, {.help = "mixture of experts"});
  v("hybrid", m.hybrid, {.help = "layers that are not attention and MLP"});
  v("vision", m.vision, {.help = "tower that makes tokens of images"});
  v("stored", m.stored,
    {.help = "type of the published weights", .inert = "what a strategy leaves out"});
  v("narrow", m.narrow,
    {.help = "what is narrow where weights are served in 8 bits or fewer: layers, all of them; "
             "outputs, MLPs and attention's way out; mlps; or routed experts alone"});
  v("rest", m.rest, {.help = "type of what `narrow` leaves: 16 bits, or 8 beside 4"});
  v("activations", m.activations,
    {.help = "what narrow weights are multiplied with: usual, their own type, of whole numbers 16 "
             "bits; wide, 16 bits; fp8 or int8 (W8A8, W4A8)"});
  v("block_scales", m.block_scales,
    {.help = "its 8-bit weights, and activations with them, are scaled in blocks of 128"});
  v("block_training", m.block_training,
    {.help =
         "training in 8 bits scales blocks of 128 too, where the chip has no block scales of its "
         "own"});
  v("fp4_block", m.fp4_block,
    {.help = "4-bit floats that share an 8-bit scale: 16 of NVFP4, 32 of MXFP4",
     .min = 1,
     .max = 65536});
  v("cache", m.cache,
    {.help = "what the checkpoint says of its cache, which some engines heed: 8 bits, 16, nothing",
     .inert = "what the type of the cache leaves out"});
  v("published_parameters", m.published_parameters,
    {.help = "parameters as published; 0: unknown",
     .max = 1e18,
     .inert = "checks what is counted"});
  v("published_active", m.published_active,
    {.help = "parameters a token uses, as published; 0: unknown",
     .max = 1e18,
     .inert = "checks what is counted"});
}

/// Fills what was left to be derived (kv_heads, head_dim, ffn, …). Idempotent.
void complete(Model& model);

/// Everything wrong with a completed model, by field.
std::vector<Diagnostic> check(const Model& model);

/// How many layers of a completed model hold what. A layer may hold attention or a recurrence, or
/// both where they are parallel, and a dense MLP or experts.
struct LayerCount {
  int attention = 0;  ///< windowed ones included
  int windowed = 0;
  int recurrent = 0;
  int dense = 0;
  int experts = 0;
  int cross = 0;  ///< of those with attention, to images
};
LayerCount count_layers(const Model& model);

/// Whether each layer of a completed model mixes tokens or has an MLP, never both (Nemotron-H).
bool one_branch_each(const Model& model);

}  // namespace sextant
