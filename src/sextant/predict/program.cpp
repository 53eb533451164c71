// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/program.hpp"

#include <algorithm>

#include "sextant/predict/step.hpp"

namespace sextant {
namespace {

using namespace training;
using Does = Instruction::Kind;

/// A branch's operators, by pass and in its order, as numbers of recorded ones.
struct Passes {
  std::vector<std::size_t> forward;
  std::vector<std::size_t> recompute;
  std::vector<std::size_t> backward;  ///< the last operator's first
};

struct Recorded {
  std::vector<Operator> operators;
  std::vector<Passes> branches;  ///< as Graph::branches, then Graph::tower
};

Passes passes_of(const std::vector<Operator>& all, std::string_view branch) {
  Passes p;
  std::vector<std::vector<std::size_t>> back;
  std::string_view last;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Operator& o = all[i];
    if (o.branch != branch) continue;
    if (o.pass == Time::forward) p.forward.push_back(i);
    if (o.pass == Time::recompute) p.recompute.push_back(i);
    if (o.pass != Time::backward) continue;
    if (back.empty() || o.of != last) back.emplace_back();
    last = o.of;
    back.back().push_back(i);
  }
  std::reverse(back.begin(), back.end());
  for (const std::vector<std::size_t>& of_one : back) {
    p.backward.insert(p.backward.end(), of_one.begin(), of_one.end());
  }
  return p;
}

/// By the composition that explain() records.
Recorded record_all(const Problem& p, const Strategy& s, const Block& block) {
  Recorder recorder;
  Parts parts;
  compose(p, s, block.widths, block.clock, recorder, parts);
  Recorded all;
  all.operators = std::move(recorder.operators);
  for (const graph::Branch& b : p.graph.branches) {
    all.branches.push_back(passes_of(all.operators, b.name));
  }
  for (const graph::Branch& b : p.graph.tower) {
    all.branches.push_back(passes_of(all.operators, b.name));
  }
  return all;
}

Members members_of(const Operator& o, const Strategy& s) {
  if (o.kind == Time::context) return Members::context;
  if (o.kind == Time::expert) return Members::expert;
  return o.group.ranks == s.tp ? Members::tensor : Members::slices;
}

/// What one step shares between its stages.
struct SharedStep {
  const Problem& p;
  const Strategy& s;
  Block block;
  Mapping mapping;
  StateExchange states;
  Hop hop;
  Recorded recorded;
  double microbatches;
};

/// A layer, the embedding or the head: what is gathered and reduced at a time.
struct Unit {
  int layer = -1;
  std::vector<std::size_t> branches;  ///< in the order of the forward pass
  StageKind kind;
  bool again = false;  ///< computed again in the backward pass
};

class Author {
 public:
  Author(const SharedStep& step, int stage)
      : x_(step), times_(stage_times(step.p, step.s, stage)), stage_(stage) {}

  Program write(const Timeline& line) {
    for (const TimelineSpan& span : line.spans) {
      if (span.stage == stage_ && span.what == Activity::weights) split_ = true;
    }
    for (const TimelineSpan& span : line.spans) {
      if (span.stage == stage_) perform(span);
    }
    return std::move(program_);
  }

 private:
  void perform(const TimelineSpan& span) {
    span_ = span;
    clock_ = span.start;
    switch (span.what) {
      case Activity::forward:
        return forward();
      case Activity::backward:
        return backward();
      case Activity::weights:
        return put_off();
      case Activity::optimizer:
        return update();
      case Activity::host:
      case Activity::spread:
        return wait(span.length);
      default:  // waiting follows from what is waited for; the rest stands where it happens
        return;
    }
  }

  // -- passes ------------------------------------------------------------------------------------

  int part() const { return span_.chunk * x_.s.pp + stage_; }
  bool first_part() const { return part() == 0; }
  bool last_part() const { return part() + 1 == x_.s.pp * x_.s.interleave; }

