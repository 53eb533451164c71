// SPDX-License-Identifier: Apache-2.0
// A case of serving under load meets the simulation: each run once, whatever was measured of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sextant/serving/traffic.hpp"
#include "sextant/validate/validate.hpp"

namespace sextant {

class ServingRuns {
 public:
  explicit ServingRuns(Catalogue& catalogue) : catalogue_(catalogue) {}
  /// With a runtime of one's own instead of the preset that the case names: what calibration tries.
  CaseResult predict(const Case& c, const Runtime* runtime = nullptr);
  /// The next case is simulated, though it be of the same run: its runtime has changed.
  void forget() { last_.clear(); }

 private:
  struct Run {
    std::optional<TrafficResult> result;
    std::string reason;
    Likeness likeness;
  };
  Run run(const Case& c, const Runtime* runtime);
  const Trace& trace(const std::string& path);

  Catalogue& catalogue_;
  std::map<std::string, Trace> traces_;
  std::string last_;  ///< the run that `latest_` is of: rows of one run stand together
  Run latest_;
};

}  // namespace sextant
