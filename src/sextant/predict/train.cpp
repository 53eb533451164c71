// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/train.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/predict/block.hpp"
#include "sextant/predict/mapping.hpp"

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

/// Whether gradients of several microbatches, or of another type than they are kept in, are added
/// up by kernels of their own; multiplies that add them in passing have none (Part::accumulate).
bool accumulates(const Problem& p, const Strategy& s) {
  return p.runtime.gradients == Precision::fp32 || (microbatches_of(p, s) > 1 && s.zero < 3);
}

class Step {
 public:
  Step(const Problem& p, const Strategy& s, const Block& block, const Mapping& mapping)
      : p_(p), s_(s), b_(block), map_(mapping), microbatches_(microbatches_of(p, s)) {}

  Estimate run() {
    e_.clock = b_.clock;
    e_.power = b_.power;
    pipeline();
    if (map_.by_layer) {
      sharded();
    } else {
      data_parallel();
    }
    set(Time::optimizer, map_.optimizer);
    spread();
    count();
    memory();
    energy();
    return e_;
  }

  /// For timelines.
  StageTimes times(int i) const {
    const Stage st = stage(stage_of(p_, s_, i));
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
    if (kind.first) add_end(b_.parts.embedding, st.part);
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
    st.forward = pace(ahead, f.launches, f.collectives);
    st.backward = pace(back, r.launches + g.launches, r.collectives + g.collectives);
    st.host = st.forward + st.backward - ahead - back;
    return st;
  }

  /// DualPipe gives a device a stage from either end, and each half of the microbatches: those with
  /// the embedding have the head too.
  Stage paired(const StageKind& kind) const {
    if (!kind.first && !kind.last) return stage(kind);
    const Stage first = stage(map_.stages.kinds[0]);
    const Stage last = stage(map_.stages.kinds[static_cast<std::size_t>(map_.stages.count - 1)]);
    Stage both;
    both.part.add(first.part, 0.5);
    both.part.add(last.part, 0.5);
    both.forward = 0.5 * (first.forward + last.forward);
    both.backward = 0.5 * (first.backward + last.backward);
    both.host = 0.5 * (first.host + last.host);
    return both;
  }

  /// Exchange between experts beside the compute of another microbatch: what sticks out shows, and
  /// the cores it takes.
  void hide_experts(Part& part) const {
    const bool beside = p_.runtime.overlap.experts || s_.schedule == Schedule::dual_pipe;
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
    const Seconds left = max(p_.runtime.communication.cores * busy, busy - window);
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
    if (part.accumulate.launches > 0 && accumulates(p_, s_)) {
      to.backward.add(part.accumulate, times);
    }
  }

  /// Host time of a tensor-parallel collective beside transfers between nodes.
  Seconds pending_time() const {
    const Communication& c = p_.runtime.communication;
    const bool far = s_.pp > 1 && map_.devices > p_.network.devices_per_node;
    const Group& tensor = b_.widths.tensor;
    const bool crossing = tensor.per_node < tensor.ranks;
    return s_.tp * (far ? c.pending : crossing ? c.crossing : Seconds(0));
  }

  Seconds transfer() const {
    if (s_.pp == 1) return Seconds(0);
    const bool scattered = s_.sp || (p_.runtime.communication.scatter_transfers && s_.tp > 1);
    const Widths& w = b_.widths;
    const Bytes whole(w.tokens * w.hidden * 2);
    const Bytes sent = scattered ? whole / s_.tp : whole;
    Seconds t =
        collective(p_.network, p_.collectives, Collective::send_recv, map_.groups.pipeline, sent)
            .time;
    if (scattered && !s_.sp) {
      t += collective(p_.network, p_.collectives, Collective::all_gather, w.tensor, whole).time;
    }
    return t + p_.runtime.communication.extra_latency;
  }

