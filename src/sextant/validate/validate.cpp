// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/validate.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/io/presets.hpp"

namespace sextant {
namespace {

bool is_preset(PresetKind kind, const std::string& name) {
  const std::vector<PresetKind> kinds = preset_kinds(name);
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace

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
  a.median_ape = at(0.5);
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

const Device* Catalogue::device(const std::string& name, std::string& reason) {
  const auto found = devices_.find(name);
  if (found != devices_.end()) return &found->second;
  if (!is_preset(PresetKind::device, name)) {
    reason = "no device preset is named '" + name + "'";
    return nullptr;
  }
  return &devices_.emplace(name, load_device(name, {}, Lookup::presets)).first->second;
}

const Kernels* Catalogue::kernels(const std::string& library, const Device& device,
                                  std::string& reason) {
  std::string name = library;
  if (!device.mechanism.asynchronous) {
    const std::string variant = library + "-sync";
    if (libraries_.contains(variant) || is_preset(PresetKind::kernel, variant)) name = variant;
  }
  const auto found = libraries_.find(name);
  if (found != libraries_.end()) return &found->second;
  if (!is_preset(PresetKind::kernel, name)) {
    reason = "no kernel library is named '" + name + "'";
    return nullptr;
  }
  return &libraries_.emplace(name, load_kernels(name, {}, Lookup::presets)).first->second;
}

const System* Catalogue::system(const std::string& name, std::string& reason) {
  const auto found = systems_.find(name);
  if (found != systems_.end()) return &found->second;
  if (!is_preset(PresetKind::system, name)) {
    reason = "no system is named '" + name + "'";
    return nullptr;
  }
  return &systems_.emplace(name, load_system(name, {}, Lookup::presets)).first->second;
}

std::vector<CaseResult> validate(const std::vector<Case>& cases, Catalogue& catalogue,
                                 const Progress& progress) {
  std::vector<CaseResult> results;
  results.reserve(cases.size());
  std::map<const Device*, Chip> chips;
  std::map<const System*, Network> networks;
  for (const Case& c : cases) {
    CaseResult r{.id = c.id,
                 .group = c.group,
                 .device = c.system.empty() ? c.device : c.system,
                 .measured = c.measured,
                 .unsupported = c.unsupported};
    const auto record = [&r](const KernelCost& cost) {
      r.predicted = cost.time.value;
      r.error = r.predicted / r.measured - 1;
      r.bound = cost.bound;
    };
    if (r.unsupported.empty() && std::holds_alternative<CollectiveCase>(c.kernel)) {
      if (const System* system = catalogue.system(c.system, r.unsupported)) {
        const auto network = networks.try_emplace(system, lower(*system)).first;
        record(evaluate_case(c, network->second, CollectiveKernels{}));
      }
    } else if (r.unsupported.empty()) {
      const Device* device = catalogue.device(c.device, r.unsupported);
      const Kernels* kernels =
          device != nullptr ? catalogue.kernels(c.provider, *device, r.unsupported) : nullptr;
      if (kernels != nullptr) {
        const auto chip = chips.try_emplace(device, lower(*device)).first;
        record(evaluate_case(c, chip->second, *kernels));
      }
    }
    results.push_back(std::move(r));
    if (progress && results.size() % 256 == 0) {
      progress(static_cast<double>(results.size()) / static_cast<double>(cases.size()));
    }
  }
  return results;
}

}  // namespace sextant