  /// Of the chunk, in the order of the forward pass.
  std::vector<Unit> units() const {
    const graph::Graph& g = x_.p.graph;
    std::vector<Unit> all;
    const auto end = [&](std::size_t branch, bool first) {
      Unit u;
      // Images become tokens beside the look-up of text.
      for (std::size_t i = 0; first && x_.p.work.images > 0 && i < g.tower.size(); ++i) {
        u.branches.insert(u.branches.end(), static_cast<std::size_t>(g.tower[i].layers),
                          g.branches.size() + i);
        u.again = true;
      }
      u.branches.push_back(branch);
      u.kind.first = first;
      u.kind.last = !first;
      all.push_back(u);
    };
    if (first_part()) end(g.branches.size() - 2, true);
    int held = 0;  // by the stage, before this one
    for (int c = 0; c < span_.chunk; ++c) {
      const LayerRange before = chunk_layers(x_.p, x_.s, stage_, c);
      held += before.last - before.first;
    }
    const LayerRange range = chunk_layers(x_.p, x_.s, stage_, span_.chunk);
    for (int layer = range.first; layer < range.last; ++layer, ++held) {
      Unit u;
      u.layer = layer;
      u.kind.layers = 1;
      g.count(layer, layer + 1, u.kind.types);
      const auto type = std::find(u.kind.types.begin(), u.kind.types.end(), 1);
      const graph::LayerType& t = g.types[static_cast<std::size_t>(type - u.kind.types.begin())];
      for (const int b : {t.mixer, t.mlp}) {
        if (b >= 0) u.branches.push_back(static_cast<std::size_t>(b));
      }
      const bool some = x_.s.recompute == Recompute::full && x_.s.recompute_layers > 0;
      u.again = !some || held < x_.s.recompute_layers;
      all.push_back(u);
    }
    if (last_part()) end(g.branches.size() - 1, false);
    return all;
  }

  void forward() {
    if (!first_part()) receive(part() - 1, 0);
    const StateExchange& states = x_.states;
    const bool early = x_.p.runtime.overlap.parameters;
    const bool gathers = states.by_layer || (early && span_.microbatch == 0);
    for (const Unit& u : units()) {
      if (gathers) gather(u, early);
      for (const std::size_t b : u.branches) run(u, x_.recorded.branches[b].forward);
    }
    wait(times_.host_forward / x_.s.interleave);
    if (!last_part()) send(part() + 1, 0);
  }

  void backward() {
    if (!last_part()) receive(part() + 1, 1);
    std::vector<Unit> all = units();
    std::reverse(all.begin(), all.end());
    const bool early = x_.p.runtime.overlap.gradients;
    for (const Unit& u : all) {
      if (x_.states.by_layer && x_.s.zero >= 3) gather(u, early);
      for (const std::size_t b : u.branches) {
        if (u.again) run(u, x_.recorded.branches[b].recompute);
      }
      for (auto b = u.branches.rbegin(); b != u.branches.rend(); ++b) {
        run(u, x_.recorded.branches[*b].backward, split_ ? Only::inputs : Only::all);
      }
      if (!split_) reduce_after(u);
    }
    wait(times_.host_backward / x_.s.interleave);
    if (!first_part()) send(part() - 1, 1);
  }

  void put_off() {
    std::vector<Unit> all = units();
    std::reverse(all.begin(), all.end());
    for (const Unit& u : all) {
      for (auto b = u.branches.rbegin(); b != u.branches.rend(); ++b) {
        run(u, x_.recorded.branches[*b].backward, Only::weights);
      }
      reduce_after(u);
    }
  }

  enum class Only : std::uint8_t { all, inputs, weights };

  void run(const Unit& u, const std::vector<std::size_t>& numbers, Only only = Only::all) {
    unit_ = &u;
    for (const std::size_t i : numbers) {
      const Operator& o = x_.recorded.operators[i];
      if (only == Only::inputs && o.weights) continue;
      if (only == Only::weights && !o.weights) continue;
      if (o.runs == Runs::step && span_.microbatch > 0) continue;
      const bool first = span_.microbatch % run() == 0 && accumulated(x_.p, x_.s) < 1;
      if (o.runs == Runs::accumulation && first) continue;
      place(o);
    }
    unit_ = nullptr;
  }

  void place(const Operator& o) {
    Instruction n = next(o.name);
    n.part = o.part;
    n.length = o.cost.time;
    n.flops = o.cost.flops;
    n.memory = o.cost.dram;
    if (o.collective == Collective::count) {
      compute(n);
    } else {
      n.kind = Does::collective;
      n.message = o.message;
      n.collective = o.collective;
      n.members = members_of(o, x_.s);
      collect_beside(n, o.beside);
    }
    clock_ += o.exposed;
  }

  // -- the step's end ----------------------------------------------------------------------------

