// SPDX-License-Identifier: Apache-2.0
// One step as each rank runs it: every kernel, collective and transfer in order, and what each of
// them waits for. The same operators as explain()'s, in the order of the timeline.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/predict/timeline.hpp"

namespace sextant {

/// The ranks that a collective is between.
enum class Members : std::uint8_t {
  tensor,
  context,
  expert,
  slices,         ///< ranks that share an expert's weights
  data,           ///< replicas of a dense parameter
  shard,          ///< of these, those that share states
  across,         ///< of these, those that hold the same share
  expert_data,    ///< replicas of an expert's parameter
  expert_shard,   ///< of these, those that share its states
  expert_across,  ///< of these, those that hold the same share
  ends,           ///< the first and the last stage, whose embedding is one
};
constexpr auto names_of(Members) {
  return std::array<std::string_view, 11>{
      "tensor", "context",     "expert",       "expert slices", "data", "shard",
      "across", "expert data", "expert shard", "expert across", "ends"};
}

struct Instruction {
  enum class Kind : std::uint8_t { compute, wait, collective, send, receive };
  Kind kind = Kind::compute;
  Activity activity = Activity::forward;
  std::string_view part;  ///< of the model
  std::string_view name;
  int layer = -1;       ///< from 0; -1: none
  int microbatch = -1;  ///< from 0; -1: of no one microbatch
  Seconds start;        ///< in the timeline
  Seconds length;       ///< of a collective: busy
  Flops flops;
  Bytes memory;   ///< moved between the device and its memory
  Bytes message;  ///< of a collective the whole buffer (cost/collective.hpp), of a transfer all
  Collective collective = Collective::count;
  Members members = Members::tensor;
  int peer = -1;               ///< stage that a transfer goes to or comes from
  int tag = 0;                 ///< of a transfer: one for each between two stages
  std::uint32_t first_wait{};  ///< into Program::waits
  std::uint32_t waits = 0;     ///< how many
};

/// What every rank of a stage runs.
struct Program {
  std::vector<Instruction> instructions;
  std::vector<std::uint32_t> waits;  ///< numbers of instructions, always earlier ones
};

struct StepProgram {
  std::vector<Operator> operators;  ///< the instructions' texts are theirs
  std::vector<Program> stages;
};

/// About how many instructions a stage has, at most.
double program_size(const Problem& problem, const Strategy& strategy);

/// Of a legal strategy.
StepProgram program_of(const Problem& problem, const Strategy& strategy);

/// Where ranks stand: neighbours differ in the first dimension of Strategy::order.
class Ranks {
 public:
  explicit Ranks(const Strategy& strategy) : s_(strategy) {}
  int count() const { return static_cast<int>(devices_of(s_)); }
  int stage_of(int rank) const;
  /// The rank of another stage that has the same place in it.
  int peer(int rank, int stage) const;
  std::vector<int> members(Members kind, int rank) const;
  /// The first rank of a stage.
  int first_of(int stage) const { return at(0, stage); }

 private:
  /// `place` counts tensor-parallel ranks, then context-parallel ones, then replicas.
  int at(int place, int stage) const;
  int place_of(int rank) const;

  Strategy s_;
};

}  // namespace sextant
