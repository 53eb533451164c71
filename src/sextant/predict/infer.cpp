// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/infer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "sextant/predict/held.hpp"
#include "sextant/predict/pass.hpp"

namespace sextant {
namespace {

/// So much of a pass.
PassCost share_of(PassCost c, double share) {
  c.time *= share;
  for (Seconds& part : c.parts.values) part *= share;
  c.flops *= share;
  c.dram *= share;
  c.second *= share;
  c.work = share * c.work;
  return c;
}

/// What proposes tokens, by what a pass takes: the draft model's, or a share of the model's own.
template <class Pass>
PassCost drafted(const Problem& p, const Strategy& s, const Pass& pass) {
  const Speculation& x = p.serving.speculation;
  if (x.tokens == 0) return {};
  return p.draft ? pass(*p.draft, draft_strategy(*p.draft, s)) : share_of(pass(p, s), x.draft_cost);
}

/// The prompts of a batch: as many at a time as a pass takes, the last of them cut where the engine
/// cuts prompts to the budget left. One that is longer than a pass takes is cut into equal pieces,
/// which stand for whole ones and what is left of them.
struct Prompts {
  double passes = 1;
  PassCost cost;   ///< of one pass, their mean
  PassCost draft;  ///< of what proposes tokens
};
Prompts prompts_of(const Problem& p, const Strategy& s, double batch, const Residence& home) {
  const double input = prompt_tokens(p);
  const double images = p.serving.images;
  const double sequences = std::ceil(batch / std::max(1, s.dp));
  const double budget = budget_of(p, s);
  const double together = std::clamp(std::floor(budget / input), 1.0, sequences);
  Prompts r;
  r.passes = p.runtime.engine.chunked ? std::ceil(sequences * input / budget)
                                      : std::ceil(sequences / together) * std::ceil(input / budget);
  const double all = sequences * input / r.passes;  // tokens of a pass
  const double queries = std::min(input, all);
  const Tokens tokens{.sequences = all / queries,
                      .queries = queries,
                      .context = (input + queries) / 2,
                      .images = sequences * images / r.passes,
                      .seen = images,
                      .home = home};
  const auto prompt = [&](const Problem& q, const Strategy& cut) {
    PassCost c = pass_over(q, cut, tokens);
    const Seconds launched(smooth_max(c.time.value, prompt_launch(q, cut, batch).value));
    c.parts[Work::host] += launched - c.time;
    c.time = launched;
    return c;
  };
  r.cost = prompt(p, s);
  r.draft = drafted(p, s, prompt);
  return r;
}

/// Times that were asked for before, by two numbers. The newest takes the place of an older one.
class Remembered {
 public:
  template <class Make>
  Seconds operator()(double a, double b, const Make& make) {
    Entry& e = at(a, b);
    if (e.a != a || e.b != b) e = {a, b, make()};
    return e.time;
  }

 private:
  static constexpr std::size_t size = 127;
  struct Entry {
    double a = -1;
    double b = -1;
    Seconds time;
  };
  Entry& at(double a, double b) {
    return entries_.at(static_cast<std::size_t>(std::fmod(7 * a + 1000 * b, size)));
  }
  std::array<Entry, size> entries_;
};

/// Steps of a replica in a closed loop, with what the host adds: of decoding requests alone, and
/// with prompts, which join them or make them wait. Whatever number of requests decodes, many are
/// the same.
class LoopSteps {
 public:
  LoopSteps(const Problem& p, const Strategy& s, const ServingEstimate& before)
      : p_(p), s_(s), home_(before.memory.residence) {}

