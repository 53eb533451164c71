// SPDX-License-Identifier: Apache-2.0
// `sextant traffic`: requests over time on engines, what their users see, and how far the limit is.
#include "sextant/serving/traffic.hpp"

#include <chrono>

#include "cli/commands.hpp"
#include "cli/figure.hpp"
#include "sextant/io/files.hpp"
#include "sextant/options/traffic_scenario.hpp"
#include "sextant/report/serving_trace.hpp"

namespace sextant::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// From a tenth of what the cluster can serve to a little more than all, and closer around the
/// knee: between two of those users may still be served.
void add_curve(TrafficAnswer& a) {
  const TrafficScenario& x = a.asked;
  Traffic t = x.traffic;
  if (t.arrivals == Arrivals::closed || t.arrivals == Arrivals::burst) {
    t.arrivals = Arrivals::poisson;
  }
  t.requests = std::min(t.requests, 10000.0);
  PricedCluster cluster(x.cluster, means_of(t));
  const auto at = [&](double rate) {
    t.rate = rate;
    return RatePoint{rate, simulate(cluster, t, x.limits)};
  };
  for (const double share :
       {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.1}) {
    a.curve.push_back(at(share * a.result.capacity));
  }
  constexpr int halvings = 3;
  for (int i = 0; i < halvings; ++i) {
    const RatePoint* knee = knee_of(a);
    if (knee == nullptr || knee == &a.curve.back()) return;
    const auto after = knee - a.curve.data() + 1;
    RatePoint middle = at((knee[0].rate + knee[1].rate) / 2);
    a.curve.insert(a.curve.begin() + after, std::move(middle));
  }
}

std::vector<SplitPoint> splits_of(const TrafficScenario& x) {
  std::vector<SplitPoint> points;
  const int workers = x.cluster.pool.replicas + x.cluster.decode->replicas;
  PricedCluster priced(x.cluster, means_of(x.traffic));
  Cluster& c = priced.cluster;
  for (int prefill = 1; prefill < workers; ++prefill) {
    c.pool.replicas = prefill;
    c.decode->replicas = workers - prefill;
    points.push_back({prefill, workers - prefill, simulate(priced, x.traffic, x.limits)});
  }
  return points;
}

void write_figures(const std::string& path, const TrafficAnswer& a) {
  const std::vector<plot::Figure> figures = traffic_figures(a);
  if (!path.ends_with(".html")) {
    return write_file_atomically(path, plot::to_svg(figures.back()));
  }
  std::string all;
  for (const plot::Figure& f : figures) all += plot::to_svg(f);
  write_file_atomically(path, plot::to_html(all, figures.front().title));
}

}  // namespace

Answer run_traffic(const TrafficOptions& options, const Common& common) {
  check_figure_path(options.plot);
  if (!options.trace.empty()) check_writable(options.trace);
  const TrafficScenario x = read_traffic(options, common);
  check_cache(x);
  SpanObserver spans;
  const auto start = Clock::now();
  TrafficAnswer a{
      .asked = x,
      .result = simulate(x.cluster, x.traffic, x.limits, options.trace.empty() ? nullptr : &spans),
      .curve = {},
      .splits = {}};
  a.wall_seconds = seconds_since(start);
  if (options.curve || !options.plot.empty()) add_curve(a);
  if (options.sweep_ratio) {
    if (!x.cluster.decode) {
      throw InputError("--sweep-ratio: there is nothing to split",
                       "give --prefill-workers and --decode-workers");
    }
    a.splits = splits_of(x);
  }
  if (!options.trace.empty()) write_file_atomically(options.trace, to_trace(spans));
  if (!options.plot.empty()) write_figures(options.plot, a);
  a.series = options.series;
  return traffic_answer(a);
}

}  // namespace sextant::cli
