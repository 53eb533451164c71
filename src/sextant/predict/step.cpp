// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/step.hpp"

#include <algorithm>

namespace sextant {
namespace {

using namespace training;

class Passer {
 public:
  Passer(const Problem& p, const Strategy& s, const Block& block, const Stages& stages)
      : p_(p), s_(s), b_(block), stages_(stages), microbatches_(microbatches_of(p, s)) {}

  Passage run() const {
    Passage w;
    for (int i = 0; i < stages_.count; ++i) {
      const StageKind kind = scheduled(s_, stages_.kinds[static_cast<std::size_t>(i)]);
      const Stage st = s_.schedule == Schedule::dual_pipe ? paired(kind) : stage(kind);
      w.others += kind.count * st.time();
      w.weights += kind.count * st.part.backward.weights;
      if (i == 0 || st.time() > w.slowest.time()) {
        w.slowest = st;
        w.slowest_stage = kind.index;
      }
      if (i > 0) continue;
      w.first_forward = st.forward;
      w.first_backward = st.backward;
    }
    w.others -= w.slowest.time();
    w.weights -= w.slowest.part.backward.weights;
    return w;
  }

  /// What a stage does for one microbatch.
  Stage stage(const StageKind& kind) const {
    Stage st;
    // Of a stage's layers, so many are computed again.
    const bool some = s_.recompute == Recompute::full && s_.recompute_layers > 0;
    const double again = some ? std::min(1.0, s_.recompute_layers / kind.layers) : 1;
    for (int t = 0; t < p_.graph.type_count; ++t) {
      const auto at = static_cast<std::size_t>(t);
      const double layers = kind.types[at];
      if (layers == 0) continue;
      const Part& layer = b_.parts.layers[at];
      st.part.forward.add(layer.forward, layers);
      st.part.backward.add(layer.backward, layers);
      st.part.recompute.add(layer.recompute, again * layers);
      add_sometimes(layer, layers, st.part);
    }
    if (kind.first) {
      add_end(b_.parts.embedding, st.part);
      add_end(b_.parts.tower, st.part);
      st.part.recompute.add(b_.parts.tower.recompute, again);
    }
    if (kind.last) add_end(b_.parts.head, st.part);
    hide_experts(st.part);
    const Seconds ahead = st.part.forward.time();
    const Seconds back = st.part.recompute.time() + st.part.backward.time();
    const Phase& f = st.part.forward;
    const Phase& r = st.part.recompute;
    const Phase& g = st.part.backward;
    const Seconds pending = pending_time();
    const auto pace = [&](Seconds device, double launches, double collectives) {
      return paced(device, host_time(p_, s_, launches, kind.layers) + collectives * pending);
    };
    st.forward = pace(ahead, f.launches, f.collectives) + p_.runtime.host_per_microbatch;
    st.backward = pace(back, r.launches + g.launches, r.collectives + g.collectives);
    st.host = (st.forward - ahead) + (st.backward - back);  // in this order never below zero
    // What puts them off puts off their part of the waiting.
    if (back.value > 0) st.part.backward.weights *= st.backward / back;
    return st;
  }

 private:
  /// DualPipe gives a device a stage from either end, and each half of the microbatches: those with
  /// the embedding have the head too.
  Stage paired(const StageKind& kind) const {
    if (!kind.first && !kind.last) return stage(kind);
    const Stage first = stage(stages_.kinds[0]);
    const Stage last = stage(stages_.kinds[static_cast<std::size_t>(stages_.count - 1)]);
    Stage both;
    both.part.add(first.part, 0.5);
    both.part.add(last.part, 0.5);
    both.forward = 0.5 * (first.forward + last.forward);
    both.backward = 0.5 * (first.backward + last.backward);
    both.host = 0.5 * (first.host + last.host);
    return both;
  }

  /// Exchange between experts beside the compute of another microbatch: what sticks out shows, and
  /// the cores it takes. DualPipe dedicates cores to it while chunks of both directions run
  /// (DeepSeek-V3, arXiv 2412.19437, 3.2.1): multiplies are launched on the others all the time.
  void hide_experts(Part& part) const {
    const bool dedicated = s_.schedule == Schedule::dual_pipe && s_.pp > 1;
    const bool beside = p_.runtime.overlap.experts || dedicated;
    if (!beside || microbatches_ <= 1) return;
    Seconds busy;
    Seconds exposed;
    Seconds window;
    for (const Phase* phase : {&part.forward, &part.recompute, &part.backward}) {
      busy += phase->exchange[Exchange::expert].busy;
      exposed += phase->exchange[Exchange::expert].exposed;
      window += phase->compute;
    }
    if (exposed.value <= 0) return;
    const Seconds taken = dedicated ? max(busy, window) : busy;
    const Seconds left = shown_beside(busy, window, exchange_cores(p_) * taken);
    const double share = min(left, exposed) / exposed;
    for (Phase* phase : {&part.forward, &part.recompute, &part.backward}) {
      phase->exchange[Exchange::expert].exposed *= share;
    }
  }

