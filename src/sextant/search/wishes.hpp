// SPDX-License-Identifier: Apache-2.0
// What people say of a search, as texts, and the question that it makes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/search/question.hpp"
#include "sextant/spec/flags.hpp"

namespace sextant {

/// More devices than anyone has.
inline constexpr int most_searched = 10000000;

struct SearchWishes {
  std::optional<int> gpus, max_gpus;
  std::string objective;
  std::vector<std::string> fix;
  std::vector<std::string> limit;
  std::vector<std::string> explore;
  std::vector<std::string> precision;
  std::vector<std::string> kv_precision;
  std::string max_memory;
  bool exhaustive = false;
  bool loosen = false;  ///< say what each axis that is held would buy
  std::string time;     ///< to search at most; empty: to the end
  int top = 10;
  int threads = 0;    ///< 0: all cores
  std::string price;  ///< dollars a device and hour, or a public tier (scenario/prices.hpp)
  std::string max_ttft;
  std::string max_tpot;
  std::optional<double> min_throughput;
};

/// Whether counts of devices lie within reason; what does not is a problem of its flag.
bool check_devices(const SearchWishes& wishes, Flags& flags);

/// Axes that a search holds unless told to explore them; and what the runtime hides.
std::span<const std::string_view> explored_choices();

/// The same wishes with one thing less held: what --fix and --limit say, and the axes that a search
/// holds unless told to explore them.
struct Looser {
  std::string held;  ///< "tp=8", "offload"
  SearchWishes wishes;
};
std::vector<Looser> loosened(const SearchWishes& wishes);

/// Presets and workload; what is wrong with them is said beside what is wrong with the wishes.
struct AskedOf {
  const Node& given;  ///< fields of the workload
  std::function<Question(Task)> question;
};

/// Throw InputError with everything that is wrong: unknown axes and values with suggestions, limits
/// that leave nothing.
TrainingSearch read_training_search(const SearchWishes& wishes, const AskedOf& question);
ServingSearch read_serving_search(const SearchWishes& wishes, const AskedOf& question);

}  // namespace sextant
