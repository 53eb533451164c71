// SPDX-License-Identifier: Apache-2.0
// Devices of which none is better in every respect that counts: what may be traded for what.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/design/workload.hpp"

namespace sextant::design {

/// All the better the smaller.
enum class Respect : std::uint8_t {
  time,    ///< of a step or a request
  cost,    ///< of one device, its parts
  power,   ///< limit of its board
  energy,  ///< of a token
  area     ///< all dies of a device
};
constexpr auto names_of(Respect) {
  return std::array<std::string_view, 5>{"time", "cost", "power", "energy", "area"};
}
Dimension unit_of(Respect respect);

/// What may be chosen; the rest of the budget stays.
struct Freedom {
  bool area = true;
  bool dies = true;
  bool stacks = true;
  bool links = true;
  bool l2 = true;
  bool power = true;  ///< the board's limit, and with it the clock
};

struct Design {
  std::size_t technology = 0;  ///< which of those given
  Budget budget;
  Blueprint blueprint;
  std::vector<double> values;  ///< in the order of the respects
};

struct Front {
  std::vector<Respect> respects;
  std::vector<Design> designs;  ///< by the first respect
  std::size_t balanced = 0;     ///< the one with the least product of all respects
  int evaluations = 0;          ///< designs that were tried
  int built = 0;                ///< of them, that can be built and run the workload
};

/// Some thousands of designs: points that fill the space evenly, and then neighbours of those on
/// the front, nearer and nearer. Throws InputError where nothing runs the workload.
Front front_of(const Workload& workload, const std::vector<Technology>& technologies,
               const Budget& budget, const Freedom& freedom, const std::vector<Respect>& respects);

/// At most so many of a front, spread over the first respect; always its ends and the balanced one.
std::vector<std::size_t> spread_over(const Front& front, std::size_t most);

}  // namespace sextant::design
