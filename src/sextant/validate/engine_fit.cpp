// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/engine_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sextant/validate/serving_results.hpp"

namespace sextant {
namespace {

struct Parameter {
  const char* name;
  Seconds Engine::*field;
  Seconds start;  ///< a first step away from zero
};
constexpr std::array<Parameter, 4> parameters = {{
    {"schedule", &Engine::schedule, Seconds(2e-4)},
    {"sequence", &Engine::sequence, Seconds(4e-6)},
    {"layer", &Engine::layer, Seconds(5e-5)},
    {"request", &Engine::request, Seconds(2e-3)},
}};

class Fitting {
 public:
  Fitting(const std::vector<Case>& cases, const std::string& runtime, Catalogue& catalogue)
      : runs_(catalogue) {
    for (const Case& c : cases) {
      const auto* s = std::get_if<ServingCase>(&c.kernel);
      if (s != nullptr && s->runtime == runtime && c.unsupported.empty()) cases_.push_back(&c);
    }
  }

  int cases() const { return static_cast<int>(cases_.size()); }

  /// Mean of |log(predicted / measured)|; a run that the model refuses counts as a factor of ten.
  double error(const Runtime& r) {
    double sum = 0;
    for (const Case* c : cases_) {
      const CaseResult x = runs_.predict(*c, &r);
      sum += x.unsupported.empty() && x.predicted > 0
                 ? std::min(std::abs(std::log(x.predicted / x.measured)), std::log(10.0))
                 : std::log(10.0);
    }
    runs_.forget();
    return cases_.empty() ? 0 : sum / cases();
  }

 private:
  ServingRuns runs_;
  std::vector<const Case*> cases_;
};

}  // namespace

EngineFitResult fit_engine_host(const std::vector<Case>& cases, Runtime& runtime,
                                Catalogue& catalogue, const Progress& progress) {
  Fitting fitting(cases, runtime.name, catalogue);
  EngineFitResult result;
  result.cases = fitting.cases();
  if (result.cases == 0) return result;
  double best = result.before = fitting.error(runtime);
  // One parameter after the other, by factors that shrink: runs are many and the valley is plain.
  double factor = 2;
  constexpr int rounds = 5;
  for (int round = 0; round < rounds; ++round, factor = std::sqrt(factor)) {
    for (const Parameter& p : parameters) {
      const Seconds now = runtime.engine.*p.field;
      for (const Seconds next :
           {now.value > 0 ? now * factor : p.start, now / factor, Seconds(0)}) {
        if (next == now || (next.value == 0 && round > 0)) continue;
        Runtime changed = runtime;
        changed.engine.*p.field = next;
        const double error = fitting.error(changed);
        if (error >= best) continue;
        best = error;
        runtime = changed;
      }
    }
    if (progress) progress((round + 1.0) / rounds);
  }
  result.after = best;
  for (const Parameter& p : parameters) result.fitted.emplace_back(p.name, runtime.engine.*p.field);
  return result;
}

}  // namespace sextant