  void update() {
    const StageKind whole = stage_of(x_.p, x_.s, stage_);
    const RankParameters trained = trained_parameters(x_.p, x_.s, whole);
    const StateExchange& states = x_.states;
    if (!states.by_layer && !reduces_in_passes()) {
      exchange("sum gradients", states.reduce, trained, states.reduced, true);
    }
    if (!states.by_layer && !reduces_in_passes()) sum_across(trained, true);
    if (!states.by_layer && x_.p.model.tied && x_.s.pp > 1 && !holds_both_ends(x_.s) &&
        (whole.first || whole.last)) {
      const double table = whole.first ? trained.embedding : trained.head;
      share("sum of the tied embedding", Collective::all_reduce, Members::ends,
            x_.mapping.groups.ends, Bytes(table * states.reduced.ends), true);
    }
    tips_.insert(tips_.end(), pending_.begin(), pending_.end());
    pending_.clear();
    Instruction n = next("optimizer");
    n.length = x_.mapping.optimizer + x_.p.runtime.host_per_optimizer;
    n.memory = x_.mapping.update.moved;
    compute(n);
    clock_ += n.length;
    if (!states.by_layer && states.gathered.layers > 0 && !x_.p.runtime.overlap.parameters) {
      exchange("gather parameters", Collective::all_gather, trained, states.gathered, true);
    }
  }

  // -- replicas ----------------------------------------------------------------------------------

  int run() const { return static_cast<int>(run_of(x_.p, x_.s)); }

  /// Whether gradients leave after a pass, and not at the end.
  bool reduces_in_passes() const { return x_.p.runtime.overlap.gradients || x_.s.zero >= 2; }

  void reduce_after(const Unit& u) {
    if (!x_.states.by_layer) {
      if (!reduces_in_passes()) return;
      const bool last = span_.microbatch + 1 == static_cast<int>(x_.microbatches);
      if ((span_.microbatch + 1) % run() != 0 && !last) return;
    }
    unit_ = &u;
    const RankParameters n = trained_parameters(x_.p, x_.s, u.kind);
    const bool blocks = !x_.p.runtime.overlap.gradients;
    exchange("sum gradients", x_.states.reduce, n, x_.states.reduced, blocks);
    if (span_.microbatch + 1 == static_cast<int>(x_.microbatches)) sum_across(n, blocks);
    unit_ = nullptr;
  }

  /// Between groups that share states.
  void sum_across(const RankParameters& n, bool blocks) {
    const StateExchange& x = x_.states;
    constexpr const char* name = "sum gradients across groups";
    share(name, Collective::all_reduce, Members::across, x.across, x.dense_share(n), blocks);
    share(name, Collective::all_reduce, Members::expert_across, x.expert_across, x.expert_share(n),
          blocks);
  }

  /// A unit's parameters, beside the unit before where that is meant.
  void gather(const Unit& u, bool early) {
    if (x_.states.gathered.layers <= 0) return;
    const std::vector<std::uint32_t> start = tips_;
    if (early && !previous_.empty()) tips_ = previous_;
    previous_ = start;
    const std::vector<std::uint32_t> from = tips_;
    unit_ = &u;
    const RankParameters n = x_.states.by_layer ? passed_parameters(x_.p, x_.s, u.kind)
                                                : trained_parameters(x_.p, x_.s, u.kind);
    exchange("gather parameters", Collective::all_gather, n, x_.states.gathered, true);
    unit_ = nullptr;
    if (tips_ == from) {
      tips_ = start;
    } else if (early) {
      tips_.insert(tips_.end(), start.begin(), start.end());
    }
  }

  void exchange(std::string_view name, Collective op, const RankParameters& n,
                const BytesEach& bytes, bool blocks) {
    const StateExchange& x = x_.states;
    const bool parts = x.by_layer || x.across.ranks > 1;
    share(name, op, parts ? Members::shard : Members::data, x.dense, bytes.dense(n), blocks);
    share(name, op, x.expert_across.ranks > 1 ? Members::expert_shard : Members::expert_data,
          x.experts, bytes.experts(n), blocks);
  }

  void share(std::string_view name, Collective op, Members members, Group group, Bytes bytes,
             bool blocks) {
    if (group.ranks <= 1 || bytes.value <= 0) return;
    Instruction n = next(name);
    n.kind = Does::collective;
    n.collective = op;
    n.members = members;
    n.message = bytes;
    n.length = collect(x_.p, op, group, bytes).time;
    const std::uint32_t id = append(n, tips_);
    if (blocks) {
      tips_ = {id};
    } else {
      pending_.push_back(id);
    }
  }

