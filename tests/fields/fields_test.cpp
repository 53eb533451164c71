// SPDX-License-Identifier: Apache-2.0
// No dead field: whatever a description lets people set moves an answer of some scenario, or says
// itself why it does not (Field::inert).
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "sextant/cost/power.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/settings.hpp"
#include "sextant/predict/energy.hpp"
#include "sextant/predict/infer.hpp"
#include "sextant/predict/train.hpp"
#include "sextant/units/lists.hpp"
#include "sextant/validate/evaluate.hpp"

namespace sextant {
namespace {

/// All that a scenario is made of.
struct World {
  System system;
  Runtime runtime;
  Libraries libraries;
  Model model;
  Training training;
  Serving serving;
  Strategy strategy;
};
using Answer = std::vector<double>;

World world_of(const char* system, const char* runtime, const char* model) {
  World w;
  w.system = load_system(system);
  w.runtime = load_runtime(runtime);
  w.libraries = load_libraries(w.system, w.runtime);
  w.model = load_model(model);
  return w;
}

Answer trained(const World& w) {
  const Problem p = prepare(w.system, w.runtime, w.libraries, w.model, w.training);
  const Estimate e = evaluate(p, w.strategy);
  Answer a{static_cast<double>(e.verdict),
           e.step.value,
           e.memory.total().value,
           e.power.value,
           e.energy.total().value,
           e.peak.value,
           e.devices};
  for (const Span& s : e.time.values) a.push_back(s.busy.value), a.push_back(s.exposed.value);
  return a;
}

Answer served(const World& w) {
  Problem p = prepare(w.system, w.runtime, w.libraries, w.model, w.serving);
  const Speculation& guesses = w.serving.speculation;
  if (guesses.tokens > 0 && guesses.draft.starts_with("llama"))
    p.draft = draft_of(p, load_model(guesses.draft));
  const ServingEstimate e = serve(p, w.strategy);
  return {static_cast<double>(e.verdict),
          e.ttft.value,
          e.tpot.value,
          e.latency.value,
          e.tokens_per_second,
          e.memory.total().value,
          e.memory.max_batch,
          e.devices,
          request_energy(p, w.strategy).total().value};
}

Answer kernels(const World& w) {
  const Chip chip = lower(w.system.device);
  const Kernels& k = w.libraries.kernels;
  Answer a;
  const auto add = [&](const auto& c) {
    const KernelCost cost = evaluate_kernel(c, chip, k, {.repeats = 100});
    a.push_back(cost.time.value);
    a.push_back(power_demand(chip, cost, Precision::bf16).value);
  };
  for (const Precision type :
       {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16, Precision::fp8,
        Precision::int8, Precision::fp6, Precision::fp4, Precision::int4}) {
    for (const double m : {1.0, 300.0, 8192.0}) {
      GemmCase g{.shape = {.m = m, .n = 4096, .k = 16384, .type = type}};
      add(g);
      g.quantize = true;
      g.shape.provider = GemmLibrary::scaled;
      add(g);
    }
  }
  for (const Precision cache : {Precision::bf16, Precision::fp8}) {
    for (const Phase phase : {Phase::prefill, Phase::decode, Phase::backward, Phase::mixed}) {
      for (const double queries_a_head : {1.0, 8.0, 32.0}) {
        for (const double batch : {1.0, 64.0}) {
          AttentionCase c{.phase = phase, .scope = {}, .decoding = 16, .decode_context = 1000};
          c.shape.batch = batch;
          c.shape.heads = 32;
          c.shape.kv_heads = 32 / queries_a_head;
          c.shape.head_dim = c.shape.value_dim = 128;
          c.shape.queries = phase == Phase::decode ? 1 : 2048;
          c.shape.context = phase == Phase::decode ? 16000 : 2048;
          c.shape.cache_type = cache;
          add(c);
          c.shape.context = phase == Phase::decode ? 1000 : 2048;
          add(c);
        }
      }
      LatentCase l{.phase = phase};
      if (phase == Phase::backward) continue;
      l.shape.batch = 8;
      l.shape.heads = 128;
      l.shape.queries = phase == Phase::decode ? 1 : 2048;
      l.shape.context = 4096;
      l.shape.cache_type = cache;
      add(l);
    }
    ExpertsCase e{.layer = {.tokens = 512, .hidden = 2048, .ffn = 768, .topk = 8, .experts = 128}};
    e.layer.type = cache;
    add(e);
    e.layer.tokens = 32768;
    add(e);
    e.unfused = true;
    add(e);
    e.layer.tokens = 1;
    add(e);
  }
  for (std::size_t op = 0; op < static_cast<std::size_t>(StreamOp::count); ++op) {
    for (const double rows : {1.0, 4000.0}) {
      StreamCase s{.op = static_cast<StreamOp>(op),
                   .shape = {.rows = rows, .cols = 8192, .bytes = Bytes(rows * 8192 * 4)}};
      add(s);
    }
  }
  return a;
}

Answer collectives(const World& w) {
  const Network net = lower(w.system);
  Answer a;
  for (const CollectiveLibrary* library : {&w.libraries.collectives, &w.libraries.small}) {
    for (const Group g : {Group{2, 2}, Group{4, 4}, Group{8, 8}, Group{64, 8}, Group{256, 8}}) {
      for (double bytes = 256; bytes < 1e10; bytes *= 8) {
        for (const Collective op : {Collective::all_reduce, Collective::all_gather,
                                    Collective::all_to_all, Collective::send_recv}) {
          a.push_back(collective(net, *library, op, g, Bytes(bytes)).time.value);
        }
      }
      for (const bool decode : {false, true}) {
        a.push_back(expert_exchange(net, *library, g,
                                    {.tokens = 512, .topk = 8, .hidden = 4096, .decode = decode})
                        .time.value);
      }
    }
  }
  return a;
}

struct Probe {
  World world;
  std::function<Answer(const World&)> ask;
  std::vector<std::string_view> roots;  ///< that it depends on
  Answer before = {};
};

std::vector<Probe> probes() {
  std::vector<Probe> all;
  const auto train = [&](World w, const Training& work, const Strategy& s) {
    w.training = work;
    w.strategy = s;
    all.push_back({std::move(w), trained, {"system", "model", "runtime", "training", "strategy"}});
  };
  const auto serve = [&](World w, const Serving& work, const Strategy& s) {
    w.serving = work;
    w.strategy = s;
    all.push_back({std::move(w), served, {"system", "model", "runtime", "serving", "strategy"}});
  };
  const Training work{.batch = 64, .seq = 4096};
  train(world_of("dgx-h100", "megatron-core", "llama3.1-8b"), work,
        {.tp = 4, .pp = 4, .dp = 2, .interleave = 2, .zero = 1, .sp = true});
  train(world_of("dgx-h100", "megatron-core", "llama3.1-8b"), {.batch = 16, .seq = 65536},
        {.tp = 2, .dp = 2, .cp = 4, .recompute = Recompute::full, .recompute_layers = 4});
  train(world_of("dgx-h100", "megatron-core", "mixtral-8x7b"), work,
        {.tp = 2, .dp = 16, .ep = 4, .etp = 2, .sp = true, .precision = Precision::fp8});
  train(world_of("dgx-b200", "megatron-core", "deepseek-v3"), work,
        {.pp = 4, .dp = 64, .ep = 64, .zero = 1, .precision = Precision::fp8});
  train(world_of("dgx-a100", "megatron-lm", "gpt3-175b"), work,
        {.tp = 8, .pp = 8, .recompute = Recompute::selective});
  train(world_of("aws-p5", "nanotron", "llama3.1-8b"), work, {.tp = 16, .dp = 4, .zero = 1});
  train(world_of("aws-p5", "nanotron", "llama3.1-8b"), work,
        {.tp = 4, .pp = 4, .dp = 4, .sp = true});
  train(world_of("dgx-h100", "fsdp", "mpt-7b"), work, {.dp = 64, .zero = 3, .shard = 16});
  train(world_of("dgx-h100", "deepspeed", "llama2-13b"), work,
        {.dp = 16, .zero = 2, .offload = true});
  train(world_of("h200-single", "pytorch", "gpt2-large"), {.batch = 2, .seq = 512},
        {.recompute = Recompute::full});
  train(world_of("gb200-nvl72", "megatron-core", "deepseek-v3"), {.batch = 1024, .seq = 4096},
        {.pp = 4,
         .dp = 64,
         .ep = 64,
         .zero = 1,
         .schedule = Schedule::dual_pipe,
         .precision = Precision::fp8});
  all.back().roots.push_back("collective");
  World dropping = world_of("h200-single", "pytorch", "gpt2-large");
  dropping.runtime.dropout = true;
  train(dropping, {.batch = 2, .seq = 1024}, {});
  all.back().roots.push_back("kernel");
  train(world_of("dgx-h200", "megatron-core", "qwen3-next-80b-a3b"), work, {.dp = 8, .ep = 8});
  train(world_of("dgx-h200", "megatron-core", "gemma4-2b"), work, {.tp = 2});
  // Without what it has beside its recurrences.
  World alone = world_of("dgx-h200", "megatron-core", "falcon-h1-7b");
  alone.model.hybrid.parallel = false;
  alone.model.hybrid.attention_layers = 0;
  train(alone, work, {.tp = 2});
  train(world_of("dgx-h200", "megatron-core", "step-3.5-flash"), work, {.dp = 8, .ep = 8});
  train(world_of("dgx-h200", "megatron-core", "gpt-oss-20b"), work, {.dp = 8, .ep = 8});
  train(world_of("dgx-h200", "megatron-core", "deepseek-v3.2"), {.batch = 64, .seq = 8192},
        {.dp = 64, .ep = 64, .zero = 1});
  train(world_of("dgx-h200", "megatron-core", "deepseek-v4-flash"), work, {.dp = 64, .ep = 64});
  train(world_of("h200-single", "pytorch", "llama2-7b"),
        {.batch = 4, .seq = 2048, .tuning = {.rank = 16, .targets = {.qkv = true, .down = true}}},
        {});
  train(world_of("dgx-h200", "megatron-core", "gemma3-4b"), {.batch = 64, .seq = 4096, .images = 1},
        {.tp = 2});
  train(world_of("dgx-h200", "megatron-core", "mixtral-8x7b"),
        {.batch = 64, .seq = 4096, .tuning = {.rank = 16, .targets = {.qkv = true}}},
        {.dp = 8, .ep = 8});
  Serving many{.batch = 32, .input = 1000, .output = 100};
  serve(world_of("dgx-h200", "vllm", "qwen2.5-vl-7b"), {.batch = 4, .images = 1}, {.tp = 2});
  serve(world_of("dgx-h200", "vllm", "llama3.2-11b-vision"), {.batch = 4, .images = 1}, {});
  serve(world_of("dgx-h200", "trtllm", "llama3.1-70b"), many, {.tp = 4, .pp = 2});
  serve(world_of("dgx-h200", "trtllm", "deepseek-v3"), many,
        {.dp = 16, .ep = 16, .precision = Precision::fp8});
  serve(world_of("dgx-h200", "trtllm", "llama4-scout"), many, {.dp = 8, .ep = 8});
  many.cache = Precision::fp8;
  many.batching = Batching::closed_loop;
  many.chunk = 256;
  serve(world_of("dgx-h100", "vllm", "llama3.1-8b"), many, {.tp = 2});
  many.speculation.tokens = 3;
  serve(world_of("dgx-h100", "vllm", "qwen3-next-80b-a3b"), many, {.tp = 4});
  serve(world_of("dgx-h100", "vllm", "gemma4-2b"), many, {});
  serve(world_of("dgx-a100", "vllm-2023", "opt-13b"), {.batch = 4, .input = 100, .output = 50},
        {.tp = 2});
  serve(world_of("dgx-h200", "nemo-2023", "nemotron-h-56b"), {.batch = 4}, {});
  serve(world_of("dgx-h200", "vllm", "jamba-1.5-mini"), {.batch = 4}, {.tp = 2});
  serve(world_of("dgx-a100", "llama.cpp", "llama3-8b"), {.batch = 1},
        {.precision = Precision::int4});
  all.back().roots.push_back("kernel");
  serve(world_of("dgx-b200", "trtllm", "deepseek-r1"), {.batch = 4, .input = 4096, .output = 50},
        {.tp = 8, .ep = 8, .precision = Precision::fp4});
  all.back().roots.push_back("kernel");
  serve(world_of("dgx-h200", "vllm", "deepseek-v3.2"), {.batch = 1, .input = 4096, .output = 50},
        {.tp = 8, .precision = Precision::fp8});
  all.back().roots.push_back("kernel");
  serve(world_of("dgx-b200", "vllm", "gpt-oss-20b"), {.batch = 4}, {.precision = Precision::fp4});
  // Learned sinks before Hopper, and experts that are widened on the way on it.
  for (const char* system : {"dgx-a100", "dgx-h100"}) {
    serve(world_of(system, "vllm", "gpt-oss-20b"), {.batch = 4, .input = 4096},
          {.precision = Precision::fp4});
    all.back().roots.push_back("kernel");
  }
  serve(world_of("m2-ultra-node", "llama.cpp", "llama3-8b"), {.batch = 1},
        {.precision = Precision::int4});
  all.back().roots.push_back("kernel");
  serve(world_of("dgx-h100", "llama.cpp-2026", "llama3-8b"), {.batch = 1},
        {.precision = Precision::int8});
  for (const char* system : {"dgx-h100", "dgx-spark"}) {
    serve(world_of(system, "llama.cpp-2026", "gpt-oss-20b"), {.batch = 1, .input = 2000},
          {.precision = Precision::fp4});
  }
  // Sums of 11 MB, which engines take into their own hands.
  serve(world_of("mi300x-node", "vllm-rocm", "llama3.1-70b"), {.batch = 1, .input = 700},
        {.tp = 8});
  all.back().roots.push_back("collective");
  // Weights beyond the first memory, and half of them in a second one.
  World tiered = world_of("dgx-h100", "vllm", "llama2-70b");
  tiered.system.device.tier = {.kind = {},
                               .capacity = Bytes(150e9),
                               .bandwidth = BytesPerSecond(1e12),
                               .energy = JoulesPerByte(150e-12),
                               .latency = Seconds(2e-6)};
  serve(tiered, {.batch = 16, .input = 2000, .output = 50}, {});
  serve(tiered,
        {.batch = 16, .input = 2000, .output = 50, .placement = Placement::weights, .placed = 0.8},
        {});
  for (const auto& [system, runtime] :
       {std::pair{"dgx-h100", "pytorch"}, std::pair{"dgx-a100", "trtllm"},
        std::pair{"dgx-h200", "trtllm"}, std::pair{"dgx-b200", "trtllm-2023"},
        std::pair{"dgx-h100", "fsdp"}}) {
    all.push_back({world_of(system, runtime, "llama2-7b"), kernels, {"system", "kernel"}});
  }
  for (const char* system : {"dgx-h100", "tpu-v5p-node", "mi300x-node"}) {
    all.push_back({world_of(system, "vllm", "llama2-7b"), collectives, {"system", "collective"}});
  }
  // All ways cost the same here, so that any that gets cheaper shows.
  World free = world_of("dgx-h100", "vllm", "llama2-7b");
  free.libraries.small = CollectiveLibrary{};
  free.libraries.small.peer_reads = true;
  all.push_back({std::move(free), collectives, {"collective"}});
  World experts = world_of("dgx-h100", "vllm", "llama2-7b");
  experts.libraries.collectives = load_collectives("nccl");
  experts.system.fabrics.back().leaf = 64;
  experts.system.fabrics.back().oversubscription = 2;
  all.push_back({std::move(experts), collectives, {"system", "collective"}});
  for (Probe& p : all) p.before = p.ask(p.world);
  return all;
}

/// A root as people write it, and where it is in a world.
struct Root {
  const char* name;
  StructRef (*in)(World&);
};
const Root roots[] = {
    {"system", [](World& w) { return reflect(w.system); }},
    {"model", [](World& w) { return reflect(w.model); }},
    {"runtime", [](World& w) { return reflect(w.runtime); }},
    {"kernel", [](World& w) { return reflect(w.libraries.kernels); }},
    {"collective", [](World& w) { return reflect(w.libraries.collectives); }},
    {"collective", [](World& w) { return reflect(w.libraries.small); }},
    {"training", [](World& w) { return reflect(w.training); }},
    {"serving", [](World& w) { return reflect(w.serving); }},
    {"strategy", [](World& w) { return reflect(w.strategy); }},
};

struct Leaf {
  std::string path;
  Field field;
};

void add_leaves(const Target& target, const Field& field, const std::string& path,
                std::vector<Leaf>& out) {
  if (const auto* s = std::get_if<StructRef>(&target)) {
    if (!field.inert.empty()) return;  // and all that is in it
    for (const Slot& f : s->fields) add_leaves(f.target, f.field, join_path(path, f.name), out);
  } else if (const auto* l = std::get_if<ListRef>(&target)) {
    for (std::size_t i = 0; i < l->size(l->list); ++i) {
      add_leaves(l->element(l->list, i).target, field, join_path(path, std::to_string(i)), out);
    }
  } else {
    out.push_back({path, field});
  }
}

/// Sets the field to its n-th other value; false where there is none.
struct Change {
  const Field& field;
  int n;

