// SPDX-License-Identifier: Apache-2.0
#include "sextant/study/difference.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/io/write.hpp"
#include "sextant/spec/patience.hpp"
#include "sextant/study/shapley.hpp"

namespace sextant::study {
namespace {

/// A scenario taken apart, so that parts of two can be mixed.
struct Parts {
  System system;
  Libraries libraries;
  Runtime runtime;
  Model model;
  Training training;
  Serving serving;
  Strategy strategy;
};

Parts parts_of(const Scenario& x) {
  const Problem& p = x.problem;
  return {x.system,  {p.kernels, p.collectives, p.small_collectives},
          p.runtime, p.model,
          p.work,    p.serving,
          x.strategy};
}

/// Properties that are swapped together.
struct Properties {
  const char* name;
  void (*take)(Parts& to, const Parts& from);
};

// Of the device by resource; constants of kernels with the library that they are of; the rest by
// who chooses it.
constexpr Properties groups[] = {
    {"compute",
     [](Parts& to, const Parts& from) {
       Device& d = to.system.device;
       const Device& f = from.system.device;
       d.cores = f.cores;
       d.clock = f.clock;
       d.max_clock = f.max_clock;
       d.matrix_clock = f.matrix_clock;
       d.sag = f.sag;
       d.matrix = f.matrix;
       d.vector = f.vector;
       d.shared = f.shared;
     }},
    {"memory",
     [](Parts& to, const Parts& from) { to.system.device.memory = from.system.device.memory; }},
    {"cache", [](Parts& to, const Parts& from) { to.system.device.l2 = from.system.device.l2; }},
    {"power",
     [](Parts& to, const Parts& from) { to.system.device.power = from.system.device.power; }},
    {"kernels",
     [](Parts& to, const Parts& from) {
       to.system.device.mechanism = from.system.device.mechanism;
       to.libraries.kernels = from.libraries.kernels;
     }},
    {"network",
     [](Parts& to, const Parts& from) {
       to.system.devices_per_node = from.system.devices_per_node;
       to.system.fabrics = from.system.fabrics;
       to.system.host = from.system.host;
       to.libraries.collectives = from.libraries.collectives;
       to.libraries.small = from.libraries.small;
     }},
    {"runtime", [](Parts& to, const Parts& from) { to.runtime = from.runtime; }},
    {"model, strategy and work",
     [](Parts& to, const Parts& from) {
       to.model = from.model;
       to.strategy = from.strategy;
       to.training = from.training;
       to.serving = from.serving;
     }},
};

// All that decides the time, as text; names and remarks do not.
std::string fingerprint(Parts p) {
  p.system.name = p.system.notes = "";
  Device& d = p.system.device;
  d.name = d.vendor = d.architecture = d.notes = d.memory.kind = "";
  d.die = {};
  d.provenance = {};
  p.system.max_devices = 1;
  Libraries& l = p.libraries;
  l.kernels.name = l.collectives.name = l.small.name = p.runtime.name = p.runtime.notes =
      p.model.name = p.model.notes = "";
  l.kernels.provenance = l.collectives.provenance = l.small.provenance = {};
  Node all = Node::array();
  all.push(write(p.system));
  all.push(write(l.kernels));
  all.push(write(l.collectives));
  all.push(write(l.small));
  all.push(write(p.runtime));
  all.push(write(p.model));
  all.push(write(p.training));
  all.push(write(p.serving));
  all.push(write(p.strategy));
  return to_json(all, 0);
}

/// What is compared: the time of a token, or of a request; nothing where a mixture cannot run.
std::optional<double> time_of(const Parts& x, bool trains) {
  if (trains) {
    const Problem p = prepare(x.system, x.runtime, x.libraries, x.model, x.training);
    const Estimate e = evaluate(p, x.strategy);
    if (!(e.step.value > 0 && e.tokens > 0)) return std::nullopt;
    return e.step.value / e.tokens;
  }
  const Problem p = prepare(x.system, x.runtime, x.libraries, x.model, x.serving);
  const ServingEstimate e = serve(p, x.strategy);
  if (!(e.latency.value > 0)) return std::nullopt;
  return e.latency.value;
}

/// Groups in which two scenarios differ.
std::vector<const Properties*> differing(const Parts& a, const Parts& b) {
  const std::string own = fingerprint(a);
  std::vector<const Properties*> found;
  for (const Properties& g : groups) {
    Parts mixed = a;
    g.take(mixed, b);
    if (fingerprint(std::move(mixed)) != own) found.push_back(&g);
  }
  return found;
}

}  // namespace

Difference difference_of(const Scenario& first, const Scenario& second, bool trains) {
  const Parts a = parts_of(first);
  const Parts b = parts_of(second);
  Difference d;
  const std::optional<double> before = time_of(a, trains);
  const std::optional<double> after = time_of(b, trains);
  if (before && after) d.ratio = *after / *before;
  const std::vector<const Properties*> changed = differing(a, b);
  const auto worth = [&](unsigned taken) -> std::optional<double> {
    Patience::check();
    Parts mixed = a;
    // The larger of two machines, so that a mixture is not refused for its size.
    mixed.system.max_devices = std::max(a.system.max_devices, b.system.max_devices);
    for (std::size_t i = 0; i < changed.size(); ++i) {
      if ((taken >> i & 1U) != 0) changed[i]->take(mixed, b);
    }
    const std::optional<double> time = time_of(mixed, trains);
    return time ? std::optional(std::log(*time)) : std::nullopt;
  };
  const std::vector<double> shares = shapley(static_cast<unsigned>(changed.size()), worth);
  for (std::size_t i = 0; i < shares.size(); ++i)
    d.factors.push_back({changed[i]->name, shares[i]});
  std::stable_sort(d.factors.begin(), d.factors.end(), [](const Factor& x, const Factor& y) {
    return std::abs(x.logarithm) > std::abs(y.logarithm);
  });
  return d;
}

}  // namespace sextant::study
