// SPDX-License-Identifier: Apache-2.0
// An engine's limits on a device: its defaults by memory, and the cache that the model leaves.
#pragma once

#include "sextant/predict/infer.hpp"
#include "sextant/serving/choices.hpp"
#include "sextant/serving/rank.hpp"
#include "sextant/serving/requests.hpp"

namespace sextant {

struct EngineFit {
  EngineLimits limits;
  ServingMemory memory;  ///< of a device; `cache` is all that the engine takes for it
  bool fits = false;     ///< some cache is left
};

/// What an engine's limits follow of the requests to come: nothing, for most.
TrafficMeans sizing_lengths(const Engine& engine, const Traffic& traffic);

/// `lengths`: of the requests to come, where they are known.
EngineFit fit_engine(const Problem& problem, const Strategy& strategy, const EngineChoices& given,
                     const TrafficMeans& lengths = {});

}  // namespace sextant
