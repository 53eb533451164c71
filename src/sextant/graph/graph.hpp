// SPDX-License-Identifier: Apache-2.0
// A model as layers of typed operators, made once from its spec: what each multiplies, holds, keeps
// for the backward pass and caches, for one token, before any strategy or device. Parameters,
// FLOPs, memory and the costs of training and serving are walks over it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/spec/kernels.hpp"
#include "sextant/spec/model.hpp"

namespace sextant::graph {

/// What an operator is. The last two are none of the model's: software adds them.
enum class Kind : std::uint8_t {
  norm,
  linear,       ///< a weight matrix: y = x·Wᵀ
  elementwise,  ///< streams so many bytes an element
  rotation,     ///< of queries and keys by their position
  attention,
  indexer,  ///< chooses the tokens that attention looks at (DeepSeek-V3.2)
  scan,     ///< of a recurrence over the sequence
  activation,
  experts,   ///< routed: each token to a few of many MLPs
  residual,  ///< the branch's sum with its input
  lookup,    ///< of the embedding table
  loss,      ///< of the logits, or a token sampled from them
  cast,      ///< to a narrow type and its transpose
  exchange,  ///< between ranks
};
constexpr auto names_of(Kind) {
  return std::array<std::string_view, 14>{
      "norm",       "linear",  "element-wise", "rotation", "attention", "indexer", "scan",
      "activation", "experts", "residual",     "look-up",  "loss",      "cast",    "exchange"};
}

/// How tensor parallelism cuts the weights. What is whole works on a rank's own tokens where
/// sequence parallelism deals them out.
enum class Cut : std::uint8_t { whole, columns, rows };

/// What recomputation knows operators by (RecomputeModules), beside the branch they are in.
enum class Module : std::uint8_t { none, norms, activation, mlp, experts, latent, core };

/// What parameters are counted as (ParameterCount).
enum class Bucket : std::uint8_t {
  embedding,
  per_layer_embedding,
  attention,
  recurrent,
  mlp,
  experts,
  shared,
  router,
  norms,
  head,
  vision,
  count
};

/// Numbers a token, by how tensor parallelism shares them out: key-value heads are repeated where
/// there are fewer than ranks.
struct Width {
  double cut = 0;
  double kv = 0;
  double kv_heads = 1;
  double whole = 0;
  double on(double ranks) const { return cut / ranks + kv / std::min(ranks, kv_heads) + whole; }
  double all() const { return cut + kv + whole; }
};

/// How tokens look at each other: attention, an indexer or a scan.
struct Mixer {
  double heads = 0;
  double kv_heads = 1;
  double head_dim = 0;  ///< of queries and keys
  double value_dim = 0;
  double window = 0;  ///< 0: none
  double top = 0;     ///< tokens a query looks at, chosen by an indexer; 0: all
  bool sinks = false;
  // Of images: all tokens of a sequence see each other, in blocks where there is a window; or text
  // looks at what an image brings.
  double sequence = 0;  ///< patches of a tower's sequence; 0: attention is to text
  double image = 0;     ///< tokens of an image that text looks at; 0: text looks at text
  // Latent attention.
  bool latent = false;
  double rank = 0;
  double nope = 0;
  double rope = 0;
  // A scan.
  Recurrence recurrence = Recurrence::none;
  double state = 0;  ///< rows of the state (gated-delta: dimension of a key)
  double groups = 1;
  double chunk = 0;  ///< tokens that it takes at a time
};

/// Routed experts.
struct Routed {
  int count = 0;
  int served = 0;  ///< with copies
  double topk = 0;
  double width = 0;  ///< of the tokens they take
  double ffn = 0;
  double halves = 1;      ///< of the first multiply: 2 when gated
  double most_nodes = 0;  ///< that a token reaches; 0: any
  double imbalance = 1;   ///< tokens of the busiest rank over the mean
  double skew = 0;        ///< of the experts' popularity, when served
};

/// What is kept for the backward pass, in elements a token.
struct Kept {
  Width wide;          ///< stored as activations are
  Width gate;          ///< as `wide`, for an activation, or as multiplies take it (narrow_gate)
  Width operand;       ///< stored as multiplies take them
  Width copy;          ///< once more, where multiplies take a narrower type
  Width bytes;         ///< whatever the types
  bool input = false;  ///< the output of the norm before, which the multiply takes
};

/// What a sequence holds while it is served.
struct Cached {
  Width elements;     ///< a token, in the cache's type
  double bytes = 0;   ///< a token, whatever that type, on every rank
  double window = 0;  ///< tokens kept; 0: all
  double state = 0;   ///< bytes a sequence, shared out by tensor parallelism
  Width image;        ///< an image, in the cache's type
};

struct Operator {
  Kind kind = Kind::elementwise;
  const char* name = "";
  Cut cut = Cut::whole;
  Width in;           ///< of a multiply
  Width out;          ///< of a multiply; else the width it works on
  double groups = 1;  ///< multiplies of this shape side by side, dealt to the ranks
  bool bias = false;
  bool after_norm = false;  ///< the kernel before can write its input in 8 bits
  bool wide = false;        ///< never quantised
  bool published = false;   ///< a checkpoint of narrow weights leaves it (Model::rest)
  bool absorbed = false;    ///< decoding folds it into queries and outputs instead
  bool last = false;        ///< of its layer: no gradient needs its result
  bool aside = false;       ///< of shared experts, which may run beside the routed ones
  bool alone = true;        ///< false: shares its collective with the branch beside it
  double per_image = 0;     ///< tokens that an image brings to it; 0: it works on text
  Module module = Module::none;
  Bucket bucket = Bucket::count;
  Width weights;  ///< parameters, biases included
  // Element-wise: bytes an element, forward and backward, and kernels.
  StreamOp stream = StreamOp::copy;  ///< also which norm one is
  bool gated = false;  ///< an activation: of one half, times the other; a multiply that makes both
  double ahead = 0;
  double back = 0;
  double launches = 1;
  Kept kept;
  Cached cache;
  Mixer mixer;
  Routed routed;
};

/// Of a multiply's results the share that is computed again where every second multiply of a layer
/// is kept, in the order query, key, value, output, gate, up, down: no gradient needs the last.
inline double left_by_alternation(const Operator& op) {
  if (op.kind != Kind::linear || op.last) return 0;
  if (op.cut == Cut::rows) return 1;
  if (op.out.kv > 0) return op.out.kv / 2 / op.out.all();
  return op.gated ? 0.5 : 0;
}

/// What one residual sum spans: attention, a recurrence, an MLP, experts. Embedding and head count
/// as branches of no layer.
struct Branch {
  std::string_view name;
  Module module = Module::none;
  int layers = 0;      ///< that have it
  bool cross = false;  ///< text looks at images: without any, its layers are passed over
  std::vector<Operator> operators;
  Width weights;      ///< of all of them but the routed experts
  Width published;    ///< of these, what a checkpoint of narrow weights leaves
  double routed = 0;  ///< of these
};

/// Layers that hold the same branches; -1: none.
struct LayerType {
  int mixer = -1;
  int mlp = -1;
  bool holds(int branch) const { return mixer == branch || mlp == branch; }
};

/// How many layers of each type.
inline constexpr int most_types = 12;
using TypeCount = std::array<int, most_types>;

struct Graph {
  std::vector<Branch> branches;  ///< of layers, then the embedding, then the head
  std::vector<Branch> tower;     ///< of what makes tokens of images, in its order
  std::array<LayerType, most_types> types;
  int type_count = 0;
  std::vector<int> before;  ///< [layer][type]: of the layers before, those of a type
  int layers = 0;
  double ends = 0;  ///< weights of embedding and head that are in neither table: norms, projections
  const Branch& embedding() const { return branches[branches.size() - 2]; }
  const Branch& head() const { return branches.back(); }
  /// Branches of layers.
  int branch_count() const { return static_cast<int>(branches.size()) - 2; }
  /// Adds the layers from `first` to before `last`.
  void count(int first, int last, TypeCount& to) const;
  TypeCount all() const;
};

/// What prediction layers add to the head: projections of a state beside the next embedding, and
/// passes over the output table.
struct Ahead {
  int inputs = 0;
  int heads = 0;
};

/// Of a completed model; its layers are all of `layers`, those that predict further tokens too.
Graph build(const Model& model, Ahead ahead = {});

/// Matrix-multiply FLOPs of mixing tokens in one branch's operator, for one token of a sequence of
/// `seq` that may look at so many images, not halved for causality.
double mixing_flops(const Operator& op, double seq, double images = 0);
/// Of these, what a causal mask leaves out: half of attention over all, less of what sees a window,
/// nothing of a recurrence.
double masked_flops(const Operator& op, double seq);

/// Weights that one token is multiplied with; of routed experts those that it is sent to.
double multiplied(const Operator& op);

/// Bytes that a sequence of so many tokens and images leaves in the cache of one of `ranks`, at so
/// many bytes an element.
double cached_bytes(const Operator& op, double tokens, double images, double element, double ranks);

/// Matrix-multiply FLOPs that an image brings, forward: the tower's, and keys and values of what
/// looks at it.
double image_flops(const Graph& graph);

}  // namespace sextant::graph

namespace sextant {

/// Weights of a completed model by part, counted exactly from its shape.
struct ParameterCount {
  double embedding = 0;            ///< input embedding and learned positions
  double per_layer_embedding = 0;  ///< the tables of embeddings that every layer has
  double attention = 0;            ///< all layers
  double recurrent = 0;            ///< state-space and linear-attention layers
  double mlp = 0;                  ///< dense MLPs, all layers
  double experts = 0;              ///< routed experts, all layers
  double shared = 0;               ///< shared experts and latent projections, all layers
  double router = 0;
  double norms = 0;
  double head = 0;    ///< output projection, 0 when tied
  double vision = 0;  ///< tower and projector
  double total() const {
    return embedding + per_layer_embedding + attention + recurrent + mlp + experts + shared +
           router + norms + head + vision;
  }
};
ParameterCount count_parameters(const graph::Graph& graph);
ParameterCount count_parameters(const Model& model);

/// Parameters one token uses: of the routed experts topk count, of the embeddings all of the input
/// embedding (as Mistral, Qwen and DeepSeek count; OpenAI and NVIDIA leave it out) and none of the
/// tables that every layer has, nor of a tower for images.
double active_parameters(const Model& model);

}  // namespace sextant
