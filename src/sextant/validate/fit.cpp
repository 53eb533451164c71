// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlopt.hpp>
#include <set>

#include "sextant/units/format.hpp"

namespace sextant {
namespace {

double relative_error(const FitProblem& p, const CaseList& cases) {
  // Every source weighs by the root of its size, so that a small careful set is heard.
  std::map<std::string, std::pair<double, int>> sums;
  for (const Case* c : cases) {
    auto& [sum, count] = sums[c->group];
    const double predicted = p.predict(*c);
    // What the model refuses counts as a factor of ten.
    sum += predicted > 0 ? std::abs(std::log(predicted / c->measured)) : std::log(10.0);
    ++count;
  }
  double total = 0;
  double weight = 0;
  for (const auto& [group, s] : sums) {
    const double w = std::sqrt(static_cast<double>(s.second));
    total += w * s.first / s.second;
    weight += w;
  }
  return total / weight;
}

CaseList possible(const FitProblem& p, const CaseList& cases) {
  if (!p.possible) return cases;
  CaseList list;
  for (const Case* c : cases) {
    if (p.possible(*c)) list.push_back(c);
  }
  return list;
}

CaseList thin(const CaseList& cases, int most) {
  if (static_cast<int>(cases.size()) <= most) return cases;
  CaseList few;
  const double step = static_cast<double>(cases.size()) / most;
  for (int i = 0; i < most; ++i) few.push_back(cases[static_cast<std::size_t>(i * step)]);
  return few;
}

std::vector<double> values_of(const FitProblem& p) {
  std::vector<double> values;
  for (const Parameter& q : p.parameters) values.push_back(*q.value);
  return values;
}

void restore(const FitProblem& p, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) *p.parameters[i].value = values[i];
  p.apply();
}

bool at_bound(const Parameter& q) {
  return *q.value <= q.low * 1.001 || *q.value >= q.high * 0.999;
}

// A constant that the cases do not determine goes wherever the search left it, and harms where it
// matters. So what gives as small an error with its old value keeps that, and so does what ran to
// the end of its range where it need not be at all.
void keep_undetermined(const FitProblem& p, const CaseList& cases,
                       const std::vector<double>& before) {
  constexpr double as_small = 1.003;
  p.apply();
  double error = relative_error(p, cases);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Parameter& q = p.parameters[i];
    const bool none = q.optional && before[i] == 0;
    if (!none && (before[i] < q.low || before[i] > q.high)) continue;
    const bool senseless = q.optional && at_bound(q);
    const double fitted = std::exchange(*q.value, before[i]);
    p.apply();
    const double kept = relative_error(p, cases);
    if (senseless || kept <= as_small * error) {
      error = senseless ? kept : std::min(error, kept);
    } else {
      *q.value = fitted;
    }
  }
  p.apply();
}

}  // namespace

// Subplex: no derivatives, robust to the kinks that tiles and waves make.
void fit(const FitProblem& p, const CaseList& all, const CalibrationOptions& options,
         const Progress& progress) {
  const CaseList cases = thin(possible(p, all), options.most_cases);
  if (cases.empty()) return;
  struct Context {
    const FitProblem& problem;
    const CaseList& cases;
    const Progress& progress;
    int evaluations;
    int budget;
  } context{p, cases, progress, 0, options.evaluations};
  const std::vector<double> before = values_of(p);
  std::vector<double> x;
  std::vector<double> low;
  std::vector<double> high;
  for (const Parameter& q : p.parameters) {
    low.push_back(std::log(q.low));
    high.push_back(std::log(q.high));
    // A start on a bound has nowhere to go.
    const double margin = 0.05 * (high.back() - low.back());
    x.push_back(
        std::clamp(std::log(std::max(*q.value, q.low)), low.back() + margin, high.back() - margin));
  }
  auto objective = [](const std::vector<double>& v, std::vector<double>&, void* data) {
    auto& c = *static_cast<Context*>(data);
    for (std::size_t i = 0; i < v.size(); ++i) *c.problem.parameters[i].value = std::exp(v[i]);
    c.problem.apply();
    if (c.progress && ++c.evaluations % 16 == 0) {
      c.progress(std::min(1.0, static_cast<double>(c.evaluations) / c.budget));
    }
    return relative_error(c.problem, c.cases);
  };
  nlopt::opt search(nlopt::LN_SBPLX, static_cast<unsigned>(x.size()));
  search.set_lower_bounds(low);
  search.set_upper_bounds(high);
  search.set_min_objective(objective, &context);
  search.set_maxeval(options.evaluations);
  search.set_ftol_rel(1e-6);
  double best = 0;
  try {
    search.optimize(x, best);
  } catch (const nlopt::roundoff_limited&) {
    // The best point so far stands.
  }
  for (std::size_t i = 0; i < x.size(); ++i) *p.parameters[i].value = std::exp(x[i]);
  keep_undetermined(p, cases, before);
}