  /// Steady state on the slowest stage, and the way of the first and last microbatch through all
  /// others: T = m·t_max + Σ_others t_i / v (1F1B and GPipe; Narayanan et al. 2021, section 2.2).
  void pipeline() {
    Seconds others;
    Seconds weights;
    for (int i = 0; i < map_.stages.count; ++i) {
      const StageKind& kind = map_.stages.kinds[static_cast<std::size_t>(i)];
      const Stage st = s_.schedule == Schedule::dual_pipe ? paired(kind) : stage(kind);
      others += kind.count * st.time();
      weights += kind.count * st.part.backward.weights;
      if (i == 0 || st.time() > slowest_.time()) {
        slowest_ = st;
        e_.slowest_stage = kind.index;
      }
      if (i > 0) continue;
      first_forward_ = st.forward;
      first_backward_ = st.backward;
    }
    others -= slowest_.time();
    weights -= slowest_.part.backward.weights;
    const double m = microbatches_;
    const Part& part = slowest_.part;
    set(Time::forward, m * part.forward.compute);
    set(Time::backward, m * part.backward.compute);
    set(Time::recompute, m * part.recompute.compute);
    exchange(Time::tensor, Exchange::tensor);
    exchange(Time::context, Exchange::context);
    exchange(Time::expert, Exchange::expert);
    set(Time::host, m * slowest_.host + p_.runtime.host_per_step);
    if (s_.pp == 1) return;
    set(Time::bubble, bubble(others, weights));
    const Seconds hop = transfer();
    // Every microbatch of every chunk is sent on, and its gradient back; the first and the last
    // one pass every boundary in the open.
    const double sends = 2 * m * s_.interleave;
    const double open = 2.0 * (s_.pp - 1);
    const double shown = p_.runtime.overlap.pipeline ? open : open + sends;
    e_.time[Time::pipeline] = {sends * hop, shown * hop};
  }

  /// Waiting for the first and last microbatch, where all other stages take `others` and of that
  /// `weights` for weight gradients, which later stages can put off.
  Seconds bubble(Seconds others, Seconds weights) const {
    const Seconds none(0);
    switch (s_.schedule) {
      case Schedule::zero_bubble:  // (p − 1)(t_F + t_B − t_W)
        return max(others - 2 * weights, none);
      case Schedule::zero_bubble_v:  // none where t_F = t_B = t_W; pieces of half a stage
        return max(others - 3 * weights, none) / 2;
      case Schedule::dual_pipe: {
        // (p/2 − 1)(F&B + B − 3W), table 2: F&B is a forward beside a backward pass.
        const Seconds w = slowest_.part.backward.weights;
        const Seconds each = slowest_.forward + 2 * slowest_.backward - 3 * w;
        return max((s_.pp / 2.0 - 1) * each, none);
      }
      case Schedule::one_f_one_b:
      case Schedule::gpipe:
        break;
    }
    return others / s_.interleave;
  }

  void exchange(Time t, Exchange x) {
    const Part& part = slowest_.part;
    Span s;
    for (const Phase* phase : {&part.forward, &part.recompute, &part.backward}) {
      s.busy += microbatches_ * phase->exchange[x].busy;
      s.exposed += microbatches_ * phase->exchange[x].exposed;
    }
    e_.time[t] = s;
  }

  /// What shows of communication beside `window`.
  Seconds beside(Seconds comm, Seconds window, bool overlapped) const {
    if (!overlapped) return comm;
    return max(p_.runtime.communication.cores * comm, comm - window);
  }

  /// Gradients and parameters between replicas. Gradients of a chunk are complete after its last
  /// microbatch; with several chunks a stage the others still have theirs to do.
  void data_parallel() {
    const Overlap& o = p_.runtime.overlap;
    const double chunks = s_.interleave;
    const double ahead = chunks > 1 ? (chunks - 1) / chunks * s_.pp : 1;
    // Sharded gradients leave after every run of a chunk: of pp microbatches where several chunks
    // take turns.
    const double run = chunks > 1 ? s_.pp : 1;
    const double rounds = s_.zero >= 2 ? std::max(1.0, microbatches_ / run) : 1;
    const Seconds reduce = rounds * map_.reduce;
    e_.time[Time::gradients] = {reduce,
                                beside(reduce, rounds * ahead * first_backward_, o.gradients)};
    e_.time[Time::parameters] = {map_.gather,
                                 beside(map_.gather, ahead * first_forward_, o.parameters)};
  }

