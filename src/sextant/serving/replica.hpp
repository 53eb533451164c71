// SPDX-License-Identifier: Apache-2.0
// One engine with its requests over time. Steps of decoding alone are taken many at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/serving/rank.hpp"

namespace sextant {

/// A request that has left its engine.
struct Answered {
  Request request;
  double scheduled = 0;    ///< when its prompt was first in a step
  double first_token = 0;  ///< when its first token was there
  double end = 0;
  int preemptions = 0;
  Wait wait = Wait::none;
  int replica = 0;
  std::int32_t place = 0;  ///< in it, of one whose cache has to move: until it has
};

/// Equal steps that followed each other.
struct StepSpan {
  int replica = 0;
  double start = 0;
  double seconds = 0;  ///< of all of them
  double steps = 1;
  double decoding = 0;       ///< requests a step, of all ranks
  double prompt_tokens = 0;  ///< of all ranks
  double waiting = 0;
  double running = 0;
  double cache = 0;  ///< share in use
  double work = 0;   ///< joules of all devices, beyond idling
  double watts = 0;  ///< of one device, beyond idling
};

class Listener {
 public:
  virtual void answered(const Answered& answer) = 0;
  virtual void stepped(const StepSpan& span) = 0;

 protected:
  ~Listener() = default;
};

class Replica {
 public:
  Replica(int number, StepPrice& price, const EngineLimits& limits, Role role, const Trace* trace,
          Listener& listener);
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// A request comes, no earlier than those before it.
  void submit(const Request& request, double now);
  /// The cache of a request that has left for another engine has moved.
  void moved(std::int32_t place, double now);
  /// Runs a step, or several alike, if one starts before `limit`; false where none does.
  bool run(double limit);
  /// When the next step starts; infinity where there is nothing to do.
  double next_start() const;

  double clock() const { return clock_; }
  double load() const { return requests_; }
  double waiting() const;
  double tokens_to_come() const;
  /// Tokens of its prompt that are in the cache of one of the ranks.
  double matched_tokens(const Request& request) const;
  const EngineCounts& counts() const { return counts_; }
  double present_seconds() const { return present_; }

 private:
  const Engine& engine() const { return price_.problem().runtime.engine; }
  bool asynchronous() const { return engine().asynchronous; }
  bool prepared(double start, bool running) const;
  double let_in(double decision, bool running);
  bool hold(double decision);
  StepShape plan(double decision);
  std::int64_t count_alike(const StepPrice::Line& line, double limit) const;
  void report(const StepShape& shape, double seconds, std::int64_t steps, double work);
  void finish(std::int32_t i);
  void forget(std::int32_t i) { spare_.push_back(i); }

  const int number_;
  const Trace* trace_;
  StepPrice& price_;
  const EngineLimits limits_;
  const Role role_;
  Listener& listener_;
  EngineCounts counts_;
  std::vector<Live> live_;
  std::vector<std::int32_t> spare_;
  std::vector<Rank> ranks_;
  std::vector<std::int32_t> finished_;
  double clock_ = 0;             // end of the last step
  double previous_ = 0;          // its start
  double looked_ = 0;            // for new requests, the last time
  std::int64_t since_look_ = 0;  // steps of decoding
  std::int64_t held_ = 0;        // and since prompts are held back
  bool holding_ = false;         // in the planned step
  double first_use_ = 0;         // that its first step will take longer
  bool prompted_ = false;        // the last step had prompts
  double front_end_ = 0;         // when it has dealt with the requests so far, one after the other
  double requests_ = 0;
  double present_ = 0;                               // integral of requests over time
  double all_decoding_ = 0, all_prompt_tokens_ = 0;  // of the planned step
};

}  // namespace sextant
