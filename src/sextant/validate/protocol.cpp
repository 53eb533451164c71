// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/protocol.hpp"

#include <algorithm>
#include <vector>

#include "sextant/io/presets.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {
namespace {

// Read once: what is compiled in does not change.
const std::vector<Measurement>& measurements() {
  static const std::vector<Measurement> all = [] {
    std::vector<Measurement> list;
    for (const std::string& name : preset_names(PresetKind::measurement)) {
      list.push_back(load_measurement(name, {}, Lookup::presets));
    }
    return list;
  }();
  return all;
}

}  // namespace

const Measurement& measurement_of(std::string_view kind, std::string_view source,
                                  std::string_view dtype) {
  static const Measurement unknown;
  const Measurement* best = &unknown;
  const auto closeness = [](const Measurement& m) {
    return 2 * m.source.size() + !m.dtype.empty();
  };
  for (const Measurement& m : measurements()) {
    if (!m.kind.empty() && m.kind != kind) continue;
    if (!m.dtype.empty() && m.dtype != dtype) continue;
    const auto says = [&](const std::string& text) { return source.find(text) != source.npos; };
    // The one that names the source most closely.
    if (closeness(m) > closeness(*best) && std::all_of(m.source.begin(), m.source.end(), says)) {
      best = &m;
    }
  }
  return *best;
}

std::string measured_system(const Measurement& measurement, const std::string& system) {
  for (const MeasuredSystem& s : measurement.systems) {
    if (s.name == system) return s.preset;
  }
  return system;
}

Adapters adapters_of(const Measurement& measurement, std::string_view network,
                     std::string_view system) {
  for (const Adapters& a : measurement.networks) {
    if (system.starts_with(a.system)) return a;
  }
  Adapters a;
  // COUNTxRATEGb/s, or GB/s
  const std::size_t times = network.find('x');
  const std::size_t bits = network.find("Gb/s");
  const std::size_t unit = std::min(bits, network.find("GB/s"));
  if (times == std::string_view::npos || unit == std::string_view::npos || times + 1 >= unit) {
    return a;
  }
  std::size_t first = times;
  while (first > 0 && network[first - 1] >= '0' && network[first - 1] <= '9') --first;
  const auto count = parse_number(network.substr(first, times - first));
  const auto giga = parse_number(network.substr(times + 1, unit - times - 1));
  if (count && giga && *count >= 1 && *count <= 1e4 && *giga > 0 && *giga <= 1e6) {
    a.count = static_cast<int>(*count);
    a.rate = BytesPerSecond(*giga * 1e9 / (unit == bits ? 8 : 1));
  }
  return a;
}

double activity_of(const Protocol& protocol, Bytes weights) {
  // One H200, bf16 multiplies of 8192 in a loop: 551 W of random numbers, 281 W where all are 0.01,
  // 273 W of zeros.
  constexpr double constant = (281.0 - 273) / (551 - 273);
  switch (protocol.data) {
    case Operands::random:
      return 1;
    case Operands::repeated:
      return 0.5;  // one operand of two stands still
    case Operands::constant:
      return constant;
    case Operands::leftover:
      return weights > protocol.recycled ? protocol.recycled / weights : 1;
    case Operands::zeros:
      break;
  }
  return 0;
}

double weight_residency(const Protocol& protocol, Bytes weights, Bytes others, Bytes l2) {
  if (protocol.weights == Weights::cold) return 0;
  // All of it stays below half of L2, nothing above nine tenths: replacement is not perfect.
  const double share = (protocol.copies * weights + others) / l2;
  return std::clamp((0.9 - share) / 0.4, 0.0, 1.0);
}

}  // namespace sextant
