// SPDX-License-Identifier: Apache-2.0
#include "sextant/scenario/derive.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/predict/infer.hpp"

namespace sextant {
namespace {

constexpr int usual_sequence = 2048;
constexpr double most_sequences = 1e8;

void derive_training(const Inputs& in, Problem& p, const Strategy& s) {
  Training& work = p.work;
  work = in.training;
  if (work.batch == 0) {
    const double least = static_cast<double>(s.dp) * s.microbatch * s.pp;
    work.batch = static_cast<int>(std::min(least, most_sequences));
  }
  if (work.seq == 0) {
    const int most = p.model.max_context;
    work.seq = most > 0 ? std::min(usual_sequence, most) : usual_sequence;
  }
  look_ahead(p);
}

void derive_draft(const Inputs& in, Problem& p) {
  const bool drafts = p.serving.speculation.tokens > 0 && !in.said.draft_cost;
  if (!drafts) {
    p.draft = nullptr;
  } else if (in.draft) {
    p.draft = draft_of(p, *in.draft);
  } else if (p.model.prediction_layers > 0) {
    p.draft = own_draft_of(p);
  }
}

}  // namespace

Precision usual_cache(const Model& model, const Runtime& runtime, Precision precision) {
  if (element_bytes(precision) > 2) return precision;
  const bool said = model.cache != CheckpointCache::unsaid && precision == model.stored;
  if (said && runtime.engine.checkpoint_cache) {
    return model.cache == CheckpointCache::narrow ? Precision::fp8 : Precision::bf16;
  }
  const bool scaled = narrow(precision) && !whole_numbers(precision);
  return scaled && runtime.engine.narrow_cache ? Precision::fp8 : Precision::bf16;
}

std::optional<Refusal> derive(Task task, const Inputs& in, Problem& p, Strategy& s) noexcept {
  s = in.strategy;
  const bool trains = task == Task::train;
  if (!in.said.sp) s.sp = trains && p.runtime.sequence_parallel && s.tp > 1;
  const double others = static_cast<double>(s.tp) * s.pp * s.cp;
  if (s.dp == 0) {
    s.dp = in.gpus > 0 ? static_cast<int>(std::max(1.0, std::floor(in.gpus / others))) : 1;
  }
  if (in.alone) p.runtime.overlap = {};
  if (trains) {
    derive_training(in, p, s);
  } else {
    if (!in.said.precision) s.precision = p.model.stored;
    p.serving = in.serving;
    if (!in.said.cache) p.serving.cache = usual_cache(p.model, p.runtime, s.precision);
    derive_draft(in, p);
  }
  if (in.gpus > 0 && others * s.dp != in.gpus) return Refusal::gpus_not_divisible;
  const double longest = prompt_tokens(p) + in.serving.output;
  const int most = p.model.max_context;
  if (!trains && most > 0 && longest > most && !in.allow_long) return Refusal::context_too_long;
  return std::nullopt;
}

}  // namespace sextant
