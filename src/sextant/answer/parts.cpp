// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/parts.hpp"

#include <fmt/format.h>

#include <utility>

#include "sextant/cost/power.hpp"
#include "sextant/io/errors.hpp"
#include "sextant/predict/tiers.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

Joules of_token(const EnergyAnswer& a) { return token_energy(a.device, a.devices, a.tokens); }

}  // namespace

Record head_of(const Scenario& x, double devices) {
  Record r;
  r("model", x.problem.model.name);
  r("system", x.system.name);
  r("runtime", x.problem.runtime.name);
  r("gpus", devices);
  return r;
}

std::string format_count(double n, int digits) {
  for (const auto& [scale, letter] :
       {std::pair(1e12, 'T'), std::pair(1e9, 'B'), std::pair(1e6, 'M')}) {
    if (n >= scale) return fmt::format("{:.{}g} {}", n / scale, digits, letter);
  }
  return n >= 1000 ? fmt::format("{:.0f}", n) : fmt::format("{:.{}g}", n, digits);
}

void say_memory(Answer& a, const std::string& of_what, Bytes total, Bytes capacity,
                const std::vector<Occupied>& parts) {
  a.say(fmt::format("\nmemory{}: {} of {}", of_what, format_binary_bytes(total.value, 4),
                    format_binary_bytes(capacity.value, 4)));
  TextTable t;
  t.columns = {{""}, {"", Align::right}, {"", Align::right}, {""}};
  for (const Occupied& p : parts) {
    if (p.bytes.value <= 0) continue;
    t.rows.push_back(
        {p.name, format_binary_bytes(p.bytes.value), format_percent(p.bytes / capacity), p.note});
  }
  a.show(std::move(t), {.header = false, .rule = false, .indent = 2});
  // Above this, what allocators lose to fragments decides (PyTorch keeps a tenth to itself at
  // times).
  constexpr double tight = 0.9;
  if (total > tight * capacity && total <= capacity) {
    a.say(fmt::format("  tight: {} of the memory; a fragmented allocator may run out",
                      format_percent(total / capacity, 0)));
  }
}

void say_misfit(Answer& a, Bytes over, std::string_view whose, bool neighbours) {
  a.say(fmt::format("\ndoes not fit: {} ({:.0f} bytes) too much{}{}",
                    format_binary_bytes(over.value), over.value,
                    whose.empty() ? "" : " for the memory of a ", whose));
  if (neighbours) return;
  a.say(fmt::format("  nothing near it fits: it takes more devices, or {}s with more memory",
                    whose.empty() ? "device" : whose));
}

Record memory_record(const ServingMemory& m) {
  Record r;
  r("weights_bytes", m.weights);
  r("kv_cache_bytes", m.cache);
  r("activation_bytes", m.activations);
  r("other_bytes", m.other);
  r("total_bytes", m.total());
  r("capacity_bytes", m.capacity);
  // What lies in which of two memories.
  const auto of_two = [&](Item cell) {
    return only_if(m.second_capacity.value > 0, std::move(cell));
  };
  r("first_capacity_bytes", of_two(m.first_capacity));
  r("second_capacity_bytes", of_two(m.second_capacity));
  r("second_bytes", of_two(m.second));
  r("second_weights_bytes", of_two(m.residence.weights * m.weights));
  r("second_cache_bytes", of_two(cache_share(m.residence, m.cache) * m.cache));
  return r;
}

void add(Record& r, std::string_view name, NumberAndRange number) {
  r(name, std::move(number.value));
  r(std::string(name) + "_low", std::move(number.low));
  r(std::string(name) + "_high", std::move(number.high));
}

void add(Answer& a, const EnergyAnswer& x) {
  const Energy& e = x.device;
  const Joules whole = e.total();
  Record r;
  r("compute_joules", e.compute);
  r("memory_joules", e.memory);
  r("link_joules", e.links);
  r("idle_joules", e.idle);
  r("host_joules", e.host);
  r("total_joules", whole);
  add(r, "joules_per_token", as_sure(of_token(x), x.time));
  a.object("energy", "Energy", std::move(r));
  const auto share = [&](Joules j) { return format_percent(whole.value > 0 ? j / whole : 0, 0); };
  a.say(fmt::format(
      "energy {} a device, {} a token: compute {}, memory {}, links {}, idle {}, host {}",
      format(whole), format(of_token(x)), share(e.compute), share(e.memory), share(e.links),
      share(e.idle), share(e.host)));
}

double dollars_per_million(double price, double devices, Seconds time, double tokens) {
  constexpr double hour = 3600;
  return price / hour * devices * time.value / tokens * 1e6;
}

void assume_overdrawn(std::vector<std::string>& assumptions, const Chip& chip, Watts power,
                      Hertz clock) {
  constexpr double above = 1.05;  // predictions of power are no better
  if (power < above * chip.power_limit) return;
  assumptions.push_back(
      fmt::format("{} is the lowest clock: it draws {} there, above the device's limit of {}",
                  format(clock), format(power), format(chip.power_limit)));
}

void assume_overdrawn(std::vector<std::string>& assumptions, const Chip& chip, double watts) {
  assume_overdrawn(assumptions, chip, chip.idle + Watts(watts), lowest_clock(chip));
}

Record uncertainty_record(const Interval& i, const Headline& headline) {
  Record r;
  r("level", Interval::level);
  r("low", i.low * headline.value);
  r("high", i.high * headline.value);
  r("basis", i.basis);
  r("cases", i.cases);
  add(r, i.unmeasured);
  return r;
}

void add(Record& r, const std::vector<Unmeasured>& unmeasured) {
  r.list("unmeasured", "Unmeasured", records_of(unmeasured, [](Record& one, const Unmeasured& u) {
           one("axis", u.axis);
           one("sentence", u.sentence);
         }));
}

void say_unmeasured(Answer& a, const std::vector<Unmeasured>& unmeasured) {
  for (const Unmeasured& u : unmeasured) a.say("  " + u.sentence);
}

std::string range_text(const Interval& i, const Headline& headline) {
  return format_quantity(i.low * headline.value, headline.unit) + " to " +
         format_quantity(i.high * headline.value, headline.unit);
}

std::string sure_text(const Interval& i, const Headline& headline) {
  return fmt::format("{} nine times in ten: {}", range_text(i, headline), i.basis);
}

Interval add(Record& r, const Likeness& likeness, const Headline& headline) {
  Interval i = interval_of(measured_errors(), likeness);
  r.object("uncertainty", "Uncertainty", uncertainty_record(i, headline));
  return i;
}

Interval add(Answer& a, const Likeness& likeness, const Headline& headline) {
  Interval i = add(static_cast<Record&>(a), likeness, headline);
  a.say(sure_text(i, headline));
  say_unmeasured(a, i.unmeasured);
  return i;
}

}  // namespace sextant