  void add_end(const Part& end, Part& to) const {
    to.forward.add(end.forward, 1);
    to.backward.add(end.backward, 1);
    add_sometimes(end, 1, to);
  }

  /// What is not done with every microbatch.
  void add_sometimes(const Part& part, double times, Part& to) const {
    if (part.once.launches > 0) to.forward.add(part.once, times / microbatches_);
    if (part.accumulate.launches > 0) {
      to.backward.add(part.accumulate, times * accumulated(p_, s_));
    }
  }

  /// Host time of a tensor-parallel collective beside transfers between nodes.
  Seconds pending_time() const {
    const Communication& c = p_.runtime.communication;
    const bool far = s_.pp > 1 && devices_of(s_) > p_.network.devices_per_node;
    const Group& tensor = b_.widths.tensor;
    const bool crossing = tensor.per_node < tensor.ranks;
    return s_.tp * (far ? c.pending : crossing ? c.crossing : Seconds(0));
  }

  const Problem& p_;
  const Strategy& s_;
  const Block& b_;
  const Stages& stages_;
  const double microbatches_;
};

class Step {
 public:
  Step(const Problem& p, const Strategy& s, const Block& block, const Mapping& mapping,
       const Passage& way, Sending hop)
      : p_(p),
        s_(s),
        b_(block),
        map_(mapping),
        way_(way),
        hop_(hop),
        microbatches_(microbatches_of(p, s)) {}

  Estimate run() {
    time();
    Estimate e;
    e.clock = b_.clock;
    e.power = b_.power;
    e.slowest_stage = way_.slowest_stage;
    e.time = time_;
    e.step = step_;
    count(e);
    memory(e);
    energy(e);
    return e;
  }

  Glance glance() {
    time();
    Joules kernels;
    for (const Phase* phase : phases()) kernels += microbatches_ * phase->energy;
    return {step_, kernels + p_.chip.idle * step_ + p_.host_power * step_};
  }

 private:
  std::array<const Phase*, 3> phases() const {
    const Part& part = way_.slowest.part;
    return {&part.forward, &part.recompute, &part.backward};
  }

  void time() {
    pipeline();
    if (map_.by_layer) {
      sharded();
    } else {
      data_parallel();
    }
    set(Time::optimizer, updates() * map_.optimizer + p_.runtime.host_per_optimizer);
    spread();
  }

  /// Steady state on the slowest stage, and the way of the first and last microbatch through all
  /// others: T = m·t_max + Σ_others t_i / v (1F1B and GPipe; Narayanan et al. 2021, section 2.2).
  void pipeline() {
    const double m = microbatches_;
    const Part& part = way_.slowest.part;
    set(Time::forward, m * part.forward.compute);
    set(Time::backward, m * part.backward.compute);
    set(Time::recompute, m * part.recompute.compute);
    exchange(Time::tensor, Exchange::tensor);
    exchange(Time::context, Exchange::context);
    exchange(Time::expert, Exchange::expert);
    set(Time::host, m * way_.slowest.host + p_.runtime.host_per_step);
    if (s_.pp == 1) return;
    set(Time::bubble, bubble(way_.others, way_.weights));
    // Every microbatch of every chunk (of ZB-V's two) is sent on, and its gradient back; the first
    // and the last one pass every boundary in the open.
    const double sends = 2 * m * chunks();
    const double open = 2.0 * (s_.pp - 1);
    const double shown = p_.runtime.overlap.pipeline ? open : open + sends;
    time_[Time::pipeline] = {sends * hop_.time, shown * hop_.time};
  }

  /// Of a stage; ZB-V's turn in the V stays on its rank.
  double chunks() const { return s_.schedule == Schedule::zero_bubble_v ? 2 : s_.interleave; }

  /// What a rank sends to its neighbours in a step, the mean of all: nothing goes back from the
  /// first chunk, nor on from the last.
  Joules between_stages() const {
    const double turns = s_.schedule == Schedule::zero_bubble_v ? 2 : 1;
    return 2 * microbatches_ * (chunks() - turns / s_.pp) * hop_.links;
  }

