// SPDX-License-Identifier: Apache-2.0
// What `sextant sweep` and `sextant-mpi sweep` share.
#pragma once

#include <string>

#include "sextant/options/sweep.hpp"
#include "sextant/sweep/best.hpp"
#include "sextant/sweep/run.hpp"

namespace sextant::cli {

/// Where the options want results; throws InputError where they do not say.
sweep::Target target_of(const SweepOptions& options);

/// What was done, for people.
struct SweepSummary {
  const sweep::Plan& plan;
  const SweepOptions& options;
  const sweep::Results& results;
  double seconds = 0;
};
std::string summary_text(const SweepSummary& summary);

}  // namespace sextant::cli
