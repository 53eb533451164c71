// SPDX-License-Identifier: Apache-2.0
#include "sextant/options/search_capacity.hpp"

#include "sextant/options/traffic_scenario.hpp"
#include "sextant/scenario/prices.hpp"
#include "sextant/search/parallel.hpp"
#include "sextant/spec/flags.hpp"

namespace sextant {
namespace {

TrafficOptions traffic_options(const SearchOptions& o, Flags& flags) {
  TrafficOptions t;
  t.model = o.model;
  t.system = o.system;
  t.runtime = o.runtime;
  t.arrivals = o.traffic;
  static_cast<RequestOptions&>(t) = static_cast<const RequestOptions&>(o);
  Inputs inputs;
  GivenFields given;
  read_inputs(Task::infer, o.given, inputs, given, flags.problems);
  const Serving& w = inputs.serving;
  for (const std::string& field : given) {
    if (field == "input") {
      t.input = w.input;
    } else if (field == "output") {
      t.output = w.output;
    } else if (field == "speculate") {
      t.speculate = w.speculation.tokens;
    } else if (field == "acceptance") {
      t.acceptance = w.speculation.acceptance;
    } else if (field == "draft") {
      t.draft = w.speculation.draft;
    } else if (field == "draft_cost") {
      t.draft_cost = w.speculation.draft_cost;
    } else if (field == "placement") {
      t.placement = name_of(w.placement);
    } else if (field == "placed") {
      t.placed = w.placed;
    } else if (field == "allow_long") {
      t.allow_long = inputs.allow_long;
    } else {
      flags.add(flag_of_field(field).c_str(), "is not of --traffic", "leave it out, or --traffic");
    }
  }
  t.max_ttft_p99 = o.max_ttft_p99;
  t.max_tpot_p99 = o.max_tpot_p99;
  return t;
}

/// What must be served; a trace has a rate of its own.
void check_rate(const SearchOptions& o, Flags& flags) {
  Arrivals arrivals{};
  if (!parse_enum(o.traffic, arrivals) || arrivals == Arrivals::trace) return;
  if (arrivals == Arrivals::closed || arrivals == Arrivals::burst) {
    flags.add("--traffic", "has no rate that must be served", "poisson, gamma, uniform or a trace");
  } else if (!o.rate) {
    flags.add("--rate", "how many requests a second must be served?");
  }
}

CapacitySpace read_space(const SearchOptions& o, Flags& flags) {
  CapacitySpace s;
  s.devices = o.gpus.value_or(8);
  check_devices(o, flags);
  const auto precisions = [&](const char* flag, const std::vector<std::string>& given,
                              std::vector<Precision>& list) {
    if (!given.empty()) list.clear();
    for (const std::string& g : given) list.push_back(flags.choice<Precision>(flag, g));
  };
  precisions("--precision", o.precision, s.precision);
  precisions("--kv-precision", o.kv_precision, s.cache);
  return s;
}

}  // namespace

CapacitySearch read_capacity_search(const SearchOptions& o, const Common& common) {
  Flags flags;
  check_rate(o, flags);
  CapacitySearch search;
  search.space = read_space(o, flags);
  search.time = flags.quantity<Seconds>("--time", o.time);
  try {
    TrafficScenario x = read_traffic(traffic_options(o, flags), common);
    search.aim.traffic = std::move(x.traffic);
    search.trace = std::move(x.trace);  // which the traffic points to
    if (Traffic& t = search.aim.traffic; t.trace != nullptr && !o.rate) {
      t.rate = t.arrivals == Arrivals::trace ? means_of(t).rate : 0;
      if (t.rate <= 0) flags.add("--rate", "the trace has no times: how many requests a second?");
    }
    search.aim.limits = x.limits;
    search.scenario = std::move(x.scenario);
    // How an engine is laid out, and so its cache, is what is sought; a price is asked for here.
    std::vector<std::string>& assumed = search.scenario.assumptions;
    std::erase_if(assumed, [](const std::string& said) {
      return said == "tp 1" || said.starts_with("cache of ") || said.starts_with("price ");
    });
    if (!o.precision.empty()) assume_precisions(search.scenario, search.space.precision, true);
    if (!o.kv_precision.empty()) {
      std::erase_if(assumed, [](const std::string& said) { return said.starts_with("cache in "); });
    }
    if (!o.price.empty()) {
      DevicePrice price = read_device_price(o.price, search.scenario.system, flags.problems);
      search.aim.price = price.dollars_per_hour.value_or(0);
      if (!price.assumption.empty()) assumed.push_back(std::move(price.assumption));
    }
  } catch (const InputError& e) {
    flags.add(e);
  }
  for (Diagnostic& d : flags.problems) {
    if (d.file == "--arrivals") d.file = "--traffic";  // which a search says in its own words
  }
  throw_if_any(std::move(flags.problems));
  search.aim.top = o.top;
  search.aim.threads = threads_or_all(o.threads);
  return search;
}

}  // namespace sextant