  /// One with so many prompts on each of so many ranks of attention, a share of one where that is
  /// longer than a step takes, beside so many decoding requests.
  Seconds prompted(double decoding, double prompts, double ranks) {
    const Engine& e = p_.runtime.engine;
    decoding = e.joining == Joining::mixed && decoding > 0 ? std::max(1.0, decoding) : 0;
    // Stages take whole prompts, each a part of them.
    const double each = prompts / std::clamp<double>(prompts, 1, s_.pp);
    const double sequences = decoding / std::clamp<double>(decoding, 1, s_.pp);
    const double mean = each * ranks / std::max(1, s_.dp);
    Seconds device = passes_(sequences, each, [&] { return pass_with(sequences, each).all; });
    const auto shared = [&](double on_each) {
      return shared_(sequences, on_each, [&] { return pass_with(sequences, on_each).shared; });
    };
    // Experts have the tokens of all ranks: some are without.
    if (mean < each) device -= max(Seconds(0), shared(each) - shared(mean));
    const Seconds launched(smooth_max(device.value, prompt_launch(p_, s_, ranks).value));
    return with_host(e, launched, decoding, std::max(1.0, prompts));
  }

 private:
  struct Cost {
    Seconds all;
    Seconds shared;  // of that, experts that all ranks of attention share
  };
  Cost pass_with(double decoding, double prompts) const {
    const double input = prompt_tokens(p_);
    const double tokens = std::min(1.0, prompts) * input;  // of each prompt
    Tokens t{
        .images = p_.serving.images * prompts, .seen = double(p_.serving.images), .home = home_};
    const Tokens alone{.sequences = std::max(1.0, prompts),
                       .queries = tokens,
                       .context = (input + tokens) / 2,
                       .images = t.images,
                       .seen = t.seen,
                       .home = home_};
    t.sequences = decoding;
    t.queries = 1.0 + p_.serving.speculation.tokens;
    t.context = input + p_.serving.output / 2.0;
    t.pieces = alone.sequences;
    t.chunk = alone.sequences * tokens;
    t.chunk_context = alone.context;
    const PassCost pass = pass_over(p_, s_, decoding > 0 ? t : alone);
    const PassCost draft = drafted(
        p_, s_, [&](const Problem& q, const Strategy& cut) { return pass_over(q, cut, alone); });
    return {pass.time + draft.time, pass.parts[Work::experts] + pass.parts[Work::exchange]};
  }

  const Problem& p_;
  const Strategy& s_;
  Residence home_;
  Remembered passes_;
  Remembered shared_;
};

/// A closed loop on a replica. Requests of one length move in step: those whose prompts were read
/// in one step end in one step, and their users ask again together. So prompts come one step after
/// the other until all have had their turn, as when all users came at once, and then none until
/// the first is back.
class ClosedLoop {
 public:
  /// All ranks of attention take prompts at the same time.
  ClosedLoop(LoopSteps& steps, const Problem& p, const Strategy& s, const ServingEstimate& e)
      : engine_(p.runtime.engine),
        w_(p.serving),
        ranks_(std::max(1, s.dp)),
        users_(std::max(1.0, e.active)),
        gained_(tokens_a_step(w_.speculation)),
        plain_(gained_ * e.step),
        front_end_(e.front_end),
        reading_(front_end(engine_, prompt_tokens(p))),
        decode_((w_.output - 1.0) / gained_) {
    // Whoever ends is back while the next step runs, later where the front end takes longer; and
    // the step after it may have been put together before.
    if (front_end_.value > 0) waits_ = std::max(1.0, front_end_ / plain_ + 0.5);
    if (engine_.asynchronous) ++waits_;
    most_ = most_of(p, s);
    price(steps);
    read();
  }

  struct Cycle {
    Seconds tpot;
    Seconds service;
  };
  Cycle run() const {
    if (users_ <= 1 || engine_.joining == Joining::together) {
      return {1 / gained_ * plain_, front_end_ + ends_ + decode_ * plain_};
    }
    if (decode_ <= 0) {  // nobody waits for a step of decoding
      const Seconds own = front_end_ + length_ * few_;
      Seconds all = ends_ - without_ * plain_;
      // As below: the first is back before the last, and nobody waits for a step of one prompt.
      if (all_steps() < steps_) all = min(all, max(all_steps() / steps_ * ends_, turns()));
      return {plain_, max(max(own, all), users_ * reading_)};
    }
    const bool mixed = engine_.joining == Joining::mixed;
    const Seconds first_token = 1 / users_ * first_tokens_ + (mixed ? Seconds(0) : seen_);
    // Steps of decoding alone: others' prompts are among a request's steps, or between them.
    const double alone = mixed ? all_steps() - steps_ : decode_ - without_;
    Seconds all = ends_ + std::max(0.0, alone) * plain_ + (mixed ? Seconds(0) : seen_);
    Seconds step = 1 / decode_ * (all - first_token);
    if (mixed && alone < 0) {
      // The first is back before the last has had its turn: steps that are always full.
      const Seconds each = 1 / steps_ * ends_;
      all = max(all_steps() * each, turns());
      step = max(plain_, min(1 / decode_ * (all - first_token), each));
      all = max(all, all_steps() * step);
    }
    // A front end that does not keep up passes prompts on to every step.
    if (all < users_ * reading_) {
      all = users_ * reading_;
      if (mixed) step = max(step, min(step_with(let_through()), 1 / all_steps() * all));
    }
    return {1 / gained_ * step, all};
  }

