// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sextant/units/format.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {
namespace {

constexpr double most_amount = 1e15;

/// Takes the first of these that the text ends with, off it.
bool cut_end(std::string& text, std::initializer_list<std::string_view> ends) {
  const auto* const end =
      std::find_if(ends.begin(), ends.end(), [&](std::string_view e) { return text.ends_with(e); });
  if (end == ends.end()) return false;
  text.resize(text.size() - end->size());
  return true;
}

/// "300 $/h", "$5M".
std::optional<SearchBudget> money(std::string text) {
  const bool hourly = cut_end(text, {"/h", "/hr", "/hour"});
  const bool before = text.starts_with('$');
  if (before) text.erase(0, 1);
  const bool after = cut_end(text, {"$", "USD", "dollars", "dollar"});
  if (before == after) return std::nullopt;
  const std::optional<double> amount = parse_count(text);
  if (!amount) return std::nullopt;
  return SearchBudget{hourly ? BudgetKind::dollars_per_hour : BudgetKind::dollars, *amount};
}

std::optional<SearchBudget> devices(std::string text) {
  if (!cut_end(text, {"gpus", "gpu", "GPUs", "GPU", "devices", "device"})) return std::nullopt;
  const std::optional<double> amount = parse_count(text);
  if (!amount || *amount != std::floor(*amount)) return std::nullopt;
  return SearchBudget{BudgetKind::devices, *amount};
}

std::optional<SearchBudget> power(const std::string& text) {
  const ParseResult r = parse_quantity(text);
  if (!r.quantity || r.quantity->dimension != Watts::dimension) return std::nullopt;
  return SearchBudget{BudgetKind::power, r.quantity->value};
}

/// Whether a number of devices can be a product of degrees: no stage is without a layer, replicas
/// deal out the batch, context parallelism the sequence; heads have no larger factors than layers.
bool usable(int n, const Problem& p) {
  const auto divides = [&](int prime) {
    return prime <= p.model.layers || p.work.batch % prime == 0 || p.work.seq % prime == 0;
  };
  for (int f = 2; f * f <= n; ++f) {
    if (n % f != 0) continue;
    if (!divides(f)) return false;
    while (n % f == 0) n /= f;
  }
  return n == 1 || divides(n);
}

}  // namespace

std::optional<SearchBudget> read_budget(const std::string& text, Flags& flags) {
  std::string plain = text;
  std::erase(plain, ' ');
  std::optional<SearchBudget> budget = power(text);
  if (!budget) budget = money(plain);
  if (!budget) budget = devices(plain);
  if (!budget) {
    flags.add("--budget", "expected power, dollars or devices, got '" + text + "'",
              "such as '2 MW', '300 $/h', '512 gpus', or '5 M$' with --tokens");
    return std::nullopt;
  }
  if (!(budget->amount > 0 && budget->amount <= most_amount)) {
    flags.add("--budget", "expected more than nothing and at most 1e15, got '" + text + "'");
    return std::nullopt;
  }
  return budget;
}

std::string text_of(const SearchBudget& b) {
  const auto count = [](double n) {
    if (n >= 1e9) return fmt::format("{:.4g} B", n / 1e9);
    return n >= 1e6 ? fmt::format("{:.4g} M", n / 1e6) : fmt::format("{:.6g} ", n);
  };
  switch (b.kind) {
    case BudgetKind::devices:
      return fmt::format("{:.0f} devices", b.amount);
    case BudgetKind::power:
      return format(Watts(b.amount));
    case BudgetKind::dollars_per_hour:
      return count(b.amount) + "$/h";
    case BudgetKind::dollars:
      break;
  }
  return count(b.amount) + "$";
}

Watts power_of_device(const System& s) {
  return s.device.power.limit + s.node_overhead / std::max(1, s.devices_per_node);
}

double share_of_device(const SearchBudget& budget, const System& system, double price) {
  switch (budget.kind) {
    case BudgetKind::power:
      return power_of_device(system).value;
    case BudgetKind::dollars_per_hour:
      return price;
    case BudgetKind::devices:
    case BudgetKind::dollars:
      break;
  }
  return 1;
}

int most_devices(const SearchBudget& budget, const System& system, double price) {
  const double has = system.max_devices;
  if (budget.kind == BudgetKind::dollars) return system.max_devices;
  const double each = share_of_device(budget, system, price);
  // What is bought exactly stays bought, whatever the last digit of a quotient.
  const double bought = each > 0 ? budget.amount / each * (1 + 1e-12) : has;
  const double node = std::max(1, system.devices_per_node);
  // What is around the devices of a node takes all its power for any of them.
  if (budget.kind != BudgetKind::power && bought < node) return static_cast<int>(bought);
  return static_cast<int>(std::floor(std::min(bought, has) / node) * node);
}

DeviceCounts counts_of(int most, const System& system, const Problem& problem, int most_near) {
  DeviceCounts counts;
  if (most < 1) return counts;
  const int node = std::max(1, system.devices_per_node);
  if (most < node) {
    counts.near = {most};
    return counts;
  }
  const int nodes = most / node;
  int stride = 1;
  while ((nodes - nodes / 2) / stride > most_near) stride *= 2;
  for (int n = nodes; 2 * n > nodes; n = (n - 1) / stride * stride) {
    if (usable(n * node, problem)) counts.near.push_back(n * node);
  }
  std::reverse(counts.near.begin(), counts.near.end());
  for (int n = 1; 2 * n <= nodes; n *= 2) counts.fewer.push_back(n * node);
  return counts;
}

DeviceCounts all_counts_of(const System& system, const Problem& problem) {
  constexpr int an_octave = 8;
  DeviceCounts all;
  for (int most = system.max_devices; most >= system.devices_per_node; most /= 2) {
    const DeviceCounts some = counts_of(most, system, problem, an_octave);
    all.near.insert(all.near.end(), some.near.begin(), some.near.end());
  }
  std::sort(all.near.begin(), all.near.end());
  all.near.erase(std::unique(all.near.begin(), all.near.end()), all.near.end());
  return all;
}

}  // namespace sextant