  /// Layer by layer beside the layer before; the first layer's share has nothing to hide behind.
  void sharded() {
    const Overlap& o = p_.runtime.overlap;
    const double m = microbatches_;
    const double units = p_.model.layers + 1.0;
    const double passes = s_.zero >= 3 ? 2 : 1;
    const auto open = [&](Seconds comm, Seconds window, bool overlapped) {
      return overlapped ? comm / units + beside(comm - comm / units, window, true) : comm;
    };
    // In the backward pass, gathering and reducing share the window.
    const Seconds gather = map_.gather;
    const Seconds scatter = map_.reduce;
    const Seconds ahead = open(gather, first_forward_, o.parameters);
    const Seconds again = (passes - 1) * gather;
    const Seconds back = open(again + scatter, first_backward_, o.gradients);
    const double share = (again + scatter).value > 0 ? scatter / (again + scatter) : 0;
    e_.time[Time::parameters] = {m * passes * gather, m * (ahead + (1 - share) * back)};
    e_.time[Time::gradients] = {m * scatter + map_.across, m * share * back + map_.across};
  }

  void spread() {
    Seconds sum;
    for (const Span& t : e_.time.values) sum += t.exposed;
    const Seconds more = map_.spread * sum;
    set(Time::spread, more);
    e_.step = sum + more;
  }

  void set(Time t, Seconds value) { e_.time[t] = {value, value}; }

  void count() {
    e_.devices = map_.devices;
    e_.tokens = static_cast<double>(p_.work.batch) * p_.work.seq;
    const double once = b_.flops;
    e_.model_flops = Flops((3 * once - b_.frozen) * e_.tokens);
    // What is done again, from the kernels themselves.
    const Part& part = slowest_.part;
    const double again =
        part.forward.flops.value > 0 ? part.recompute.flops / part.forward.flops : 0;
    e_.hardware_flops = e_.model_flops + Flops(again * once * e_.tokens);
    e_.peak = p_.peak[s_.precision];
  }

  void memory() {
    for (int i = 0; i < map_.stages.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const StageKind& kind = map_.stages.kinds[at];
      const StageMemory m = stage_memory(p_, s_, b_.kept, map_.states[at], kind);
      if (i > 0 && m.total() <= e_.memory.total()) continue;
      e_.memory = m;
      e_.fullest_stage = kind.index;
    }
    if (e_.memory.total() > p_.capacity || e_.memory.offloaded > p_.host_memory) {
      e_.verdict = Verdict::out_of_memory;
    }
  }

  /// Adam streams states at the rate that memory gives; gradients are summed over replicas once.
  void energy() {
    const Chip& chip = p_.chip;
    Energy& e = e_.energy;
    for (const Phase* phase :
         {&slowest_.part.forward, &slowest_.part.recompute, &slowest_.part.backward}) {
      e.memory += microbatches_ * phase->memory;
      e.compute += microbatches_ * (phase->energy - phase->memory);
      e.links += microbatches_ * (link_energy * phase->sent);
    }
    const Bytes adam = chip.mechanism.memory_efficiency * chip.bandwidth * map_.optimizer;
    e.memory += chip.memory_energy * adam;
    if (s_.dp > 1) e.links += 2.0 * (network_energy * e_.memory.parts[Space::gradients]);
    e.idle = chip.idle * e_.step;
    e.host = p_.host_power * e_.step;
  }

  const Problem& p_;
  const Strategy& s_;
  const Block& b_;
  const Mapping& map_;
  const double microbatches_;
  Stage slowest_;
  Seconds first_forward_;
  Seconds first_backward_;
  Estimate e_;
};

