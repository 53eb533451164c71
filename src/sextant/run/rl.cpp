// SPDX-License-Identifier: Apache-2.0
#include "sextant/run/rl.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

/// Weights as training has them on one rank: so many, over so many ranks.
struct Shards {
  double parameters = 0;
  double ranks = 1;
  double wanted = 1;  ///< ranks of an engine that share them
};

/// Ranks next to each other but those of other stages, which may be in other nodes.
Group gathered(const Problem& p, const Strategy& s, double ranks) {
  const int n = static_cast<int>(std::max(1.0, std::ceil(ranks)));
  const Groups groups = groups_of(p, s);
  const bool apart = s.pp > 1 && groups.pipeline.per_node < 2;
  const int near = apart ? std::max(1, n / s.pp) : n;
  return {n, std::min({n, near, p.network.devices_per_node})};
}

class Step {
 public:
  explicit Step(const RlTask& task) : t_(task), p_(*task.actor.problem), s_(task.actor.strategy) {}

  RlStep run() {
    r_.update = evaluate(p_, s_);
    r_.updates = std::ceil(t_.samples / p_.work.batch) * t_.epochs;
    r_.tokens = t_.tokens;
    r_.devices = devices_of(s_) + (t_.elsewhere ? t_.rollout.devices : 0);
    part(RlPhase::rollout) = {t_.rollout.time, t_.rollout.memory, t_.rollout.memory <= p_.capacity,
                              t_.elsewhere};
    hand_over();
    if (!t_.elsewhere) make_room();
    judge();
    learn();
    part(RlPhase::host).time = t_.samples * t_.framework.answer;
    add_up();
    return r_;
  }

 private:
  RlPart& part(RlPhase phase) { return r_.parts[phase]; }

  /// Weights of the model, as one rank of training has them and one of an engine wants them.
  std::array<Shards, 2> shards() const {
    const StageKind whole = stage_of(p_, Strategy{}, 0);
    const RankParameters all = passed_parameters(p_, Strategy{}, whole);
    const bool sharded = gathers_weights(s_);
    const double shared = sharded ? (s_.shard > 0 ? s_.shard : s_.dp) * s_.cp : 1;
    const double stages = s_.pp;
    return {Shards{all.total() - all.experts, s_.tp * stages * shared, t_.rollout.ranks},
            Shards{all.experts, s_.ep * s_.etp * stages * (sharded ? expert_shards(s_) : 1),
                   t_.rollout.expert_ranks}};
  }

  /// Each rank gathers what its engine needs, or all, from the ranks that have pieces of it; on
  /// other devices it is sent there, one engine handing on to the next while it comes in.
  void hand_over() {
    Seconds time;
    for (const Shards& w : shards()) {
      if (w.parameters <= 0) continue;
      const double parts = t_.framework.refit == Refit::whole ? 1 : w.wanted;
      const Bytes bytes(w.parameters * t_.rollout.element_bytes / parts);
      const double pieces = std::max(1.0, w.ranks / parts);
      const Group group = gathered(p_, s_, pieces);
      time += collective(p_.network, p_.collectives, Collective::all_gather, group, bytes).time;
      if (t_.elsewhere) {
        time += collective(p_.network, p_.collectives, Collective::send_recv, {2, 1}, bytes).time;
        r_.moved += bytes;
      } else {
        r_.moved += bytes * (1 - 1 / pieces);
      }
    }
    part(RlPhase::sync).time = max(time, tensors() * t_.framework.tensor);
  }

  /// Weights that checkpoints name one by one; those of an expert are its own.
  double tensors() const {
    double sum = 0;
    for (const graph::Branch& b : p_.graph.branches) {
      for (const graph::Operator& op : b.operators) {
        const graph::Routed& r = op.routed;
        const double each = op.kind == graph::Kind::experts ? r.count * (r.halves + 1) : 1;
        if (op.weights.all() > 0) sum += b.layers * each;
      }
    }
    return sum;
  }

  /// What training keeps waits in the host's memory where engines need the room.
  void make_room() {
    const Table<Bytes, Space>& m = r_.update.memory.parts;
    // Gradients are over and done with: their room is given back, and nothing of them copied.
    Bytes kept = m[Space::weights] + m[Space::optimizer];
    if (t_.critic.problem != nullptr) {
      const StageMemory c = evaluate(*t_.critic.problem, t_.critic.strategy).memory;
      kept += c.parts[Space::weights] + c.parts[Space::optimizer];
    }
    RlPart& rollout = part(RlPhase::rollout);
    const RlFramework& f = t_.framework;
    if (!f.sleep && kept + t_.rollout.memory <= p_.capacity) {
      rollout.memory += kept;
      return;
    }
    r_.offloaded = kept;
    part(RlPhase::states).time = 2.0 * (kept / (f.unpinned * p_.host_link));
    if (!f.sleep) return;
    Bytes asleep;
    for (const Shards& w : shards()) {
      asleep += Bytes(w.parameters * t_.rollout.element_bytes / w.wanted);
    }
    part(RlPhase::states).time += 2.0 * (asleep / p_.host_link);
  }

