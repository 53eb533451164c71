// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/model.hpp"

#include <fmt/format.h>

#include "sextant/answer/parts.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

using graph::Branch;
using graph::Graph;

/// What one token costs in a layer.
struct OperatorLoad {
  double weights = 0;
  double used = 0;  ///< of the weights, by one token
  double flops = 0;
  double cache = 0;  ///< bytes a token; of a window, while it lasts
  double state = 0;  ///< bytes a sequence, however long
};

OperatorLoad load_of(const graph::Operator& op, const ModelQuestion& q) {
  OperatorLoad l;
  l.weights = op.weights.all();
  if (op.per_image > 0) return l;  // a token of text passes it by
  const bool routed = op.kind == graph::Kind::experts;
  const bool looked_up = op.bucket == graph::Bucket::per_layer_embedding;
  l.used = routed ? graph::multiplied(op) : looked_up ? 0 : l.weights;
  // The mean of a sequence's tokens, which look back only.
  l.flops =
      2 * graph::multiplied(op) + graph::mixing_flops(op, q.seq) - graph::masked_flops(op, q.seq);
  l.state = op.cache.state;
  l.cache = graph::cached_bytes(op, 1, 0, element_bytes(q.cache), 1) - l.state;
  return l;
}

OperatorLoad load_of(const Branch& b, const ModelQuestion& q) {
  OperatorLoad sum;
  for (const graph::Operator& op : b.operators) {
    const OperatorLoad l = load_of(op, q);
    sum.weights += l.weights;
    sum.used += l.used;
    sum.flops += l.flops;
    sum.cache += l.cache;
    sum.state += l.state;
  }
  return sum;
}

std::string shape_of(const graph::Operator& op) {
  const auto width = [](const graph::Width& w) { return fmt::format("{:.0f}", w.all()); };
  const graph::Mixer& x = op.mixer;
  switch (op.kind) {
    case graph::Kind::linear:
      return fmt::format("{}{} to {}", op.groups > 1 ? fmt::format("{:.0f} of ", op.groups) : "",
                         width(op.in), width(op.out));
    case graph::Kind::experts:
      return fmt::format("{:.0f} of {} of {:.0f} by {:.0f}", op.routed.topk, op.routed.count,
                         op.routed.width, op.routed.ffn);
    case graph::Kind::attention:
    case graph::Kind::indexer:
      return fmt::format("{:.0f} heads of {:.0f}, {:.0f} of keys{}", x.heads, x.head_dim,
                         x.kv_heads, x.window > 0 ? fmt::format(", {:.0f} back", x.window) : "");
    case graph::Kind::scan:
      return fmt::format("{:.0f} heads of {:.0f}, state {:.0f}", x.heads, x.head_dim, x.state);
    default:
      return width(op.out);
  }
}

void say_load(Record& r, const OperatorLoad& l, bool titled) {
  const auto title = [&](const char* text) { return titled ? text : ""; };
  r("parameters", said(l.weights, l.weights > 0 ? format_count(l.weights) : ""),
    title("parameters"));
  r("active_parameters", said(l.used, l.used > 0 ? format_count(l.used) : ""), title("by a token"));
  r("flops_per_token", l.flops > 0 ? Item(Flops(l.flops)) : said(Flops(0), ""), title("a token"));
  r("cache_bytes_per_token", l.cache > 0 ? Item(Bytes(l.cache)) : said(Bytes(0), ""),
    title("cache a token"));
  r("state_bytes", l.state > 0 ? Item(Bytes(l.state)) : said(Bytes(0), ""));
}

struct BranchRow {
  const Branch* branch = nullptr;
  const graph::Operator* op = nullptr;
  bool first = false;
};

/// Those of a tower for images first.
std::vector<Branch> branches_in_order(const Graph& g) {
  std::vector<Branch> all = g.tower;
  all.insert(all.end(), g.branches.begin(), g.branches.end());
  return all;
}

std::vector<BranchRow> rows_of(const std::vector<Branch>& branches) {
  std::vector<BranchRow> rows;
  for (const Branch& b : branches) {
    for (const graph::Operator& op : b.operators)
      rows.push_back({&b, &op, &op == b.operators.data()});
  }
  return rows;
}

