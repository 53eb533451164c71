// SPDX-License-Identifier: Apache-2.0
// What limits a prediction: the time of a step or a request by the resource it waits for.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/predict/infer.hpp"
#include "sextant/report/plot.hpp"
#include "sextant/report/record.hpp"

namespace sextant::study {

enum class Limit : std::uint8_t { compute, l2, dram, nvlink, network, bubble, launch, host, count };
constexpr auto names_of(Limit) {
  return std::array<std::string_view, 8>{"compute", "L2",     "DRAM",   "NVLink",
                                         "network", "bubble", "launch", "host"};
}
using Limits = Table<double, Limit>;  ///< shares, which sum to 1

/// Of a training step. Kernels count for what they wait for longest; collectives for the fabric
/// that they cross; waiting for the slowest device counts as bubble.
Limits limits_of_training(const Problem& problem, const Strategy& strategy, int devices_per_node);

/// Of a request: one prefill and the decode steps after it.
Limits limits_of_serving(const Problem& problem, const Strategy& strategy, int devices_per_node);

/// Of the matrix multiplies of a training step alone: compute, L2 and DRAM.
Limits limits_of_multiplies(const Problem& problem, const Strategy& strategy);

/// "share_dram", …; where they are titled, people see them too.
void describe(Record& record, const Limits& limits, bool titled = true);

struct Bar {
  std::string group;  ///< bars of one stand together, below its name
  std::string name;
  Limits limits;
};
/// Stacked bars: one bar a name, its parts from the bottom in the order of Limit.
plot::Figure stacked(const std::string& title, const std::vector<Bar>& bars, const std::string& y);

/// The largest of them: "DRAM".
std::string largest(const Limits& limits);

}  // namespace sextant::study
