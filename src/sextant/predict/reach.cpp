// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/reach.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sextant/predict/held.hpp"
#include "sextant/predict/layout.hpp"
#include "sextant/predict/rules.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

/// The first clause of a field's help says what it is; the rest is for whoever sets it.
std::string_view clause(std::string_view help) { return help.substr(0, help.find_first_of(",;")); }

/// Collects the choices of a described struct, beside one that nobody touched.
class Collector {
 public:
  Collector(bool serves, const void* from, const void* usual, std::vector<Choice>& choices)
      : serves_(serves), from_(from), usual_(usual), choices_(choices) {}

  template <class T>
  void operator()(std::string_view name, const T& value, const Field& field) {
    if (serves_ && !field.axis.serves) return;
    if constexpr (Described<T>) {
      const std::size_t first = choices_.size();
      Collector parts(false, from_, usual_, choices_);
      describe(parts, const_cast<T&>(value));
      for (std::size_t i = first; i < choices_.size(); ++i) {
        choices_[i].axis = fmt::format("{}.{}", name, choices_[i].axis);
        choices_[i].words = fmt::format("{}: {}", clause(field.help), choices_[i].words);
      }
    } else if (!std::same_as<T, double> || value != T{}) {
      Choice& c = choices_.emplace_back();
      c.axis = name;
      c.words = clause(field.help);
      const auto at = reinterpret_cast<const char*>(&value) - static_cast<const char*>(from_);
      c.usual = value == *reinterpret_cast<const T*>(static_cast<const char*>(usual_) + at);
      if constexpr (std::same_as<T, bool>) {
        c.name = value ? "true" : "false";
      } else if constexpr (NamedEnum<T>) {
        c.name = name_of(value);
      } else if constexpr (std::same_as<T, std::string>) {
        c.name = value;
      } else {
        c.number = static_cast<double>(value);
      }
    }
  }

 private:
  bool serves_;
  const void* from_;
  const void* usual_;
  std::vector<Choice>& choices_;
};

double nodes_of(const Group& g) { return std::ceil(static_cast<double>(g.ranks) / g.per_node); }

std::string said_of(const Choice& c) {
  if (c.name == "true") return c.words;
  if (c.name == "false") return "without " + c.words;
  return c.words + " " + c.text();
}

bool lies_among(const Choice& c, const MeasuredChoices& m) {
  if (!c.name.empty()) return contains(m.names, c.name);
  const auto [low, high] = std::minmax_element(m.numbers.begin(), m.numbers.end());
  return low != m.numbers.end() && c.number >= *low && c.number <= *high;
}

/// Of one that does not.
Unmeasured outside(const Choice& c, const MeasuredChoices& m) {
  if (m.names.size() + m.numbers.size() < 2 && (!c.usual || c.name == "true")) {
    return {c.axis, said_of(c) + ": nothing measured but the default"};
  }
  if (!c.name.empty()) {
    return {c.axis,
            fmt::format("{}: nothing measured but {}", said_of(c), fmt::join(m.names, ", "))};
  }
  const auto [low, high] = std::minmax_element(m.numbers.begin(), m.numbers.end());
  const bool over = c.number > *high;
  const double end = over ? *high : *low;
  const double ratio = std::max(over ? c.number : end, 1.0) / std::max(over ? end : c.number, 1.0);
  return {c.axis,
          fmt::format("{}: nothing measured {} {:.12g}", said_of(c),
                      *low == *high ? "but" : (over ? "beyond" : "under"), end),
          std::max(1.0, std::log2(ratio))};
}

}  // namespace

std::string Choice::text() const { return name.empty() ? fmt::format("{:.12g}", number) : name; }

Extent extent_of(const Problem& p, const Strategy& s) {
  const Widths w = widths_of(p, s);
  const int chunks = s.pp * s.interleave;
  return {.devices = static_cast<double>(devices_of(s)),
          .tensor_nodes = nodes_of(w.tensor),
          .context_nodes = nodes_of(w.context),
          .expert_nodes = nodes_of(w.expert),
          .experts_a_rank = std::ceil(w.local_experts),  // copies fill the last one
          .layers_a_chunk = s.pp > 1 ? std::floor(static_cast<double>(p.graph.layers) / chunks) : 0,
          .microbatches = microbatches_of(p, s),
          .sequence = static_cast<double>(p.work.seq)};
}

std::vector<Choice> choices_of(Asked question, const Problem& problem, const Strategy& strategy) {
  std::vector<Choice> choices;
  const auto collect = [&](const auto& value, const auto& usual) {
    Collector collector(question != Asked::train, &value, &usual, choices);
    describe(collector, const_cast<std::remove_cvref_t<decltype(value)>&>(value));
  };
  collect(question == Asked::train ? acting(problem, strategy) : strategy, Strategy{});
  Extent extent = extent_of(problem, strategy);
  if (question != Asked::train && problem.tier.capacity.value > 0) {
    const Residence r = serving_memory(problem, strategy, true).residence;
    extent.second_memory = r.weights > 0 || r.cache > 0;
  }
  collect(extent, extent);  // follows from the rest: of itself it is never unusual
  if (question == Asked::train) return choices;
  collect(problem.serving, Serving{});
  collect(problem.model.hybrid, Hybrid{});
  return choices;
}

std::vector<Unmeasured> unmeasured_of(const Errors& errors, Asked question,
                                      const std::vector<Choice>& choices) {
  // Traffic is made of the passes that single requests are.
  const Asked kind = question == Asked::train ? Asked::train : Asked::infer;
  std::vector<Unmeasured> all;
  for (const Choice& c : choices) {
    const auto found = std::find_if(
        errors.reach.begin(), errors.reach.end(),
        [&](const MeasuredChoices& m) { return m.question == kind && m.axis == c.axis; });
    // Of what has no record, the default is what everybody ran.
    const bool recorded = found != errors.reach.end();
    if (recorded ? lies_among(c, *found) : c.usual) continue;
    all.push_back(outside(c, recorded ? *found : MeasuredChoices{}));
  }
  return all;
}

}  // namespace sextant
