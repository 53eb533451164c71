// SPDX-License-Identifier: Apache-2.0
// Counting over a graph: parameters and FLOPs.
#include "sextant/graph/graph.hpp"

namespace sextant {
namespace {

double& bucket_of(ParameterCount& n, graph::Bucket bucket) {
  using enum graph::Bucket;
  switch (bucket) {
    case per_layer_embedding:
      return n.per_layer_embedding;
    case attention:
      return n.attention;
    case recurrent:
      return n.recurrent;
    case mlp:
      return n.mlp;
    case experts:
      return n.experts;
    case shared:
      return n.shared;
    case router:
      return n.router;
    case norms:
      return n.norms;
    case head:
      return n.head;
    case vision:
      return n.vision;
    case embedding:
    case count:
      break;
  }
  return n.embedding;
}

}  // namespace

ParameterCount count_parameters(const graph::Graph& g) {
  ParameterCount n;
  for (const std::vector<graph::Branch>* part : {&g.branches, &g.tower}) {
    for (const graph::Branch& b : *part) {
      for (const graph::Operator& op : b.operators) {
        bucket_of(n, op.bucket) += b.layers * op.weights.all();
      }
    }
  }
  return n;
}

ParameterCount count_parameters(const Model& m) { return count_parameters(graph::build(m)); }

double active_parameters(const Model& m) {
  const ParameterCount n = count_parameters(m);
  const double idle =
      m.experts.count > 0 ? n.experts * (1 - double(m.experts.topk) / m.experts.count) : 0;
  return n.total() - n.per_layer_embedding - n.vision - idle;
}

namespace graph {
namespace {

/// Tokens that attention looks at, without a mask.
double reach_of(const Mixer& x, double seq) {
  const double near = x.window > 0 ? std::min(seq, x.window) : seq;
  return x.top > 0 ? std::min(near, x.top) : near;
}

}  // namespace

double mixing_flops(const Operator& op, double seq, double images) {
  const Mixer& x = op.mixer;
  switch (op.kind) {
    case Kind::attention: {
      if (x.image > 0) seq = images * x.image;
      if (x.sequence > 0) seq = x.sequence;
      return 2 * reach_of(x, seq) * x.heads * (x.head_dim + x.value_dim);
    }
    case Kind::indexer:
      return 2 * seq * x.heads * x.head_dim;
    case Kind::scan:
      return 4 * x.heads * x.head_dim * x.state;  // into the state and out of it
    default:
      return 0;
  }
}

double masked_flops(const Operator& op, double seq) {
  const Mixer& x = op.mixer;
  if (seq <= 0 || x.image > 0 || x.sequence > 0) return 0;
  if (op.kind == Kind::indexer) return mixing_flops(op, seq) / 2;
  if (op.kind != Kind::attention) return 0;
  return mixing_flops(op, seq) * reach_of(x, seq) / (2 * seq);
}

double multiplied(const Operator& op) {
  if (op.kind == Kind::linear) return op.groups * op.in.all() * op.out.all();
  if (op.kind == Kind::experts) return op.weights.all() * op.routed.topk / op.routed.count;
  return 0;
}

double cached_bytes(const Operator& op, double tokens, double images, double element,
                    double ranks) {
  const Cached& c = op.cache;
  const double kept = c.window > 0 ? std::min(tokens, c.window) : tokens;
  return kept * (c.elements.on(ranks) * element + c.bytes) + c.state / ranks +
         images * c.image.on(ranks) * element;
}

double image_flops(const Graph& g) {
  double flops = 0;
  for (const std::vector<Branch>* part : {&g.branches, &g.tower}) {
    for (const Branch& b : *part) {
      for (const Operator& op : b.operators) {
        flops += b.layers * op.per_image * (2 * multiplied(op) + mixing_flops(op, 0));
      }
    }
  }
  return flops;
}

}  // namespace graph
}  // namespace sextant
