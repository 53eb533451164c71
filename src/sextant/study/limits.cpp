// SPDX-License-Identifier: Apache-2.0
#include "sextant/study/limits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/units/format.hpp"

namespace sextant::study {
namespace {

Limit limit_of(Bound b) {
  switch (b) {
    case Bound::l2:
      return Limit::l2;
    case Bound::dram:
      return Limit::dram;
    case Bound::latency:
    case Bound::launch:
      return Limit::launch;
    case Bound::network:
      return Limit::nvlink;
    default:
      return Limit::compute;
  }
}

bool is_kernel(Time t) {
  return t == Time::forward || t == Time::backward || t == Time::recompute || t == Time::optimizer;
}

/// Kernels by what they wait for, scaled to `whole`.
template <class Chosen>
Limits by_bound(const std::vector<Operator>& operators, const Chosen& chosen, double whole) {
  Limits shares;
  double sum = 0;
  for (const Operator& o : operators) {
    if (!chosen(o)) continue;
    const double seconds = o.cost.time.value * o.count;
    shares[limit_of(o.cost.bound)] += seconds;
    sum += seconds;
  }
  for (double& s : shares.values) s *= sum > 0 ? whole / sum : 0;
  return shares;
}

void normalise(Limits& l) {
  double sum = 0;
  for (const double v : l.values) sum += v;
  for (double& v : l.values) v /= sum > 0 ? sum : 1;
}

}  // namespace

Limits limits_of_training(const Problem& problem, const Strategy& s, int devices_per_node) {
  const Explained x = explain(problem, s);
  const auto exposed = [&](Time t) { return x.estimate.time[t].exposed.value; };
  double kernels = 0;
  for (const Time t : {Time::forward, Time::backward, Time::recompute, Time::optimizer}) {
    kernels += exposed(t);
  }
  Limits l = by_bound(
      x.operators,
      [](const Operator& o) { return is_kernel(o.kind) && o.cost.bound != Bound::network; },
      kernels);
  const auto fabric = [&](int ranks) {
    return ranks <= devices_per_node ? Limit::nvlink : Limit::network;
  };
  l[fabric(s.tp)] += exposed(Time::tensor);
  l[fabric(s.tp * s.cp)] += exposed(Time::context);
  l[fabric(s.tp * s.cp * s.ep)] += exposed(Time::expert);
  const int all = static_cast<int>(x.estimate.devices);
  for (const Time t : {Time::pipeline, Time::gradients, Time::parameters})
    l[fabric(all)] += exposed(t);
  l[Limit::bubble] += exposed(Time::bubble) + exposed(Time::spread);
  l[Limit::host] += exposed(Time::host);
  normalise(l);
  return l;
}

Limits limits_of_multiplies(const Problem& problem, const Strategy& s) {
  const Explained x = explain(problem, s);
  Limits l = by_bound(
      x.operators, [](const Operator& o) { return is_kernel(o.kind) && o.cost.tiling.m > 0; }, 1);
  normalise(l);
  return l;
}

Limits limits_of_serving(const Problem& problem, const Strategy& s, int devices_per_node) {
  const ServingEstimate e = serve(problem, s);
  const Serving& w = problem.serving;
  const double context = prompt_tokens(problem) + 0.5 * w.output;
  Limits l;
  const auto add = [&](const PassCost& pass, PassShape shape, double times) {
    const ExplainedPass x = explain_pass(problem, s, shape);
    const Seconds fabrics =
        pass.parts[Work::tensor] + pass.parts[Work::exchange] + pass.parts[Work::pipeline];
    const double kernels = (pass.time - fabrics - pass.parts[Work::host]).value;
    const Limits k = by_bound(
        x.operators, [](const Operator& o) { return o.cost.bound != Bound::network; },
        kernels * times);
    for (std::size_t i = 0; i < l.size; ++i) l.values[i] += k.values[i];
    const bool inside = s.tp * s.pp * s.ep <= devices_per_node;
    l[inside ? Limit::nvlink : Limit::network] += times * fabrics.value;
    l[Limit::host] += times * pass.parts[Work::host].value;
  };
  add(e.prefill, prompt_pass(problem, s, e), e.prompt_passes);
  add(e.decode, {.batch = e.decoding, .queries = 1, .context = context}, w.output - 1.0);
  normalise(l);
  return l;
}

void describe(Record& record, const Limits& limits, bool titled) {
  for (std::size_t i = 0; i < Limits::size; ++i) {
    const std::string_view name = names_of(Limit{})[i];
    record("share_" + std::string(name), percent(limits.values[i], 0), titled ? name : "");
  }
}

namespace {

/// One colour a resource, in all figures.
int colour_of(Limit l) {
  constexpr std::array<int, Limits::size> colours = {0, 5, 1, 2, 3, 6, 4, 7};
  return colours[static_cast<std::size_t>(l)];
}

}  // namespace

plot::Figure stacked(const std::string& title, const std::vector<Bar>& bars, const std::string& y) {
  plot::Figure f;
  f.title = title;
  f.width = std::max(760, 60 * static_cast<int>(bars.size()));
  f.height = 380;
  f.bar = 0.7;
  for (std::size_t b = 0; b < bars.size(); ++b) {
    f.x.names.push_back(bars[b].name);
    if (b > 0 && bars[b].group == bars[b - 1].group) continue;
    const double left = static_cast<double>(b) - 0.5;
    if (b > 0) f.dividers.push_back(left);
    f.notes.push_back({left, 101, bars[b].group});
  }
  f.y.label = y;
  f.y.unit = "%";
  f.y.min = 0;
  f.y.max = 108;  // room for the groups' names
  // Later bars cover earlier ones, so the tallest sums come first.
  for (std::size_t k = Limits::size; k-- > 0;) {
    plot::Series series{.name = std::string(names_of(Limit{})[k]),
                        .mark = plot::Mark::bars,
                        .colour = colour_of(static_cast<Limit>(k))};
    bool any = false;
    for (std::size_t b = 0; b < bars.size(); ++b) {
      double sum = 0;
      for (std::size_t j = 0; j <= k; ++j) sum += bars[b].limits.values[j];
      const double own = bars[b].limits.values[k];
      any = any || own > 0.015;  // thinner layers leave the top open
      series.points.push_back(
          {static_cast<double>(b), 100 * sum,
           fmt::format("{}, {}: {}", bars[b].name, series.name, format_percent(own))});
    }
    if (any) f.series.push_back(std::move(series));
  }
  return f;
}

std::string largest(const Limits& l) {
  const auto at = std::max_element(l.values.begin(), l.values.end()) - l.values.begin();
  return std::string(names_of(Limit{})[static_cast<std::size_t>(at)]);
}

}  // namespace sextant::study
