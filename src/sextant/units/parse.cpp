// SPDX-License-Identifier: Apache-2.0
#include "sextant/units/parse.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace sextant {
namespace {

struct Symbol {
  std::string_view text;
  double scale;
  Dimension dimension;
  bool takes_prefix;
};

constexpr Dimension seconds{.time = 1};
constexpr Dimension bytes{.data = 1};
constexpr Dimension flops{.work = 1};
constexpr Dimension watts{.time = -1, .energy = 1};

constexpr std::array symbols = std::to_array<Symbol>({
    {"s", 1, seconds, true},
    {"second", 1, seconds, false},
    {"seconds", 1, seconds, false},
    {"min", 60, seconds, false},
    {"minute", 60, seconds, false},
    {"minutes", 60, seconds, false},
    {"h", 3600, seconds, false},
    {"hour", 3600, seconds, false},
    {"hours", 3600, seconds, false},
    {"day", 86400, seconds, false},
    {"days", 86400, seconds, false},
    {"week", 7 * 86400.0, seconds, false},
    {"weeks", 7 * 86400.0, seconds, false},
    {"Hz", 1, {.time = -1}, true},
    {"B", 1, bytes, true},
    {"b", 0.125, bytes, true},
    {"FLOP", 1, flops, true},
    {"OP", 1, flops, true},
    {"J", 1, {.energy = 1}, true},
    {"Wh", 3600, {.energy = 1}, true},
    {"W", 1, watts, true},
    {"$", 1, {.money = 1}, true},
    {"m2", 1, {.length = 2}, true},
    {"m", 1, {.length = 1}, true},
    {"clk", 1, {}, false},
});

struct Prefix {
  std::string_view text;
  double scale;
};
// Longer spellings first, so that "Gi" is not read as "G" followed by "i".
constexpr std::array prefixes = std::to_array<Prefix>({
    {"Ki", 1024.0},
    {"Mi", 1024.0 * 1024},
    {"Gi", 1024.0 * 1024 * 1024},
    {"Ti", 1024.0 * 1024 * 1024 * 1024},
    {"Pi", 1024.0 * 1024 * 1024 * 1024 * 1024},
    {"f", 1e-15},
    {"p", 1e-12},
    {"n", 1e-9},
    {"u", 1e-6},
    {"µ", 1e-6},
    {"m", 1e-3},
    {"k", 1e3},
    {"K", 1e3},  // "KB" beside "MB" and "GB"; 2^10 is "Ki"
    {"M", 1e6},
    {"G", 1e9},
    {"T", 1e12},
    {"P", 1e15},
    {"E", 1e18},
});

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

// One factor of a unit: an exact symbol, else a prefix and a symbol that takes one.
std::optional<ParsedQuantity> parse_term(std::string_view term) {
  for (const Symbol& s : symbols) {
    if (term == s.text) return ParsedQuantity{s.scale, s.dimension};
  }
  for (const Prefix& p : prefixes) {
    if (!term.starts_with(p.text)) continue;
    const std::string_view rest = term.substr(p.text.size());
    for (const Symbol& s : symbols) {
      if (!s.takes_prefix || rest != s.text) continue;
      const double scale = s.dimension.length == 2 ? p.scale * p.scale : p.scale;
      return ParsedQuantity{scale * s.scale, s.dimension};
    }
  }
  return std::nullopt;
}

std::string quoted(std::string_view s) { return "'" + std::string(s) + "'"; }

// Spellings seen on datasheets that are close to a unit but are not one.
std::string hint_for(std::string_view unit) {
  for (const std::string_view tail : {"FLOPS", "flops", "Flops", "TFLOPs"}) {
    if (unit.ends_with(tail)) return "; write FLOP/s, as in \"989 TFLOP/s\"";
  }
  for (const std::string_view tail : {"bps", "Bps", "bit/s"}) {
    if (unit.ends_with(tail)) return "; write \"400 Gb/s\" for bits or \"50 GB/s\" for bytes";
  }
  if (unit == "K") return "; 10^3 is 'k' and 2^10 is 'Ki'";
  if (unit.ends_with("hz") || unit.ends_with("HZ")) return "; write Hz";
  if (unit.ends_with("mm^2") || unit.ends_with("mm²")) return "; write mm2";
  return "";
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  text = trim(text);
  // strtod also takes hexadecimal, "inf" and "nan", none of which is a number here.
  if (text.empty() || text.size() > 64) return std::nullopt;
  if (text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return std::nullopt;
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> parse_count(std::string_view text) {
  constexpr std::array scales = std::to_array<std::pair<char, double>>(
      {{'K', 1e3}, {'k', 1e3}, {'M', 1e6}, {'B', 1e9}, {'G', 1e9}, {'T', 1e12}});
  text = trim(text);
  double scale = 1;
  for (const auto& [letter, value] : scales) {
    if (text.empty() || text.back() != letter) continue;
    scale = value;
    text.remove_suffix(1);
    break;
  }
  const std::optional<double> number = parse_number(text);
  return number && std::isfinite(*number * scale) ? std::optional(*number * scale) : std::nullopt;
}

ParseResult parse_quantity(std::string_view text) {
  text = trim(text);
  // The number is the longest prefix made of number characters; an exponent needs digits, so that
  // the "E" of "1 EB" written as "1EB" is left to the unit.
  std::size_t end = 0;
  auto digits = [&] {
    const std::size_t begin = end;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    return end > begin;
  };
  if (end < text.size() && (text[end] == '+' || text[end] == '-')) ++end;
  bool any = digits();
  if (end < text.size() && text[end] == '.') {
    ++end;
    any = digits() || any;
  }
  if (any && end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    const std::size_t before = end++;
    if (end < text.size() && (text[end] == '+' || text[end] == '-')) ++end;
    if (!digits()) end = before;
  }
  const std::optional<double> number =
      any ? parse_number(text.substr(0, end)) : std::optional<double>{};
  if (!number) return {std::nullopt, "no number in " + quoted(text)};

  const std::string_view unit = trim(text.substr(end));
  if (unit.empty()) return {std::nullopt, "no unit in " + quoted(text)};
  ParsedQuantity result{*number, {}};
  std::string_view rest = unit;
  for (bool first = true; first || !rest.empty(); first = false) {
    const std::size_t slash = rest.find('/');
    const std::string_view term = trim(rest.substr(0, slash));
    const std::optional<ParsedQuantity> factor = parse_term(term);
    if (!factor || (slash != std::string_view::npos && slash + 1 == rest.size())) {
      return {std::nullopt, "unknown unit " + quoted(unit) + hint_for(unit)};
    }
    result.value = first ? result.value * factor->value : result.value / factor->value;
    result.dimension =
        first ? result.dimension + factor->dimension : result.dimension - factor->dimension;
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  }
  if (!std::isfinite(result.value)) return {std::nullopt, quoted(text) + " is out of range"};
  return {result, ""};
}

std::string example_of(Dimension d) {
  struct Example {
    Dimension dimension;
    const char* text;
  };
  static constexpr std::array examples = std::to_array<Example>({
      {{.time = 1}, "2.5 us\" or \"3 h"},
      {{.time = -1}, "1.98 GHz"},
      {{.data = 1}, "80 GiB"},
      {{.time = -1, .data = 1}, "3.35 TB/s"},
      {{.work = 1}, "4096 FLOP"},
      {{.time = -1, .work = 1}, "989 TFLOP/s"},
      {{.energy = 1}, "12 J"},
      {{.time = -1, .energy = 1}, "700 W"},
      {{.work = -1, .energy = 1}, "0.8 pJ/FLOP"},
      {{.data = -1, .energy = 1}, "32 pJ/B"},
      {{.money = 1}, "30 k$"},
      {{.time = -1, .money = 1}, "2.5 $/h"},
      {{.length = 2}, "814 mm2"},
      {{.length = 1}, "33 mm"},
      {{.data = -1, .work = 1}, "295 FLOP/B"},
      {{.energy = -1, .money = 1}, "0.08 $/kWh"},
  });
  for (const Example& e : examples) {
    if (e.dimension == d) return e.text;
  }
  return "a number with its unit";
}

}  // namespace sextant
