// SPDX-License-Identifier: Apache-2.0
// How a model is spread over devices.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "sextant/spec/device.hpp"

namespace sextant {

/// Order of forward and backward passes. `zero_bubble` is ZB-H1 (arXiv 2401.10241), `zero_bubble_v`
/// ZB-V (arXiv 2405.15362), whose stages hold the n-th piece of the model from either end;
/// `dual_pipe` runs microbatches from both ends over two copies of the model (arXiv 2412.19437,
/// section 3.2.1), each one's exchange beside the other's compute.
enum class Schedule : std::uint8_t { one_f_one_b, gpipe, zero_bubble, zero_bubble_v, dual_pipe };
constexpr auto names_of(Schedule) {
  return std::array<std::string_view, 5>{"1f1b", "gpipe", "zero-bubble", "zero-bubble-v",
                                         "dualpipe"};
}

enum class Recompute : std::uint8_t { none, selective, full };
constexpr auto names_of(Recompute) {
  return std::array<std::string_view, 3>{"none", "selective", "full"};
}

/// What is computed again in the backward pass beyond `Recompute`, part by part (Megatron-Core's
/// recompute_modules; torchtitan's selective recomputation of operators).
struct RecomputeModules {
  bool norms = false;
  bool activation = false;  ///< of the MLP or the experts
  bool mlp = false;         ///< the whole MLP
  bool experts = false;     ///< the whole expert layer, its exchange included
  bool latent = false;      ///< up-projections of latent attention
  bool alternate = false;   ///< every second multiply of a layer, and all between but attention

