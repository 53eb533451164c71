// SPDX-License-Identifier: Apache-2.0
// The files of `train --trace`: a timeline of the pipeline, or execution traces of ranks.
#pragma once

#include <optional>
#include <vector>

#include "sextant/answer/train.hpp"
#include "sextant/options/train.hpp"

namespace sextant::cli {

/// Asked before the work: whether they can be written.
void check_trace(const TrainOptions& options, std::vector<Diagnostic>& problems);

/// Of execution traces, what was written.
std::optional<TraceFiles> write_trace(const TrainOptions& options, const Scenario& scenario);

}  // namespace sextant::cli