  /// Answers once through a model, nothing trained.
  Seconds passes(const RlModel& m) const {
    const double microbatches =
        t_.samples / (static_cast<double>(m.strategy.dp) * m.strategy.microbatch);
    return forward_passes(*m.problem, m.strategy, std::max(1.0, std::ceil(microbatches)));
  }

  /// Weights of a model that waits in the host's memory, to its devices.
  Seconds fetched(const RlModel& m) const {
    return evaluate(*m.problem, m.strategy).memory.parts[Space::weights] / m.problem->host_link;
  }

  void judge() {
    if (t_.reward.problem != nullptr) {
      part(RlPhase::reward).time = passes(t_.reward) + fetched(t_.reward);
    }
    part(RlPhase::log_probs).time = passes(t_.actor);
    if (t_.reference) part(RlPhase::reference).time = passes(t_.actor) + fetched(t_.actor);
    if (t_.critic.problem != nullptr) part(RlPhase::values).time = passes(t_.critic);
  }

  /// All updates of a model in a step. The last of an epoch has the answers that are left, made up
  /// to whole microbatches on every replica.
  Seconds updates(const RlModel& m, Seconds whole) const {
    const double batch = m.problem->work.batch;
    const double full = std::floor(t_.samples / batch);
    const double left = t_.samples - full * batch;
    Seconds time = full * whole;
    if (left > 0) {
      const Strategy& s = m.strategy;
      const double round = static_cast<double>(s.dp) * s.microbatch * (s.interleave > 1 ? s.pp : 1);
      Problem last = *m.problem;
      last.work.batch = static_cast<int>(std::min(batch, round * std::ceil(left / round)));
      time += evaluate(last, s).step;
    }
    return t_.epochs * time;
  }

  void learn() {
    RlPart& update = part(RlPhase::update);
    update.time = updates(t_.actor, r_.update.step);
    update.memory = r_.update.memory.total();
    if (t_.critic.problem == nullptr) {
      update.fits = r_.update.verdict == Verdict::fits;
      return;
    }
    const Estimate critic = evaluate(*t_.critic.problem, t_.critic.strategy);
    RlPart& other = part(RlPhase::critic);
    other.time = updates(t_.critic, critic.step);
    // Each keeps its states while the other is trained.
    const auto states = [](const StageMemory& m) {
      return m.parts[Space::weights] + m.parts[Space::gradients] + m.parts[Space::optimizer];
    };
    other.memory = critic.memory.total() + states(r_.update.memory);
    update.memory += states(critic.memory);
    update.fits = update.memory <= p_.capacity;
    other.fits = other.memory <= p_.capacity;
  }

  void add_up() {
    Seconds rest;
    for (std::size_t i = 0; i < r_.parts.size; ++i) {
      if (!r_.parts.values[i].aside) rest += r_.parts.values[i].time;
    }
    const Seconds sync = part(RlPhase::sync).time;
    const Seconds rollout = part(RlPhase::rollout).time;
    if (!t_.elsewhere) {
      r_.time = rest;
    } else if (t_.overlap) {
      r_.time = sync + max(rollout, rest - sync);
    } else {
      r_.time = rest + rollout;
    }
  }

  const RlTask& t_;
  const Problem& p_;
  const Strategy& s_;
  RlStep r_;
};

}  // namespace

std::string_view meaning_of(RlPhase phase) {
  constexpr Table<std::string_view, RlPhase> meanings = {
      {"new weights to the engines", "prompts answered",
       "what training keeps, to the host and back", "answers judged by a model",
       "the answers' probabilities", "the same by the model it started from",
       "what the critic expects", "the critic trained", "the model trained",
       "answers through the process in the middle"}};
  return meanings[phase];
}

bool RlStep::fits() const {
  return std::all_of(parts.values.begin(), parts.values.end(),
                     [](const RlPart& p) { return p.fits; });
}

RlStep rl_step(const RlTask& task) { return Step(task).run(); }

}  // namespace sextant
