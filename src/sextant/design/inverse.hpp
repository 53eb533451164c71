// SPDX-License-Identifier: Apache-2.0
// The inverse question: what a number of a technology, a budget or a device would have to be for a
// condition to hold, or what keeps it from holding.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/design/workload.hpp"

namespace sextant::design {

enum class Measure : std::uint8_t { time, tokens_per_second, power, energy, cost, area, share };
constexpr auto names_of(Measure) {
  return std::array<std::string_view, 7>{
      "time", "tokens_per_second", "power", "energy", "cost", "area", "share"};
}

/// "share.dram<0.5", "time<80 ms".
struct Condition {
  Measure measure = Measure::time;
  study::Limit limit = study::Limit::dram;  ///< of a share
  bool below = true;
  double bound = 0;
  std::string text;
  Dimension unit() const;
  bool holds(double value) const { return below ? value < bound : value > bound; }
};
/// Throws InputError where it is none.
Condition read_condition(const std::string& text);

struct Machine {
  Technology technology;
  Budget budget;
};

/// Why the search ended on one side of the number as it is.
struct Obstacle {
  double value = 0;     ///< of the number, the last that was tried
  double measured = 0;  ///< of the condition, at the last that could be built
  std::string reason;
};

struct Solution {
  std::string field;
  Dimension unit;
  bool whole = false;  ///< it counts things
  Condition condition;
  double now = 0;           ///< the number as it is
  double measured_now = 0;  ///< of the condition
  bool held = false;        ///< already, with the number as it is
  bool reached = false;     ///< the condition holds at `value`; where it held, it ends there
  double value = 0;         ///< of the number; where it was not reached, the nearest to it
  double measured = 0;
  study::Limits limits;  ///< where the time goes there
  std::vector<Obstacle> obstacles;
  std::vector<std::string> warnings;  ///< of the device there
  int evaluations = 0;
  Machine machine;  ///< with the number set
  Blueprint blueprint;
};

/// `path` is a field of node, dram, link, core, network, budget or device: "dram.bandwidth".
/// Throws InputError where there is none, or the machine cannot run the workload as it is.
Solution solve(const Workload& workload, const Machine& machine, const std::string& path,
               const Condition& condition);

}  // namespace sextant::design
