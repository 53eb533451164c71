// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/energy.hpp"

#include <algorithm>

namespace sextant {

Energy standing_energy(const Problem& p, Seconds time) {
  return {.idle = p.chip.idle * time, .host = p.host_power * time};
}

namespace {

/// Beside idling, of all passes that a batch of requests needs.
Energy request_work(const Problem& p, const Strategy& s, const ServingEstimate& e) {
  const Serving& w = p.serving;
  // As serve() has it: those in flight, in shares that stages work on at a time, and so often.
  const double times = std::min<double>(s.pp, e.active) * w.batch / e.active;
  const bool closed = w.batching == Batching::closed_loop;
  const double prompts = closed ? w.batch / std::max(1.0, double(s.dp)) : times;
  const double steps = times * (w.output - 1.0) / tokens_a_step(w.speculation);
  const Energy step = e.decode.work + w.speculation.tokens * e.draft.work;
  const Energy prompt = e.prefill.work + e.draft_prefill.work;
  return 1.0 / s.pp * (prompts * e.prompt_passes * prompt + steps * step);
}

}  // namespace

Energy request_energy(const Problem& p, const Strategy& s, const ServingEstimate& e) {
  Energy work = request_work(p, s, e);
  // A prompt that joins a step shares its weights: together they draw no more than the hungrier.
  const Joules most = (max(e.prefill.power, e.decode.power) - p.chip.idle) * e.latency;
  if (work.device() > most && most.value > 0) work = (most / work.device()) * work;
  return work + standing_energy(p, e.latency);  // whoever waits draws as well
}

Joules token_energy(const Energy& device, double devices, double tokens) {
  return tokens > 0 ? devices / tokens * device.total() : Joules(0);
}

Energy request_energy(const Problem& p, const Strategy& s) {
  return request_energy(p, s, serve(p, s));
}

}  // namespace sextant
