// SPDX-License-Identifier: Apache-2.0
#include "sextant/design/uncertainty.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "sextant/search/parallel.hpp"
#include "sextant/tech/spread.hpp"
#include "sextant/validate/ranking.hpp"

namespace sextant::design {
namespace {

using study::Limits;

/// One way in which the technology may turn out.
struct Sample {
  bool runs = false;
  std::string reason;
  double time = 0;  ///< mean over nearby core counts
  double tokens_per_second = 0;
  double cores = 0;
  double peak = 0;
  double bandwidth = 0;
  double power = 0;
  double cost = 0;
  Limits shares;
};

Sample sample_of(const Workload& given, const SpreadParts& parts, const Budget& budget) {
  Sample s;
  Workload w = given;
  w.goal = Goal::time;
  w.around.network = parts.network;
  const Technology& t = parts.technology;
  const std::vector<Diagnostic> problems = check(t, budget);
  if (!problems.empty()) {
    s.reason = problems.front().field + ": " + problems.front().message;
    return s;
  }
  const Blueprint d = generate(t, budget);
  const Outcome o = time_on(w, t, d);
  s.time = objective_of(w, t)(d);
  if (!o.runs() || !std::isfinite(s.time)) {
    s.reason = "the workload cannot run: " + std::string(name_of(o.verdict));
    return s;
  }
  s.runs = true;
  s.tokens_per_second = o.tokens_per_second * o.time.value / s.time;
  s.cores = d.device.cores;
  s.peak = d.device.matrix[Precision::bf16].value;
  s.bandwidth = d.device.memory.bandwidth.value;
  s.power = d.device.power.limit.value;
  s.cost = d.cost().value;
  s.shares = limits_on(w, t, d);
  return s;
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

template <class Get>
Quantiles quantiles_of(const std::vector<Sample>& samples, const Sample& nominal, const Get& get) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const Sample& s : samples) {
    if (s.runs) values.push_back(get(s));
  }
  std::sort(values.begin(), values.end());
  return {.value = get(nominal),
          .p10 = quantile(values, 0.1),
          .p50 = quantile(values, 0.5),
          .p90 = quantile(values, 0.9)};
}

std::vector<Doubt> doubts_of(const std::vector<std::string>& causes,
                             const std::vector<std::vector<double>>& points,
                             const std::vector<Sample>& samples) {
  std::vector<double> times;
  for (const Sample& s : samples) {
    if (s.runs) times.push_back(s.time);
  }
  std::vector<Doubt> doubts;
  double sum = 0;
  for (std::size_t c = 0; c < causes.size(); ++c) {
    std::vector<double> shares;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (samples[i].runs) shares.push_back(points[i][c]);
    }
    const double r = rank_correlation(shares, times);
    doubts.push_back({.what = causes[c], .correlation = r, .share = r * r});
    sum += r * r;
  }
  for (Doubt& d : doubts) d.share = sum > 0 ? d.share / sum : 0;
  std::stable_sort(doubts.begin(), doubts.end(),
                   [](const Doubt& a, const Doubt& b) { return a.share > b.share; });
  return doubts;
}

void add_shares(Uncertainty& u, const std::vector<Sample>& samples, const Sample& nominal) {
  for (std::size_t i = 0; i < Limits::size; ++i) {
    u.shares.values[i] =
        quantiles_of(samples, nominal, [i](const Sample& s) { return s.shares.values[i]; });
  }
  for (const Sample& s : samples) {
    if (!s.runs) continue;
    const auto& all = s.shares.values;
    const auto at = std::max_element(all.begin(), all.end()) - all.begin();
    u.largest.values[static_cast<std::size_t>(at)] += 1.0 / u.built;
  }
}

}  // namespace

Uncertainty uncertainty_of(const Workload& w, const Technology& t, const Budget& budget,
                           int samples, std::uint64_t seed) {
  const Spread spread({t, w.around.network}, budget);
  if (spread.causes().empty()) {
    throw InputError("--uncertainty: no number of " + t.node.name + ", " + t.memory.name + ", " +
                         t.link.name + " or " + w.around.network.name + " has a range",
                     "give one: --set node.power='{low = 0.55, value = 0.6, high = 0.65}'");
  }
  const auto points = latin_hypercube(samples, spread.causes().size(), seed);
  std::vector<Sample> all(points.size());
  const std::atomic<bool> stop{false};
  for_each_unit(threads_or_all(0), all.size(), stop,
                [&](int, std::size_t i) { all[i] = sample_of(w, spread.at(points[i]), budget); });
  const Sample nominal = sample_of(w, {t, w.around.network}, budget);
  Uncertainty u{.samples = samples, .seed = seed};
  for (const Sample& s : all) {
    u.built += s.runs ? 1 : 0;
    if (!s.runs && u.reason.empty()) u.reason = s.reason;
  }
  if (u.built == 0 || !nominal.runs) {
    throw InputError("--uncertainty: nothing to take quantiles of",
                     nominal.runs ? u.reason : nominal.reason);
  }
  const auto of = [&](double Sample::*field) {
    return quantiles_of(all, nominal, [field](const Sample& s) { return s.*field; });
  };
  u.time = of(&Sample::time);
  u.tokens_per_second = of(&Sample::tokens_per_second);
  u.cores = of(&Sample::cores);
  u.peak = of(&Sample::peak);
  u.bandwidth = of(&Sample::bandwidth);
  u.power = of(&Sample::power);
  u.cost = of(&Sample::cost);
  add_shares(u, all, nominal);
  u.doubts = doubts_of(spread.causes(), points, all);
  return u;
}

}  // namespace sextant::design
