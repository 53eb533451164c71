// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/infer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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
  const double piece = std::min(input, budget_of(p.serving));
  const double together = std::clamp(std::floor(budget_of(p.serving) / input), 1.0, sequences);
  Prompts r;
  r.passes = std::ceil(sequences / together) * std::ceil(input / piece);
  // Of the pieces of a prompt, the one in the middle.
  const double context = input > piece ? (input + piece) / 2 : input;
  const double each = sequences * std::ceil(input / piece) / r.passes;
  const Tokens tokens{.sequences = each,
                      .queries = piece,
                      .context = context,
                      .images = sequences * images / r.passes,
                      .seen = images,
                      .home = home};
  const auto prompt = [&](const Problem& q, const Strategy& cut) {
    PassCost c = pass_over(q, cut, tokens);
    const Seconds launched(smooth_max(c.time.value, prompt_launch(q, cut).value));
    c.parts[Work::host] += launched - c.time;
    c.time = launched;
    return c;
  };
  r.cost = prompt(p, s);
  r.draft = drafted(p, s, prompt);
  return r;
}

/// How prompts join the decoding requests of a replica in a closed loop: engines put them, or
/// pieces of them, into the same pass, those that come together into one.
class JoiningPrompts {
 public:
  JoiningPrompts(const Problem& p, const Strategy& s, const Tokens& decode, Seconds alone)
      : p_(p), s_(s), decode_(decode), alone_(alone) {
    const Serving& w = p.serving;
    const double input = prompt_tokens(p);
    const double budget = budget_of(w);
    piece_ = std::min(input, budget);
    pieces_ =
        std::clamp(std::floor(budget / input), 1.0, std::ceil(decode.sequences / steps_of(w)));
    passes_ = std::ceil(input / piece_) / pieces_;
  }

  /// Passes that a prompt needs its part of.
  double passes() const { return passes_; }

  /// Of a pass of so many decoding requests, what it takes with prompts and without. Together they
  /// take no longer than one after the other.
  struct Times {
    Seconds plain;
    Seconds mixed;
  };
  Times times(double sequences) const {
    Tokens t = decode_;
    t.sequences = sequences;
    const Seconds plain = pass_over(p_, s_, t).time;
    const double input = prompt_tokens(p_);
    t.images = p_.serving.images / passes_;
    t.pieces = pieces_;
    t.chunk = pieces_ * piece_;
    t.chunk_context = input > piece_ ? (input + piece_) / 2 : input;
    const Seconds mixed(smooth_max(pass_over(p_, s_, t).time.value, prompt_launch(p_, s_).value));
    const Tokens prompts{.sequences = pieces_,
                         .queries = piece_,
                         .context = t.chunk_context,
                         .images = t.images,
                         .seen = t.seen,
                         .home = t.home};
    const PassCost draft = drafted(
        p_, s_, [&](const Problem& q, const Strategy& cut) { return pass_over(q, cut, prompts); });
    return {plain, min(mixed + draft.time, plain + alone_ / passes_)};
  }

 private:
  const Problem& p_;
  const Strategy& s_;
  const Tokens& decode_;
  Seconds alone_;      // of one prompt
  double piece_ = 1;   // tokens of a prompt in one pass
  double pieces_ = 1;  // prompts in one pass
  double passes_ = 1;
};

/// A closed loop of `requests` on a replica. Of the steps of a request, so many take prompts as the
/// others' turns need. Where there are not enough of them, every step takes prompts, and fewer
/// requests decode than wait: as many as prompts let through.
void close_loop(const JoiningPrompts& joining, const Serving& w, double requests, double waves,
                ServingEstimate& e) {
  const double gained = tokens_a_step(w.speculation);
  const Seconds drafts = w.speculation.tokens * e.draft.time;
  const double share = std::max(0.0, requests - 1) * joining.passes() / steps_of(w);
  const Seconds joined = e.first_token + (requests > 1 ? 0.5 : 0) * (gained * e.step);
  Seconds service;
  if (share <= 1) {
    const JoiningPrompts::Times t = joining.times(std::ceil(requests / waves));
    e.tpot = e.step + share / gained * (t.mixed - t.plain);
    // All take their turns with prompts before one's own comes again.
    const Seconds turns =
        requests > 1 ? requests * joining.passes() * (t.mixed + drafts) : Seconds(0);
    service = max(turns, joined + (w.output - 1.0) * e.tpot);
  } else {
    const double decoding = std::clamp(steps_of(w) / joining.passes(), 1.0, requests);
    const Seconds step = joining.times(std::ceil(decoding / waves)).mixed + drafts;
    e.tpot = step / gained;
    // Little's law: a request ends with every prompt that is through.
    service = max(requests * joining.passes() * step, joined + (w.output - 1.0) * e.tpot);
  }
  e.ttft = service - (w.output - 1.0) * e.tpot + (w.batch / e.active - 1) * service;
}