  /// Waiting for the first and last microbatch, where all other stages take `others` and of that
  /// `weights` for weight gradients, which later stages can put off.
  Seconds bubble(Seconds others, Seconds weights) const {
    // The first microbatch goes to the last stage and back, however many there are.
    const Seconds way = others - weights - (microbatches_ - 1) * way_.slowest.time();
    const Seconds least = max(way, Seconds(0));
    switch (s_.schedule) {
      case Schedule::zero_bubble: {
        // (p − 1)(t_F + t_B − t_W); only microbatches before the last have something to put off.
        const double filled = std::min(1.0, (microbatches_ - 1) / (s_.pp - 1));
        return max(others - (1 + filled) * weights, least);
      }
      case Schedule::zero_bubble_v:  // none where t_F = t_B = t_W; pieces of half a stage
        return max((others - 3 * weights) / 2, least);
      case Schedule::dual_pipe: {
        // (p/2 − 1)(F&B + B − 3W), table 2: F&B is a forward beside a backward pass.
        const Seconds w = way_.slowest.part.backward.weights;
        const Seconds each = way_.slowest.forward + 2 * way_.slowest.backward - 3 * w;
        return max((s_.pp / 2.0 - 1) * each, least);
      }
      case Schedule::one_f_one_b:
      case Schedule::gpipe:
        break;
    }
    return others / s_.interleave;
  }

  /// Stages that a rank updates: of DualPipe's two its own half, where states are shared.
  double updates() const {
    return s_.schedule == Schedule::dual_pipe && s_.pp > 1 && s_.zero == 0 ? 2 : 1;
  }

  void exchange(Time t, Exchange x) {
    Span s;
    for (const Phase* phase : phases()) {
      s.busy += microbatches_ * phase->exchange[x].busy;
      s.exposed += microbatches_ * phase->exchange[x].exposed;
    }
    time_[t] = s;
  }

  /// What shows of communication beside `window`.
  Seconds beside(Seconds comm, Seconds window, bool overlapped) const {
    if (!overlapped) return comm;
    return max(p_.runtime.communication.cores * comm, comm - window);
  }

  /// How often gradients leave in a step.
  double reductions() const { return microbatches_ / run_of(p_, s_); }

  /// How often sharded weights are gathered for a microbatch.
  double passes() const { return s_.zero >= 3 ? 2 : 1; }

  /// What a rank sends to its replicas in a step.
  Joules between_replicas() const {
    const double gathers = map_.by_layer ? microbatches_ * passes() : 1;
    return gathers * map_.gather.links + reductions() * map_.reduce.links + across().links;
  }

  /// Once a step: between groups that share states, of DualPipe's copies, and of a tied table.
  Sending across() const {
    if (s_.schedule == Schedule::dual_pipe) return map_.across + map_.copies;
    return holds_both_ends(s_) ? map_.across : map_.across + map_.tied;
  }

  /// Gradients and parameters between replicas. Gradients of a chunk are complete after its last
  /// microbatch; with several chunks a stage the others still have theirs to do.
  void data_parallel() {
    const Overlap& o = p_.runtime.overlap;
    const double chunks = s_.interleave;
    const double ahead = chunks > 1 ? (chunks - 1) / chunks * s_.pp : 1;
    const double rounds = reductions();
    const Seconds window = ahead * way_.first_backward;
    // The last time with what goes between groups.
    const Seconds once = across().time;
    const double last = once.value > 0 ? 1 : 0;
    const Seconds shown = (rounds - last) * beside(map_.reduce.time, window, o.gradients) +
                          last * beside(map_.reduce.time + once, window, o.gradients);
    time_[Time::gradients] = {rounds * map_.reduce.time + once, shown};
    time_[Time::parameters] = {map_.gather.time,
                               beside(map_.gather.time, ahead * way_.first_forward, o.parameters)};
  }

  /// Layer by layer beside the layer before; the first layer's share has nothing to hide behind.
  void sharded() {
    const Overlap& o = p_.runtime.overlap;
    const double m = microbatches_;
    const double units = p_.model.layers + 1.0;
    const auto open = [&](Seconds comm, Seconds window, bool overlapped) {
      return overlapped ? comm / units + beside(comm - comm / units, window, true) : comm;
    };
    // In the backward pass, gathering and reducing share the window; in the last one with what goes
    // between groups.
    const Seconds gather = map_.gather.time;
    const Seconds reduce = map_.reduce.time;
    const Seconds once = across().time;
    const Seconds ahead = open(gather, way_.first_forward, o.parameters);
    const Seconds again = (passes() - 1) * gather;
    time_[Time::parameters] = {m * passes() * gather, m * ahead};
    time_[Time::gradients] = {m * reduce + once, Seconds(0)};
    const auto back = [&](double times, Seconds scatter) {
      const Seconds all = again + scatter;
      const Seconds shown = times * open(all, way_.first_backward, o.gradients);
      const double share = all.value > 0 ? scatter / all : 0;
      time_[Time::parameters].exposed += (1 - share) * shown;
      time_[Time::gradients].exposed += share * shown;
    };
    const double last = once.value > 0 ? 1 : 0;
    back(m - last, reduce);
    if (last > 0) back(last, reduce + once);
  }

