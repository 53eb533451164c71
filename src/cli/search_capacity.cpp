// SPDX-License-Identifier: Apache-2.0
#include "cli/search_capacity.hpp"

#include <chrono>

#include "sextant/answer/capacity.hpp"
#include "sextant/options/settings.hpp"
#include "sextant/options/traffic_scenario.hpp"
#include "sextant/scenario/prices.hpp"
#include "sextant/search/parallel.hpp"
#include "sextant/units/parse.hpp"

namespace sextant::cli {
namespace {

TrafficOptions traffic_options(const SearchOptions& o) {
  TrafficOptions t;
  t.model = o.model;
  t.system = o.system;
  t.runtime = o.runtime;
  t.arrivals = o.traffic;
  t.rate = o.rate;
  const auto count = [&](const char* name) -> std::optional<int> {
    const Node* given = o.given.find(name);
    if (given == nullptr) return std::nullopt;
    // A flag's text is read where it is used.
    const std::optional<double> text = parse_number(given->string);
    return static_cast<int>(text.value_or(given->number));
  };
  t.input = count("input");
  t.output = count("output");
  t.max_ttft_p99 = o.max_ttft_p99;
  t.max_tpot_p99 = o.max_tpot_p99;
  return t;
}

CapacitySpace read_space(const SearchOptions& o) {
  CapacitySpace s;
  Flags flags;
  s.devices = o.gpus.value_or(8);
  if (s.devices < 1) flags.add("--gpus", "expected 1 or more");
  const auto precisions = [&](const char* flag, const std::vector<std::string>& given,
                              std::vector<Precision>& list) {
    if (!given.empty()) list.clear();
    for (const std::string& g : given) list.push_back(flags.choice<Precision>(flag, g));
  };
  precisions("--precision", o.precision, s.precision);
  precisions("--kv-precision", o.kv_precision, s.cache);
  throw_if_any(std::move(flags.problems));
  return s;
}

}  // namespace

Answer capacity_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                       const Announce& announce) {
  if (!options.rate) throw InputError("--rate: how many requests a second must be served?");
  const TrafficScenario x = read_traffic(traffic_options(options), common);
  const CapacitySpace space = read_space(options);
  CapacityAim aim;
  aim.traffic = x.traffic;
  aim.limits = x.limits;
  if (!options.price.empty()) {
    std::vector<Diagnostic> problems;
    aim.price =
        read_device_price(options.price, x.scenario.system, problems).dollars_per_hour.value_or(0);
    throw_if_any(std::move(problems));
  }
  aim.top = options.top;
  aim.threads = threads_or_all(options.threads);
  announce(1000);
  const auto start = std::chrono::steady_clock::now();
  const CapacityResult r = plan_capacity(x.scenario.problem, space, aim, progress);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer_of({.scenario = x.scenario,
                    .result = r,
                    .rate = x.traffic.rate,
                    .price = aim.price,
                    .seconds = seconds},
                   common.format == Format::json);
}

}  // namespace sextant::cli