  // -- between stages ----------------------------------------------------------------------------

  /// One for each message between two stages: by who receives it.
  int tag(int to, int direction) const {
    return (span_.microbatch * x_.s.pp * x_.s.interleave + to) * 2 + direction;
  }

  /// `to`: who receives it.
  Instruction transfer(std::string_view name, Does kind, int peer, int to, int direction) const {
    Instruction n = next(name);
    n.kind = kind;
    n.message = x_.hop.sent;
    n.length = times_.transfer;
    n.peer = peer % x_.s.pp;
    n.tag = tag(to, direction);
    return n;
  }

  void receive(int from, int direction) {
    const Instruction n = transfer(direction == 0 ? "receive activations" : "receive gradients",
                                   Does::receive, from, part(), direction);
    // What was to be sent goes first: whoever has one transfer at a time must not wait for an
    // answer to it.
    std::vector<std::uint32_t> after = tips_;
    after.insert(after.end(), sent_.begin(), sent_.end());
    tips_ = {append(n, after)};
    sent_.clear();
    if (x_.hop.gathered.value <= 0) return;
    Instruction whole = next("gather what was received");
    whole.kind = Does::collective;
    whole.collective = Collective::all_gather;
    whole.members = Members::tensor;
    whole.message = x_.hop.gathered;
    whole.length =
        collect(x_.p, Collective::all_gather, x_.block.widths.tensor, x_.hop.gathered).time;
    tips_ = {append(whole, tips_)};
  }

  void send(int to, int direction) {
    const Instruction n = transfer(direction == 0 ? "send activations" : "send gradients",
                                   Does::send, to, to, direction);
    const std::uint32_t id = append(n, tips_);
    if (x_.p.runtime.overlap.pipeline) {
      sent_ = {id};
    } else {
      tips_ = {id};
    }
  }

  // -- bookkeeping -------------------------------------------------------------------------------

  Instruction next(std::string_view name) const {
    Instruction n;
    n.activity = span_.what;
    n.name = name;
    n.microbatch = span_.microbatch;
    n.layer = unit_ != nullptr ? unit_->layer : -1;
    n.start = clock_;
    return n;
  }

  std::uint32_t append(Instruction n, const std::vector<std::uint32_t>& waits) {
    n.first_wait = static_cast<std::uint32_t>(program_.waits.size());
    n.waits = static_cast<std::uint32_t>(waits.size());
    program_.waits.insert(program_.waits.end(), waits.begin(), waits.end());
    program_.instructions.push_back(n);
    return static_cast<std::uint32_t>(program_.instructions.size() - 1);
  }

  void compute(const Instruction& n) {
    before_ = tips_;
    tips_ = {append(n, tips_)};
    tips_.insert(tips_.end(), late_.begin(), late_.end());
    late_.clear();
  }

  void wait(Seconds length) {
    if (length.value <= 0) return;
    Instruction n =
        next(span_.what == Activity::spread ? "wait for the slowest device" : "wait for the host");
    n.kind = Does::wait;
    n.length = length;
    compute(n);
    clock_ += length;
  }

  /// A collective beside a kernel begins with it and is waited for after it.
  void collect_beside(const Instruction& n, Beside beside) {
    if (beside == Beside::next) {
      late_.push_back(append(n, tips_));
    } else if (beside == Beside::previous) {
      tips_.push_back(append(n, before_));
    } else {
      tips_ = {append(n, tips_)};
    }
  }

  const SharedStep& x_;
  StageTimes times_;
  int stage_;
  bool split_ = false;  ///< weight gradients are passes of their own
  Program program_;
  TimelineSpan span_;
  Seconds clock_;
  const Unit* unit_ = nullptr;
  std::vector<std::uint32_t> tips_;      ///< what the next instruction waits for
  std::vector<std::uint32_t> before_;    ///< what the last kernel waited for
  std::vector<std::uint32_t> late_;      ///< waited for after the next kernel
  std::vector<std::uint32_t> previous_;  ///< what the unit before waited for
  std::vector<std::uint32_t> pending_;   ///< waited for at the step's end
  std::vector<std::uint32_t> sent_;      ///< and not yet waited for
};

}  // namespace

