// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/known_experts.hpp"

#include <map>

#include "sextant/io/presets.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {
namespace {

using KnownExperts = std::map<ExpertShape, Mlp>;

void learn(KnownExperts& known, const Model& m) {
  const Experts& e = m.experts;
  if (e.count == 0) return;
  const auto add = [&](double width) {
    known.try_emplace({width, 1.0 * e.ffn, 1.0 * e.count, 1.0 * e.topk}, m.mlp);
  };
  add(m.hidden);
  if (e.latent > 0) add(e.latent);
}

KnownExperts known_experts() {
  KnownExperts known;
  for (const std::string& name : preset_names(PresetKind::model)) {
    try {
      learn(known, load_model(name));
    } catch (const InputError&) {
      continue;  // a user's own that cannot be read: said when it is asked for
    }
  }
  return known;
}

}  // namespace

std::optional<Mlp> known_mlp(const ExpertShape& shape) {
  static const KnownExperts known = known_experts();
  const auto found = known.find(shape);
  if (found == known.end()) return std::nullopt;
  return found->second;
}

NamedRouting routing_named(std::string_view name) {
  constexpr std::string_view law = "power_law_";
  if (name == "balanced") return {.known = true, .exponent = 0};
  if (!name.starts_with(law)) return {};
  const std::optional<double> exponent = parse_number(name.substr(law.size()));
  if (!exponent || *exponent <= 0 || *exponent > 10) return {.known = true};
  return {.known = true, .exponent = exponent};
}

}  // namespace sextant
