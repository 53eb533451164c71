// SPDX-License-Identifier: Apache-2.0
#include "sextant/serving/rank.hpp"

#include <algorithm>

namespace sextant {
namespace {

int mod(std::int64_t value, int base) {
  const auto rest = static_cast<int>(value % base);
  return rest < 0 ? rest + base : rest;
}

}  // namespace

Rank::Rank(const Engine& engine, const EngineLimits& limits, Role role, const Trace* trace,
           std::vector<Live>& live, EngineCounts& counts)
    : engine_(engine),
      limits_(limits),
      role_(role),
      trace_(limits.prefix_cache && engine.reserve != Reserve::slot ? trace : nullptr),
      live_(live),
      counts_(counts),
      cache_(static_cast<std::int64_t>(limits.cache_tokens / limits.block),
             trace != nullptr ? std::max(1, trace->block_tokens / limits.block) : 1),
      states_(static_cast<std::int64_t>(limits.state_tokens / limits.block)),
      calendar_(1024, -1),
      phases_(static_cast<std::size_t>(limits.block), 0) {}

double Rank::cache_share() const {
  if (engine_.reserve == Reserve::slot)
    return static_cast<double>(slots_taken()) / limits_.max_requests;
  return static_cast<double>(cache_.used()) /
         static_cast<double>(std::max<std::int64_t>(1, cache_.total()));
}

double Rank::first_ready() const { return waiting_.empty() ? never : at(waiting_.front()).ready; }

bool Rank::stuck() const {
  if (leaving_ == 0 || !idle() || waiting_.empty()) return false;
  const Live& r = at(waiting_.front());
  return blocked(r, trace_ != nullptr ? cache_.match(prefix(r)) : 0) != Wait::none;
}

double Rank::ready_tokens(double decision) const {
  double tokens = 0;
  for (const std::int32_t i : waiting_) {
    if (at(i).ready > decision || tokens >= limits_.token_budget) break;
    tokens += at(i).target - at(i).computed;
  }
  return tokens;
}

int Rank::output_of(const Live& r) const { return role_ == Role::prefill ? 1 : r.request.output; }

void Rank::submit(std::int32_t i) {
  Live& r = at(i);
  r.target = r.request.input;
  if (role_ == Role::decode) {
    // The first token came with the cache.
    r.generated = 1;
    r.computed = r.target;
  }
  tokens_to_come_ += r.target - r.computed + output_of(r) - r.generated;
  waiting_.push_back(i);
}

// -- the cache -----------------------------------------------------------------------------------

/// Full blocks only, and one token at least is computed.
Rank::Ids Rank::prefix(const Request& r) const {
  if (trace_ == nullptr || r.prefix_blocks == 0) return {};
  const auto full = static_cast<std::uint32_t>((r.input - 1) / trace_->block_tokens);
  return Ids(trace_->blocks).subspan(r.prefix, std::min(full, r.prefix_blocks));
}

std::size_t Rank::matched(const Request& r) const { return cache_.match(prefix(r)); }

/// Blocks of its own that a request takes when it starts.
std::int64_t Rank::reserved(const Live& r) const {
  switch (engine_.reserve) {
    case Reserve::slot:
      return 0;
    case Reserve::longest:
      return states_ + blocks_of(std::int64_t{r.request.input} + output_of(r));
    case Reserve::prompt:
    case Reserve::share:
      break;
  }
  return states_ + blocks_of(r.target);
}

/// Blocks of its own that it has now.
std::int64_t Rank::held(const Live& r) const {
  if (engine_.reserve == Reserve::slot) return 0;
  const std::int64_t shared = r.matched * cache_.unit();
  if (engine_.reserve == Reserve::longest) return reserved(r) - shared;
  const std::int64_t grown = r.state == Live::State::decoding ? step_ - r.since : 0;
  return states_ + blocks_of(r.target + grown) - shared;
}

void Rank::free_blocks(Live& r) {
  cache_.give(held(r));
  if (r.matched > 0) cache_.release(prefix(r).first(r.matched));
  r.matched = 0;
}

Wait Rank::blocked(const Live& r, std::size_t matched) const {
  if (slots_taken() >= limits_.max_requests) return Wait::slots;
  if (engine_.reserve == Reserve::slot) return Wait::none;
  std::int64_t need = reserved(r) - static_cast<std::int64_t>(matched) * cache_.unit();
  if (matched > 0) need += cache_.pin_cost(prefix(r).first(matched));
  if (engine_.reserve == Reserve::share) {
    const double later = static_cast<double>(to_generate_) + output_of(r) - r.generated;
    need += static_cast<std::int64_t>(engine_.reserve_share * later / limits_.block);
  }
  return need <= cache_.free() ? Wait::none : Wait::cache;
}

// -- what a step holds ---------------------------------------------------------------------------

void Rank::enter_order(std::int32_t i) {
  Live& r = at(i);
  r.previous = order_last_;
  r.next = -1;
  (order_last_ < 0 ? order_first_ : at(order_last_).next) = i;
  order_last_ = i;
  ++running_;
}

void Rank::leave_order(std::int32_t i) {
  const Live& r = at(i);
  (r.previous < 0 ? order_first_ : at(r.previous).next) = r.next;
  (r.next < 0 ? order_last_ : at(r.next).previous) = r.previous;
  --running_;
}

void Rank::admit(std::int32_t i, std::size_t matched, double decision) {
  Live& r = at(i);
  waiting_.pop_front();
  if (matched > 0) cache_.pin(prefix(r).first(matched));
  r.matched = static_cast<std::uint32_t>(matched);
  cache_.take(reserved(r) - static_cast<std::int64_t>(matched) * cache_.unit());
  if (r.preemptions == 0) counts_.prompt_tokens += r.target;
  if (matched > 0) {
    const int hit = static_cast<int>(matched) * trace_->block_tokens;
    if (r.preemptions == 0) counts_.hit_tokens += hit;
    r.computed = hit;
    tokens_to_come_ -= hit;
  }
  enter_order(i);
  if (r.wait == Wait::none && r.ready < blocked_since_) r.wait = last_block_;
  if (r.wait == Wait::none && r.ready < decision) r.wait = Wait::step;
  if (r.computed == r.target) {
    begin_decoding(i);
  } else {
    r.state = Live::State::prompting;
    prompting_.push_back(i);
  }
}

void Rank::add_piece(std::int32_t i, int tokens, StepShape& shape) {
  const Live& r = at(i);
  pieces_.push_back({i, tokens});
  shape.prompt_tokens += tokens;
  shape.reach += static_cast<double>(tokens) * (r.computed + tokens / 2.0);
  ++shape.prompts;
}

/// The first that waits cannot start: notes why, for it and those behind it.
void Rank::wait_for(Wait why, double now) {
  Live& r = at(waiting_.front());
  r.wait = std::max(r.wait, why);
  if (why == Wait::step) return;
  last_block_ = why;
  blocked_since_ = now;
}

void Rank::plan_prompts(double decision, int budget, StepShape& shape) {
  for (const std::int32_t i : prompting_) {
    if (budget <= 0) break;
    const int tokens = std::min(at(i).target - at(i).computed, budget);
    add_piece(i, tokens, shape);
    budget -= tokens;
  }
  if (preempted_) return;
  while (!waiting_.empty()) {
    const std::int32_t i = waiting_.front();
    Live& r = at(i);
    if (r.ready > decision) return wait_for(Wait::step, decision);
    const std::size_t matched = trace_ != nullptr && r.computed == 0 ? cache_.match(prefix(r)) : 0;
    if (const Wait why = blocked(r, matched); why != Wait::none) return wait_for(why, decision);
    if (r.computed == r.target) {
      if (r.scheduled < 0) r.scheduled = decision;
      admit(i, 0, decision);
      continue;
    }
    const int rest =
        r.target - (matched > 0 ? static_cast<int>(matched) * trace_->block_tokens : 0);
    // An engine that does not cut prompts is set up for the longest beside its decoding requests:
    // one prompt always has room, the next only within the budget.
    const bool whole = !engine_.chunked && rest <= limits_.token_budget;
    const bool room = whole ? pieces_.empty() || rest <= budget : budget > 0;
    if (!room) return wait_for(Wait::budget, decision);
    admit(i, matched, decision);
    const int tokens = whole ? rest : std::min(rest, budget);
    add_piece(i, tokens, shape);
    budget -= tokens;
  }
}

StepShape Rank::plan(double decision) {
  pieces_.clear();
  preempted_ = false;
  StepShape s;
  const auto decode = [&] {
    grow_decoding();
    s.decoding = decoding_;
    s.contexts = static_cast<double>(contexts_);
  };
  // Caches that come from elsewhere join before the step.
  if (role_ == Role::decode) plan_prompts(decision, 0, s);
  switch (engine_.joining) {
    case Joining::mixed:
      decode();
      plan_prompts(decision, limits_.token_budget - decoding_, s);
      break;
    case Joining::prompts_first:
      plan_prompts(decision, limits_.token_budget, s);
      if (pieces_.empty()) decode();
      break;
    case Joining::together:
      if (idle()) plan_prompts(decision, std::numeric_limits<int>::max(), s);
      if (pieces_.empty()) decode();
      // Those that have ended are computed on until the last one ends.
      batch_ = std::max(decoding_, pieces_.empty() ? batch_ : 0);
      if (s.decoding > 0) s.decoding = batch_;
      break;
  }
  decodes_ = s.decoding > 0;
  return s;
}

void Rank::grow_decoding() {
  if (engine_.reserve == Reserve::slot || engine_.reserve == Reserve::longest) return;
  while (decoding_ > 0) {
    const std::int64_t need = phases_[static_cast<std::size_t>(mod(step_, limits_.block))];
    if (need <= cache_.free()) return cache_.take(need);
    preempt_last();
  }
}

/// Its blocks go, and its tokens are computed again when it comes back: the first to do so.
void Rank::preempt_last() {
  const std::int32_t i = order_last_;
  Live& r = at(i);
  const double lost = r.state == Live::State::decoding
                          ? r.target + static_cast<double>(step_ - r.since)
                          : r.computed;
  counts_.recomputed_tokens += lost;
  ++counts_.preemptions;
  ++r.preemptions;
  tokens_to_come_ += lost;
  free_blocks(r);
  if (r.state == Live::State::decoding) {
    r.generated += static_cast<int>(step_ - r.since);
    leave_decoding(i);
    r.target = r.request.input + r.generated;
  } else {
    std::erase(prompting_, i);
    std::erase_if(pieces_, [&](const Piece& p) { return p.request == i; });
  }
  leave_order(i);
  r.computed = 0;
  r.state = Live::State::waiting;
  waiting_.push_front(i);
  preempted_ = true;
}

// -- decoding ------------------------------------------------------------------------------------

void Rank::grow_calendar(std::int64_t ahead) {
  std::size_t size = calendar_.size();
  while (static_cast<std::int64_t>(size) <= ahead) size *= 2;
  std::vector<std::int32_t> wider(size, -1);
  for (std::int64_t s = step_; s < step_ + static_cast<std::int64_t>(calendar_.size()); ++s) {
    wider[static_cast<std::size_t>(s) & (size - 1)] = bucket(s);
  }
  calendar_ = std::move(wider);
}

void Rank::begin_decoding(std::int32_t i) {
  Live& r = at(i);
  r.state = Live::State::decoding;
  r.since = step_;
  const std::int64_t ahead = output_of(r) - r.generated;
  r.ends = step_ + ahead;
  if (ahead >= static_cast<std::int64_t>(calendar_.size())) grow_calendar(ahead);
  std::int32_t& first = bucket(r.ends);
  r.before = -1;
  r.after = first;
  if (first >= 0) at(first).before = i;
  first = i;
  ++phases_[static_cast<std::size_t>(mod(r.since - r.target, limits_.block))];
  contexts_ += r.target + 1;
  to_generate_ += ahead;
  ++decoding_;
}

void Rank::leave_decoding(std::int32_t i) {
  const Live& r = at(i);
  (r.before < 0 ? bucket(r.ends) : at(r.before).after) = r.after;
  if (r.after >= 0) at(r.after).before = r.before;
  --phases_[static_cast<std::size_t>(mod(r.since - r.target, limits_.block))];
  contexts_ -= r.target + (step_ - r.since) + 1;
  to_generate_ -= r.ends - step_;
  --decoding_;
}

std::int64_t Rank::steps_alike() const {
  if (decoding_ == 0) return std::numeric_limits<std::int64_t>::max();
  std::int64_t steps = 1;
  while (bucket(step_ + steps) < 0) ++steps;
  if (engine_.reserve == Reserve::prompt || engine_.reserve == Reserve::share) {
    // In as many steps as a block has tokens, each request takes one.
    steps = std::min(steps, 1 + cache_.free() / decoding_ * limits_.block);
  }
  // What requests may still write shrinks as they write it: soon one more may start.
  if (engine_.reserve == Reserve::share && !waiting_.empty()) {
    steps = std::min<std::int64_t>(steps, 16);
  }
  return steps;
}

/// Blocks of the steps that follow the planned one, which has taken its own.
void Rank::take_blocks(std::int64_t steps) {
  if (engine_.reserve == Reserve::slot || engine_.reserve == Reserve::longest) return;
  std::int64_t blocks = steps / limits_.block * decoding_;
  for (std::int64_t k = 1; k <= steps % limits_.block; ++k) {
    blocks += phases_[static_cast<std::size_t>(mod(step_ + k, limits_.block))];
  }
  cache_.take(blocks);
}

void Rank::decoded(std::int64_t steps, std::vector<std::int32_t>& finished) {
  if (steps > 1) take_blocks(steps - 1);
  step_ += steps;
  contexts_ += decoding_ * steps;
  to_generate_ -= decoding_ * steps;
  tokens_to_come_ -= static_cast<double>(decoding_) * static_cast<double>(steps);
  while (bucket(step_) >= 0) {
    const std::int32_t i = bucket(step_);
    free_blocks(at(i));
    leave_decoding(i);
    leave_order(i);
    finished.push_back(i);
  }
}

/// The prompt of a request is in the cache, and its next token there.
void Rank::prompted(std::int32_t i, double end, std::vector<std::int32_t>& finished) {
  Live& r = at(i);
  if (r.first_token < 0) r.first_token = end;
  ++r.generated;
  tokens_to_come_ -= 1;
  if (trace_ != nullptr) {
    const Ids ids = prefix(r);
    r.matched += static_cast<std::uint32_t>(cache_.keep(ids.subspan(r.matched)));
  }
  if (r.generated < output_of(r)) return begin_decoding(i);
  leave_order(i);
  finished.push_back(i);
  if (r.generated == r.request.output) return free_blocks(r);
  // Whoever goes on with it reads the cache from here: SGLang keeps it and the request's slot until
  // its transfers have ended (its prefill's queue of those in flight), vLLM's connectors free
  // blocks when they are told that they have been read (read November 2026).
  r.state = Live::State::leaving;
  ++leaving_;
}

void Rank::moved(std::int32_t i) {
  --leaving_;
  free_blocks(at(i));
}

void Rank::apply(std::int64_t steps, double start, double end,
                 std::vector<std::int32_t>& finished) {
  if (decodes_) decoded(steps, finished);
  bool done = false;
  for (const Piece& p : pieces_) {
    Live& r = at(p.request);
    if (r.scheduled < 0) r.scheduled = start;
    r.computed += p.tokens;
    tokens_to_come_ -= p.tokens;
    if (r.computed < r.target) continue;
    done = true;
    prompted(p.request, end, finished);
  }
  if (done) {
    std::erase_if(prompting_, [&](std::int32_t i) { return at(i).computed >= at(i).target; });
  }
}

}  // namespace sextant