  /// A request is served no sooner, whatever a step without prompts takes.
  Seconds least() const { return steps_ > all_steps() ? turns() : Seconds(0); }

 private:
  /// Prompts that a step takes on a rank, or the share of one.
  double most_of(const Problem& p, const Strategy& s) const {
    if (engine_.joining == Joining::together) return std::ceil(users_ / ranks_);
    const double input = prompt_tokens(p);
    const double budget = budget_of(p, s);
    const bool beside = engine_.joining == Joining::mixed && w_.chunk == 0;
    const double most =
        std::max(1.0, budget - (beside ? decoding_beside(budget / input) : 0)) / input;
    const bool whole = !engine_.chunked && input <= budget;
    return whole ? std::max(1.0, std::floor(most)) : most;
  }

  /// Requests of a rank that decode while so many prompts are read: neither those nor as many that
  /// wait in each step to come; of few about half, for as prompts are read more decode. No more
  /// than prompts let through.
  double decoding_beside(double prompts) const {
    const double size = std::max(1.0, prompts);
    const double others = users_ / ranks_ - size;
    const double waiting = (engine_.asynchronous ? 2 : 1) * size;
    return std::clamp(std::max(others - waiting, others / 2), 0.0, prompts * decode_);
  }

  /// Steps with the fewest prompts that there are and with the most.
  void price(LoopSteps& steps) {
    const double busy = std::min(users_, ranks_);
    const bool one_by_one = reading_.value > 0;
    full_ =
        std::max(one_by_one ? 1.0 : busy, std::min(most_ * busy, users_ - (one_by_one ? 1 : 0)));
    if (most_ < 1) full_ = most_ * busy;
    fewest_ = one_by_one ? std::min(1.0, most_) : full_;
    const double decoding = decoding_beside(std::min(most_, full_ / ranks_));
    const double at_first = one_by_one ? 1 : busy;
    few_ = many_ = steps.prompted(decoding, fewest_ / at_first, at_first);
    if (full_ <= fewest_) return;
    many_ = steps.prompted(decoding, std::max(std::min(1.0, most_), full_ / busy), busy);
    more_ = 1 / (full_ - fewest_) * (many_ - few_);
  }
  Seconds step_with(double prompts) const {
    if (prompts >= fewest_) return few_ + (prompts - fewest_) * more_;
    return min(few_, plain_ + prompts / fewest_ * (few_ - plain_));
  }

  /// What a step takes of so much work on so many prompts that the front end has passed on.
  double taken(double open, double prompts) const {
    constexpr double nearly = 1e-9;
    if (open < nearly) return 0;
    const double most = std::min(open, most_ * (most_ < 1 ? std::min(ranks_, prompts) : ranks_));
    return engine_.chunked || most_ < 1 ? most : std::floor(most + nearly);
  }
  /// Of so many prompts' work those that are done: ranks read theirs side by side.
  double done(double work) const {
    constexpr double nearly = 1e-9;
    if (work >= users_ - nearly) return users_;
    const double beside = most_ < 1 ? std::max(1.0, std::min(ranks_, users_ - 1)) : 1;
    if (work < 1 - nearly) return 0;
    return 1 + beside * std::floor((work - 1) / beside + nearly);
  }

