// SPDX-License-Identifier: Apache-2.0
#include "sextant/serving/replica.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sextant {

Replica::Replica(int number, StepPrice& price, const EngineLimits& limits, Role role,
                 const Trace* trace, Listener& listener)
    : number_(number),
      trace_(trace),
      price_(price),
      limits_(limits),
      role_(role),
      listener_(listener) {
  const Engine& engine = price.problem().runtime.engine;
  first_use_ = engine.first_use.value;
  ranks_.reserve(static_cast<std::size_t>(std::max(1, price.strategy().dp)));
  for (int i = 0; i < std::max(1, price.strategy().dp); ++i) {
    ranks_.emplace_back(engine, limits_, role, trace, live_, counts_);
  }
}

void Replica::submit(const Request& request, double now) {
  if (spare_.empty()) {
    spare_.push_back(static_cast<std::int32_t>(live_.size()));
    live_.emplace_back();
  }
  const std::int32_t i = spare_.back();
  spare_.pop_back();
  Live& r = live_[static_cast<std::size_t>(i)];
  r = Live{};
  r.request = request;
  r.first_token = request.prompted.first_token;
  const Runtime& runtime = price_.problem().runtime;
  // A front end reads requests one after the other; that of a decode worker has seen them before.
  if (role_ == Role::decode) {
    r.ready = now;
  } else {
    front_end_ = std::max(front_end_, now) + front_end(runtime.engine, request.input).value;
    r.ready = front_end_ + runtime.host_per_request.value;
  }
  Rank* least = &ranks_.front();
  for (Rank& rank : ranks_) {
    const auto load = [](const Rank& x) {
      return x.waiting() + static_cast<std::size_t>(x.running());
    };
    if (load(rank) < load(*least)) least = &rank;
  }
  r.rank = static_cast<std::uint32_t>(least - ranks_.data());
  least->submit(i);
  ++requests_;
  present_ += clock_ - now;
}

double Replica::waiting() const {
  double sum = 0;
  for (const Rank& rank : ranks_) sum += static_cast<double>(rank.waiting());
  return sum;
}

double Replica::tokens_to_come() const {
  double sum = 0;
  for (const Rank& rank : ranks_) sum += rank.tokens_to_come();
  return sum;
}

double Replica::matched_tokens(const Request& request) const {
  std::size_t most = 0;
  for (const Rank& rank : ranks_) most = std::max(most, rank.matched(request));
  return most > 0 ? static_cast<double>(most) * trace_->block_tokens : 0;
}

double Replica::next_start() const {
  double ready = std::numeric_limits<double>::infinity();
  for (const Rank& rank : ranks_) {
    if (!rank.idle()) return clock_;
    if (!rank.stuck()) ready = std::min(ready, rank.first_ready());
  }
  return std::max(clock_, ready);
}

void Replica::moved(std::int32_t place, double now) {
  // Whoever waited for that has had nothing to do so far.
  if (now > clock_) {
    present_ += requests_ * (now - clock_);
    clock_ = now;
  }
  ranks_[live_[static_cast<std::size_t>(place)].rank].moved(place);
  forget(place);
}

/// Prompts that are ready wait for more of them, so that decoding is disturbed less often.
bool Replica::hold(double decision) {
  const Engine& e = engine();
  if (e.hold_steps == 0 || role_ == Role::decode) return false;
  double tokens = 0;
  std::size_t with_prompts = 0;
  bool all_decode = true;
  for (const Rank& rank : ranks_) {
    const double ready = rank.ready_tokens(decision);
    tokens += ready;
    with_prompts += ready > 0 ? 1 : 0;
    all_decode = all_decode && !rank.idle();
  }
  const auto ranks = static_cast<double>(ranks_.size());
  const bool enough = e.hold_fill > 0 ? tokens >= e.hold_fill * limits_.token_budget * ranks
                                      : with_prompts == ranks_.size();
  if (tokens > 0 && all_decode && !enough && held_ < e.hold_steps) return true;
  held_ = 0;
  return false;
}

/// Requests that came after this wait: the engine has not looked for them, or holds them back.
double Replica::let_in(double decision, bool running) {
  if (!running || prompted_ || since_look_ >= engine().poll_steps) {
    looked_ = decision;
    since_look_ = 0;
  }
  holding_ = hold(looked_);
  return holding_ ? -std::numeric_limits<double>::infinity() : looked_;
}