double program_size(const Problem& p, const Strategy& s) {
  const Recorded all = record_all(p, s, block_of(p, s));
  const auto size_of = [&](int branch) {
    if (branch < 0) return 0.0;
    const Passes& passes = all.branches[static_cast<std::size_t>(branch)];
    return static_cast<double>(passes.forward.size() + passes.recompute.size() +
                               passes.backward.size());
  };
  double layer = 0;
  for (int t = 0; t < p.graph.type_count; ++t) {
    const graph::LayerType& type = p.graph.types[static_cast<std::size_t>(t)];
    layer = std::max(layer, size_of(type.mixer) + size_of(type.mlp));
  }
  const auto branches = static_cast<int>(p.graph.branches.size());
  double ends = size_of(branches - 2) + size_of(branches - 1);
  for (std::size_t i = 0; i < p.graph.tower.size(); ++i) {
    ends += p.graph.tower[i].layers * size_of(branches + static_cast<int>(i));
  }
  const double layers = stage_of(p, s, s.pp / 2).layers;
  // A unit's gradients and parameters, and a chunk's transfers.
  return microbatches_of(p, s) * (layers * (layer + 6) + ends + 12 + 8.0 * s.interleave);
}

StepProgram program_of(const Problem& p, const Strategy& s) {
  const Block block = block_of(p, s);
  const Mapping mapping = mapping_of(p, s);
  SharedStep step{.p = p,
                  .s = s,
                  .block = block,
                  .mapping = mapping,
                  .states = state_exchange(p, s, mapping.groups),
                  .hop = hop_of(p, s, block.widths),
                  .recorded = record_all(p, s, block),
                  .microbatches = std::max(1.0, microbatches_of(p, s))};
  const Timeline line = timeline(p, s);
  StepProgram all;
  for (int stage = 0; stage < s.pp; ++stage) all.stages.push_back(Author(step, stage).write(line));
  all.operators = std::move(step.recorded.operators);
  return all;
}

int Ranks::at(int place, int stage) const {
  const int inner = s_.tp * s_.cp;
  if (s_.order == Order::tp_cp_ep_pp_dp) {
    return place % inner + inner * (stage + s_.pp * (place / inner));
  }
  return place + inner * s_.dp * stage;
}

int Ranks::stage_of(int rank) const {
  const int inner = s_.tp * s_.cp;
  return s_.order == Order::tp_cp_ep_pp_dp ? rank / inner % s_.pp : rank / (inner * s_.dp);
}

int Ranks::place_of(int rank) const {
  const int inner = s_.tp * s_.cp;
  if (s_.order == Order::tp_cp_ep_pp_dp) return rank % inner + rank / (inner * s_.pp) * inner;
  return rank % (inner * s_.dp);
}

int Ranks::peer(int rank, int stage) const { return at(place_of(rank), stage); }

std::vector<int> Ranks::members(Members kind, int rank) const {
  const int stage = stage_of(rank);
  if (kind == Members::ends) return {peer(rank, 0), peer(rank, s_.pp - 1)};
  const int own = place_of(rank);
  const int inner = s_.tp * s_.cp;
  const int experts = s_.ep * s_.etp;
  const int shard = s_.shard > 0 ? s_.shard : s_.dp;
  const int expert_shard = expert_shards(s_);
  const auto replica = [&](int place) { return place / inner; };
  const auto belongs = [&](int place) {
    switch (kind) {
      case Members::tensor:
        return place / s_.tp == own / s_.tp;
      case Members::context:
        return place % s_.tp == own % s_.tp && replica(place) == replica(own);
      case Members::expert:
        return place / experts == own / experts && place % s_.etp == own % s_.etp;
      case Members::slices:
        return place / s_.etp == own / s_.etp;
      case Members::data:
        return place % s_.tp == own % s_.tp;
      case Members::shard:
        return place % s_.tp == own % s_.tp && replica(place) / shard == replica(own) / shard;
      case Members::across:
        return place % inner == own % inner && replica(place) % shard == replica(own) % shard;
      case Members::expert_data:
        return place % experts == own % experts;
      case Members::expert_shard:
        return place % experts == own % experts &&
               place / experts / expert_shard == own / experts / expert_shard;
      case Members::expert_across:
        return place % experts == own % experts &&
               place / experts % expert_shard == own / experts % expert_shard;
      case Members::ends:
        break;
    }
    return false;
  };
  std::vector<int> all;
  for (int place = 0; place < inner * s_.dp; ++place) {
    if (belongs(place)) all.push_back(at(place, stage));
  }
  return all;
}

}  // namespace sextant
