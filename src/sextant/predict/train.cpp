// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/train.hpp"

#include <algorithm>

#include "sextant/predict/step.hpp"

namespace sextant {
namespace {

using namespace training;

/// How often each recorded operator runs in a step of a rank of the slowest stage; those of other
/// stages are dropped.
void count_runs(const Problem& p, const Strategy& s, int stage, std::vector<Operator>& operators) {
  const StageKind kind = scheduled(s, stage_of(p, s, stage));
  const graph::Graph& g = p.graph;
  const auto times_of = [&](const StageKind& of, std::string_view part) {
    if (part == g.embedding().name) return of.first ? 1 : 0;
    if (part == g.head().name) return of.last ? 1 : 0;
    for (const graph::Branch& b : g.tower) {
      if (part == b.name) return of.first ? b.layers : 0;
    }
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
    if (o.runs == Runs::accumulation) o.count *= accumulated(p, s);
    if (o.pass == Time::recompute) o.count *= again;
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
  constexpr Table<std::string_view, Time> meanings = {
      {"kernels of the forward pass", "kernels of the backward pass", "activations computed again",
       "tensor-parallel collectives that nothing hides",
       "keys and values between context-parallel ranks", "tokens sent to their experts and back",
       "transfers from stage to stage", "waiting for the first and last microbatch",
       "gradients summed over replicas", "sharded parameters gathered",
       "optimizer step, gradient norm", "the device waits for its host",
       "waiting for the slowest device"}};
  return meanings[t];
}

Seconds Estimate::forward_backward() const { return step - time[Time::optimizer].exposed; }

double Estimate::mfu() const { return step.value > 0 ? model_flops / step / (devices * peak) : 0; }

double Estimate::hfu() const {
  if (step.value <= 0) return 0;
  const FlopsPerSecond most = devices * peak;
  const double whole = hardware_flops / step / most;
  return counts_masked() ? whole : whole * (1 - masked_flops / model_flops);
}

bool Estimate::counts_masked() const { return hardware_flops <= step * (devices * peak); }

Estimate evaluate(const Problem& problem, const Strategy& strategy, const Block& block,
                  const Mapping& mapping) noexcept {
  return evaluate(problem, strategy, block, mapping,
                  passage_of(problem, strategy, block, mapping.stages),
                  transfer_of(problem, strategy, block, mapping));
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

Seconds forward_passes(const Problem& p, const Strategy& s, double microbatches) noexcept {
  const Block block = block_of(p, s);
  const Mapping mapping = mapping_of(p, s);
  Seconds all;
  Seconds slowest;
  for (int i = 0; i < mapping.stages.count; ++i) {
    const StageKind& kind = mapping.stages.kinds[static_cast<std::size_t>(i)];
    const Seconds one = stage_alone(p, s, block, mapping, kind).forward;
    all += kind.count * one;
    slowest = max(slowest, one);
  }
  // Sharded weights are gathered beside the layer before.
  Seconds gather;
  if (mapping.by_layer) {
    const double cores = p.runtime.communication.cores;
    const Seconds whole = mapping.gather.time;
    gather = p.runtime.overlap.parameters ? max(cores * whole, whole - slowest) : whole;
  }
  const Seconds hop = transfer_of(p, s, block, mapping).time;
  const Seconds sent = p.runtime.overlap.pipeline ? Seconds(0) : hop;
  return all + gather + (s.pp - 1) * hop + (microbatches - 1) * (slowest + gather + sent);
}

StageTimes stage_times(const Problem& problem, const Strategy& strategy, int stage) noexcept {
  const Block block = block_of(problem, strategy);
  const Mapping mapping = mapping_of(problem, strategy);
  const Stage st =
      stage_alone(problem, strategy, block, mapping, stage_of(problem, strategy, stage));
  StageTimes t;
  const double total = (st.part.recompute.time() + st.part.backward.time()).value;
  const double again = total > 0 ? st.part.recompute.time().value / total : 0;
  t.forward = st.forward;
  t.recompute = again * st.backward;
  t.backward = (1 - again) * st.backward;
  t.transfer = transfer_of(problem, strategy, block, mapping).time;
  t.weights = st.part.backward.weights;
  t.host_forward = st.forward - st.part.forward.time();
  t.host_backward = st.host - t.host_forward;
  return t;
}

}  // namespace sextant