namespace {

// Which fold each family is left out in: families in alphabetical order, dealt out in turn.
std::map<std::string, int> deal(const CaseList& cases, int folds) {
  std::map<std::string, int> fold_of;
  for (const Case* c : cases) fold_of[c->family] = 0;
  int next = 0;
  for (auto& [family, fold] : fold_of) fold = next++ % folds;
  return fold_of;
}

// Enough cases, enough families, and shapes that differ enough to tell the constants apart. Returns
// how many families there are.
int require_enough(const std::string& what, const FitProblem& p, const CaseList& cases) {
  const std::size_t least = 2 * p.parameters.size() + 3;
  if (cases.size() < least) {
    throw InputError(what + ": " + std::to_string(cases.size()) + " cases cannot determine " +
                         std::to_string(p.parameters.size()) + " constants",
                     "give at least " + std::to_string(least) + " cases of different shapes");
  }
  std::set<std::string> families;
  double shortest = 1e300;
  double longest = 0;
  for (const Case* c : cases) {
    families.insert(c->family);
    shortest = std::min(shortest, c->measured);
    longest = std::max(longest, c->measured);
  }
  if (families.size() < 2) {
    throw InputError(what +
                         ": all cases are of one family of shapes, so nothing can be left out to "
                         "check the fit",
                     "measure several (for GEMMs: pairs of n and k)");
  }
  if (longest < p.least_range * shortest) {
    throw InputError(what + ": all cases take about as long (" + format(Seconds(shortest)) +
                         " to " + format(Seconds(longest)) +
                         "), so start-up cannot be told from throughput",
                     "measure small and large shapes, a factor of ten apart or more");
  }
  return static_cast<int>(families.size());
}

// Constants bend what is right but for them. Cases that half of them miss by more than any device
// or stack differs from another are in another unit, or of something else.
void require_alike(const std::string& what, const std::vector<CaseResult>& given) {
  constexpr double most = 30;
  std::vector<double> ratios;
  for (const CaseResult& r : given) {
    if (r.predicted > 0) ratios.push_back(r.measured / r.predicted);
  }
  if (ratios.empty()) return;
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  if (*middle <= most && *middle >= 1 / most) return;
  const bool more = *middle > 1;
  const double factor = std::round(more ? *middle : 1 / *middle);
  throw InputError(what + ": half of the cases are " + (more ? "" : "1/") +
                       std::to_string(std::llround(factor)) +
                       " times what is predicted of them, or " + (more ? "more" : "less"),
                   "measured is in seconds, tokens a second and bytes: is it in milliseconds?");
}

}  // namespace

Calibration calibrate(std::string what, const FitProblem& p, const CaseList& cases,
                      const CalibrationOptions& options) {
  const int folds = std::min(options.folds, require_enough(what, p, cases));
  const std::map<std::string, int> fold_of = deal(cases, folds);
  const std::vector<double> start = values_of(p);
  const double fits = folds + 1;
  Calibration result;
  restore(p, start);
  std::vector<CaseResult> given;
  for (const Case* c : cases) given.push_back(p.result(*c));
  require_alike(what, given);
  result.before = summarize("before", given);
  result.name = std::move(what);
  std::vector<CaseResult> held;
  for (int fold = 0; fold < folds; ++fold) {
    CaseList in;
    CaseList out;
    for (const Case* c : cases) {
      (fold_of.at(c->family) == fold ? out : in).push_back(c);
    }
    if (in.empty() || out.empty()) continue;
    restore(p, start);
    fit(p, in, options, [&](double share) {
      if (options.progress) options.progress((fold + share) / fits);
    });
    for (const Case* c : out) held.push_back(p.result(*c));
  }
  restore(p, start);
  fit(p, cases, options, [&](double share) {
    if (options.progress) options.progress((folds + share) / fits);
  });
  std::vector<CaseResult> seen;
  for (const Case* c : cases) seen.push_back(p.result(*c));
  result.fit = summarize("fit", seen);
  result.left_out = summarize("left out", held);
  result.left_out_results = std::move(held);
  result.provenance = {.method = "sextant calibrate: mean |log error|, k-fold by " + p.families,
                       .data = sources_of(cases),
                       .cases = result.fit.cases,
                       .fit_error = result.fit.mape,
                       .left_out_error = result.left_out.mape};
  for (std::size_t i = 0; i < p.parameters.size(); ++i) {
    const Parameter& q = p.parameters[i];
    result.constants.push_back({q.name, start[i], *q.value, at_bound(q)});
  }
  return result;
}

std::string sources_of(const CaseList& cases) {
  std::string all;
  std::set<std::string> seen;
  for (const Case* c : cases) {
    if (seen.insert(c->group).second) all += (all.empty() ? "" : ", ") + c->group;
  }
  return all;
}

}  // namespace sextant
