// SPDX-License-Identifier: Apache-2.0
// The C interface: an engine as `sextant traffic` reads it, its prices filled beforehand.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>

#include "c/sextant.h"
#include "sextant/io/errors.hpp"
#include "sextant/options/request.hpp"
#include "sextant/options/scenario.hpp"
#include "sextant/options/traffic_scenario.hpp"
#include "sextant/predict/energy.hpp"
#include "sextant/predict/uncertainty.hpp"
#include "sextant/serving/price.hpp"

struct sextant_engine {
  sextant::StepPrice price;
  sextant::EngineLimits limits;
  double devices = 0;
  double longest = 0;
  sextant::Interval interval;
};

namespace {

using namespace sextant;

bool usable(double x) { return std::isfinite(x) && x >= 0; }

void write_error(const std::string& text, char* error, size_t size) {
  if (error == nullptr || size == 0) return;
  const size_t n = std::min(text.size(), size - 1);
  std::memcpy(error, text.data(), n);
  error[n] = '\0';
}

std::unique_ptr<sextant_engine> engine_of(std::string request) {
  const Document document = parse_json(std::move(request), "request");
  TrafficOptions options;
  std::vector<Diagnostic> problems;
  read_request(document, document.root, options_of(options), problems);
  if (!problems.empty()) {
    refuse(std::move(problems), {}, [&](const Common& c) { check_scenario(options, c); });
  }
  const TrafficScenario x = read_traffic(options, {});
  check_cache(x);
  if (x.cluster.decode) throw InputError("two pools are two engines", "prepare each of them");
  const Pool& pool = x.cluster.pool;
  const int context = pool.problem.model.max_context;
  const double room = pool.limits.cache_tokens - pool.limits.state_tokens;
  const double longest = context > 0 ? std::min<double>(room, context) : room;
  auto engine = std::make_unique<sextant_engine>(sextant_engine{
      .price = StepPrice(pool.problem, pool.strategy, x.traffic.input + x.traffic.output / 2.0),
      .limits = pool.limits,
      .devices = x.cluster.devices(),
      .longest = longest,
      .interval =
          interval_of(measured_errors(), likeness_of(Asked::traffic, x.scenario.system.device.name,
                                                     pool.problem, pool.strategy))});
  engine->price.fill(pool.limits.max_requests, engine->longest, pool.limits.token_budget);
  return engine;
}

}  // namespace

extern "C" {

int sextant_abi(void) { return SEXTANT_ABI; }
const char* sextant_version(void) { return SEXTANT_VERSION; }

sextant_engine* sextant_prepare(const char* request, size_t request_size, char* error,
                                size_t error_size) {
  write_error("", error, error_size);
  if (request == nullptr) {
    write_error("no request", error, error_size);
    return nullptr;
  }
  // No exception crosses the border.
  try {
    return engine_of(std::string(request, request_size)).release();
  } catch (const std::exception& e) {
    write_error(e.what(), error, error_size);
  }
  return nullptr;
}

void sextant_release(sextant_engine* engine) { delete engine; }

int sextant_limits_of(const sextant_engine* engine, sextant_limits* limits) {
  if (engine == nullptr || limits == nullptr) return SEXTANT_BAD_ARGUMENT;
  const EngineLimits& l = engine->limits;
  *limits = {.devices = engine->devices,
             .cache_tokens = l.cache_tokens,
             .longest = engine->longest,
             .token_budget = double(l.token_budget),
             .max_requests = double(l.max_requests),
             .block = double(l.block)};
  return SEXTANT_OK;
}

int sextant_state_tokens_of(const sextant_engine* engine, double* tokens) {
  if (engine == nullptr || tokens == nullptr) return SEXTANT_BAD_ARGUMENT;
  *tokens = engine->limits.state_tokens;
  return SEXTANT_OK;
}

int sextant_step_cost(const sextant_engine* engine, const sextant_step* step, sextant_cost* cost) {
  if (engine == nullptr || step == nullptr || cost == nullptr) return SEXTANT_BAD_ARGUMENT;
  const sextant_step& s = *step;
  if (!usable(s.decoding) || !usable(s.contexts) || !usable(s.prompt_tokens) || !usable(s.reach) ||
      !usable(s.prompts)) {
    return SEXTANT_BAD_ARGUMENT;
  }
  const EngineLimits& l = engine->limits;
  if (s.decoding > l.max_requests || s.contexts > s.decoding * engine->longest ||
      s.prompt_tokens > l.token_budget || s.prompts > l.max_requests) {
    return SEXTANT_BEYOND_LIMITS;
  }
  *cost = {};
  if (s.decoding == 0 && s.prompt_tokens == 0) return SEXTANT_OK;
  const StepCost c = engine->price.filled({.decoding = s.decoding,
                                           .contexts = s.contexts,
                                           .prompt_tokens = s.prompt_tokens,
                                           .reach = s.reach,
                                           .prompts = static_cast<int>(s.prompts),
                                           .mean_decoding = s.decoding,
                                           .mean_prompt_tokens = s.prompt_tokens});
  *cost = {
      .seconds = c.seconds,
      .low = engine->interval.low * c.seconds,
      .high = engine->interval.high * c.seconds,
      .joules = c.work + standing_energy(engine->price.problem(), Seconds(c.seconds)).idle.value};
  return SEXTANT_OK;
}

}  // extern "C"