  bool operator==(const RecomputeModules&) const = default;
};
template <class V>
void describe(V& v, RecomputeModules& m) {
  v("norms", m.norms, {.help = "outputs of norms"});
  v("activation", m.activation, {.help = "activation function of the MLP or the experts"});
  v("mlp", m.mlp, {.help = "the whole MLP"});
  v("experts", m.experts, {.help = "the whole expert layer, its exchange included"});
  v("latent", m.latent, {.help = "up-projections of latent attention"});
  v("alternate", m.alternate,
    {.help = "every second multiply, and what lies between but attention (torchtitan: op)"});
}

/// How context parallelism moves keys and values.
enum class ContextKind : std::uint8_t { ring, all_to_all };
constexpr auto names_of(ContextKind) {
  return std::array<std::string_view, 2>{"ring", "all-to-all"};
}

/// Which dimension lies inside the node: ranks next to each other differ in the first one.
enum class Order : std::uint8_t { tp_cp_ep_dp_pp, tp_cp_ep_pp_dp };
constexpr auto names_of(Order) {
  return std::array<std::string_view, 2>{"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"};
}

/// Degrees of parallelism and the choices that go with them; trivially copyable.
struct Strategy {
  int tp = 1;            ///< tensor parallel
  int pp = 1;            ///< pipeline stages
  int dp = 1;            ///< replicas
  int cp = 1;            ///< context parallel
  int ep = 1;            ///< expert parallel, taken from dp, cp and tp
  int etp = 1;           ///< tensor parallel inside experts
  int microbatch = 1;    ///< sequences
  int interleave = 1;    ///< model chunks a stage
  int zero = 0;          ///< ZeRO stage
  int shard = 0;         ///< replicas that share states under ZeRO (HSDP); 0: all of dp
  bool sp = false;       ///< sequence parallel with tp
  bool offload = false;  ///< optimizer states live in host memory
  ContextKind context = ContextKind::ring;
  Order order = Order::tp_cp_ep_dp_pp;
  Schedule schedule = Schedule::one_f_one_b;
  Recompute recompute = Recompute::none;
  int recompute_layers = 0;  ///< of a stage, under full recomputation; 0: all
  RecomputeModules modules;
  Precision precision = Precision::bf16;
};
template <class V>
void describe(V& v, Strategy& s) {
  using enum Scope;
  v("tp", s.tp,
    {.help = "tensor-parallel degree",
     .min = 1,
     .max = 1e6,
     .axis = {.scope = both, .serves = true}});
  v("pp", s.pp,
    {.help = "pipeline stages", .min = 1, .max = 1e6, .axis = {.scope = mapping, .serves = true}});
  v("dp", s.dp,
    {.help = "replicas; without, what is left of the devices. To serve: of attention, each with "
             "its share of the batch",
     .min = 1,
     .max = 1e7,
     .axis = {.scope = mapping, .serves = true}});
  v("cp", s.cp, {.help = "context-parallel degree", .min = 1, .max = 1e6, .axis = {.scope = both}});
  v("ep", s.ep,
    {.help = "expert-parallel degree, over the ranks of tp, cp and dp",
     .min = 1,
     .max = 1e6,
     .axis = {.scope = both, .serves = true}});
  v("etp", s.etp,
    {.help = "tensor-parallel degree inside experts",
     .min = 1,
     .max = 1e6,
     .axis = {.scope = both}});
  v("microbatch", s.microbatch,
    {.help = "sequences in one microbatch",
     .min = 1,
     .max = 1e6,
     .axis = {.scope = block, .always = true}});
  v("interleave", s.interleave,
    {.help = "model chunks a stage", .min = 1, .max = 1e4, .axis = {.scope = mapping}});
  v("zero", s.zero, {.help = "ZeRO stage, 0 to 3", .max = 3, .axis = {.scope = mapping}});
  v("shard", s.shard,
    {.help = "replicas that share states under ZeRO; 0: all",
     .max = 1e7,
     .axis = {.scope = mapping, .held = true}});
  v("offload", s.offload,
    {.help = "optimizer states live in host memory", .axis = {.scope = mapping, .held = true}});
  v("context", s.context,
    {.help = "how context parallelism moves keys and values", .axis = {.scope = block}});
  v("order", s.order,
    {.help = "which dimension lies inside the node, innermost first",
     .axis = {.scope = mapping, .bare = true}});
  v("sp", s.sp,
    {.help = "sequence parallelism beside tensor parallelism; without, as the runtime does",
     .axis = {.scope = block}});
  v("schedule", s.schedule, {.help = "pipeline schedule", .axis = {.held = true, .bare = true}});
  v("recompute", s.recompute, {.help = "activation recomputation", .axis = {.scope = block}});
  v("recompute_layers", s.recompute_layers,
    {.help = "layers of a stage recomputed in full; 0: all", .max = 1e5});
  v("modules", s.modules,
    {.help = "parts recomputed beyond that", .axis = {.scope = block, .held = true}});
  v("precision", s.precision,
    {.help = "type of the matrix multiplies; int8 and int4: of weights alone, to serve",
     .axis = {.scope = both, .serves = true, .bare = true, .always = true}});
}

/// Visits the axes of one scope as bytes: `visit(a's, b's, how many)`. For keys of caches.
template <class Visit>
void for_each_axis(const Strategy& a, const Strategy& b, Scope scope, const Visit& visit) {
  const auto* const from = reinterpret_cast<const char*>(&a);
  const auto* const other = reinterpret_cast<const char*>(&b);
  auto pair = [&](std::string_view, auto& value, Field field) {
    const auto reach = static_cast<unsigned>(field.axis.scope);
    if ((reach & static_cast<unsigned>(scope)) == 0) return;
    const auto* const at = reinterpret_cast<const char*>(&value);
    visit(at, other + (at - from), sizeof value);
  };
  describe(pair, const_cast<Strategy&>(a));
}

/// Whether one block, or one mapping, serves both strategies: they differ in no axis of the scope.
inline bool alike(const Strategy& a, const Strategy& b, Scope scope) noexcept {
  bool same = true;
  for_each_axis(a, b, scope, [&](const char* x, const char* y, std::size_t size) {
    same = same && std::memcmp(x, y, size) == 0;
  });
  return same;
}

/// A number that strategies which are alike share, and others hardly ever.
inline std::uint64_t hash_of(const Strategy& s, Scope scope) noexcept {
  std::uint64_t hash = 0;
  for_each_axis(s, s, scope, [&](const char* at, const char*, std::size_t size) {
    std::uint64_t value = 0;
    std::memcpy(&value, at, size < sizeof value ? size : sizeof value);
    hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  });
  return hash;
}

}  // namespace sextant
