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

/// Steps in which a request gets its tokens, those of its first included.
double steps_of(const Serving& w) { return w.output / tokens_a_step(w.speculation); }

/// A prompt that is longer than a pass takes is cut: into equal pieces, which stand for whole ones
/// and what is left of them.
struct Pieces {
  double count = 1;
  double tokens = 1;   ///< of each
  double context = 1;  ///< that the one in the middle ends with
};
Pieces pieces_of(const Problem& p) {
  const double input = prompt_tokens(p);
  const double count = std::max(1.0, std::ceil(input / budget_of(p.serving)));
  const double tokens = input / count;
  return {count, tokens, (input + tokens) / 2};
}

/// The prompts of a batch: as many at a time as a pass takes; one that is longer in pieces.
struct Prompts {
  double passes = 1;
  PassCost cost;   ///< of one pass, their mean
  PassCost draft;  ///< of what proposes tokens
};
Prompts prompts_of(const Problem& p, const Strategy& s, double batch, const Residence& home) {
  const double input = prompt_tokens(p);
  const double images = p.serving.images;
  const double sequences = std::ceil(batch / std::max(1, s.dp));
  const Pieces piece = pieces_of(p);
  const double together = std::clamp(std::floor(budget_of(p.serving) / input), 1.0, sequences);
  Prompts r;
  r.passes = std::ceil(sequences / together) * piece.count;
  const double each = sequences * piece.count / r.passes;
  const Tokens tokens{.sequences = each,
                      .queries = piece.tokens,
                      .context = piece.context,
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

/// Prompts of a step that has any, their mean, where so many requests decode: each comes when one
/// ends, whenever that is, and a step takes all that have come, or as many as it may.
double prompts_together(const Problem& p, double requests) {
  const double come = requests / steps_of(p.serving);
  const double most = std::floor(budget_of(p.serving) / prompt_tokens(p));
  return std::clamp(come > 0 ? come / -std::expm1(-come) : 1, 1.0, std::max(1.0, most));
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
  void note(double a, double b, Seconds time) { at(a, b) = {a, b, time}; }

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

/// How prompts join the decoding requests of a replica in a closed loop: engines put them, or
/// pieces of them, into the same pass, those that come together into one. Whatever number of
/// requests decodes, many passes are the same.
class JoiningPrompts {
 public:
  JoiningPrompts(const Problem& p, const Strategy& s, const ServingEstimate& before)
      : p_(p),
        s_(s),
        home_(before.memory.residence),
        alone_(before.first_token),
        piece_(pieces_of(p)) {}

  /// Passes that a prompt needs its part of, where so many join one, their mean.
  double passes(double prompts) const { return piece_.count / prompts; }

  /// Of a pass of so many decoding requests, what it takes with prompts and without. Together they
  /// take no longer than one after the other.
  struct Times {
    Seconds plain;
    Seconds mixed;
    Seconds drafts;  ///< before either
  };
  Times times(double sequences, double prompts) {
    const Seconds plain =
        plain_(sequences, 0, [&] { return pass_over(p_, s_, decode(sequences)).time; });
    const Seconds mixed =
        mixed_(sequences, prompts, [&] { return with_prompts(sequences, prompts); });
    const Seconds drafts = drafts_(sequences, 0, [&] { return proposals(sequences); });
    return {plain, min(mixed, plain + alone_ / passes(prompts)), drafts};
  }

  /// What is known of a pass without prompts spares another.
  void note(double sequences, const MeanDecode& d) {
    if (d.context == decode(sequences).context) plain_.note(sequences, 0, d.there);
  }

 private:
  Tokens decode(double sequences) const {
    const Serving& w = p_.serving;
    return {.sequences = sequences,
            .queries = 1.0 + w.speculation.tokens,
            .context = prompt_tokens(p_) + w.output / 2.0,
            .seen = double(w.images),
            .home = home_};
  }

  Seconds proposals(double sequences) const {
    Tokens one = decode(sequences);
    one.queries = 1;
    return p_.serving.speculation.tokens *
           drafted(p_, s_, [&](const Problem& q, const Strategy& cut) {
             return pass_over(q, cut, one);
           }).time;
  }

  Seconds with_prompts(double sequences, double prompts) const {
    Tokens t = decode(sequences);
    t.images = p_.serving.images / passes(prompts);
    t.pieces = prompts;
    t.chunk = prompts * piece_.tokens;
    t.chunk_context = piece_.context;
    const Seconds mixed(
        smooth_max(pass_over(p_, s_, t).time.value, prompt_launch(p_, s_, s_.dp).value));
    const Tokens alone{.sequences = prompts,
                       .queries = piece_.tokens,
                       .context = t.chunk_context,
                       .images = t.images,
                       .seen = t.seen,
                       .home = home_};
    const PassCost draft = drafted(
        p_, s_, [&](const Problem& q, const Strategy& cut) { return pass_over(q, cut, alone); });
    return mixed + draft.time;
  }

  const Problem& p_;
  const Strategy& s_;
  Residence home_;
  Seconds alone_;  // of one prompt
  Pieces piece_;
  Remembered plain_;
  Remembered mixed_;
  Remembered drafts_;
};

/// A closed loop on a replica, whose stages work on so many waves at a time. Of the steps of a
/// request, so many take prompts as the others' turns need. Where there are not enough of them,
/// every step takes prompts, and fewer requests decode than wait: as many as prompts let through.
class ClosedLoop {
 public:
  /// All replicas take prompts at the same time.
  ClosedLoop(JoiningPrompts& joining, const Problem& p, const Strategy& s, const ServingEstimate& e)
      : joining_(joining),
        w_(p.serving),
        e_(e),
        requests_(std::max(1.0, e.active / std::max(1, s.dp))),
        waves_(std::min<double>(s.pp, e.active)),
        prompts_(prompts_together(p, requests_ / waves_)),
        passes_(joining.passes(prompts_)),
        gained_(tokens_a_step(w_.speculation)),
        share_(std::max(0.0, requests_ - 1) * passes_ / steps_of(w_)) {}

  struct Cycle {
    Seconds tpot;
    Seconds service;
    bool turns = false;  ///< it takes as long as all turns of prompts
  };
  Cycle run() {
    if (share_ > 1) return prompted();
    all_ = times(std::ceil(requests_ / waves_));
    const Cycle all = of(requests_, all_);
    return all.turns ? fewer(all) : all;
  }

  /// A request is served no sooner, whatever a step without prompts takes.
  Seconds least() const { return share_ > 1 ? turns(requests_, every_step()) : Seconds(0); }

 private:
  JoiningPrompts::Times times(double in_a_wave) const {
    return joining_.times(in_a_wave, prompts_);
  }

  /// Where every step takes prompts: of the requests that they let through.
  Seconds every_step() const {
    const double through = std::clamp(steps_of(w_) / passes_, 1.0, requests_);
    const JoiningPrompts::Times t = times(std::ceil(through / waves_));
    return t.mixed + t.drafts;
  }

  /// Little's law: of n requests one ends with every prompt that is through.
  Seconds turns(double n, Seconds step) const { return n * passes_ * step; }

  Seconds joined(Seconds step) const {
    return e_.first_token + (requests_ > 1 ? 0.5 : 0) * (gained_ * step);
  }

  Cycle prompted() const {
    const Seconds step = every_step();
    const Seconds tpot = step / gained_;
    return {tpot, max(turns(requests_, step), joined(e_.step) + (w_.output - 1.0) * tpot)};
  }

  /// Of so many requests, `all_` being the times that belong to the step of the estimate.
  Cycle of(double n, const JoiningPrompts::Times& t) const {
    const Seconds step = e_.step + 1 / gained_ * (t.plain + t.drafts - all_.plain - all_.drafts);
    const double share = std::max(0.0, n - 1) * passes_ / steps_of(w_);
    const Seconds tpot = step + share / gained_ * (t.mixed - t.plain);
    // All take their turns with prompts before one's own comes again.
    const Seconds all = n > 1 ? turns(n, t.mixed + t.drafts) : Seconds(0);
    const Seconds own = joined(step) + (w_.output - 1.0) * tpot;
    return {tpot, max(all, own), all > own};
  }

  /// Where prompts set the pace, requests beyond those that keep it up only make steps longer: the
  /// others wait.
  Cycle fewer(Cycle best) const {
    const auto count = [&](double in_a_wave) { return std::min(requests_, in_a_wave * waves_); };
    double enough = std::ceil(requests_ / waves_);
    const auto look = [&](double in_a_wave) {
      const double n = count(in_a_wave);
      Cycle c = of(n, times(in_a_wave));
      c.service = requests_ / n * c.service;
      if (c.service < best.service) best = c;
      return c.turns;
    };
    double few = 0;
    while (enough - few > 1) {
      const double middle = std::floor((few + enough) / 2);
      (look(middle) ? enough : few) = middle;
    }
    return best;
  }

  JoiningPrompts& joining_;
  const Serving& w_;
  const ServingEstimate& e_;
  double requests_;
  double waves_;
  double prompts_;  // of a pass that has any, their mean
  double passes_;   // that a prompt needs its part of
  double gained_;   // tokens a step, with drafts
  double share_;    // of steps with prompts
  JoiningPrompts::Times all_;
};

/// Requests whose caches fit while they grow: paged engines hold what is there, not the longest.
double in_flight_limit(const Problem& p, const Strategy& s, const ServingMemory& m) {
  const Serving& w = p.serving;
  const Bytes free = m.capacity - m.weights - m.activations - m.other;
  const Bytes mean = m.cache_per_token * (prompt_tokens(p) + w.output / 2.0) + m.cache_of_any;
  if (mean.value <= 0) return 1e9;
  return std::max({1.0, m.max_batch, std::floor(free / mean) * std::max(1, s.dp)});
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
  const double together = closed ? std::max(1, s.dp) : std::ceil(w.batch / most);
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
                              JoiningPrompts& joining, double most) noexcept {
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
  joining.note(decode.sequences, mean);
  e.decode = mean.cost;
  e.decoding = each;
  // Each of the waves passes every stage once a step.
  const Seconds checking = e.decode.time * std::max(1.0, waves / s.pp);
  Tokens plain = decode;
  plain.queries = 1;
  e.draft = drafted(p, s, [&](const Problem& q, const Strategy& cut) {
    return mean_decode(q, cut, plain, prompt_tokens(p) + 1.0, steps).cost;
  });
  e.step = (checking + w.speculation.tokens * e.draft.time) / tokens_a_step(w.speculation);
  e.drafting = e.step - checking / tokens_a_step(w.speculation);
  e.tpot = e.step;
  if (closed) {
    const ClosedLoop::Cycle cycle = ClosedLoop(joining, p, s, e).run();
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
  JoiningPrompts joining(p, s, before);
  const ServingEstimate all =
      serve_at_most(p, s, before, joining, std::numeric_limits<double>::infinity());
  const double replicas = std::max(1, s.dp);
  const bool closed = p.serving.batching == Batching::closed_loop;
  if (!closed || all.verdict != Verdict::fits || all.active <= replicas) return all;
  // Alone, a prompt joins nobody's step, and nobody is served sooner.
  const ServingEstimate alone = serve_at_most(p, s, before, joining, replicas);
  ServingEstimate best = alone.latency < all.latency ? alone : all;
  double last = 0;
  const auto fewer = [&](double n) {
    n = std::floor(n);
    if (n == std::exchange(last, n)) return;
    if (n <= replicas || n >= all.active || replicas / n * alone.latency >= best.latency) return;
    ServingEstimate other = before;
    other.active = n;
    const Seconds least = p.serving.batch / n * ClosedLoop(joining, p, s, other).least();
    if (least * surely >= best.latency) return;
    other = serve_at_most(p, s, before, joining, n);
    if (other.latency < best.latency) best = other;
  };
  // Rows of a wave's multiplies that fill whole tiles, without prompts and with those that join:
  // one more request begins another.
  const double queries = 1 + p.serving.speculation.tokens;
  const double waves = replicas * std::min<double>(s.pp, all.active);
  const Pieces piece = pieces_of(p);
  for (const double prompt : {0.0, piece.tokens}) {
    const auto rows = [&](double n) {
      return n / waves * queries + prompt * prompts_together(p, n / waves);
    };
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