/// How often each recorded operator runs in a step of a rank of the slowest stage; those of other
/// stages are dropped.
void count_runs(const Problem& p, const Strategy& s, int stage, std::vector<Operator>& operators) {
  const StageKind kind = stage_of(p, s, stage);
  const graph::Graph& g = p.graph;
  const auto times_of = [&](const StageKind& of, std::string_view part) {
    if (part == g.embedding().name) return of.first ? 1 : 0;
    if (part == g.head().name) return of.last ? 1 : 0;
    int sum = 0;
    for (int t = 0; t < g.type_count; ++t) {
      const auto at = static_cast<std::size_t>(t);
      for (const int branch : {g.types[at].mixer, g.types[at].mlp}) {
        const bool of_it = branch >= 0 && g.branches[static_cast<std::size_t>(branch)].name == part;
        if (of_it) sum += of.types[at];
      }
    }
    return sum;
  };
  // DualPipe pairs the ends: each has half of the microbatches on either.
  const bool paired = s.schedule == Schedule::dual_pipe && s.pp > 1 && (kind.first || kind.last);
  const auto times = [&](std::string_view part) -> double {
    if (!paired) return times_of(kind, part);
    return 0.5 * (times_of(stage_of(p, s, 0), part) + times_of(stage_of(p, s, s.pp - 1), part));
  };
  const bool some = s.recompute == Recompute::full && s.recompute_layers > 0;
  const double again = some ? std::min(1.0, s.recompute_layers / std::max(1.0, kind.layers)) : 1;
  for (Operator& o : operators) {
    o.count = times(o.part);
    if (o.runs != Runs::step) o.count *= microbatches_of(p, s);
    if (o.runs == Runs::accumulation && !accumulates(p, s)) o.count = 0;
    if (o.again) o.count *= again;
  }
  std::erase_if(operators, [](const Operator& o) { return o.count <= 0; });
}

/// Exchange between experts hides beside another microbatch as a whole: what shows of it is shared
/// out by what each operator would have shown.
void share_exposed(Explained& x) {
  Seconds sum;
  for (const Operator& o : x.operators) {
    if (o.kind == Time::expert) sum += o.count * o.exposed;
  }
  const Seconds shown = x.estimate.time[Time::expert].exposed;
  if (!(sum > shown)) return;
  for (Operator& o : x.operators) {
    if (o.kind == Time::expert) o.exposed *= shown / sum;
  }
}

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

Estimate evaluate(const Problem& problem, const Strategy& strategy, const Block& block,
                  const Mapping& mapping) noexcept {
  return Step(problem, strategy, block, mapping).run();
}

Estimate evaluate(const Problem& problem, const Strategy& strategy) noexcept {
  const Verdict verdict = legal(problem, strategy);
  if (verdict != Verdict::fits) {
    Estimate e;
    e.verdict = verdict;
    return e;
  }
  return evaluate(problem, strategy, block_of(problem, strategy), mapping_of(problem, strategy));
}

Explained explain(const Problem& problem, const Strategy& strategy) {
  const Verdict verdict = legal(problem, strategy);
  Explained x;
  x.estimate.verdict = verdict;
  if (verdict != Verdict::fits) return x;
  const Block block = block_of(problem, strategy);
  x.estimate = evaluate(problem, strategy, block, mapping_of(problem, strategy));
  // The same composition at the same clock, recorded.
  Recorder recorder;
  Parts parts;
  compose(problem, strategy, block.widths, block.clock, recorder, parts);
  x.operators = std::move(recorder.operators);
  count_runs(problem, strategy, x.estimate.slowest_stage, x.operators);
  share_exposed(x);
  return x;
}

StageTimes stage_times(const Problem& problem, const Strategy& strategy, int stage) noexcept {
  const Block block = block_of(problem, strategy);
  const Mapping mapping = mapping_of(problem, strategy);
  return Step(problem, strategy, block, mapping).times(stage);
}

}  // namespace sextant