  bool number(double& v) const {
    const double other[] = {v * 1.5, v * 0.5, v + 1e-3, 0};
    if (n >= 4) return false;
    v = std::clamp(other[n], field.min, field.max);
    return true;
  }
  bool operator()(bool* v) const { return n == 0 ? (*v = !*v, true) : false; }
  bool operator()(int* v) const {
    const int other[] = {*v * 2, *v / 2, *v + 1, *v - 1, 0, 64};
    if (n >= 6) return false;
    *v = static_cast<int>(std::clamp<double>(other[n], field.min, std::min(field.max, 2e9)));
    return true;
  }
  bool operator()(std::int64_t*) const { return false; }
  bool operator()(double* v) const { return number(*v); }
  bool operator()(std::string* v) const {
    const char* other[] = {"trtllm", "rccl", "one-shot", "llama3.2-1b"};
    return n < 4 ? (*v = other[n], true) : false;
  }
  bool operator()(const EnumRef& e) const {
    if (n >= static_cast<int>(e.names.size())) return false;
    e.set(e.value, static_cast<std::size_t>(n));
    return true;
  }
  bool operator()(const QuantityRef& q) const { return number(*q.value); }
  bool operator()(const StructRef&) const { return false; }
  bool operator()(const ListRef&) const { return false; }
};

// Some change of the field changes the answer.
bool moves(const Probe& probe, const Root& root, const Leaf& leaf) {
  for (int n = 0;; ++n) {
    World w = probe.world;
    Diagnostic problem;
    const std::optional<Slot> slot = find_field(root.in(w), leaf.path, root.name, problem);
    if (!slot) return false;  // fewer fabrics
    if (!std::visit(Change{leaf.field, n}, slot->target)) return false;
    if (std::holds_alternative<std::string*>(slot->target)) {
      try {
        w.libraries = load_libraries(w.system, w.runtime);
      } catch (const InputError&) {
        continue;
      }
    }
    Model completed = w.model;
    complete(completed);
    if (!check(completed).empty() || !check(w.system.device).empty()) continue;
    if (probe.ask(w) != probe.before) return true;
  }
}

TEST(Fields, EachMovesAnAnswerOrSaysWhyNot) {
  const std::vector<Probe> all = probes();
  std::set<std::string> alive;
  std::set<std::string> dead;
  for (const Root& root : roots) {
    for (const Probe& probe : all) {
      const auto& own = probe.roots;
      if (!contains(own, root.name)) continue;
      World w = probe.world;
      std::vector<Leaf> leaves;
      add_leaves(root.in(w), {}, "", leaves);
      for (const Leaf& leaf : leaves) {
        if (!leaf.field.inert.empty()) continue;
        std::string name = std::string(root.name) + "." + leaf.path;
        for (char& c : name) {
          if (c >= '0' && c <= '9' && name.find("fabrics.") != std::string::npos) c = '*';
        }
        if (alive.contains(name)) continue;
        (moves(probe, root, leaf) ? alive : dead).insert(name);
      }
    }
  }
  // Kernels of one shape of which some need less than others, and rates that only reports show.
  for (const char* known :
       {"kernel.decode.efficiency", "kernel.decode_8bit.efficiency",
        "kernel.decode_single.efficiency", "kernel.decode_single_8bit.efficiency",
        "kernel.decode_single.group", "kernel.decode_single_8bit.group",
        "kernel.latent_decode.group", "kernel.latent_decode_8bit.group",
        "kernel.decode_single.chunk", "kernel.decode_single_8bit.chunk",
        "kernel.stream.adamw.arithmetic", "system.device.l2.per_clock",
        "system.device.shared.capacity", "system.device.matrix.int4",
        // Tokens beside a prompt are of the plain kernels alone.
        "kernel.backward.empty_cycles", "kernel.latent_prefill.empty_cycles",
        "kernel.latent_prefill_8bit.empty_cycles", "kernel.prefill_sinks.empty_cycles",
        // Learned sinks, modules that rotate and append, ZeRO 1 with room to spare: no probe has
        // them.
        "kernel.sinks", "kernel.whole_module", "runtime.footprint.update_copy"}) {
    alive.insert(known);
  }
  // Rows too long for the cores' caches slow or speed some streaming operators.
  for (const std::string_view op : names_of(StreamOp{})) {
    for (const std::string field : {"narrow_cols", "wide_cols", "wide_elements"}) {
      if (!alive.contains("kernel.stream.rmsnorm." + field)) continue;
      alive.insert("kernel.stream." + std::string(op) + "." + field);
    }
  }
  for (const std::string& name : dead) {
    EXPECT_TRUE(alive.contains(name)) << name << " moves nothing: use it, drop it or mark it inert";
  }
}

}  // namespace
}  // namespace sextant
