// SPDX-License-Identifier: Apache-2.0
// The requests of one rank of attention and the scheduler that makes steps of them. Sums are kept,
// not summed again, so that a step costs no more than the requests that start or end in it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <string_view>
#include <vector>

#include "sextant/serving/blocks.hpp"
#include "sextant/serving/price.hpp"
#include "sextant/serving/requests.hpp"
#include "sextant/spec/engine.hpp"

namespace sextant {

/// When what does not come comes.
inline constexpr double never = std::numeric_limits<double>::infinity();

/// An engine's limits on this device.
struct EngineLimits {
  int token_budget = 8192;
  int max_requests = 256;
  int block = 16;
  double cache_tokens = 0;  ///< of one rank of attention
  double state_tokens = 0;  ///< of those, what a request's states take however long it is: blocks
  bool prefix_cache = true;
};

/// Part of a request that this engine answers.
enum class Role : std::uint8_t { both, prefill, decode };

/// What engines count besides.
struct EngineCounts {
  double preemptions = 0;
  double recomputed_tokens = 0;
  double prompt_tokens = 0;  ///< of requests admitted
  double hit_tokens = 0;     ///< of those, found in the prefix cache
  double output_tokens = 0;
};

/// A request inside a replica.
struct Live {
  enum class State : std::uint8_t { waiting, prompting, decoding, leaving };
  Request request;
  double ready = 0;  // when the scheduler sees it
  double scheduled = -1;
  double first_token = -1;
  std::int64_t since = 0;  // decode step of its rank at which it began to decode
  std::int64_t ends = 0;   // and at which it ends
  int target = 0;          // tokens in the cache before it decodes: the prompt, and after a
                           // preemption what was generated
  int computed = 0;        // of those
  int generated = 0;       // tokens, when it began to decode
  std::int32_t previous = -1, next = -1;  // in the order of running
  std::int32_t before = -1, after = -1;   // among those that end in the same step
  std::uint32_t matched = 0;              // prefix ids that it uses
  std::uint32_t rank = 0;                 // of attention, of its replica
  int preemptions = 0;
  State state = State::waiting;
  Wait wait = Wait::none;
};

/// Requests of one rank of attention: all of an engine without data-parallel attention.
class Rank {
 public:
  Rank(const Engine& engine, const EngineLimits& limits, Role role, const Trace* trace,
       std::vector<Live>& live, EngineCounts& counts);

  void submit(std::int32_t request);
  bool idle() const { return order_first_ < 0; }
  bool empty() const { return idle() && waiting_.empty(); }
  std::size_t waiting() const { return waiting_.size(); }
  int running() const { return running_; }
  int decoding() const { return decoding_; }
  double cache_share() const;
  /// When the first that waits can be seen; infinity where none waits.
  double first_ready() const;
  /// Whether nothing can start before a cache has moved: requests whose caches are on their way
  /// hold what it needs.
  bool stuck() const;
  /// Tokens of prompts that wait and are ready, as far as one step takes them.
  double ready_tokens(double decision) const;
  /// Tokens that its requests have still to compute.
  double tokens_to_come() const { return tokens_to_come_; }
  /// Prefix ids of a request that its cache has.
  std::size_t matched(const Request& request) const;

  /// Chooses what the next step holds, of requests ready at `decision`.
  StepShape plan(double decision);
  /// Decoding steps that certainly go on as the one planned, where it has no prompt.
  std::int64_t steps_alike() const;
  /// The planned step, `steps` times, has ended.
  void apply(std::int64_t steps, double start, double end, std::vector<std::int32_t>& finished);
  /// The cache of a request whose prompt was read here is where it goes on.
  void moved(std::int32_t request);

 private:
  struct Piece {
    std::int32_t request;
    int tokens;
  };
  using Ids = BlockCache::Ids;

  Live& at(std::int32_t i) { return live_[static_cast<std::size_t>(i)]; }
  const Live& at(std::int32_t i) const { return live_[static_cast<std::size_t>(i)]; }
  Ids prefix(const Request& r) const;
  Ids prefix(const Live& r) const { return prefix(r.request); }
  int output_of(const Live& r) const;
  std::int64_t blocks_of(std::int64_t tokens) const {
    return (tokens + limits_.block - 1) / limits_.block;
  }
  int slots_taken() const { return running_ + leaving_; }
  std::int64_t held(const Live& r) const;
  std::int64_t reserved(const Live& r) const;
  Wait blocked(const Live& r, std::size_t matched) const;
  void admit(std::int32_t i, std::size_t matched, double decision);
  void plan_prompts(double decision, int budget, StepShape& shape);
  void add_piece(std::int32_t i, int tokens, StepShape& shape);
  void wait_for(Wait why, double now);
  void grow_decoding();
  void take_blocks(std::int64_t steps);
  void decoded(std::int64_t steps, std::vector<std::int32_t>& finished);
  void prompted(std::int32_t i, double end, std::vector<std::int32_t>& finished);
  void preempt_last();
  void begin_decoding(std::int32_t i);
  void leave_decoding(std::int32_t i);
  void leave_order(std::int32_t i);
  void enter_order(std::int32_t i);
  void free_blocks(Live& r);
  std::int32_t& bucket(std::int64_t step) {
    return calendar_[static_cast<std::size_t>(step) & (calendar_.size() - 1)];
  }
  std::int32_t bucket(std::int64_t step) const {
    return calendar_[static_cast<std::size_t>(step) & (calendar_.size() - 1)];
  }
  void grow_calendar(std::int64_t ahead);

  const Engine& engine_;
  const EngineLimits& limits_;
  const Role role_;
  const Trace* trace_;
  std::vector<Live>& live_;
  EngineCounts& counts_;
  BlockCache cache_;
  const std::int64_t states_;  // blocks of a request, however long

  std::deque<std::int32_t> waiting_;
  std::vector<std::int32_t> prompting_;  // in order
  std::vector<Piece> pieces_;            // of the planned step
  std::vector<std::int32_t> calendar_;   // first of those that end at a decode step
  std::vector<std::int64_t> phases_;     // decoding requests by when they need a block
  std::int32_t order_first_ = -1, order_last_ = -1;
  std::int64_t step_ = 0;  // decode steps so far
  std::int64_t contexts_ = 0;
  std::int64_t to_generate_ = 0;
  double tokens_to_come_ = 0;
  int running_ = 0;
  int leaving_ = 0;  // requests whose caches are on their way to another engine
  int decoding_ = 0;
  int batch_ = 0;           // of a static batch
  bool decodes_ = false;    // the planned step
  bool preempted_ = false;  // in it
  Wait last_block_ = Wait::none;
  double blocked_since_ = -1;
};

}  // namespace sextant
