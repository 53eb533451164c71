// SPDX-License-Identifier: Apache-2.0
// What may be spent on a machine, and how many devices that buys.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/predict/problem.hpp"
#include "sextant/spec/flags.hpp"
#include "sextant/spec/system.hpp"

namespace sextant {

enum class BudgetKind : std::uint8_t {
  devices,
  power,             ///< of devices at their limit and of the nodes around them; no building
  dollars_per_hour,  ///< to rent them
  dollars,           ///< of a whole run
};
constexpr auto names_of(BudgetKind) {
  return std::array<std::string_view, 4>{"gpus", "power", "dollars-per-hour", "dollars"};
}

struct SearchBudget {
  BudgetKind kind = BudgetKind::devices;
  double amount = 0;  ///< devices, watts, dollars an hour, dollars
};

/// "2 MW", "300 $/h", "5 M$", "512 gpus"; nothing, and a problem of --budget, where it is none.
std::optional<SearchBudget> read_budget(const std::string& text, Flags& flags);
/// "2 MW", "300 $/h".
std::string text_of(const SearchBudget& budget);

/// Of one device and its share of a node: what the power model lets it draw at most, the board's
/// limit and the node beside its devices (predict/energy.hpp has the same share).
Watts power_of_device(const System& system);

/// What one device takes of a budget that is not a run's; `price` in dollars an hour.
double share_of_device(const SearchBudget& budget, const System& system, double price);

/// Devices of the whole nodes that it buys, no more than the system has; a budget of devices may
/// be less than a node. Of a run's budget as many as there are: what they do decides.
int most_devices(const SearchBudget& budget, const System& system, double price);

/// Counts of devices to look at: whole nodes from all that may be bought to half of them, and half
/// as many, a quarter …, where fewer may be faster. Rising.
struct DeviceCounts {
  std::vector<int> near;   ///< above half of the most
  std::vector<int> fewer;  ///< powers of two nodes below
};
/// At most so many near ones: every second, fourth … number of nodes. Numbers that no strategy of
/// the problem can use, for a factor that divides nothing, are left out.
DeviceCounts counts_of(int most, const System& system, const Problem& problem, int most_near = 32);

/// The same where what is done decides how many can be paid: up to eight counts between each power
/// of two and the next, all of them near.
DeviceCounts all_counts_of(const System& system, const Problem& problem);

}  // namespace sextant
