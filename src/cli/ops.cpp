// SPDX-License-Identifier: Apache-2.0
// `sextant ops gemm|attention|experts|stream`: one kernel on one device, explained.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/commands.hpp"
#include "sextant/answer/kernel.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/options/settings.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/lists.hpp"
#include "sextant/validate/known_experts.hpp"
#include "sextant/validate/validate.hpp"

namespace sextant::cli {
namespace {

using KernelChoice = std::variant<GemmCase, AttentionCase, LatentCase, ExpertsCase, StreamCase>;

GemmCase gemm_of(const OpsOptions& o, Flags& f) {
  GemmCase g;
  g.shape.m = f.size("-m", o.m);
  g.shape.n = f.size("-n", o.n);
  g.shape.k = f.size("-k", o.k);
  g.shape.batch = f.size("--batch", o.batch);
  g.shape.type = f.choice<Precision>("--dtype", o.dtype);
  g.shape.result_bytes = activation_bytes(g.shape.type);
  g.shape.activity = o.activity;
  g.quantize = o.quantize;
  if (o.quantize) g.shape.provider = GemmLibrary::scaled;
  return g;
}

KernelChoice attention_of(const OpsOptions& o, Flags& f) {
  const auto phase = f.choice<Phase>("--phase", o.phase);
  const auto type = f.choice<Precision>("--dtype", o.dtype);
  const auto cache = o.kv_dtype.empty() ? type : f.choice<Precision>("--kv-dtype", o.kv_dtype);
  const double queries = phase == Phase::decode && o.kv_len > 0 && o.q_len == OpsOptions{}.q_len
                             ? 1
                             : f.size("--q-len", o.q_len);
  const double context = o.kv_len > 0 ? f.size("--kv-len", o.kv_len) : queries;
  if (context < queries)
    f.add("--kv-len", "the context includes the queries, so it cannot be shorter", "");
  if (o.latent) {
    LatentCase l;
    l.phase = phase;
    l.shape.batch = f.size("--batch", o.batch);
    l.shape.heads = f.size("--heads", o.heads);
    l.shape.queries = queries;
    l.shape.context = context;
    l.shape.cache_type = cache;
    if (phase == Phase::backward)
      f.add("--phase", "backward of latent attention is not modelled", "");
    return l;
  }
  AttentionCase a;
  a.phase = phase;
  a.shape.batch = f.size("--batch", o.batch);
  a.shape.heads = f.size("--heads", o.heads);
  a.shape.kv_heads = o.kv_heads > 0 ? f.size("--kv-heads", o.kv_heads) : a.shape.heads;
  if (std::fmod(a.shape.heads, a.shape.kv_heads) != 0) {
    f.add("--kv-heads",
          fmt::format("{} query heads cannot share {} cache heads evenly", a.shape.heads,
                      a.shape.kv_heads),
          "use a divisor of --heads");
  }
  a.shape.head_dim = f.size("--head-dim", o.head_dim);
  a.shape.value_dim = a.shape.head_dim;
  a.shape.queries = queries;
  a.shape.context = context;
  a.shape.window = o.window;
  a.shape.causal = !o.no_causal;
  a.shape.type = type;
  a.shape.cache_type = cache;
  return a;
}

ExpertsCase experts_of(const OpsOptions& o, Flags& f) {
  ExpertsCase e;
  e.layer.tokens = f.size("--tokens", o.tokens);
  e.layer.hidden = f.size("--hidden", o.hidden);
  e.layer.ffn = f.size("--ffn", o.ffn);
  e.layer.topk = f.size("--topk", o.topk);
  e.layer.experts = static_cast<int>(f.size("--experts", std::min(o.experts, 1e6)));
  e.layer.tp = f.size("--tp", o.tp);
  e.layer.ep = static_cast<int>(f.size("--ep", std::min(o.ep, 1e6)));
  e.layer.type = f.choice<Precision>("--dtype", o.dtype);
  e.layer.gated = gated(f.choice<Mlp>("--mlp", o.mlp));
  if (o.topk > o.experts) f.add("--topk", "more experts a token than there are", "");
  if (o.ep > o.experts) f.add("--ep", "more ranks than experts", "");
  const NamedRouting routing = routing_named(o.routing);
  if (!routing.known) {
    f.add("--routing", "unknown value '" + o.routing + "'", "balanced, or power_law_1.2");
  } else if (!routing.exponent) {
    f.add("--routing", "the exponent in '" + o.routing + "' is not above 0 and at most 10",
          "for example power_law_1.2");
  }
  e.layer.routing.exponent = routing.exponent.value_or(0);
  return e;
}

StreamCase stream_of(const OpsOptions& o, Flags& f) {
  StreamCase s;
  s.op = f.choice<StreamOp>("--op", o.op);
  s.shape.rows = f.size("--rows", o.rows);
  s.shape.cols = f.size("--cols", o.cols);
  const auto type = f.choice<Precision>("--dtype", o.dtype);
  s.shape.bytes = stream_bytes(s.op, s.shape.rows, s.shape.cols, type);
  return s;
}

KernelChoice kernel_of(const OpsOptions& o, Flags& f) {
  if (o.kernel == "gemm") return gemm_of(o, f);
  if (o.kernel == "attention") return attention_of(o, f);
  if (o.kernel == "experts") return experts_of(o, f);
  return stream_of(o, f);
}

std::string library_of(const OpsOptions& o, Flags& f) {
  if (o.kernel == "experts") return "trtllm";
  if (o.kernel != "attention") return "pytorch";
  if (!contains(attention_backends, o.backend)) {
    const std::string hint =
        did_you_mean(o.backend, {attention_backends.begin(), attention_backends.end()});
    f.add("--backend", "unknown value '" + o.backend + "'",
          hint.empty() ? fmt::format("one of {}", fmt::join(attention_backends, ", ")) : hint);
  }
  return sextant::library_of(o.backend);
}

Load load_of(const OpsOptions& o, Flags& f) {
  if (o.sustained) return sustained;
  if (o.busy.empty()) return {.repeats = 1};
  return {.repeats = 0, .seconds = f.quantity<Seconds>("--busy", o.busy, {.zero = true})};
}

Precision type_of(const KernelChoice& kernel) {
  if (const auto* g = std::get_if<GemmCase>(&kernel)) return g->shape.type;
  if (const auto* e = std::get_if<ExpertsCase>(&kernel)) return e->layer.type;
  if (const auto* a = std::get_if<AttentionCase>(&kernel)) {
    return element_bytes(a->shape.cache_type) <= 1 ? Precision::fp8 : a->shape.type;
  }
  return Precision::bf16;
}

void list_assumptions(const OpsOptions& o, KernelResult& a) {
  if (a.device.provenance.cases == 0 && o.kernel == "gemm") {
    a.assumptions.push_back(
        "the device's mechanism constants are the defaults: none was fitted to it");
  }
  const Precision real = runs_as(a.device, a.type);
  if (real != a.type) {
    a.assumptions.push_back(fmt::format("{} has no {} matrix units: it runs as {}", a.device.name,
                                        name_of(a.type), name_of(real)));
  }
  if (!o.sustained && o.busy.empty()) {
    a.assumptions.push_back("one run on a cool device; --sustained for a load that goes on");
  }
  if (o.kernel == "attention" && o.kv_heads <= 0 && !o.latent) {
    a.assumptions.push_back("as many cache heads as query heads");
  }
  if (o.kernel == "gemm") a.assumptions.push_back("weights are not in L2 when the kernel starts");
}

}  // namespace

Answer run_ops(const OpsOptions& o, const Common& common) {
  Flags flags;
  const std::vector<Setting> settings = settings_of(common, {"device", "kernel"}, flags.problems);
  const KernelChoice kernel = kernel_of(o, flags);
  const std::string library = library_of(o, flags);
  const Load load = load_of(o, flags);
  KernelResult a;
  a.kernel = o.kernel;
  flags.attempt("--device", [&] { a.device = load_device(o.device, settings, common.lookup); });
  Kernels any;
  apply_settings(settings, reflect(any), "kernel", flags.problems);
  throw_if_any(std::move(flags.problems));
  a.chip = lower(a.device);
  a.type = type_of(kernel);
  Catalogue catalogue;
  std::string reason;
  const Kernels* found = catalogue.kernels(library, a.device, reason);
  if (found == nullptr) throw InputError(reason);
  Kernels kernels = *found;
  apply(settings, kernels, "kernel");
  a.cost =
      std::visit([&](const auto& k) { return evaluate_kernel(k, a.chip, kernels, load); }, kernel);
  a.asked = std::visit([&](const auto& k) { return asked_by(k, a.cost); }, kernel);
  a.power = power_demand(a.chip, a.cost, a.type);
  list_assumptions(o, a);
  return answer_of(a);
}

}  // namespace sextant::cli
