// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sextant/units/format.hpp"
#include "sextant/units/parse.hpp"

namespace sextant::plot {
namespace {

constexpr double largest = 1e300;  // room for padding without overflow

double power_of_ten(int exponent) { return std::pow(10.0, exponent); }

// Decimals that show the value to one part in a million.
int decimals_of(double value) {
  for (int digits = 0; digits < 12; ++digits) {
    const double unit = power_of_ten(digits);
    if (std::abs(std::round(value * unit) / unit - value) < 1e-6 * std::abs(value)) return digits;
  }
  return 0;
}

std::string decimal(double value) { return fmt::format("{:.{}f}", value, decimals_of(value)); }

std::string superscript(int exponent) {
  static constexpr std::array digits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out = exponent < 0 ? "⁻" : "";
  for (const char c : std::to_string(std::abs(exponent))) {
    out += digits[static_cast<std::size_t>(c - '0')];
  }
  return out;
}

// "10 µs": as few digits as read back as the value.
std::string quantity_label(double value, Dimension dimension) {
  for (int digits = 1; digits < 7; ++digits) {
    std::string text = format_quantity(value, dimension, digits);
    const ParseResult read = parse_quantity(text);
    if (read.quantity && std::abs(read.quantity->value - value) <= 1e-9 * std::abs(value)) {
      return text;
    }
  }
  return format_quantity(value, dimension);
}

Tick log_tick(double value, const Axis& axis) {
  if (axis.dimension) return {value, quantity_label(value, *axis.dimension), ""};
  if (value >= 0.999e-3 && value < 1e5) return {value, decimal(value), ""};
  const int exponent = static_cast<int>(std::floor(std::log10(value) + 1e-9));
  const double mantissa = value / power_of_ten(exponent);
  const bool pure = std::abs(mantissa - 1) < 1e-9;
  return {value, pure ? "10" : decimal(mantissa) + "×10", std::to_string(exponent)};
}

struct Limits {
  double low;
  double high;
};

Limits linear_limits(double low, double high) {
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low <= 1e-9 * size) {
    const double around = size > 0 ? 0.1 * size : 1;
    return {low - around, high + around};
  }
  const double pad = 0.04 * (high - low);
  // Small against the top: start at zero, so that heights compare.
  const bool from_zero = low >= 0 && low < 0.25 * high;
  return {from_zero ? 0 : low - pad, high + pad};
}

Limits log_limits(double low, double high) {
  if (high <= low * (1 + 1e-9)) return {low / 2, high * 2};
  const double pad = std::pow(high / low, 0.04);
  return {low / pad, high * pad};
}

// The largest of 1, 2, 2.5, 5 times a power of ten that gives at most `room` steps.
double nice_step(double span, int room) {
  const double least = span / std::max(room, 1);
  const double decade = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * decade >= least * (1 - 1e-9)) return factor * decade;
  }
  return 10 * decade;
}

std::vector<double> linear_values(const Scale& scale, int room) {
  const double step = nice_step(scale.high - scale.low, room);
  std::vector<double> values;
  const double first = std::ceil(scale.low / step - 1e-9);
  const double last = std::floor(scale.high / step + 1e-9);
  const int count = static_cast<int>(last - first);
  for (int i = 0; i <= count; ++i) {
    // Adding zero turns -0 into 0.
    values.push_back((first + i) * step + 0.0);
  }
  return values;
}

