// SPDX-License-Identifier: Apache-2.0
// One step of one pipeline as spans of time: which stage does what, and when it waits.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/predict/train.hpp"

namespace sextant {

enum class Activity : std::uint8_t {
  forward,
  recompute,
  backward,  ///< of inputs alone, where weight gradients are their own
  weights,   ///< weight gradients that a zero-bubble schedule puts off
  bubble,    ///< waiting for another stage
  gradients,
  parameters,
  optimizer,
  host,
  spread,
  send_forward,   ///< activations on the way to the next stage
  send_backward,  ///< their gradients on the way back
};
constexpr auto names_of(Activity) {
  return std::array<std::string_view, 12>{"forward", "recompute", "backward",     "weights",
                                          "bubble",  "gradients", "parameters",   "optimizer",
                                          "host",    "spread",    "send forward", "send backward"};
}

struct TimelineSpan {
  Activity what = Activity::forward;
  int stage = 0;
  int microbatch = -1;  ///< from 0; -1: of no one microbatch
  int chunk = 0;        ///< of an interleaved stage
  Seconds start;
  Seconds length;
};

struct Timeline {
  int stages = 1;
  std::vector<TimelineSpan> spans;      ///< of a stage in order of time, never overlapping
  std::vector<TimelineSpan> transfers;  ///< beside them; `stage` sends
  Seconds forward_backward;             ///< when the last stage has done its last microbatch
  Seconds end;
};

/// About how many spans a strategy has.
double timeline_size(const Problem& problem, const Strategy& strategy);

/// Runs the schedule (GPipe; 1F1B and interleaved as Megatron-LM orders them; ZB-H1) pass by pass
/// with the times of each stage. The strategy is legal.
Timeline timeline(const Problem& problem, const Strategy& strategy);

}  // namespace sextant
