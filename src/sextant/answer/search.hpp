// SPDX-License-Identifier: Apache-2.0
// What `sextant search` says: the best, the front, why the first is first and why the rest fail.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/search/question.hpp"

namespace sextant {

/// What setting one axis free would buy.
struct Loosened {
  std::string held;  ///< "tp=8", "offload"
  std::string summary;
  double gain = 0;  ///< of what is sought: 0.1 where the best scores a tenth less
};

struct TrainingSearchResult {
  const TrainingSearch& asked;
  SearchResult result;
  std::optional<Found> usual;  ///< the recipe that people take without a search
  double points = 0;
  double seconds = 0;
  std::vector<Loosened> loosened = {};
  std::optional<Found> leanest = {};  ///< where nothing fits: of all strategies the least memory
};
/// "tp 8, pp 8, overlap tensor".
std::string name_of_found(const TrainingSearch& asked, const Found& found);
/// While a search runs: the best so far, and by how much of it the best of all may be better, where
/// nothing that is still to be looked at scores below `bound`.
Record best_so_far(const Found& found, double bound);
/// The figure: step time and memory of a sample of what fits, and the front.
Answer answer_of(const TrainingSearchResult& result);

struct ServingSearchResult {
  const ServingSearch& asked;
  ServingResult result;
  double seconds = 0;
};
std::string name_of_found(const ServingFound& found);
/// The figure: time a token and throughput a device, along the front.
Answer answer_of(const ServingSearchResult& result);

// ---- what both have in common

struct SearchCounts {
  std::string_view kind;  ///< "train", "infer"
  std::string_view objective;
  double devices = 0;
  std::uint64_t evaluated = 0;
  std::uint64_t feasible = 0;
  bool stopped = false;
  double seconds = 0;
};
Record record_of(const Scenario& scenario, const SearchCounts& counts);
/// Where nothing fits: "the least that any takes is …".
std::string lack_of_memory(Bytes least, Bytes limit, const std::string& whose);

/// Why points were rejected and how many, most frequent first.
using Rejections = std::vector<std::pair<std::string, std::uint64_t>>;
Rejections rejections_of(const Table<std::uint64_t, Verdict>& verdicts, Rejections others);

/// "why the first is first".
void say_reasons(Answer& answer, const std::vector<std::string>& reasons);
/// "reasons", "rejected" and "assumptions"; the table of the rest, counted in `unit`.
void explain(Answer& answer, const std::vector<std::string>& reasons, const Rejections& rejections,
             const char* unit, const Scenario& scenario);

}  // namespace sextant