/// A line an operator, for people and CSV.
Records operator_rows(const std::vector<Branch>& branches, const ModelQuestion& q) {
  return records_of(
      rows_of(branches),
      [&](Record& r, const BranchRow& x) {
        r("branch", said(std::string(x.branch->name), x.first ? std::string(x.branch->name) : ""),
          "branch");
        r("layers", once(x.first, x.branch->layers), "layers");
        r("name", x.op->name, "operator");
        r("kind", x.op->kind, "kind");
        r("shape", shape_of(*x.op), "shape");
        say_load(r, load_of(*x.op, q), true);
      },
      [](const BranchRow& x) { return x.first; });
}

Records branches_of(const std::vector<Branch>& branches, const ModelQuestion& q) {
  return records_of(branches, [&](Record& r, const Branch& b) {
    r("name", b.name);
    r("layers", b.layers);
    say_load(r, load_of(b, q), false);
    r.list("operators", "ModelOperator",
           records_of(b.operators, [&](Record& o, const graph::Operator& op) {
             o("name", op.name);
             o("kind", op.kind);
             o("shape", shape_of(op));
             say_load(o, load_of(op, q), false);
           }));
  });
}

/// Neighbours that hold the same.
struct Stretch {
  int first = 0;
  int count = 0;
  graph::LayerType type;
};

std::vector<Stretch> stretches_of(const Graph& g) {
  std::vector<Stretch> all;
  for (int layer = 0; layer < g.layers; ++layer) {
    graph::TypeCount one{};
    g.count(layer, layer + 1, one);
    for (std::size_t t = 0; t < static_cast<std::size_t>(g.type_count); ++t) {
      if (one[t] == 0) continue;
      const graph::LayerType& type = g.types[t];
      if (!all.empty() && all.back().type.mixer == type.mixer && all.back().type.mlp == type.mlp) {
        ++all.back().count;
      } else {
        all.push_back({layer, 1, type});
      }
    }
  }
  return all;
}

std::string_view name_in(const Graph& g, int branch) {
  return branch < 0 ? std::string_view() : g.branches[static_cast<std::size_t>(branch)].name;
}

Records layers_of(const Graph& g) {
  return records_of(stretches_of(g), [&](Record& r, const Stretch& s) {
    r("first", s.first);
    r("count", s.count);
    r("mixer", name_in(g, s.type.mixer));
    r("mlp", name_in(g, s.type.mlp));
  });
}

}  // namespace

Answer answer_of(const Model& m, const ModelQuestion& q) {
  const Graph g = graph::build(m);
  OperatorLoad all;
  for (const Branch& b : g.branches) {
    const OperatorLoad l = load_of(b, q);
    all.flops += b.layers * l.flops;
    all.cache += b.layers * l.cache;
    all.state += b.layers * l.state;
  }
  const double total = count_parameters(g).total();
  const double active = active_parameters(m);
  Answer a;
  a("model", m.name);
  a("layers", g.layers);
  a("hidden", m.hidden);
  a("max_context", m.max_context);
  a("seq", q.seq);
  a("cache_precision", q.cache);
  a("parameters", total);
  a("active_parameters", active);
  a("flops_per_token", Flops(all.flops));
  a("cache_bytes_per_token", Bytes(all.cache));
  a("state_bytes", Bytes(all.state));
  const ImageShape image = image_shape(m.vision);
  a("image_patches", image.patches());
  a("image_tokens", image.tokens);
  a("image_flops", Flops(graph::image_flops(g)));
  a.say(fmt::format("{}: {} layers of {}, {} parameters, {} of them used by a token", m.name,
                    g.layers, m.hidden, format_count(total), format_count(active)));
  a.say(fmt::format(
      "a token of {:.0f}, forward: {}; cache in {}: {}{}", q.seq, format(Flops(all.flops)),
      name_of(q.cache), format(Bytes(all.cache)),
      all.state > 0 ? fmt::format(", and {} a sequence", format(Bytes(all.state))) : ""));
  if (image.tokens > 0) {
    a.say(fmt::format("an image of {:.0f} patches is {:.0f} tokens{}: {}", image.patches(),
                      image.tokens, m.vision.cross_layers > 0 ? " that text looks at" : "",
                      format(Flops(graph::image_flops(g)))));
  }
  a.list("stretches", "ModelStretch", layers_of(g));
  const std::vector<Branch> branches = branches_in_order(g);
  a.list("branches", "ModelBranch", branches_of(branches, q));
  a.gap();
  a.show(operator_rows(branches, q));
  a.lines(operator_rows(branches, q));
  return a;
}

}  // namespace sextant
