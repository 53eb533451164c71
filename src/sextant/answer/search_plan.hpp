// SPDX-License-Identifier: Apache-2.0
// What `sextant search plan.toml` says: each job's best system and strategy, what they take
// together where they run side by side or in turn, each where it is best or all on one system, and
// why.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/answer/search_systems.hpp"

namespace sextant {

enum class JobOrder : std::uint8_t {
  together,  ///< training, and all serving, at once
  in_turn,   ///< training first, then all serving
  paid,      ///< in dollars in all, whatever the order
};
constexpr auto names_of(JobOrder) {
  return std::array<std::string_view, 3>{"side by side", "in turn", "paid for"};
}

struct JobFound {
  std::string name;
  Task task = Task::train;
  double days = 0;  ///< that it serves; 0: nobody says
  SystemsFound found;
};

/// All jobs, each on a system.
struct Arrangement {
  JobOrder order = JobOrder::together;
  std::vector<SystemTaken> jobs = {};     ///< in the plan's order; the first trains
  std::optional<SearchBudget> left = {};  ///< for training, where the others take their part first
  std::string nothing = {};               ///< why there is none; then
  std::string system = {};                ///< where it was to be; empty: each where it is best

  bool any() const { return nothing.empty(); }
  bool one_system() const;
};

struct PlanFound {
  std::string model;
  std::optional<SearchBudget> budget = {};  ///< that all share
  std::vector<JobFound> jobs = {};
  std::vector<Arrangement> arrangements = {};
  double seconds = 0;
};
Answer answer_of(const PlanFound& plan);

/// What a serving job takes of the budget that all share: in dollars, of all its days.
double share_of_job(const JobFound& job, const SystemTaken& taken,
                    const std::optional<SearchBudget>& shared);

}  // namespace sextant
