// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/validate.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sextant/spec/patience.hpp"
#include "sextant/validate/serving_results.hpp"

namespace sextant {

CaseResult unpredicted(const Case& c, std::string reason) {
  return {.id = c.id,
          .group = c.group,
          .device = c.system.empty() ? c.device : c.system,
          .metric = c.metric,
          .measured = c.measured,
          .unsupported = std::move(reason)};
}

CaseResult result_of(const Case& c, const KernelCost& cost) {
  CaseResult r = unpredicted(c, "");
  r.predicted = cost.time.value;
  r.error = r.predicted / r.measured - 1;
  r.bound = name_of(cost.bound);
  const Asked asked = std::visit(
      [&](const auto& kernel) {
        if constexpr (requires { asked_by(kernel, cost); })
          return asked_by(kernel, cost);
        else
          return Asked::collective;
      },
      c.kernel);
  r.likeness = {.question = asked, .device = asked == Asked::collective ? c.system : c.device};
  return r;
}

Accuracy summarize(std::string name, const std::vector<CaseResult>& results) {
  Accuracy a;
  a.name = std::move(name);
  std::vector<double> errors;
  for (const CaseResult& r : results) {
    if (!r.unsupported.empty()) {
      ++a.unsupported;
      continue;
    }
    errors.push_back(std::abs(r.error));
    a.bias += r.error;
  }
  a.cases = static_cast<int>(errors.size());
  if (errors.empty()) return a;
  std::sort(errors.begin(), errors.end());
  const auto n = static_cast<double>(errors.size());
  for (const double e : errors) a.mape += e / n;
  a.bias /= n;
  const auto at = [&](double share) {
    return errors[static_cast<std::size_t>(std::floor(share * (n - 1) + 0.5))];
  };
  a.median_ape = (errors[(errors.size() - 1) / 2] + errors[errors.size() / 2]) / 2;
  a.p90_ape = at(0.9);
  return a;
}

std::vector<Accuracy> summarize_groups(const std::vector<CaseResult>& results) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<CaseResult>> groups;
  for (const CaseResult& r : results) {
    if (groups.find(r.group) == groups.end()) names.push_back(r.group);
    groups[r.group].push_back(r);
  }
  std::vector<Accuracy> all;
  for (const std::string& name : names) all.push_back(summarize(name, groups[name]));
  if (names.size() > 1) all.push_back(summarize("all", results));
  return all;
}

namespace {

// A device or system lowered at its first case.
template <class T, class Lowered>
const Lowered& lowered(std::map<const T*, Lowered>& cache, const T* spec) {
  const auto found = cache.find(spec);
  return found != cache.end() ? found->second : cache.emplace(spec, lower(*spec)).first->second;
}

std::optional<Timed> scope_of(const Case& c) {
  if (const auto* a = std::get_if<AttentionCase>(&c.kernel)) return a->scope;
  const auto* l = std::get_if<LatentCase>(&c.kernel);
  return l != nullptr ? l->scope : std::nullopt;
}

}  // namespace

std::vector<CaseResult> validate(const std::vector<Case>& cases, Catalogue& catalogue,
                                 const Progress& progress) {
  std::vector<CaseResult> results;
  results.reserve(cases.size());
  std::map<const Device*, Chip> chips;
  std::map<const System*, Network> networks;
  ServingRuns serving(catalogue);
  const auto predict = [&](const Case& c) {
    std::string reason = c.unsupported;
    if (!reason.empty()) return unpredicted(c, reason);
    if (std::holds_alternative<CollectiveCase>(c.kernel)) {
      const System* system = catalogue.system(c.system, reason);
      if (system == nullptr) return unpredicted(c, reason);
      const CollectiveLibrary* library =
          catalogue.collectives(c.provider.empty() ? system->collectives : c.provider, reason);
      if (library == nullptr) return unpredicted(c, reason);
      return result_of(c, evaluate_case(c, lowered(networks, system), *library));
    }
    const Device* device = catalogue.device(c.device, reason);
    const Kernels* kernels =
        device != nullptr ? catalogue.kernels(c.provider, *device, reason) : nullptr;
    if (kernels == nullptr) return unpredicted(c, reason);
    if (kernels->whole_module && scope_of(c) == Timed::kernel) {
      return unpredicted(c, "attention of " + c.provider + " is known as a whole module alone");
    }
    return result_of(c, evaluate_case(c, lowered(chips, device), *kernels));
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Patience::check();
    if (std::holds_alternative<TrainCase>(cases[i].kernel)) {
      predict_train(cases[i], catalogue, results);
    } else if (std::holds_alternative<InferCase>(cases[i].kernel)) {
      predict_infer(cases[i], catalogue, results);
    } else if (std::holds_alternative<ServingCase>(cases[i].kernel)) {
      results.push_back(serving.predict(cases[i]));
    } else {
      results.push_back(predict(cases[i]));
    }
    if (progress && i % 256 == 0) {
      progress(static_cast<double>(i) / static_cast<double>(cases.size()));
    }
  }
  return results;
}

}  // namespace sextant