  /// All turns of prompts, from the first's to the last's. The first steps one by one; those that
  /// follow are alike.
  void read() {
    Seconds now;
    Seconds before;  // the start of the step before
    double work = 0;
    double finished = 0;
    std::size_t i = 0;
    for (; i + 1 < sums_.size() && finished < users_; ++i) {
      const Seconds decision = engine_.asynchronous && i > 0 ? before : now;
      // Those that are half read count half: whoever is a little faster is not a step late.
      const double ready = reading_.value > 0 ? std::min(users_, 1 + decision / reading_) : users_;
      const double prompts = taken(ready - work, ready - finished);
      before = now;
      now += prompts > 0 ? step_with(prompts) : plain_;
      sums_[i + 1] = now;
      work += prompts;
      if (prompts <= 0) ++without_;
      const double newly = done(work) - finished;
      if (newly <= 0) continue;
      if (finished <= 0) length_ = static_cast<double>(i + 1);
      finished += newly;
      first_tokens_ += newly * since(static_cast<double>(i + 1));
    }
    ends_ = now;
    steps_ = static_cast<double>(i);
    seen_ =
        engine_.asynchronous ? max(std::min(without_, waits_) * plain_, front_end_) : front_end_;
    if (finished < users_) follow(users_ - finished);
  }

  /// From the end of a request whose prompt is read by this step to its next first token. Engines
  /// that read prompts first count from the first one's.
  Seconds since(double step) const {
    if (engine_.joining != Joining::mixed) return at(step) - without_ * plain_;
    const double start = step - waits_ - length_;
    return start < 0 ? at(step) + -start * plain_ : at(step) - at(start);
  }
  Seconds at(double step) const {
    const auto below = static_cast<std::size_t>(step);
    const Seconds low = sums_[below];
    return below + 1 < sums_.size() ? low + (step - double(below)) * (sums_[below + 1] - low) : low;
  }

  /// The rest take their turns in steps as full as they may be, or as the front end lets through.
  void follow(double rest) {
    const double prompts = let_through();
    const Seconds step = step_with(prompts);
    const double steps = rest / prompts;
    const bool mixed = engine_.joining == Joining::mixed;
    first_tokens_ += rest * (mixed ? (waits_ + length_) * step
                                   : ends_ + (steps + 1) / 2 * step - without_ * plain_);
    ends_ += steps * step;
    steps_ += steps;
  }

  /// Prompts of a step while the front end reads them: no more than it has read when it begins.
  double let_through() const {
    if (full_ * reading_ <= many_ || reading_ <= more_) return full_;
    return std::clamp((few_ - fewest_ * more_) / (reading_ - more_), fewest_, full_);
  }

  Seconds turns() const { return users_ / full_ * many_; }
  double all_steps() const { return waits_ + length_ + decode_; }

