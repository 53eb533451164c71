// SPDX-License-Identifier: Apache-2.0
// `sextant search`: the best strategies, the Pareto front, and why the rest fail.
#include "sextant/ask/search.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "cli/commands.hpp"
#include "cli/figure.hpp"
#include "cli/interruption.hpp"
#include "cli/terminal.hpp"

namespace sextant::cli {
namespace {

/// Draws how far a search is, and passes Ctrl-C on to it.
class Watcher {
 public:
  explicit Watcher(SearchProgress& progress) : progress_(progress) {}

  void start(double points) {
    thread_ = std::jthread([this, points](const std::stop_token& end) {
      Progress line("search", static_cast<std::int64_t>(points));
      while (!end.stop_requested()) {
        if (Interruption::asked()) progress_.stop = true;
        line.set(static_cast<std::int64_t>(progress_.done), found_so_far());
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  }

 private:
  /// "within 3 % of the best", where that is known.
  std::string found_so_far() const {
    const double best = progress_.best;
    if (!std::isfinite(best)) return {};
    return fmt::format("within {:.3g} % of the best", 100 * gap_of(best, progress_.bound));
  }

  SearchProgress& progress_;
  const Interruption catching_;
  std::jthread thread_;  // the last: it ends before what it uses
};

}  // namespace

Answer run_search(const SearchOptions& options, const Common& common) {
  check_figure_path(options.plot);
  SearchProgress progress;
  Watcher watcher(progress);
  return with_figure(
      search_answer(options, common, progress, [&](double points) { watcher.start(points); }),
      options.plot);
}

}  // namespace sextant::cli
