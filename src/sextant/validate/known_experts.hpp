// SPDX-License-Identifier: Apache-2.0
// What a row of an expert layer leaves out and the model of those dimensions says; its routing.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include "sextant/spec/model.hpp"

namespace sextant {

struct ExpertShape {
  double hidden = 0;  ///< or the latent that experts work on
  double ffn = 0;     ///< of one expert
  double count = 0;
  double topk = 0;
};

inline bool operator<(const ExpertShape& a, const ExpertShape& b) {
  return std::tie(a.hidden, a.ffn, a.count, a.topk) < std::tie(b.hidden, b.ffn, b.count, b.topk);
}

/// The MLP of the preset whose experts have this shape. Tables of expert layers give dimensions
/// and not the model they are of; all of them are some model's.
std::optional<Mlp> known_mlp(const ExpertShape& shape);

/// How tokens choose experts, by name: "balanced" or "power_law_1.2".
struct NamedRouting {
  bool known = false;                   ///< the name, whatever its exponent
  std::optional<double> exponent = {};  ///< as Routing has it; nothing where it is out of range
};
NamedRouting routing_named(std::string_view name);

}  // namespace sextant