  void spread() {
    Seconds sum;
    for (const Span& t : time_.values) sum += t.exposed;
    const Seconds more = map_.spread * sum;
    set(Time::spread, more);
    step_ = sum + more;
  }

  void set(Time t, Seconds value) { time_[t] = {value, value}; }

  void count(Estimate& e) const {
    e.devices = map_.devices;
    e.tokens = static_cast<double>(p_.work.batch) * p_.work.seq;
    const double once = b_.flops;
    e.model_flops = Flops((3 * once - b_.frozen) * e.tokens);
    // What is done again, from the kernels themselves.
    const Part& part = way_.slowest.part;
    const double again =
        part.forward.flops.value > 0 ? part.recompute.flops / part.forward.flops : 0;
    e.hardware_flops = e.model_flops + Flops(again * once * e.tokens);
    e.masked_flops = Flops(3 * b_.masked * e.tokens);
    e.peak = p_.peak[s_.precision];
  }

  void memory(Estimate& e) const {
    for (int i = 0; i < map_.stages.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const StageKind& kind = map_.stages.kinds[at];
      const StageMemory m = stage_memory(p_, s_, b_.kept, map_.states[at], kind);
      e.offloaded = max(e.offloaded, m.offloaded);
      if (i > 0 && m.total() <= e.memory.total()) continue;
      e.memory = m;
      e.fullest_stage = kind.index;
    }
    if (e.memory.total() > p_.capacity || e.offloaded > p_.host_memory) {
      e.verdict = Verdict::out_of_memory;
    }
  }

  void energy(Estimate& estimate) const {
    Energy& e = estimate.energy;
    for (const Phase* phase : phases()) {
      e.memory += microbatches_ * phase->memory;
      e.compute += microbatches_ * (phase->energy - phase->memory);
      e.links += microbatches_ * phase->links;
    }
    e.compute += updates() * map_.update.compute;
    e.memory += updates() * map_.update.memory;
    e.links += between_stages() + between_replicas();
    e.idle = p_.chip.idle * step_;
    e.host = p_.host_power * step_;
  }

  const Problem& p_;
  const Strategy& s_;
  const Block& b_;
  const Mapping& map_;
  const Passage& way_;
  const Sending hop_;
  const double microbatches_;
  Table<Span, Time> time_;
  Seconds step_;
};

}  // namespace

Passage passage_of(const Problem& p, const Strategy& s, const Block& block,
                   const Stages& stages) noexcept {
  return Passer(p, s, block, stages).run();
}

Stage stage_alone(const Problem& p, const Strategy& s, const Block& block, const Mapping& mapping,
                  const StageKind& kind) noexcept {
  return Passer(p, s, block, mapping.stages).stage(kind);
}

Hop hop_of(const Problem& p, const Strategy& s, const Widths& w) noexcept {
  const bool scattered = s.sp || (p.runtime.communication.scatter_transfers && s.tp > 1);
  const Bytes whole(w.tokens * w.hidden * activation_bytes(s.precision));
  if (!scattered) return {whole, Bytes(0)};
  return {whole / s.tp, s.sp ? Bytes(0) : whole};
}

Sending transfer_of(const Problem& p, const Strategy& s, const Block& block,
                    const Mapping& mapping) noexcept {
  if (s.pp == 1) return {};
  const Hop hop = hop_of(p, s, block.widths);
  const auto one = [&](Collective op, Group group, Bytes bytes) {
    const CollectiveCost c = collective(p.network, p.collectives, op, group, bytes);
    return Sending{c.time, energy_of(c.sent)};
  };
  Sending t = one(Collective::send_recv, mapping.groups.pipeline, hop.sent);
  if (hop.gathered.value > 0) {
    t = t + one(Collective::all_gather, block.widths.tensor, hop.gathered);
  }
  t.time += p.runtime.communication.extra_latency;
  return t;
}

Estimate evaluate(const Problem& p, const Strategy& s, const Block& block, const Mapping& mapping,
                  const Passage& passage, Sending transfer) noexcept {
  return Step(p, s, block, mapping, passage, transfer).run();
}

Glance glance(const Problem& p, const Strategy& s, const Block& block, const Mapping& mapping,
              const Passage& passage, Sending transfer) noexcept {
  return Step(p, s, block, mapping, passage, transfer).glance();
}

}  // namespace sextant