StepShape Replica::plan(double decision) {
  StepShape all;
  all_decoding_ = all_prompt_tokens_ = 0;
  for (Rank& rank : ranks_) {
    const StepShape s = rank.plan(decision);
    all_decoding_ += s.decoding;
    all_prompt_tokens_ += s.prompt_tokens;
    if (s.decoding + s.prompt_tokens == 0) ++all.idle_ranks;
    all.decoding = std::max(all.decoding, s.decoding);
    all.contexts = std::max(all.contexts, s.contexts);
    all.prompt_tokens = std::max(all.prompt_tokens, s.prompt_tokens);
    all.reach = std::max(all.reach, s.reach);
    all.prompts = std::max(all.prompts, s.prompts);
  }
  const auto ranks = static_cast<double>(ranks_.size());
  all.mean_decoding = all_decoding_ / ranks;
  all.mean_prompt_tokens = all_prompt_tokens_ / ranks;
  return all;
}

/// Steps until a request ends, the cache fills, or one may start that comes before `limit`.
std::int64_t Replica::count_alike(const StepPrice::Line& line, double limit) const {
  double steps = line.steps;
  for (const Rank& rank : ranks_) {
    steps = std::min(steps, static_cast<double>(rank.steps_alike()));
    if (const double ready = rank.first_ready(); ready > clock_) limit = std::min(limit, ready);
    // One that is here already but came too late for this step is in the next.
    else if (asynchronous() && engine().poll_steps == 1 && ready > previous_)
      return 1;
  }
  if (engine().poll_steps > 1) {
    steps = std::min(steps, static_cast<double>(engine().poll_steps - since_look_));
  }
  if (holding_) steps = std::min(steps, static_cast<double>(engine().hold_steps - held_));
  if (std::isfinite(limit)) {
    // The last one starts before the limit: k first + growth k (k-1) / 2 = limit - clock.
    const double left = limit - clock_;
    const double b = line.first.seconds - line.growth / 2;
    const double root = std::sqrt(std::max(0.0, b * b + 2 * line.growth * left));
    steps = std::min(steps, std::ceil(2 * left / (b + root)));
  }
  return static_cast<std::int64_t>(std::max(1.0, steps));
}

/// Whether the step that begins now was put together when the one before began: requests go on, or
/// some were there already that it had no room for.
bool Replica::prepared(double start, bool running) const {
  if (!asynchronous()) return false;
  if (running) return true;
  return start <= clock_ && std::any_of(ranks_.begin(), ranks_.end(), [&](const Rank& r) {
           return r.first_ready() <= previous_;
         });
}

bool Replica::run(double limit) {
  const double start = next_start();
  if (start >= limit) return false;
  const bool running =
      std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return !r.idle(); });
  const StepShape shape = plan(let_in(prepared(start, running) ? previous_ : start, running));
  present_ += requests_ * (start - clock_);
  clock_ = start;
  double seconds = 0;
  double work = 0;  // of one device
  std::int64_t steps = 1;
  if (shape.prompt_tokens > 0) {
    const StepCost cost = price_.step(shape);
    seconds = cost.seconds + std::exchange(first_use_, 0);
    work = cost.work;
    previous_ = start;
  } else {
    const StepPrice::Line line = price_.decode_line(shape);
    steps = count_alike(line, limit);
    const auto k = static_cast<double>(steps);
    seconds = k * line.first.seconds + line.growth * k * (k - 1) / 2;
    work = line.first.work / line.first.seconds * seconds;
    previous_ = start + seconds - (line.first.seconds + line.growth * (k - 1));
  }
  prompted_ = shape.prompt_tokens > 0;
  if (!prompted_) since_look_ += steps;
  if (holding_) held_ += steps;
  report(shape, seconds, steps, work);
  present_ += requests_ * seconds;
  clock_ = start + seconds;
  finished_.clear();
  for (Rank& rank : ranks_) rank.apply(steps, start, clock_, finished_);
  for (const std::int32_t i : finished_) finish(i);
  return true;
}

void Replica::report(const StepShape& shape, double seconds, std::int64_t steps, double work) {
  StepSpan s;
  s.replica = number_;
  s.start = clock_;
  s.seconds = seconds;
  s.steps = static_cast<double>(steps);
  s.decoding = shape.decoding > 0 ? all_decoding_ : 0;
  s.prompt_tokens = all_prompt_tokens_;
  s.work = work * devices_of(price_.strategy());
  s.watts = work / seconds;
  s.waiting = waiting();
  for (const Rank& rank : ranks_) {
    s.running += rank.running();
    s.cache += rank.cache_share() / static_cast<double>(ranks_.size());
  }
  listener_.stepped(s);
}

void Replica::finish(std::int32_t i) {
  const Live& r = live_[static_cast<std::size_t>(i)];
  Answered a;
  a.request = r.request;
  a.scheduled = r.scheduled;
  a.first_token = r.first_token;
  a.end = clock_;
  a.preemptions = r.preemptions;
  a.wait = r.wait;
  a.replica = number_;
  a.place = i;
  if (role_ != Role::prefill) counts_.output_tokens += r.request.output;
  if (r.state != Live::State::leaving) forget(i);
  --requests_;
  listener_.answered(a);
}

}  // namespace sextant
