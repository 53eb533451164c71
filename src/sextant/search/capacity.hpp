// SPDX-License-Identifier: Apache-2.0
// Capacity planning: which engines, how many of them, hold users' limits at a rate.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sextant/scenario/scenario.hpp"
#include "sextant/search/search.hpp"
#include "sextant/serving/traffic.hpp"

namespace sextant {

/// Layouts of one engine, up to so many devices.
struct CapacitySpace {
  int devices = 8;                      ///< of the whole cluster, at most
  std::vector<int> tp, pp, dp, ep;      ///< empty: all that are legal
  std::vector<Precision> precision;     ///< empty: as weights are published
  std::vector<Precision> cache;         ///< empty: as the engine has it beside such weights
  std::vector<int> max_requests = {0};  ///< 0: the engine's default
  bool disaggregated = true;            ///< pools of prompts and tokens, too
};

struct CapacityAim {
  Traffic traffic;  ///< its rate is what all engines together must serve
  ServiceLimits limits;
  double price = 0;  ///< dollars a device and hour
  int top = 10;
  int threads = 1;
};

/// What is asked.
struct CapacitySearch {
  Scenario scenario = {};
  CapacitySpace space = {};
  CapacityAim aim = {};
  std::shared_ptr<const Trace> trace = {};  ///< that the aim's traffic is of, where it is of one
  Seconds time{0};                          ///< to search at most; 0: to the end
};

/// Why a layout does not serve.
enum class Shortfall : std::uint8_t {
  illegal,
  no_memory,
  first_token,  ///< a prompt alone takes longer than users accept
  token,        ///< a token of one request alone does
  load,         ///< at any rate worth the name
  devices,      ///< it would take more of them than there are
  count
};
constexpr auto names_of(Shortfall) {
  return std::array<std::string_view, 6>{"not legal",
                                         "no room for a cache",
                                         "a prompt alone is too slow",
                                         "a token alone is too slow",
                                         "too slow under load",
                                         "too many devices"};
}

/// A cluster that serves.
struct CapacityFound {
  Strategy strategy;
  Strategy decode;          ///< of the engines that generate, where they are others
  int decode_replicas = 0;  ///< 0: one pool
  int replicas = 1;
  Precision cache = Precision::bf16;
  int max_requests = 0;
  int units = 1;  ///< of one engine, or so many for prompts and so many for tokens
  double devices = 1;
  double most = 0;       ///< requests a second that it serves within the limits
  TrafficResult result;  ///< of all engines, at the rate asked for
  std::uint64_t order = 0;
};

struct CapacityResult {
  std::vector<CapacityFound> best;    ///< fewest devices first, then most headroom
  std::vector<CapacityFound> pareto;  ///< no other serves as much on as few devices
  Table<std::uint64_t, Shortfall> rejected;
  std::uint64_t evaluated = 0;
  std::uint64_t feasible = 0;  ///< of these, also those beyond the best
  std::uint64_t simulations = 0;
  bool stopped = false;
};

/// How many layouts of engines there are to look at.
std::size_t count_layouts(const Problem& problem, const CapacitySpace& space);

CapacityResult plan_capacity(const Problem& problem, const CapacitySpace& space,
                             const CapacityAim& aim, SearchProgress& progress);

}  // namespace sextant
