// SPDX-License-Identifier: Apache-2.0
// Every rule that a serving strategy breaks, said so that it can be mended. legal_serving() is the
// same list for machines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sextant/predict/infer.hpp"
#include "sextant/predict/nearest.hpp"
#include "sextant/spec/problems.hpp"

namespace sextant {
namespace {

void check_devices(const Problem& p, const Strategy& s, Problems& problems) {
  const double others = static_cast<double>(s.tp) * s.pp;
  const double most = std::floor(p.max_devices / others);
  problems.require(others * s.dp <= p.max_devices, s.dp > 1 ? "dp" : "tp",
                   fmt::format("tp {} x pp {} x dp {} is {} devices, the system has {}", s.tp, s.pp,
                               s.dp, others * s.dp, p.max_devices),
                   most >= 1
                       ? fmt::format("at most dp {} fits beside them", most)
                       : "a smaller tp or pp; or --set system.max_devices for a larger system");
}

void check_tensor(const Problem& p, const Strategy& s, Problems& problems) {
  const double heads = p.layers.attention > 0 ? p.model.attention.heads : 0;
  const double ffn = p.layers.dense > 0 ? p.model.ffn : 0;
  const auto legal = [&](double t) { return divides(t, heads) && divides(t, ffn); };
  const std::string other = nearest(s.tp, std::max(heads, ffn), legal);
  problems.require(divides(s.tp, heads), "tp",
                   fmt::format("tp {} does not divide the {} heads", s.tp, heads), other);
  problems.require(divides(s.tp, ffn), "tp",
                   fmt::format("tp {} does not divide the MLP's width, {}", s.tp, ffn), other);
}

void check_experts(const Problem& p, const Strategy& s, Problems& problems) {
  const double count = p.model.experts.count;
  if (count == 0) {
    problems.require(s.ep == 1, "ep", fmt::format("ep {}, and the model has no experts", s.ep),
                     "leave ep out");
    return;
  }
  const double ranks = static_cast<double>(s.tp) * s.dp;
  const auto legal = [&](double n) { return divides(n, count) && divides(n, ranks); };
  const std::string other = nearest(s.ep, count, legal);
  problems.require(divides(s.ep, count), "ep",
                   fmt::format("ep {} does not divide the {} experts", s.ep, count), other);
  problems.require(divides(s.ep, ranks), "ep",
                   fmt::format("experts live on the ranks of tp {} x dp {} = {}, which ep {} does "
                               "not divide",
                               s.tp, s.dp, ranks, s.ep),
                   other);
}

}  // namespace

std::vector<Diagnostic> check_serving(const Problem& p, const Strategy& s) {
  Problems problems;
  check_devices(p, s, problems);
  check_tensor(p, s, problems);
  problems.require(
      s.pp <= p.model.layers, "pp",
      fmt::format("pp {} is more stages than the model has layers, {}", s.pp, p.model.layers),
      fmt::format("pp {} is the most", p.model.layers));
  check_experts(p, s, problems);
  std::vector<Diagnostic> all = problems.take();
  const Verdict verdict = legal_serving(p, s);
  if (all.empty() && verdict != Verdict::fits) {
    all.emplace_back().message = std::string(name_of(verdict));
  }
  return all;
}

}  // namespace sextant