  const Engine& engine_;
  const Serving& w_;
  double ranks_;
  double users_;
  double gained_;      // tokens a step, with drafts
  Seconds plain_;      // a step without prompts
  Seconds front_end_;  // until a request is ready
  Seconds reading_;    // of that, one after the other
  double decode_;      // steps after the first token
  double waits_ = 0;   // steps until whoever has ended is in one again
  double most_ = 1;    // prompts that a step takes on a rank, or the share of one
  double fewest_ = 1;  // of a step on all ranks, as far as there are so many
  double full_ = 1;
  Seconds few_;  // what steps with so many take
  Seconds many_;
  Seconds more_;                  // and with one more
  double length_ = 1;             // steps of the first prompt
  double steps_ = 0;              // until all prompts are read
  double without_ = 0;            // of those, without prompts
  Seconds ends_;                  // how long they take
  Seconds seen_;                  // before them, where prompts go first
  Seconds first_tokens_;          // of all users, summed
  std::array<Seconds, 65> sums_;  // of the first steps
};

/// Requests that an engine takes at a time and whose caches fit. They move in step, so that all are
/// at their longest together, whatever the engine reserves for one when it starts.
double in_flight_limit(const Problem& p, const Strategy& s, const ServingMemory& m) {
  const double taken = usual_limit(p, s, p.runtime.engine.max_requests);
  return std::max(1.0, std::min(std::max(1, s.dp) * taken, m.max_batch));
}

/// What is the same however many requests decode at a time: memory, and the way of a prompt.
ServingEstimate before_decoding(const Problem& p, const Strategy& s, bool tiered) noexcept {
  ServingEstimate e;
  e.verdict = legal_serving(p, s);
  if (e.verdict != Verdict::fits) return e;
  const Serving& w = p.serving;
  e.devices = static_cast<double>(s.tp) * s.pp * s.dp;
  e.memory = serving_memory(p, s, tiered);
  // A closed loop takes a prompt a replica at a time; a batch comes in as many waves as decode.
  const bool closed = w.batching == Batching::closed_loop;
  const double most = std::min<double>(s.pp, w.batch);
  const double together = closed ? std::min(std::max(1, s.dp), w.batch) : std::ceil(w.batch / most);
  const double waves =
      closed ? 1 : std::ceil(w.batch / together);  // of six in pairs three, not four
  const Prompts prompts = prompts_of(p, s, together, e.memory.residence);
  e.prefill = prompts.cost;
  e.draft_prefill = prompts.draft;
  e.prompt_passes = prompts.passes;
  e.prompts = together;
  e.front_end = p.runtime.host_per_request + front_end(p.runtime.engine, prompt_tokens(p));
  e.first_token = prompts.passes * prompts.cost.time * ((s.pp + waves - 1) / s.pp) +
                  prompts.passes * prompts.draft.time + e.front_end;
  e.ttft = e.first_token;
  return e;
}

/// With no more than so many requests decoding at a time.
ServingEstimate serve_at_most(const Problem& p, const Strategy& s, ServingEstimate e,
                              LoopSteps& loop, double most) noexcept {
  const Serving& w = p.serving;
  const bool closed = w.batching == Batching::closed_loop;
  e.active = closed ? std::min({double(w.batch), most, in_flight_limit(p, s, e.memory)}) : w.batch;
  // Stages work on different microbatches at a time.
  const double waves = std::min<double>(s.pp, e.active);
  const double each = std::ceil(e.active / waves);
  const double steps = std::max(1, w.output - 1);
  Tokens decode =
      tokens_of(p, s, {.batch = each, .queries = 1.0 + w.speculation.tokens}, e.memory.residence);
  const MeanDecode mean = mean_decode(p, s, decode, prompt_tokens(p) + 1.0, steps);
  e.decode = mean.cost;
  e.decoding = each;
  // Each of the waves passes every stage once a step.
  Seconds checking = e.decode.time * std::max(1.0, waves / s.pp);
  Tokens plain = decode;
  plain.queries = 1;
  e.draft = drafted(p, s, [&](const Problem& q, const Strategy& cut) {
    return mean_decode(q, cut, plain, prompt_tokens(p) + 1.0, steps).cost;
  });
  if (closed) {
    const Seconds device = checking + w.speculation.tokens * e.draft.time;
    const double requests = std::ceil(e.active / std::max(1, s.dp));
    const Seconds host = with_host(p.runtime.engine, device, requests, 0) - device;
    e.decode.time += host;
    e.decode.parts[Work::host] += host;
    checking += host;
  }
  e.step = (checking + w.speculation.tokens * e.draft.time) / tokens_a_step(w.speculation);
  e.drafting = e.step - checking / tokens_a_step(w.speculation);
  e.tpot = e.step;
  if (closed) {
    const ClosedLoop::Cycle cycle = ClosedLoop(loop, p, s, e).run();
    e.tpot = cycle.tpot;
    e.ttft = cycle.service - (w.output - 1.0) * e.tpot + (w.batch / e.active - 1) * cycle.service;
  }
  e.latency = e.ttft + (w.output - 1.0) * e.tpot;
  e.tokens_per_second = static_cast<double>(w.batch) * w.output / e.latency.value;
  if (!e.memory.fits()) {
    if (closed && e.active >= 1 && e.memory.max_batch >= 1) {
      // Requests in flight fill what is left; the others wait.
      ServingMemory& m = e.memory;
      m.cache = m.capacity - m.weights - m.activations - m.other;
    } else {
      e.verdict = Verdict::out_of_memory;
    }
  }
  return e;
}

/// The largest number up to which a sum that grows with it stays within a limit.
template <class Sum>
double most_within(double limit, double low, double high, const Sum& sum) {
  while (high - low > 0.25) {
    const double middle = (low + high) / 2;
    (sum(middle) <= limit ? low : high) = middle;
  }
  return std::floor(high) > low && sum(std::floor(high)) <= limit ? std::floor(high) : low;
}

/// A bound may round up where the time itself does not.
constexpr double surely = 1 - 1e-12;

/// Fewer at a time than memory holds where that is better: an engine may be told so. Whoever has
/// more memory tries all that whoever has less does, so that more is never worse.
ServingEstimate serve_with(const Problem& p, const Strategy& s, bool tiered) noexcept {
  const ServingEstimate before = before_decoding(p, s, tiered);
  if (before.verdict != Verdict::fits) return before;
  LoopSteps loop(p, s, before);
  const ServingEstimate all =
      serve_at_most(p, s, before, loop, std::numeric_limits<double>::infinity());
  const double replicas = std::max(1, s.dp);
  const bool closed = p.serving.batching == Batching::closed_loop;
  if (!closed || all.verdict != Verdict::fits || all.active <= replicas) return all;
  // Not for less than this: the fewer there are, the longer the others wait for their turn.
  constexpr double clearly = 0.9995;
  // Alone, a prompt joins nobody's step, and nobody is served sooner.
  const ServingEstimate alone = serve_at_most(p, s, before, loop, replicas);
  ServingEstimate best = alone.latency < clearly * all.latency ? alone : all;
  double last = 0;
  const auto fewer = [&](double n) {
    n = std::floor(n);
    if (n == std::exchange(last, n)) return;
    if (n <= replicas || n >= all.active || replicas / n * alone.latency >= best.latency) return;
    ServingEstimate other = before;
    other.active = n;
    const Seconds least = p.serving.batch / n * ClosedLoop(loop, p, s, other).least();
    if (least * surely >= best.latency) return;
    other = serve_at_most(p, s, before, loop, n);
    if (other.latency < min(best.latency, clearly * all.latency)) best = other;
  };
  // Tokens beside prompts cost more than alone where one launch attends to both: the fewer decode
  // at a time, the more steps are without prompts.
  if (joins_tokens(p)) {
    for (double n = replicas; n < all.active; n = std::max(n + 1, std::floor(1.125 * n))) fewer(n);
    for (double step = best.active / 8; step >= 0.5; step /= 2) {
      const double center = best.active;
      fewer(center - step);
      fewer(center + step);
    }
  }
  // Rows of a wave's multiplies that fill whole tiles, without prompts and with those that join:
  // one more request begins another.
  const double queries = 1 + p.serving.speculation.tokens;
  const double waves = replicas * std::min<double>(s.pp, all.active);
  for (const double prompt : {0.0, prompt_tokens(p) / before.prompt_passes}) {
    const auto rows = [&](double n) { return n / waves * queries + prompt; };
    constexpr double tile = 128;
    const double first = std::floor(rows(replicas) / tile) + 1;
    for (double k = 0; (first + k) * tile < rows(all.active);
         k = std::max(k + 1, std::floor(1.0625 * k))) {
      fewer(most_within((first + k) * tile, replicas, all.active, rows));
    }
  }
  return best;
}

}  // namespace

ServingEstimate serve(const Problem& p, const Strategy& s) noexcept {
  const ServingEstimate e = serve_with(p, s, true);
  const Serving& w = p.serving;
  if (p.tier.capacity.value <= 0 || w.placement != Placement::overflow ||
      w.batching != Batching::closed_loop) {
    return e;
  }
  // More requests at a time with caches in a slow memory may take longer than fewer that wait: an
  // engine leaves alone what does not pay.
  const ServingEstimate without = serve_with(p, s, false);
  return without.verdict == Verdict::fits && without.latency <= e.latency ? without : e;
}

}  // namespace sextant
