// SPDX-License-Identifier: Apache-2.0
#include "sextant/units/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sextant/units/parse.hpp"

namespace sextant {
namespace {

struct BaseUnit {
  Dimension dimension;
  const char* symbol;
  double scale;  ///< base units in one symbol
};
constexpr std::array base_units = std::to_array<BaseUnit>({
    {{.time = 1}, "s", 1},
    {{.time = -1}, "Hz", 1},
    {{.data = 1}, "B", 1},
    {{.time = -1, .data = 1}, "B/s", 1},
    {{.work = 1}, "FLOP", 1},
    {{.time = -1, .work = 1}, "FLOP/s", 1},
    {{.energy = 1}, "J", 1},
    {{.time = -1, .energy = 1}, "W", 1},
    {{.work = -1, .energy = 1}, "J/FLOP", 1},
    {{.data = -1, .energy = 1}, "J/B", 1},
    {{.money = 1}, "$", 1},
    {{.time = -1, .money = 1}, "$/h", 1.0 / 3600},
    {{.energy = -1, .money = 1}, "$/kWh", 1.0 / 3.6e6},
    {{.length = 1}, "m", 1},
    {{.length = 2}, "mm2", 1e-6},
    {{.data = -1, .work = 1}, "FLOP/B", 1},
});

struct SiPrefix {
  int exponent;
  const char* text;
};
constexpr std::array si_prefixes = std::to_array<SiPrefix>({{-15, "f"},
                                                            {-12, "p"},
                                                            {-9, "n"},
                                                            {-6, "u"},
                                                            {-3, "m"},
                                                            {0, ""},
                                                            {3, "k"},
                                                            {6, "M"},
                                                            {9, "G"},
                                                            {12, "T"},
                                                            {15, "P"},
                                                            {18, "E"}});

const BaseUnit* find_unit(Dimension d) {
  for (const BaseUnit& u : base_units) {
    if (u.dimension == d) return &u;
  }
  return nullptr;
}

// Units that already carry a scale are not prefixed again ("mm2", "$/h", "FLOP/B").
bool prefixable(const BaseUnit& u) { return u.scale == 1 && u.dimension.data >= 0; }

const SiPrefix& prefix_for(double magnitude) {
  const SiPrefix* best = &si_prefixes[5];
  if (magnitude > 0) {
    best = &si_prefixes.front();
    for (const SiPrefix& p : si_prefixes) {
      if (magnitude >= std::pow(10.0, p.exponent) * 0.9995) best = &p;
    }
  }
  return *best;
}

std::string significant(double v, int digits) {
  if (v == 0) return "0";
  // The exponent after rounding: 0.9999 with three digits is 1.00, not 1.000.
  const std::string scientific = fmt::format("{:.{}e}", v, digits - 1);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  return fmt::format("{:.{}f}", v, std::max(0, digits - 1 - exponent));
}

}  // namespace

std::string format_quantity(double value, Dimension dimension, int digits) {
  const BaseUnit* unit = find_unit(dimension);
  if (unit == nullptr || !std::isfinite(value)) return fmt::format("{:.{}g}", value, digits);
  const double v = value / unit->scale;
  const bool energy_density = unit->dimension.energy == 1 && unit->dimension.time == 0;
  if (!prefixable(*unit) && !energy_density) return significant(v, digits) + " " + unit->symbol;
  // Nobody counts kiloseconds.
  constexpr double hour = 3600;
  constexpr double day = 24 * hour;
  if (dimension == Dimension{.time = 1} && std::abs(v) >= hour) {
    const bool long_time = std::abs(v) >= 2 * day;
    return significant(v / (long_time ? day : hour), digits) + (long_time ? " days" : " h");
  }
  if (dimension == Dimension{.time = 1} && std::abs(v) >= 999.5)
    return significant(v, digits) + " s";
  const SiPrefix& fitting = prefix_for(std::abs(v));
  // No clock here counts less than a nanosecond: "0.216 ns" says how little it is.
  const bool tiny = dimension == Dimension{.time = 1} && fitting.exponent < -9;
  const SiPrefix& p = tiny ? si_prefixes[2] : fitting;
  const std::string prefix = p.exponent == -6 ? "µ" : p.text;
  return significant(v / std::pow(10.0, p.exponent), digits) + " " + prefix + unit->symbol;
}

std::string write_number(double value) { return fmt::format("{}", value); }

std::string write_quantity(double value, Dimension dimension) {
  const BaseUnit* unit = find_unit(dimension);
  if (unit == nullptr) return write_number(value);
  const bool scaled = unit->scale != 1;
  // Take the prefix that gives the shortest text which reads back exactly; the plain base unit
  // always does.
  std::string best = fmt::format("{} {}", value / unit->scale, unit->symbol);
  auto exact = [&](const std::string& text) {
    const ParseResult r = parse_quantity(text);
    return r.quantity && r.quantity->value == value;
  };
  if (scaled) {
    for (const int digits : {6, 9, 12, 15, 17}) {
      std::string text = fmt::format("{:.{}g} {}", value / unit->scale, digits, unit->symbol);
      if (exact(text)) return text;
    }
    return best;
  }
  // The neighbouring prefixes as well: 0.85e-12 is "0.85 p", and "849.99999999999989 f".
  const int fitting = prefix_for(std::abs(value)).exponent;
  for (const int digits : {4, 6, 9, 12, 15, 17}) {
    for (const int exponent : {fitting, fitting + 3, fitting - 3}) {
      const auto p = std::find_if(si_prefixes.begin(), si_prefixes.end(),
                                  [&](const SiPrefix& x) { return x.exponent == exponent; });
      if (p == si_prefixes.end()) continue;
      std::string text = fmt::format("{:.{}g} {}{}", value / std::pow(10.0, exponent), digits,
                                     p->text, unit->symbol);
      if (exact(text)) return text;
    }
  }
  return best;
}

std::string format_binary_bytes(double bytes, int digits) {
  static constexpr std::array names = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t i = 0;
  while (i + 1 < names.size() && std::abs(bytes) >= 1024) {
    bytes /= 1024;
    ++i;
  }
  return significant(bytes, digits) + " " + names[i];
}

std::string format_percent(double share, int decimals) {
  std::string text = fmt::format("{:.{}f} %", share * 100, decimals);
  // Less than nothing, rounded to nothing, is nothing.
  const bool none = text.find_first_of("123456789") == std::string::npos;
  return none && text.starts_with('-') ? text.substr(1) : text;
}

}  // namespace sextant
