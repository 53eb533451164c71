// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/mapping.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/cost/gemm.hpp"
#include "sextant/cost/power.hpp"
#include "sextant/cost/stream.hpp"
#include "sextant/predict/tuning.hpp"

namespace sextant {
namespace {

/// The largest of n samples of a standard normal distribution, expected (Blom 1958), by the
/// quantile approximation 26.2.23 of Abramowitz and Stegun.
double expected_largest(double n) {
  if (n <= 1) return 0;
  const double tail = 1 - (n - 0.375) / (n + 0.25);
  const double t = std::sqrt(-2 * std::log(tail));
  return t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                 (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/// Messages that a rank's parameters go in: one a layer where that is how they are sent, as many of
/// a layer of the first stage as the stack makes, or one of all.
double messages_of(const Problem& p, const StateExchange& x, const Mapping& m) {
  if (x.by_layer) return p.model.layers + 1.0;
  const int each = p.runtime.communication.messages_per_layer;
  return each > 0 ? each * m.stages.kinds[0].layers : 1;
}

Sending in_messages(const Problem& p, const StateExchange& x, double messages, Collective op,
                    const BytesEach& bytes, const RankParameters& n) {
  return messages * (collect(p, op, x.dense, bytes.dense(n) / messages) +
                     collect(p, op, x.experts, bytes.experts(n) / messages));
}

/// The first stage's: it ends last, so its own show.
void send_states(const Problem& p, const Strategy& s, const StateExchange& x,
                 const RankParameters& n, Mapping& m) {
  const double messages = messages_of(p, x, m);
  m.reduce = in_messages(p, x, messages, x.reduce, x.reduced, n);
  // Tied embeddings of the first and last stage are summed, once a step.
  if (p.model.tied && s.pp > 1) {
    m.tied = collect(p, Collective::all_reduce, m.groups.ends, Bytes(n.embedding * x.reduced.ends));
  }
  if (x.gathered.layers > 0) {
    m.gather = in_messages(p, x, messages, Collective::all_gather, x.gathered, n);
  }
}

/// ZeRO-3, and 2 as FSDP does it: parameters are gathered for each pass and gradients reduced after
/// it, layer by layer.
void send_layers(const Problem& p, const StateExchange& x, const RankParameters& all,
                 const RankParameters& trained, Mapping& m) {
  const double messages = messages_of(p, x, m);
  m.by_layer = true;
  m.gather = in_messages(p, x, messages, Collective::all_gather, x.gathered, all);
  m.reduce = in_messages(p, x, messages, x.reduce, x.reduced, trained);
}

/// Each group that shares states has its own sums of the gradients, and all need those of all:
/// once a step, as they leave.
void send_across(const Problem& p, const StateExchange& x, const RankParameters& n, Mapping& m) {
  const double messages = messages_of(p, x, m);
  const auto sum = [&](Group group, Bytes share) {
    if (group.ranks <= 1) return;
    m.across = m.across + messages * collect(p, Collective::all_reduce, group, share / messages);
  };
  sum(x.across, x.dense_share(n));
  sum(x.expert_across, x.expert_share(n));
}

/// DualPipe: two ranks hold the same two stages and work on half of the microbatches each. They sum
/// their gradients, half of them a rank, and share what the optimizer made of those.
void send_copies(const Problem& p, const Strategy& s, const StateExchange& x,
                 const RankParameters& n, Mapping& m) {
  if (s.pp == 1) return;
  const auto all = [&](const BytesEach& b) { return 2 * (b.dense(n) + b.experts(n)); };
  m.copies =
      collect(p, Collective::reduce_scatter, m.groups.ends, all(x.reduced)) +
      collect(p, Collective::all_gather, m.groups.ends, all(s.zero > 0 ? x.gathered : x.reduced));
}

Update operator+(const Update& a, const Update& b) {
  return {a.time + b.time, a.compute + b.compute, a.memory + b.memory, a.moved + b.moved};
}
Update operator*(double times, const Update& u) {
  return {times * u.time, times * u.compute, times * u.memory, times * u.moved};
}
Update by_kernel(const Chip& chip, const KernelCost& c) {
  const Joules memory = memory_draw(chip, c);
  const Watts drawn = power_demand(chip, c, Precision::bf16) - chip.idle;
  return {c.time, drawn * c.time - memory, memory, c.dram};
}

/// Newton-Schulz iterations on one matrix (Muon; arXiv 2502.16982, section 2): five times X·Xᵀ, its
/// square, and a product with X, over the shorter side.
Update orthogonalise(const Chip& chip, double rows, double cols) {
  const double m = std::min(rows, cols);
  const double n = std::max(rows, cols);
  const auto multiply = [&](double width, double inner) {
    return by_kernel(chip, gemm(chip, {.m = m, .n = width, .k = inner}, chip.clock));
  };
  return 5 * (multiply(m, n) + multiply(m, m) + multiply(n, m));
}

/// Of all matrices of a rank. Ranks that share states share the matrices, each of which is whole on
/// one of them: the step is no shorter than the largest takes.
class Orthogonalised {
 public:
  Orthogonalised(const Problem& p, const Strategy& s, const Groups& g) : p_(p), s_(s) {
    if (s.zero >= 1) {
      dense_ = g.shard.ranks;
      experts_ = g.expert_shard.ranks;
    }
  }

  void add(const graph::Branch& b, double times) {
    const Tuning& t = p_.work.tuning;
    for (const graph::Operator& op : b.operators) {
      const double rank = adapter_rank(t, op);
      if (rank <= 0 && !is_trained(t, op)) continue;
      if (op.kind == graph::Kind::experts) {
        const graph::Routed& r = op.routed;
        const double ffn = r.ffn / s_.etp;
        const double all = times * r.count / s_.ep / experts_;
        if (rank <= 0) add(all * (r.halves + 1), r.width, ffn);
        if (rank > 0) {
          for (const double side : {r.width, r.halves * ffn, ffn, r.width}) add(all, rank, side);
        }
      } else if (op.kind == graph::Kind::linear) {
        const double in = op.in.on(s_.tp);
        const double out = op.out.on(s_.tp);
        const double all = times * std::max(1.0, op.groups / s_.tp) / dense_;
        if (rank <= 0) add(all, in, out);
        if (rank > 0) {
          add(all, rank, in);
          add(all, rank, out);
        }
      }
    }
  }

  Update sum() const {
    Update u = sum_;
    u.time = max(u.time, longest_);
    return u;
  }

 private:
  void add(double matrices, double rows, double cols) {
    const Update one = orthogonalise(p_.chip, rows, cols);
    sum_ = sum_ + matrices * one;
    longest_ = max(longest_, one.time);
  }

  const Problem& p_;
  const Strategy& s_;
  double dense_ = 1;  ///< ranks
  double experts_ = 1;
  Update sum_;
  Seconds longest_;
};

Update orthogonalise(const Problem& p, const Strategy& s, const StageKind& stage, const Groups& g) {
  Orthogonalised all(p, s, g);
  for (int i = 0; i < p.graph.type_count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    for (const int branch : {p.graph.types[at].mixer, p.graph.types[at].mlp}) {
      if (branch < 0 || stage.types[at] == 0) continue;
      all.add(p.graph.branches[static_cast<std::size_t>(branch)], stage.types[at]);
    }
  }
  for (const graph::Branch& b : p.graph.tower) {
    if (stage.first && p.work.images > 0) all.add(b, b.layers);
  }
  return all.sum();
}

void update(const Problem& p, const Strategy& s, const RankParameters& n, Mapping& m) {
  const Groups& g = m.groups;
  const bool shared = s.zero >= 1;
  const double own = (n.total() - n.experts) / (shared ? g.shard.ranks : 1) +
                     n.experts / (shared ? g.expert_shard.ranks : 1);
  const double gradient = gradient_bytes(p.runtime, s.precision);
  const StreamKernel& adam = p.kernels.stream[StreamOp::adamw];
  const double bytes = optimizer_traffic(p.work.optimizer, gradient, activation_bytes(s.precision));
  const auto streams = [&](const StreamKernel& kernel, double each) {
    return by_kernel(p.chip, stream(p.chip, kernel, {own, 1, Bytes(own * each)}));
  };
  const Update states = streams(adam, bytes);
  Update rest;
  if (p.work.optimizer != Optimizer::adamw_bf16_states) {
    rest =
        streams(p.kernels.stream[StreamOp::copy], 3 * gradient);  // norm; clipping, there and back
  }
  if (p.work.optimizer == Optimizer::muon) {
    rest = rest + orthogonalise(p, s, m.stages.kinds[0], g);
  }
  m.update = states + rest;
  const Seconds moved = s.offload ? Bytes(own * bytes) / p.host_link : Seconds(0);
  m.optimizer = max(states.time, moved) + rest.time;
}

}  // namespace

StateExchange state_exchange(const Problem& p, const Strategy& s, const Groups& g) noexcept {
  StateExchange x;
  const bool freed = s.zero == 2 && s.pp == 1 && p.runtime.communication.frees_parameters;
  x.by_layer = s.zero >= 3 || freed;
  x.reduce = s.zero >= 1 ? Collective::reduce_scatter : Collective::all_reduce;
  const double sum = reduced_bytes(p.runtime, s.precision);
  x.reduced = {sum, sum};
  x.dense = g.data;
  x.experts = g.expert_data;
  if (s.zero > 0) {
    x.dense = g.shard;
    x.across = g.across;
    x.experts = g.expert_shard;
    x.expert_across = g.expert_across;
    const double element = activation_bytes(s.precision);
    const bool all = x.by_layer || p.work.tuning.rank == 0;  // not adapters alone
    x.gathered = {element, element};
    if (x.by_layer && is_packed(p.work.tuning)) {
      x.gathered = {nf4_bytes, nf4_bytes};
    } else if (all && keeps_narrow(p, s)) {
      x.gathered.layers = element_bytes(trained_in(p, s));
    }
  }
  return x;
}

Sending collect(const Problem& p, Collective op, Group group, Bytes bytes) noexcept {
  if (group.ranks <= 1 || bytes.value <= 0) return {};
  const Communication& c = p.runtime.communication;
  const CollectiveCost cost = collective(p.network, p.collectives, op, group, bytes);
  return {cost.time * (1 + c.skew) + c.extra_latency, energy_of(cost.sent)};
}

Mapping mapping_of(const Problem& p, const Strategy& s) noexcept {
  Mapping m;
  m.groups = groups_of(p, s);
  m.stages = stages_of(p, s);
  m.devices = devices_of(s);
  m.spread = p.runtime.spread * expected_largest(m.devices);
  for (int i = 0; i < m.stages.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    m.states[at] = states_of(p, s, m.groups, m.stages.kinds[at]);
  }
  const RankParameters trained = trained_parameters(p, s, m.stages.kinds[0]);
  const StateExchange x = state_exchange(p, s, m.groups);
  if (x.by_layer) {
    send_layers(p, x, passed_parameters(p, s, m.stages.kinds[0]), trained, m);
  } else {
    send_states(p, s, x, trained, m);
  }
  send_across(p, x, trained, m);
  send_copies(p, s, x, trained, m);
  update(p, s, trained, m);
  return m;
}

}  // namespace sextant
