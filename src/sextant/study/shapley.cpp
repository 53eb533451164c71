// SPDX-License-Identifier: Apache-2.0
#include "sextant/study/shapley.hpp"

#include <bit>

namespace sextant::study {

std::vector<double> shapley(unsigned changes, const WorthOf& worth) {
  std::vector<double> value(std::size_t{1} << changes);
  for (unsigned set = 0; set < value.size(); ++set) {
    const std::optional<double> w = worth(set);
    if (!w) return {};
    value[set] = *w;
  }
  std::vector<double> factorial(changes + 1, 1);
  for (unsigned i = 1; i <= changes; ++i) factorial[i] = factorial[i - 1] * i;
  std::vector<double> shares(changes, 0);
  for (unsigned set = 0; set < value.size(); ++set) {
    const auto size = static_cast<unsigned>(std::popcount(set));
    for (unsigned c = 0; c < changes; ++c) {
      if ((set >> c & 1U) != 0) continue;
      // Orders in which c comes right after `set`.
      const double weight = factorial[size] * factorial[changes - 1 - size] / factorial[changes];
      shares[c] += weight * (value[set | 1U << c] - value[set]);
    }
  }
  return shares;
}

}  // namespace sextant::study
