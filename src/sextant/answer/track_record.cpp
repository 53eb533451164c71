// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/track_record.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "sextant/validate/validate.hpp"

namespace sextant {
namespace {

struct Measured {
  std::string kind;
  std::string device;
  std::string runtime;
  std::vector<CaseResult> results;  ///< two where memory was measured beside the time
};

std::string runtime_of(const Case& c) {
  if (const auto* t = std::get_if<TrainCase>(&c.kernel)) return t->runtime;
  if (const auto* i = std::get_if<InferCase>(&c.kernel)) return i->runtime;
  return "";
}

// Predicted once: neither the cases nor the presets behind them change while the program runs.
const std::vector<Measured>& measured() {
  static const std::vector<Measured> all = [] {
    std::vector<Measured> list;
    Catalogue catalogue;
    for (const Case& c : load_cases({})) {
      if (c.kind != "train" && c.kind != "infer") continue;
      std::string reason;
      const System* system = catalogue.system(c.system, reason);
      Measured m{c.kind, system == nullptr ? "" : system->device.name, runtime_of(c), {}};
      m.results = validate({c}, catalogue);
      list.push_back(std::move(m));
    }
    return list;
  }();
  return all;
}

}  // namespace

Records track_record(std::string_view kind, const std::string& device, const std::string& runtime) {
  struct Near {
    std::vector<CaseResult> results;
    bool device = false;
    bool runtime = false;
    Accuracy accuracy = {};
  };
  std::map<std::string, Near> groups;
  static const std::vector<Measured> none;
  for (const Measured& m : kind.empty() ? none : measured()) {
    const bool same_device = m.device == device;
    const bool same_runtime = m.runtime == runtime;
    if (m.kind != kind || !(same_device || same_runtime) || m.results.empty()) continue;
    Near& g = groups[m.results.front().group];
    g.results.insert(g.results.end(), m.results.begin(), m.results.end());
    g.device = g.device || same_device;
    g.runtime = g.runtime || same_runtime;
  }
  std::vector<std::pair<std::string, Near>> sorted(std::make_move_iterator(groups.begin()),
                                                   std::make_move_iterator(groups.end()));
  for (auto& [name, near] : sorted) near.accuracy = summarize(name, near.results);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.device + a.second.runtime > b.second.device + b.second.runtime;
  });
  std::erase_if(sorted, [](const auto& s) { return s.second.accuracy.cases == 0; });
  return records_of(sorted, [](Record& r, const auto& s) {
    const Accuracy& a = s.second.accuracy;
    r("group", s.first);
    r("cases", a.cases);
    r("median_ape", a.median_ape);
    r("mape", a.mape);
    r("device", s.second.device);
    r("runtime", s.second.runtime);
  });
}

}  // namespace sextant
