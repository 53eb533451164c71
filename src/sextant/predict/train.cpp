// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/train.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/cost/power.hpp"
#include "sextant/cost/stream.hpp"
#include "sextant/predict/parts.hpp"

namespace sextant {
namespace {

using namespace training;

/// One microbatch on one stage.
struct Stage {
  Part part;
  Seconds forward;   ///< with the host's pace
  Seconds backward;  ///< recomputation included
  Seconds host;      ///< of both, what the device waits for its host
  Seconds time() const { return forward + backward; }
};

/// The largest of n samples of a standard normal distribution, expected (Blom 1958), by the
/// quantile approximation 26.2.23 of Abramowitz and Stegun.
double expected_largest(double n) {
  if (n <= 1) return 0;
  const double tail = 1 - (n - 0.375) / (n + 0.25);
  const double t = std::sqrt(-2 * std::log(tail));
  return t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                 (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/// Matrix multiply FLOPs of one token's forward pass, attention not halved for causality.
double forward_flops(const Problem& p) {
  const Model& m = p.model;
  const ParameterCount& n = p.parameters;
  double weights = n.attention + n.recurrent + n.mlp + n.shared + n.router;
  if (m.experts.count > 0) weights += n.experts * m.experts.topk / m.experts.count;
  weights += static_cast<double>(m.hidden) * m.vocab;
  const Attention& a = m.attention;
  const double dims = a.kind == AttentionKind::latent
                          ? static_cast<double>(a.nope_dim) + a.rope_dim + a.value_dim
                          : 2.0 * a.head_dim;
  const double full = p.layers.attention - p.layers.windowed;
  const double reach = full * p.work.seq + p.layers.windowed * std::min(p.work.seq, a.window);
  return 2 * weights + 2 * reach * a.heads * dims;
}

template <class Trace>
class Step {
 public:
  Step(const Problem& p, const Strategy& s, Trace& trace)
      : p_(p), s_(s), l_(layout_of(p, s)), trace_(trace) {}

  Estimate run() {
    settle_clock();
    if constexpr (Trace::records) {
      parts_ = compose(p_, s_, l_, e_.clock, trace_);
    }
    pipeline();
    data_parallel();
    optimizer();
    spread();
    e_.step = Seconds(0);
    for (const Span& t : e_.time.values) e_.step += t.exposed;
    count();
    memory();
    if constexpr (Trace::records) count_runs();
    return e_;
  }

  /// For timelines.
  StageTimes times(int i) {
    settle_clock();
    const Stage st = stage(i);
    StageTimes t;
    const double total = (st.part.recompute.time() + st.part.backward.time()).value;
    const double again = total > 0 ? st.part.recompute.time().value / total : 0;
    t.forward = st.forward;
    t.recompute = again * st.backward;
    t.backward = (1 - again) * st.backward;
    t.transfer = transfer();
    t.weights = st.part.backward.weights;
    return t;
  }

 private:
  /// What a stage does for one microbatch.
  Stage stage(int i) const {
    const LayerMix mix = stage_mix(p_, s_, i);
    Stage st;
    st.part.add(parts_.full, mix.full);
    st.part.add(parts_.windowed, mix.windowed);
    st.part.add(parts_.recurrent, mix.recurrent);
    st.part.add(parts_.dense, mix.dense);
    st.part.add(parts_.experts, mix.experts);
    if (s_.recompute == Recompute::full && s_.recompute_layers > 0) {
      const double layers = stage_layers(p_, s_, i);
      Phase some;
      some.add(st.part.recompute, std::min(1.0, s_.recompute_layers / std::max(1.0, layers)));
      st.part.recompute = some;
    }
    if (i == 0) st.part.add(parts_.embedding, 1);
    if (i == s_.pp - 1) st.part.add(parts_.head, 1);
    const Launch& launch = p_.runtime.launch;
    const Seconds issue = launch.graph ? Seconds(0) : launch.host;
    const double layers = stage_layers(p_, s_, i);
    const bool again = s_.recompute == Recompute::full;
    const Seconds overhead =
        layers * (p_.runtime.host_per_layer + (again ? 0.5 : 0) * p_.runtime.host_per_recompute);
    const Seconds ahead = st.part.forward.time();
    const Seconds back = st.part.recompute.time() + st.part.backward.time();
    // Host and device run side by side, the slower one sets the pace; where they are close, each
    // waits for the other at times.
    const Communication& c = p_.runtime.communication;
    const bool far = s_.pp > 1 && devices_of(s_) > p_.network.devices_per_node;
    const bool crossing = l_.tensor.per_node < l_.tensor.ranks;
    const Seconds pending = s_.tp * (far ? c.pending : crossing ? c.crossing : Seconds(0));
    const auto paced = [&](Seconds device, const Phase& phase) {
      const Seconds host = phase.launches * issue + phase.collectives * pending + overhead;
      return Seconds(smooth_max(device.value, host.value));
    };
    Phase second = st.part.recompute;
    second.add(st.part.backward, 1);
    st.forward = paced(ahead, st.part.forward);
    st.backward = paced(back, second);
    st.host = st.forward + st.backward - ahead - back;
    return st;
  }

  /// The clock at which an average layer's load meets the power limit, exchange included: bubbles
  /// last longer than the controller's memory, so they do not help.
  void settle_clock() {
    const Chip& chip = p_.chip;
    const Watts budget = dynamic_budget(chip);
    Silent silent;
    e_.clock = chip.clock;
    for (int i = 0;; ++i) {
      parts_ = compose(p_, s_, l_, e_.clock, silent);
      const Stage st = stage(s_.pp / 2);
      const Part& part = st.part;
      const Joules energy = part.forward.energy + part.recompute.energy + part.backward.energy;
      const Watts demand = energy / st.time();
      e_.power = chip.idle + demand;
      if (i == 6 || demand <= budget * (i == 0 ? 1 : 1.002)) return;
      e_.clock = slowed(chip, e_.clock, demand, budget);
    }
  }

  Seconds transfer() const {
    if (s_.pp == 1) return Seconds(0);
    const bool scattered = s_.sp || (p_.runtime.communication.scatter_transfers && s_.tp > 1);
    const Bytes whole(l_.tokens * l_.hidden * 2);
    const Bytes sent = scattered ? whole / s_.tp : whole;
    Seconds t =
        collective(p_.network, p_.collectives, Collective::send_recv, l_.pipeline, sent).time;
    if (scattered && !s_.sp) {
      t += collective(p_.network, p_.collectives, Collective::all_gather, l_.tensor, whole).time;
    }
    return t + p_.runtime.communication.extra_latency;
  }

  /// Steady state on the slowest stage, and the way of the first and last microbatch through all
  /// others: T = m·t_max + Σ_others t_i / v (1F1B and GPipe; Narayanan et al. 2021, section 2.2).
  void pipeline() {
    Seconds others;
    Seconds weights;
    for (int i = 0; i < s_.pp; ++i) {
      const Stage st = stage(i);
      others += st.time();
      weights += st.part.backward.weights;
      if (i == 0 || st.time() > slowest_.time()) {
        slowest_ = st;
        e_.slowest_stage = i;
      }
      if (i == 0) first_ = st;
    }
    others -= slowest_.time();
    weights -= slowest_.part.backward.weights;
    // ZB-H1 fills the drain with weight gradients (arXiv 2401.10241): (p − 1)(t_F + t_B − t_W).
    if (s_.schedule == Schedule::zero_bubble) others = max(others - 2 * weights, Seconds(0));
    const double m = l_.microbatches;
    const Part& part = slowest_.part;
    set(Time::forward, m * part.forward.compute);
    set(Time::backward, m * part.backward.compute);
    set(Time::recompute, m * part.recompute.compute);
    exchange(Time::tensor, Exchange::tensor);
    exchange(Time::context, Exchange::context);
    exchange(Time::expert, Exchange::expert);
    set(Time::host, m * slowest_.host + p_.runtime.host_per_step);
    set(Time::bubble, others / s_.interleave);
    if (s_.pp == 1) return;
    const Seconds hop = transfer();
    // Every microbatch of every chunk is sent on, and its gradient back; the first and the last
    // one pass every boundary in the open.
    const double sends = 2 * m * s_.interleave;
    const double open = 2.0 * (s_.pp - 1);
    const double shown = p_.runtime.overlap.pipeline ? open : open + sends;
    e_.time[Time::pipeline] = {sends * hop, shown * hop};
  }

  void exchange(Time t, Exchange x) {
    const Part& part = slowest_.part;
    const double m = l_.microbatches;
    Span s;
    for (const Phase* phase : {&part.forward, &part.recompute, &part.backward}) {
      s.busy += m * phase->exchange[x].busy;
      s.exposed += m * phase->exchange[x].exposed;
    }
    e_.time[t] = s;
  }

  Seconds collect(Collective op, Group group, Bytes bytes) const {
    if (group.ranks <= 1 || bytes.value <= 0) return Seconds(0);
    const Communication& c = p_.runtime.communication;
    return collective(p_.network, p_.collectives, op, group, bytes).time * (1 + c.skew) +
           c.extra_latency;
  }

  /// What shows of communication beside `window`.
  Seconds beside(Seconds comm, Seconds window, bool overlapped) const {
    if (!overlapped) return comm;
    return max(p_.runtime.communication.cores * comm, comm - window);
  }

  /// Gradients and parameters between replicas. The first stage ends last, so its own show.
  void data_parallel() {
    const RankParameters n = rank_parameters(p_, s_, 0);
    const double dense = n.total() - n.experts;
    const double gradient = element_bytes(p_.runtime.reduction);
    const Overlap& o = p_.runtime.overlap;
    if (s_.zero >= 3 || (s_.zero == 2 && s_.pp == 1)) return sharded(dense, n.experts);
    const Bytes grads(dense * gradient);
    const Bytes expert_grads(n.experts * gradient);
    const Collective reduce = s_.zero >= 1 ? Collective::reduce_scatter : Collective::all_reduce;
    Seconds t = collect(reduce, l_.data, grads) + collect(reduce, l_.expert_data, expert_grads);
    // Tied embeddings of the first and last stage are summed.
    if (p_.model.tied && s_.pp > 1) {
      const Bytes table(n.embedding * gradient);
      t += collect(Collective::all_reduce, {2, l_.pipeline.per_node}, table);
    }
    // Gradients of a chunk are complete after its last microbatch; with several chunks a stage the
    // others still have theirs to do.
    const double chunks = s_.interleave;
    const double ahead = chunks > 1 ? (chunks - 1) / chunks * s_.pp : 1;
    e_.time[Time::gradients] = {t, beside(t, ahead * first_.backward, o.gradients)};
    if (s_.zero == 0) return;
    const int parts = p_.runtime.communication.gather_parts;
    const double messages = parts > 0 ? parts * stage_layers(p_, s_, 0) : 1;
    t = messages *
        (collect(Collective::all_gather, l_.data, Bytes(dense * 2 / messages)) +
         collect(Collective::all_gather, l_.expert_data, Bytes(n.experts * 2 / messages)));
    e_.time[Time::parameters] = {t, beside(t, ahead * first_.forward, o.parameters)};
  }

  /// ZeRO-2 and 3 (FSDP): parameters are gathered for each pass and gradients reduced after it,
  /// layer by layer beside the layer before; the first layer's share has nothing to hide behind.
  void sharded(double dense, double experts) {
    const Overlap& o = p_.runtime.overlap;
    const double gradient = element_bytes(p_.runtime.reduction);
    const double m = l_.microbatches;
    const double units = p_.model.layers + 1.0;
    const auto by_layer = [&](Collective op, double bytes) {
      return units * (collect(op, l_.shard, Bytes(dense * bytes / units)) +
                      collect(op, l_.expert_data, Bytes(experts * bytes / units)));
    };
    const Seconds gather = by_layer(Collective::all_gather, 2);
    const Seconds scatter = by_layer(Collective::reduce_scatter, gradient);
    const double passes = s_.zero >= 3 ? 2 : 1;
    const auto open = [&](Seconds comm, Seconds window, bool overlapped) {
      return overlapped ? comm / units + beside(comm - comm / units, window, true) : comm;
    };
    // In the backward pass, gathering and reducing share the window.
    const Seconds ahead = open(gather, first_.forward, o.parameters);
    const Seconds again = (passes - 1) * gather;
    const Seconds back = open(again + scatter, first_.backward, o.gradients);
    const double share = (again + scatter).value > 0 ? scatter / (again + scatter) : 0;
    e_.time[Time::parameters] = {m * passes * gather, m * (ahead + (1 - share) * back)};
    e_.time[Time::gradients] = {m * scatter, m * share * back};
    if (l_.shard.ranks < l_.data.ranks) {
      const Group replicas{l_.data.ranks / l_.shard.ranks, 1};
      const Seconds t =
          collect(Collective::all_reduce, replicas, Bytes(dense * gradient / l_.shard.ranks));
      e_.time[Time::gradients].busy += t;
      e_.time[Time::gradients].exposed += t;
    }
  }

  /// Adam over this rank's share, the gradient norm before it and the clipping.
  void optimizer() {
    const RankParameters n = rank_parameters(p_, s_, 0);
    const double dense_shards = s_.zero >= 1 ? l_.shard.ranks : 1;
    const double expert_shards = s_.zero >= 1 ? l_.expert_data.ranks : 1;
    const double own = (n.total() - n.experts) / dense_shards + n.experts / expert_shards;
    const double gradient = element_bytes(p_.runtime.gradients);
    const StreamKernel& adam = p_.kernels.stream[StreamOp::adamw];
    // Master weights, two moments in and out, the gradient in, 16-bit weights out; or all of it in
    // 16 bits.
    const bool small = p_.work.optimizer == Optimizer::adamw_bf16_states;
    const double bytes = small ? 14 : 24 + gradient + 2;
    Seconds t = stream(p_.chip, adam, {own, 1, Bytes(own * bytes)}).time;
    if (s_.offload) t = max(t, Bytes(own * bytes) / p_.host_link);
    if (!small) {
      const StreamKernel& copy = p_.kernels.stream[StreamOp::copy];
      const double passes = 3 * gradient;  // norm; read and write when clipping
      t += stream(p_.chip, copy, {own, 1, Bytes(own * passes)}).time;
    }
    set(Time::optimizer, t + p_.runtime.host_per_optimizer);
  }

  void spread() {
    Seconds sum;
    for (const Span& t : e_.time.values) sum += t.exposed;
    set(Time::spread, p_.runtime.spread * expected_largest(devices_of(s_)) * sum);
  }

  void set(Time t, Seconds value) { e_.time[t] = {value, value}; }

  void count() {
    e_.devices = devices_of(s_);
    e_.tokens = static_cast<double>(p_.work.batch) * p_.work.seq;
    const double once = forward_flops(p_);
    e_.model_flops = Flops(3 * once * e_.tokens);
    // What is done again, from the kernels themselves.
    const Part& part = slowest_.part;
    const double again =
        part.forward.flops.value > 0 ? part.recompute.flops / part.forward.flops : 0;
    e_.hardware_flops = e_.model_flops + Flops(again * once * e_.tokens);
    e_.peak = p_.peak[s_.precision];
  }

  /// How often each recorded operator runs in a step of a rank of the slowest stage; those of other
  /// stages are dropped.
  void count_runs() {
    const LayerMix mix = stage_mix(p_, s_, e_.slowest_stage);
    const std::array<double, part_names.size()> times = {mix.full,
                                                         mix.windowed,
                                                         mix.recurrent,
                                                         mix.dense,
                                                         mix.experts,
                                                         e_.slowest_stage == 0 ? 1.0 : 0.0,
                                                         e_.slowest_stage == s_.pp - 1 ? 1.0 : 0.0};
    const double layers = std::max(1.0, stage_layers(p_, s_, e_.slowest_stage));
    const bool some = s_.recompute == Recompute::full && s_.recompute_layers > 0;
    const double again = some ? std::min(1.0, s_.recompute_layers / layers) : 1;
    for (Operator& o : trace_.operators) {
      const auto part = std::find(part_names.begin(), part_names.end(), o.part);
      o.count = l_.microbatches * times[static_cast<std::size_t>(part - part_names.begin())];
      if (o.again) o.count *= again;
    }
    std::erase_if(trace_.operators, [](const Operator& o) { return o.count <= 0; });
  }

  void memory() {
    for (int i = 0; i < s_.pp; ++i) {
      const StageMemory m = stage_memory(p_, s_, i);
      if (i > 0 && m.total() <= e_.memory.total()) continue;
      e_.memory = m;
      e_.fullest_stage = i;
    }
    if (e_.memory.total() > p_.capacity) e_.verdict = Verdict::out_of_memory;
  }

  const Problem& p_;
  const Strategy& s_;
  const Layout l_;
  Trace& trace_;
  Parts parts_;
  Stage slowest_;
  Stage first_;
  Estimate e_;
};

}  // namespace

std::string_view meaning_of(Time t) {
  switch (t) {
    case Time::forward:
      return "kernels of the forward pass";
    case Time::backward:
      return "kernels of the backward pass";
    case Time::recompute:
      return "activations computed again";
    case Time::tensor:
      return "tensor-parallel collectives that nothing hides";
    case Time::context:
      return "keys and values between context-parallel ranks";
    case Time::expert:
      return "tokens sent to their experts and back";
    case Time::pipeline:
      return "transfers from stage to stage";
    case Time::bubble:
      return "waiting for the first and last microbatch";
    case Time::gradients:
      return "gradients summed over replicas";
    case Time::parameters:
      return "sharded parameters gathered";
    case Time::optimizer:
      return "optimizer step, gradient norm";
    case Time::host:
      return "the device waits for its host";
    case Time::spread:
      return "waiting for the slowest device";
    case Time::count:
      break;
  }
  return "";
}

Seconds Estimate::forward_backward() const { return step - time[Time::optimizer].exposed; }

double Estimate::mfu() const { return step.value > 0 ? model_flops / step / (devices * peak) : 0; }

double Estimate::hfu() const {
  return step.value > 0 ? hardware_flops / step / (devices * peak) : 0;
}

Estimate evaluate(const Problem& problem, const Strategy& strategy) noexcept {
  const Verdict verdict = legal(problem, strategy);
  if (verdict != Verdict::fits) {
    Estimate e;
    e.verdict = verdict;
    return e;
  }
  Silent silent;
  return Step<Silent>(problem, strategy, silent).run();
}

Explained explain(const Problem& problem, const Strategy& strategy) {
  const Verdict verdict = legal(problem, strategy);
  Explained x;
  x.estimate.verdict = verdict;
  if (verdict != Verdict::fits) return x;
  Recorder recorder;
  x.estimate = Step<Recorder>(problem, strategy, recorder).run();
  x.operators = std::move(recorder.operators);
  return x;
}

StageTimes stage_times(const Problem& problem, const Strategy& strategy, int stage) noexcept {
  Silent silent;
  return Step<Silent>(problem, strategy, silent).times(stage);
}

}  // namespace sextant