void add_linear_ticks(const Axis& axis, int room, Scale& scale) {
  const double size = std::max(std::abs(scale.low), std::abs(scale.high));
  double unit_scale = 1;
  std::string unit = axis.unit;
  if (axis.dimension) {
    const std::string text = format_quantity(size, *axis.dimension);
    const std::size_t space = text.find(' ');
    unit = space == std::string::npos ? "" : text.substr(space + 1);
    const ParseResult one = parse_quantity("1 " + unit);
    if (one.quantity) unit_scale = one.quantity->value;
  } else if (size >= 1e6 || size < 1e-3) {
    const int exponent = 3 * static_cast<int>(std::floor(std::log10(size) / 3));
    unit_scale = power_of_ten(exponent);
    unit = "10" + superscript(exponent) + (unit.empty() ? "" : " " + unit);
  }
  if (!unit.empty()) scale.title += " (" + unit + ")";
  const int decimals = decimals_of(nice_step(scale.high - scale.low, room) / unit_scale);
  for (const double v : linear_values(scale, room)) {
    scale.ticks.push_back({v, fmt::format("{:.{}f}", v / unit_scale, decimals), ""});
  }
}

void add_decade_ticks(const Axis& axis, int first, int last, int room, Scale& scale) {
  const int count = last - first + 1;
  const int step = std::max(1, (count + room - 1) / std::max(room, 1));
  for (int e = first - 1; e <= last; ++e) {
    const double decade = power_of_ten(e);
    if (e >= first) {
      scale.ticks.push_back((e - first) % step == 0 ? log_tick(decade, axis)
                                                    : Tick{decade, "", ""});
    }
    for (int m = 2; m < 10 && step == 1; ++m) {
      const double v = m * decade;
      if (v >= scale.low && v <= scale.high) scale.ticks.push_back({v, "", ""});
    }
  }
}

void add_log_ticks(const Axis& axis, int room, Scale& scale) {
  if (!axis.dimension && !axis.unit.empty()) scale.title += " (" + axis.unit + ")";
  const int first = static_cast<int>(std::ceil(std::log10(scale.low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(scale.high) + 1e-9));
  const double decades = std::log10(scale.high / scale.low);
  if (decades < 0.7) {
    for (const double v : linear_values(scale, room)) scale.ticks.push_back(log_tick(v, axis));
  } else if (decades < 2) {
    for (int e = first - 1; e <= last; ++e) {
      for (int m = 1; m < 10; ++m) {
        const double v = m * power_of_ten(e);
        if (v < scale.low * (1 - 1e-9) || v > scale.high * (1 + 1e-9)) continue;
        const bool labelled = m == 1 || m == 2 || m == 5;
        scale.ticks.push_back(labelled ? log_tick(v, axis) : Tick{v, "", ""});
      }
    }
  } else {
    add_decade_ticks(axis, first, last, room, scale);
  }
}

}  // namespace

double Scale::at(double value) const {
  if (log) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

bool Scale::accepts(double value) const {
  return std::abs(value) <= largest && (!log || value >= 1 / largest);
}

Scale make_scale(const Axis& axis, const std::vector<double>& data, int room) {
  Scale scale{.log = axis.log, .title = axis.label};
  double low = largest;
  double high = -largest;
  for (const double v : data) {
    if (!scale.accepts(v)) continue;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  const bool fixed_low = axis.min && scale.accepts(*axis.min);
  const bool fixed_high = axis.max && scale.accepts(*axis.max);
  if (fixed_low) low = fixed_high ? *axis.min : std::min(low, *axis.min);
  if (fixed_high) high = std::max(high, *axis.max);
  if (low > high) {
    low = axis.log ? 1 : 0;
    high = axis.log ? 10 : 1;
  }
  const Limits limits = axis.log ? log_limits(low, high) : linear_limits(low, high);
  scale.low = fixed_low ? *axis.min : limits.low;
  scale.high = fixed_high ? *axis.max : limits.high;
  if (!(scale.low < scale.high)) {
    scale.low = limits.low;
    scale.high = limits.high;
  }
  if (!axis.names.empty()) {
    for (std::size_t i = 0; i < axis.names.size(); ++i) {
      scale.ticks.push_back({static_cast<double>(i), axis.names[i], ""});
    }
  } else if (axis.log) {
    add_log_ticks(axis, room, scale);
  } else {
    add_linear_ticks(axis, room, scale);
  }
  return scale;
}

}  // namespace sextant::plot
