// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sextant/scenario/scenario.hpp"

namespace sextant {

std::string describe_strategy(const Strategy& s) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const auto degree = [&](const char* name, int value) {
    if (value > 1) add(fmt::format("{} {}", name, value));
  };
  degree("tp", s.tp);
  if (s.sp) add("sp");
  degree("pp", s.pp);
  degree("interleave", s.interleave);
  degree("cp", s.cp);
  degree("ep", s.ep);
  degree("etp", s.etp);
  degree("dp", s.dp);
  if (s.zero > 0) add(fmt::format("zero {}", s.zero));
  if (s.schedule != Schedule::one_f_one_b) add(std::string(name_of(s.schedule)));
  add(fmt::format("microbatch {}", s.microbatch));
  if (s.recompute != Recompute::none) add(fmt::format("recompute {}", name_of(s.recompute)));
  if (s.offload) add("offload");
  add(std::string(name_of(s.precision)));
  return text;
}

std::string describe_serving(const Strategy& s) {
  std::string text;
  for (const auto& [name, value] : {std::pair("tp", s.tp), std::pair("pp", s.pp),
                                    std::pair("ep", s.ep), std::pair("dp", s.dp)}) {
    if (value > 1) text += fmt::format("{} {}, ", name, value);
  }
  return text + std::string(name_of(s.precision));
}

}  // namespace sextant
