// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/rl.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/answer/parts.hpp"
#include "sextant/io/errors.hpp"
#include "sextant/io/write.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

struct TimedPhase {
  RlPhase phase;
  RlPart part;
  double share;
};

std::vector<TimedPhase> phases_of(const RlStep& s) {
  std::vector<TimedPhase> all;
  for (std::size_t i = 0; i < s.parts.size; ++i) {
    const auto phase = static_cast<RlPhase>(i);
    const RlPart& part = s.parts[phase];
    if (part.time.value <= 0) continue;
    all.push_back({phase, part, s.time.value > 0 ? part.time / s.time : 0});
  }
  return all;
}

RlPhase longest_of(const std::vector<TimedPhase>& all) {
  return std::max_element(
             all.begin(), all.end(),
             [](const TimedPhase& a, const TimedPhase& b) { return a.part.time < b.part.time; })
      ->phase;
}

Records phase_records(const std::vector<TimedPhase>& all) {
  return records_of(all, [](Record& r, const TimedPhase& p) {
    r("phase", p.phase, "phase");
    r("seconds", rounded(p.part.time, 4), "time");
    r("share", percent(p.share), "share");
    r("memory_bytes", p.part.memory.value > 0 ? binary(p.part.memory) : said(p.part.memory, ""),
      "memory of a device");
    r("fits", p.part.fits);
    r("beside", p.part.aside);
    r("",
      std::string(meaning_of(p.phase)) + (p.part.aside ? ", on devices of their own" : "") +
          (p.part.fits ? "" : "; does not fit"),
      "what it is");
  });
}

/// Shares of a step; what runs beside the rest, on devices of its own, in a colour of its own.
plot::Figure figure_of(const RlAnswer& x, const std::vector<TimedPhase>& phases) {
  plot::Figure f;
  f.title = fmt::format("{} of {}: {} a step", name_of(x.asked.task.algorithm),
                        x.asked.actor.problem.model.name, format(x.step.time, 4));
  f.x.label = "phase";
  f.y = {.label = "share of a step", .unit = "%", .min = 0};
  const bool any =
      std::any_of(phases.begin(), phases.end(), [](const TimedPhase& p) { return p.part.aside; });
  plot::Series turn{.name = any ? "in turn" : "", .mark = plot::Mark::bars};
  plot::Series aside{.name = any ? "beside, on devices of its own" : "", .mark = plot::Mark::bars};
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const TimedPhase& p = phases[i];
    f.x.names.emplace_back(name_of(p.phase));
    (p.part.aside ? aside : turn)
        .points.push_back({.x = static_cast<double>(i),
                           .y = 100 * p.share,
                           .label = fmt::format("{}: {}, {}", name_of(p.phase),
                                                format(p.part.time, 4), format_percent(p.share))});
  }
  f.series = {std::move(turn), std::move(aside)};
  f.width = std::max(480, 90 * static_cast<int>(phases.size()));
  return f;
}

/// A rollout is as sure as traffic is, the rest as a training step.
Interval interval_of(const RlAnswer& x) {
  const RlScenario& s = x.asked;
  const Pool& pool = s.rollout.cluster.pool;
  const Interval served = interval_of(
      measured_errors(),
      likeness_of(Asked::traffic, known_as(s.actor.system), pool.problem, pool.strategy));
  const Interval trained = interval_of(
      measured_errors(),
      likeness_of(Asked::train, known_as(s.actor.system), s.actor.problem, s.actor.strategy));
  const double share = std::min(1.0, x.step.parts[RlPhase::rollout].time / x.step.time);
  std::vector<Unmeasured> unmeasured = trained.unmeasured;
  unmeasured.insert(unmeasured.end(), served.unmeasured.begin(), served.unmeasured.end());
  return {.low = share * served.low + (1 - share) * trained.low,
          .high = share * served.high + (1 - share) * trained.high,
          .basis = fmt::format("rollout: {}; training: {}; no measured step is among them",
                               served.basis, trained.basis),
          .cases = 0,
          .unmeasured = std::move(unmeasured)};
}

}  // namespace

Answer answer_of(const RlAnswer& x) {
  const RlScenario& asked = x.asked;
  const RlStep& s = x.step;
  const Problem& p = asked.actor.problem;
  const std::vector<TimedPhase> phases = phases_of(s);
  const RlPhase longest = longest_of(phases);
  const double rate = s.time.value > 0 ? s.tokens / s.time.value : 0;
  const Interval sure = interval_of(x);
  Answer a;
  a.take(head_of(asked.actor, s.devices));
  a("algorithm", asked.task.algorithm);
  a("samples", asked.task.samples);
  a("step_seconds", s.time);
  a("tokens_per_second", rate);
  a("tokens_per_second_per_gpu", rate / s.devices);
  a("longest", longest);
  a("fits", s.fits());
  a("updates", s.updates);
  a("update_seconds", s.update.step);
  a("update_mfu", s.update.mfu());
  a("rollout_tokens_per_second", x.rollout.output_tokens_per_second());
  a("sync_bytes", s.moved);
  a("offloaded_bytes", s.offloaded);
  a.object("uncertainty", "Uncertainty", uncertainty_record(sure, {s.time.value}));
  a.list("phases", "RlPhase", phase_records(phases));
  a.node("strategy", "Strategy", write(asked.actor.strategy, Quantities::si));
  const Pool& pool = asked.rollout.cluster.pool;
  a.node("rollout_strategy", "Strategy", write(pool.strategy, Quantities::si));
  a.say(fmt::format("{} of {} on {} x {} of {}: {}{} a step", name_of(asked.task.algorithm),
                    p.model.name, s.devices, asked.actor.system.device.name,
                    asked.actor.system.name, s.fits() ? "" : unfitting, format(s.time, 4)));
  a.say(fmt::format("{:.0f} answers of {:.0f} tokens with their prompts: {} tokens/s, {} a device",
                    asked.task.samples, s.tokens / asked.task.samples, for_people(general(rate, 4)),
                    for_people(general(rate / s.devices, 4))));
  a.say(fmt::format("{} nine times in ten: {}", range_text(sure, {s.time.value}), sure.basis));
  say_unmeasured(a, sure.unmeasured);
  a.say(fmt::format("most of it: {}, {}", name_of(longest), meaning_of(longest)));
  a.say(fmt::format("{} engine{} of {}, {}; training {}, {} update{} of {} sequences, {} each\n",
                    pool.replicas, pool.replicas > 1 ? "s" : "", describe_serving(pool.strategy),
                    pool.problem.runtime.name, describe_strategy(asked.actor.strategy), s.updates,
                    s.updates > 1 ? "s" : "", p.work.batch, format(s.update.step, 4)));
  a.show(phase_records(phases));
  a.lines(phase_records(phases));
  if (s.offloaded.value > 0) {
    a.say(fmt::format("\n{} of a device's states wait in the host's memory while engines answer",
                      format_binary_bytes(s.offloaded.value)));
  }
  if (!s.fits()) a.say("\ndoes not fit");
  std::vector<std::string> assumptions = asked.assumptions;
  assume_overdrawn(assumptions, p.chip, s.update.power, s.update.clock);
  std::vector<std::string> engines;
  assume_overdrawn(engines, pool.problem.chip, x.rollout.most_watts);
  for (const std::string& said : engines) assumptions.push_back("engines: " + said);
  a.assume(assumptions);
  a.figure(figure_of(x, phases));
  return a;
}

}  // namespace sextant
