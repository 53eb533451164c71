// SPDX-License-Identifier: Apache-2.0
// How a model is spread over devices.
#pragma once

#include <array>
#include <cstdint>

#include "sextant/spec/device.hpp"

namespace sextant {

enum class Schedule : std::uint8_t { one_f_one_b, gpipe, zero_bubble };
constexpr auto names_of(Schedule) {
  return std::array<std::string_view, 3>{"1f1b", "gpipe", "zero-bubble"};
}

enum class Recompute : std::uint8_t { none, selective, full };
constexpr auto names_of(Recompute) {
  return std::array<std::string_view, 3>{"none", "selective", "full"};
}

/// Degrees of parallelism and the choices that go with them; trivially copyable.
struct Strategy {
  int tp = 1;          ///< tensor parallel
  int pp = 1;          ///< pipeline stages
  int dp = 1;          ///< replicas
  int cp = 1;          ///< context parallel
  int ep = 1;          ///< expert parallel
  int microbatch = 1;  ///< sequences
  int interleave = 1;  ///< model chunks a stage
  int zero = 0;        ///< ZeRO stage
  bool sp = false;     ///< sequence parallel with tp
  Schedule schedule = Schedule::one_f_one_b;
  Recompute recompute = Recompute::none;
  Precision precision = Precision::bf16;
};
template <class V>
void describe(V& v, Strategy& s) {
  v("tp", s.tp, {.help = "tensor-parallel degree", .min = 1, .max = 1e6});
  v("pp", s.pp, {.help = "pipeline stages", .min = 1, .max = 1e6});
  v("dp", s.dp, {.help = "data-parallel replicas", .min = 1, .max = 1e7});
  v("cp", s.cp, {.help = "context-parallel degree", .min = 1, .max = 1e6});
  v("ep", s.ep, {.help = "expert-parallel degree", .min = 1, .max = 1e6});
  v("microbatch", s.microbatch, {.help = "sequences in one microbatch", .min = 1, .max = 1e6});
  v("interleave", s.interleave, {.help = "model chunks a stage", .min = 1, .max = 1e4});
  v("zero", s.zero, {.help = "ZeRO stage, 0 to 3", .max = 3});
  v("sp", s.sp, {.help = "sequence parallelism beside tensor parallelism"});
  v("schedule", s.schedule, {.help = "pipeline schedule"});
  v("recompute", s.recompute, {.help = "activation recomputation"});
  v("precision", s.precision, {.help = "type of the matrix multiplies"});
}

}  // namespace sextant
