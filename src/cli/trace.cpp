// SPDX-License-Identifier: Apache-2.0
#include "cli/trace.hpp"

#include <fmt/format.h>

#include <numeric>

#include "sextant/io/files.hpp"
#include "sextant/report/chakra.hpp"
#include "sextant/report/trace.hpp"

namespace sextant::cli {
namespace {

// More spans, or nodes of all ranks together, are hundreds of megabytes, and no viewer opens them.
constexpr double most_spans = 2e6;
// More ranks than this are written only when asked for.
constexpr int most_ranks = 64;

constexpr std::string_view suffix = ".et";

bool of_ranks(const std::string& path) { return path.ends_with(suffix); }

std::string stem_of(const std::string& path) { return path.substr(0, path.size() - suffix.size()); }

void check_size(std::string_view what, double size) {
  if (size <= most_spans) return;
  throw InputError(fmt::format("--trace: the pipeline has about {:.0f} {}, more than {:.0f}", size,
                               what, most_spans),
                   "a smaller --batch shows the same schedule");
}

std::vector<int> ranks_of(TraceRanks asked, const Chakra& chakra, double nodes_each) {
  std::vector<int> all(static_cast<std::size_t>(chakra.ranks()));
  std::iota(all.begin(), all.end(), 0);
  const bool few = chakra.ranks() <= most_ranks && chakra.ranks() * nodes_each <= most_spans;
  const bool whole = asked == TraceRanks::all || (asked == TraceRanks::some && few);
  return whole ? all : chakra.representatives();
}

TraceFiles write_traces(const std::string& path, TraceRanks asked, const Scenario& x) {
  // Before any of it is laid out.
  const double each = program_size(x.problem, x.strategy);
  check_size("nodes", each * (asked == TraceRanks::all ? devices_of(x.strategy) : x.strategy.pp));
  Chakra chakra(x.problem, x.strategy,
                {{"generator", "sextant"},
                 {"model", x.problem.model.name},
                 {"system", x.system.name},
                 {"runtime", x.problem.runtime.name},
                 {"strategy", describe_strategy(x.strategy)}});
  const std::string stem = stem_of(path);
  TraceFiles files;
  files.ranks = chakra.ranks();
  for (const int rank : ranks_of(asked, chakra, each)) {
    files.traces.push_back(fmt::format("{}.{}{}", stem, rank, suffix));
    files.nodes += static_cast<double>(chakra.nodes(rank));
    write_file_atomically(files.traces.back(), chakra.trace(rank));
  }
  files.groups = stem + ".groups.json";
  write_file_atomically(files.groups, chakra.groups());
  if (const std::string network = astra_network(x.problem.network, chakra.ranks());
      !network.empty()) {
    files.network = stem + ".network.yml";
    write_file_atomically(files.network, network);
  }
  return files;
}

}  // namespace

void check_trace(const TrainOptions& o, std::vector<Diagnostic>& problems) {
  if (o.trace_ranks != TraceRanks::some && !of_ranks(o.trace)) {
    problems.push_back({.file = "--trace-ranks",
                        .message = "there are no execution traces",
                        .hint = "give --trace NAME.et"});
  }
  if (o.trace.empty()) return;
  if (of_ranks(o.trace) && (stem_of(o.trace).empty() || stem_of(o.trace).ends_with('/'))) {
    problems.push_back({.file = "--trace", .message = "the files have no name", .hint = "NAME.et"});
    return;
  }
  check_writable(of_ranks(o.trace) ? stem_of(o.trace) + ".groups.json" : o.trace);
}

std::optional<TraceFiles> write_trace(const TrainOptions& o, const Scenario& x) {
  if (of_ranks(o.trace)) return write_traces(o.trace, o.trace_ranks, x);
  check_size("spans", timeline_size(x.problem, x.strategy));
  write_file_atomically(o.trace, to_trace(timeline(x.problem, x.strategy)));
  return std::nullopt;
}

}  // namespace sextant::cli