/// Requests whose caches fit while they grow: paged engines hold what is there, not the longest.
double in_flight_limit(const Problem& p, const Strategy& s, const ServingMemory& m) {
  const Serving& w = p.serving;
  const Bytes free = m.capacity - m.weights - m.activations - m.other;
  const Bytes mean = m.cache_per_token * (prompt_tokens(p) + w.output / 2.0) + m.cache_of_images;
  if (mean.value <= 0) return 1e9;
  return std::max({1.0, m.max_batch, std::floor(free / mean) * std::max(1, s.dp)});
}

/// With no more than so many requests decoding at a time.
ServingEstimate serve_at_most(const Problem& p, const Strategy& s, double most,
                              bool tiered) noexcept {
  ServingEstimate e;
  e.verdict = legal_serving(p, s);
  if (e.verdict != Verdict::fits) return e;
  const Serving& w = p.serving;
  e.devices = static_cast<double>(s.tp) * s.pp * s.dp;
  const bool closed = w.batching == Batching::closed_loop;
  e.memory = serving_memory(p, s, tiered);
  const Residence& home = e.memory.residence;
  e.active = closed ? std::min({double(w.batch), most, in_flight_limit(p, s, e.memory)}) : w.batch;
  // Stages work on different microbatches at a time.
  const double waves = std::min<double>(s.pp, e.active);
  const double each = std::ceil(e.active / waves);
  const double steps = std::max(1, w.output - 1);
  Tokens decode = tokens_of(p, s, {.batch = each, .queries = 1.0 + w.speculation.tokens}, home);
  e.decode = mean_decode(p, s, decode, prompt_tokens(p) + 1.0, steps);
  // Each of the waves passes every stage once a step.
  const Seconds checking = e.decode.time * std::max(1.0, waves / s.pp);
  Tokens plain = decode;
  plain.queries = 1;
  e.draft = drafted(p, s, [&](const Problem& q, const Strategy& cut) {
    return mean_decode(q, cut, plain, prompt_tokens(p) + 1.0, steps);
  });
  const Seconds step =
      (checking + w.speculation.tokens * e.draft.time) / tokens_a_step(w.speculation);
  const Prompts prompts = prompts_of(p, s, closed ? std::max(1, s.dp) : each, home);
  e.prefill = prompts.cost;
  e.draft_prefill = prompts.draft;
  e.prompt_passes = prompts.passes;
  e.first_token = prompts.passes * prompts.cost.time * ((s.pp + (closed ? 1 : waves) - 1) / s.pp) +
                  prompts.passes * prompts.draft.time + p.runtime.host_per_request +
                  p.runtime.engine.request;
  e.step = step;
  e.drafting = step - checking / tokens_a_step(w.speculation);
  e.tpot = step;
  e.ttft = e.first_token;
  if (closed) {
    // All replicas take prompts at the same time.
    decode.context = prompt_tokens(p) + w.output / 2.0;
    const JoiningPrompts joining(p, s, decode, e.first_token);
    close_loop(joining, w, std::max(1.0, e.active / std::max(1, s.dp)), waves, e);
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

ServingEstimate serve_with(const Problem& p, const Strategy& s, bool tiered) noexcept {
  const ServingEstimate e = serve_at_most(p, s, std::numeric_limits<double>::infinity(), tiered);
  // One more prompt joins a step with every request more than tokens are generated. Just beyond
  // such an edge, or with short answers, fewer at a time are better: an engine may be told so.
  const double edge = steps_of(p.serving) * std::max(1, s.dp);
  if (p.serving.batching != Batching::closed_loop || !(e.active > edge)) return e;
  const double edges = std::floor((e.active - 1) / edge);
  ServingEstimate best = e;
  for (double n = edges; n >= 1; n -= std::ceil(edges / 64)) {
    const ServingEstimate other = serve_at_most(p, s, n * edge, tiered);
    if (other.verdict == e.verdict && other.latency < best.latency) best = other;
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
