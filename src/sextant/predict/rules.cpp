// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>

#include "sextant/predict/infer.hpp"
#include "sextant/predict/layout.hpp"
#include "sextant/predict/nearest.hpp"
#include "sextant/predict/recompute.hpp"

namespace sextant {
namespace {

using Count = std::int64_t;

bool divides(Count part, Count whole) noexcept { return part > 0 && whole % part == 0; }

/// What a rule says where it is broken.
struct Words {
  std::string message;
  std::string hint;
  std::string_view field = {};  ///< where it is not the rule's
};

/// `holds` keeps no state and allocates nothing; `say` is called only where it does not hold.
template <class Holds, class Say>
struct Rule {
  Verdict verdict;
  std::string_view field;
  Holds holds;
  Say say;
};
template <class Holds, class Say>
Rule(Verdict, std::string_view, Holds, Say) -> Rule<Holds, Say>;

/// What divides the heads of all layers with attention; 0: none has any.
Count heads_of(const Problem& p) {
  const Attention& a = p.model.attention;
  if (p.layers.attention == 0) return 0;
  return a.global_heads > 0 ? std::gcd(Count{a.heads}, Count{a.global_heads}) : a.heads;
}
Count ffn_of(const Problem& p) { return p.layers.dense > 0 ? p.model.ffn : 0; }

/// What divides the heads that context-parallel ranks share out: of recurrences always.
Count shared_heads(const Problem& p, const Strategy& s) {
  const Hybrid& h = p.model.hybrid;
  const bool scans = p.layers.recurrent > 0 && h.kind != Recurrence::convolution;
  return std::gcd(s.context == ContextKind::all_to_all ? heads_of(p) : 0,
                  scans ? Count{h.heads} : 0);
}

std::string nearest_tp(const Problem& p, const Strategy& s) {
  const Count heads = heads_of(p);
  const Count ffn = ffn_of(p);
  return nearest(s.tp, std::max(heads, ffn),
                 [&](Count t) { return divides(t, heads) && divides(t, ffn); });
}

/// Ranks that experts are dealt to.
Count expert_ranks_of(const Strategy& s) { return Count{s.tp} * s.cp * s.dp; }

std::string nearest_ep(const Strategy& s, Count count) {
  return nearest(s.ep, count, [&](Count n) {
    return divides(n, count) && divides(n * s.etp, expert_ranks_of(s));
  });
}

/// A causal ring gives each rank two pieces, one early and one late, which balances the work.
Count sequence_pieces(const Strategy& s) {
  const Count ring = s.cp > 1 && s.context == ContextKind::ring ? 2 : 1;
  return ring * s.cp * (s.sp ? s.tp : 1);
}

Count step_of(const Strategy& s) { return Count{s.dp} * s.microbatch; }

constexpr Rule device_rule{
    Verdict::too_many_devices, "dp",
    [](const Problem& p, const Strategy& s) { return devices_of(s) <= p.max_devices; },
    [](const Problem& p, const Strategy& s) -> Words {
      const Count others = Count{s.tp} * s.cp * s.pp;
      const Count most = p.max_devices / others;
      const std::string context = s.cp > 1 ? fmt::format(" x cp {}", s.cp) : "";
      return {fmt::format("tp {}{} x pp {} x dp {} is {} devices, the system has {}", s.tp, context,
                          s.pp, s.dp, devices_of(s), p.max_devices),
              most >= 1
                  ? fmt::format("at most dp {} fits beside them", most)
                  : fmt::format("a smaller tp{} or pp; or --set system.max_devices for a larger "
                                "system",
                                s.cp > 1 ? ", cp" : ""),
              s.dp > 1 ? "dp" : "tp"};
    }};

constexpr Rule head_rule{
    Verdict::heads_not_divisible, "tp",
    [](const Problem& p, const Strategy& s) { return divides(s.tp, heads_of(p)); },
    [](const Problem& p, const Strategy& s) -> Words {
      return {fmt::format("tp {} does not divide the {} heads", s.tp, heads_of(p)),
              nearest_tp(p, s)};
    }};

constexpr Rule ffn_rule{
    Verdict::ffn_not_divisible, "tp",
    [](const Problem& p, const Strategy& s) { return divides(s.tp, ffn_of(p)); },
    [](const Problem& p, const Strategy& s) -> Words {
      return {fmt::format("tp {} does not divide the MLP's width, {}", s.tp, ffn_of(p)),
              nearest_tp(p, s)};
    }};

constexpr Rule layer_rule{
    Verdict::layers_too_few, "pp",
    [](const Problem& p, const Strategy& s) {
      // With several chunks a stage, embedding and loss may have one each to themselves.
      return Count{s.pp} * s.interleave <= p.model.layers + (s.interleave > 1 ? 2 : 0);
    },
    [](const Problem& p, const Strategy& s) -> Words {
      const int layers = p.model.layers;
      const int most = layers / s.interleave;
      const std::string hint = most >= 1 ? fmt::format("pp {} is the most", most)
                                         : fmt::format("interleave {} is the most", layers);
      if (s.interleave == 1) {
        return {fmt::format("pp {} is more stages than the model has layers, {}", s.pp, layers),
                hint};
      }
      return {fmt::format("pp {} x interleave {} is {} chunks, the model has {} layers", s.pp,
                          s.interleave, Count{s.pp} * s.interleave, layers),
              hint, "interleave"};
    }};

constexpr Rule no_experts_rule{
    Verdict::experts_not_divisible, "ep",
    [](const Problem& p, const Strategy& s) {
      return p.model.experts.count > 0 || (s.ep == 1 && s.etp == 1);
    },
    [](const Problem&, const Strategy& s) -> Words {
      const std::string_view field = s.ep > 1 ? "ep" : "etp";
      return {fmt::format("{} {}, and the model has no experts", field, s.ep > 1 ? s.ep : s.etp),
              fmt::format("leave {} out", field), field};
    }};

constexpr Rule expert_rule{
    Verdict::experts_not_divisible, "ep",
    [](const Problem& p, const Strategy& s) {
      return p.model.experts.count == 0 || divides(s.ep, p.model.experts.count);
    },
    [](const Problem& p, const Strategy& s) -> Words {
      return {fmt::format("ep {} does not divide the {} experts", s.ep, p.model.experts.count),
              nearest_ep(s, p.model.experts.count)};
    }};

constexpr Rule served_expert_rule{
    Verdict::experts_not_divisible, "ep",
    [](const Problem& p, const Strategy& s) {
      return p.model.experts.count == 0 || divides(s.ep, served(p.model.experts));
    },
    [](const Problem& p, const Strategy& s) -> Words {
      const Experts& e = p.model.experts;
      const std::string other = nearest_ep(s, served(e));
      const Count short_of = (s.ep - e.count % s.ep) % s.ep;
      return {fmt::format("ep {} does not divide the {} experts{}", s.ep, served(e),
                          e.redundant > 0 ? ", copies included" : ""),
              fmt::format("{}--set model.experts.redundant={} holds as many copies",
                          other.empty() ? "" : other + "; ", short_of)};
    }};

constexpr Rule expert_rank_rule{
    Verdict::expert_ranks, "ep",
    [](const Problem& p, const Strategy& s) {
      return p.model.experts.count == 0 || divides(Count{s.ep} * s.etp, expert_ranks_of(s));
    },
    [](const Problem& p, const Strategy& s) -> Words {
      return {
          fmt::format("experts live on the ranks of tp {}{} x dp {} = {}, which ep {}{} does "
                      "not divide",
                      s.tp, s.cp > 1 ? fmt::format(" x cp {}", s.cp) : "", s.dp, expert_ranks_of(s),
                      s.ep, s.etp > 1 ? fmt::format(" x etp {}", s.etp) : ""),
          nearest_ep(s, served(p.model.experts))};
    }};

std::string no_tower(const Problem& p) { return p.model.name + " has no tower for images"; }
constexpr const char* towers = "leave images out, or take a model such as qwen2.5-vl-7b";

constexpr std::tuple training_rules{
    Rule{Verdict::runtime_task, "runtime",
         [](const Problem& p, const Strategy&) { return p.runtime.trains; },
         [](const Problem& p, const Strategy&) -> Words {
           return {p.runtime.name + " serves, it does not train", "such as megatron-core trains"};
         }},
    Rule{Verdict::precision_of_weights, "precision",
         [](const Problem&, const Strategy& s) { return !whole_numbers(s.precision); },
         [](const Problem&, const Strategy& s) -> Words {
           return {fmt::format("{} is a type of weights that do not change: nothing trains in it",
                               name_of(s.precision)),
                   "fp8 or bf16"};
         }},
    device_rule,
    Rule{Verdict::needs_tensor_parallel, "sp",
         [](const Problem&, const Strategy& s) { return !s.sp || s.tp > 1; },
         [](const Problem&, const Strategy&) -> Words {
           return {
               "sequence parallelism shares out what tensor parallelism leaves whole: it needs "
               "tp above 1",
               "leave sp out, or take tp 2 or more"};
         }},
    head_rule,
    ffn_rule,
    Rule{
        Verdict::sequence_not_divisible, "seq",
        [](const Problem& p, const Strategy& s) { return divides(sequence_pieces(s), p.work.seq); },
        [](const Problem& p, const Strategy& s) -> Words {
          const bool ring = s.cp > 1 && s.context == ContextKind::ring;
          const Count pieces = sequence_pieces(s);
          return {fmt::format("seq {} is not a multiple of {}cp {}{} = {}", p.work.seq,
                              ring ? "2 x " : "", s.cp, s.sp ? fmt::format(" x tp {}", s.tp) : "",
                              pieces),
                  nearest_multiple(p.work.seq, pieces)};
        }},
    Rule{Verdict::heads_not_divisible, "cp",
         [](const Problem& p, const Strategy& s) {
           return s.cp == 1 || divides(Count{s.tp} * s.cp, shared_heads(p, s));
         },
         [](const Problem& p, const Strategy& s) -> Words {
           const Count heads = shared_heads(p, s);
           return {fmt::format(
                       "context parallelism {} shares out heads: tp {} x cp {} does not "
                       "divide the {}",
                       s.context == ContextKind::all_to_all ? "by all-to-all" : "of recurrences",
                       s.tp, s.cp, heads),
                   nearest(s.cp, heads, [&](Count c) { return divides(s.tp * c, heads); })};
         }},
    layer_rule,
    Rule{Verdict::batch_not_divisible, "batch",
         [](const Problem& p, const Strategy& s) { return divides(step_of(s), p.work.batch); },
         [](const Problem& p, const Strategy& s) -> Words {
           const Count batch = p.work.batch;
           const std::string other =
               nearest(s.dp, batch, [&](Count dp) { return divides(dp * s.microbatch, batch); });
           return {fmt::format("batch {} is not dp {} x microbatch {} x a whole number", batch,
                               s.dp, s.microbatch),
                   fmt::format("{} for the batch{}", nearest_multiple(batch, step_of(s)),
                               other.empty() ? "" : ", " + other + " for dp")};
         }},
    Rule{Verdict::interleave_needs_pipeline, "interleave",
         [](const Problem&, const Strategy& s) { return s.interleave == 1 || s.pp > 1; },
         [](const Problem&, const Strategy& s) -> Words {
           return {fmt::format("interleave {} deals chunks of the model to pipeline stages, and pp "
                               "is 1",
                               s.interleave),
                   "leave interleave out, or take pp 2 or more"};
         }},
    Rule{Verdict::interleave_batch, "batch",
         [](const Problem& p, const Strategy& s) {  // a batch that does not divide has its own rule
           return s.interleave == 1 || divides(s.pp, p.work.batch / step_of(s)) ||
                  !divides(step_of(s), p.work.batch);
         },
         [](const Problem& p, const Strategy& s) -> Words {
           return {
               fmt::format("interleaving deals microbatches in rounds of pp: {} a replica is "
                           "not a multiple of pp {}",
                           p.work.batch / step_of(s), s.pp),
               fmt::format("{} for the batch", nearest_multiple(p.work.batch, s.pp * step_of(s)))};
         }},
    Rule{Verdict::zero_bubble_interleaved, "schedule",
         [](const Problem&, const Strategy& s) {
           return s.interleave == 1 || s.schedule == Schedule::one_f_one_b ||
                  s.schedule == Schedule::gpipe;
         },
         [](const Problem&, const Strategy& s) -> Words {
           return {fmt::format("{} deals the model to stages in its own way, and interleave is {}",
                               name_of(s.schedule), s.interleave),
                   "leave interleave out, or schedule 1f1b"};
         }},
    Rule{Verdict::stages_not_paired, "pp",
         [](const Problem&, const Strategy& s) {
           return s.schedule != Schedule::dual_pipe || s.pp == 1 || divides(2, s.pp);
         },
         [](const Problem&, const Strategy& s) -> Words {
           return {fmt::format("{} gives each rank a stage from either end, and pp {} is odd",
                               name_of(s.schedule), s.pp),
                   fmt::format("pp {}, or another schedule", s.pp + 1)};
         }},
    no_experts_rule,
    expert_rule,
    expert_rank_rule,
    Rule{Verdict::ffn_not_divisible, "etp",
         [](const Problem& p, const Strategy& s) {
           return p.model.experts.count == 0 || divides(s.etp, p.model.experts.ffn);
         },
         [](const Problem& p, const Strategy& s) -> Words {
           const Count ffn = p.model.experts.ffn;
           return {fmt::format("etp {} does not divide an expert's width, {}", s.etp, ffn),
                   nearest(s.etp, ffn, [&](Count t) { return divides(t, ffn); })};
         }},
    Rule{Verdict::shard_not_divisible, "shard",
         [](const Problem&, const Strategy& s) { return s.shard == 0 || divides(s.shard, s.dp); },
         [](const Problem&, const Strategy& s) -> Words {
           return {fmt::format("groups of {} replicas do not divide dp {}", s.shard, s.dp),
                   nearest(s.shard, s.dp, [&](Count n) { return divides(n, s.dp); })};
         }},
    Rule{Verdict::zero_with_pipeline, "zero",
         [](const Problem&, const Strategy& s) { return s.zero < 3 || s.pp == 1; },
         [](const Problem&, const Strategy& s) -> Words {
           return {fmt::format("zero {} shards weights, which a pipeline (pp {}) would gather for "
                               "every microbatch",
                               s.zero, s.pp),
                   "zero 2, as FSDP runs in pipelines: weights stay gathered; or pp 1"};
         }},
    Rule{Verdict::images_without_tower, "images",
         [](const Problem& p, const Strategy&) {
           return p.work.images == 0 || p.model.vision.layers > 0;
         },
         [](const Problem& p, const Strategy&) -> Words {
           return {no_tower(p), towers};
         }},
    Rule{Verdict::images_too_many, "images",
         [](const Problem& p, const Strategy&) {
           return p.work.images * image_tokens(p.model.vision) <= p.work.seq;
         },
         [](const Problem& p, const Strategy&) -> Words {
           const double each = image_tokens(p.model.vision);
           return {fmt::format("{} images of {:.0f} tokens are more than seq {}", p.work.images,
                               each, p.work.seq),
                   fmt::format("{:.0f} for this seq, or smaller ones: --set model.vision.image",
                               std::floor(p.work.seq / each))};
         }},
};

constexpr std::tuple serving_rules{
    Rule{Verdict::runtime_task, "runtime",
         [](const Problem& p, const Strategy&) { return p.runtime.serves; },
         [](const Problem& p, const Strategy&) -> Words {
           return {p.runtime.name + " trains, it does not serve", "such as trtllm or vllm serves"};
         }},
    device_rule,
    head_rule,
    ffn_rule,
    layer_rule,
    no_experts_rule,
    served_expert_rule,
    expert_rank_rule,
    Rule{Verdict::chunk_without_loop, "chunk",
         [](const Problem& p, const Strategy&) {
           return p.serving.chunk == 0 || p.serving.batching == Batching::closed_loop;
         },
         [](const Problem&, const Strategy&) -> Words {
           return {"pieces of a prompt join the decode steps of other requests",
                   "it needs batching closed-loop"};
         }},
    // CUTLASS's kernels for Blackwell have none: vLLM and SGLang stop when they load such a
    // checkpoint (vllm pull request 25935, sglang 28137).
    Rule{Verdict::runtime_task, "precision",
         [](const Problem& p, const Strategy& s) {
           return p.runtime.weights.int8_beside_fp4 || p.model.activations != Activations::int8 ||
                  p.chip.runs[Precision::fp4] != Precision::fp4 ||
                  multiplied_in(p, s, s.precision) != Precision::int8;
         },
         [](const Problem& p, const Strategy&) -> Words {
           return {
               p.runtime.name + " multiplies no int8 activations where a device has 4-bit floats",
               "fp8 instead, or its int8 weights with 16 bits: --set model.activations=wide"};
         }},
    Rule{Verdict::images_without_tower, "images",
         [](const Problem& p, const Strategy&) {
           return p.serving.images == 0 || p.model.vision.layers > 0;
         },
         [](const Problem& p, const Strategy&) -> Words {
           return {no_tower(p), towers};
         }},
    Rule{Verdict::placement_without_tier, "placement",
         [](const Problem& p, const Strategy&) {
           const Placement how = p.serving.placement;
           const bool cache = how == Placement::cache || how == Placement::both;
           if (how == Placement::overflow) return p.serving.placed == 1;
           if (how == Placement::spread && p.serving.placed != 1) return false;
           return p.tier.capacity.value > 0 && !(cache && p.tier.read_only);
         },
         [](const Problem& p, const Strategy&) -> Words {
           const std::string how(name_of(p.serving.placement));
           if (p.serving.placement == Placement::overflow) {
             return {"a share is of weights, cache or both; overflow is what does not fit",
                     "such as placement weights"};
           }
           if (p.serving.placement == Placement::spread && p.serving.placed != 1) {
             return {"a share is of weights, cache or both; spread is as fast as both memories",
                     "leave placed out"};
           }
           if (p.tier.capacity.value > 0) {
             return {how + " in " + (p.tier.kind.empty() ? "a memory" : p.tier.kind) +
                         ", which is read only: a cache is written in every step",
                     "weights can live there, or spread"};
           }
           return {how + " in a second memory, which the device does not have",
                   "give it one: --set device.tier.capacity='512 GB' --set "
                   "device.tier.bandwidth='100 GB/s'"};
         }},
};

/// Whether any two ranks hold the same states, which ZeRO shares out; a pipeline from both ends
/// holds what it does not share twice.
bool shares_states(const Problem& p, const Strategy& s) noexcept {
  if (s.dp * s.cp > 1 || (s.schedule == Schedule::dual_pipe && s.pp > 1)) return true;
  return p.model.experts.count > 0 && expert_shards(s) > 1;
}

/// Whether recomputing a part would find anything of it in the model.
bool has_module(const graph::Graph& g, graph::Module module) noexcept {
  const auto is = [module](const auto& x) { return x.module == module; };
  const auto holds = [&](const graph::Branch& b) {
    return is(b) || std::any_of(b.operators.begin(), b.operators.end(), is);
  };
  return std::any_of(g.branches.begin(), g.branches.end(), holds) ||
         std::any_of(g.tower.begin(), g.tower.end(), holds);
}

template <class... Rules>
Verdict first_broken(const std::tuple<Rules...>& rules, const Problem& p,
                     const Strategy& s) noexcept {
  Verdict verdict = Verdict::fits;
  const auto keeps = [&](const auto& rule) {
    if (rule.holds(p, s)) return true;
    verdict = rule.verdict;
    return false;
  };
  std::apply([&](const auto&... rule) { (void)(keeps(rule) && ...); }, rules);
  return verdict;
}

template <class... Rules>
std::vector<Diagnostic> all_broken(const std::tuple<Rules...>& rules, const Problem& p,
                                   const Strategy& s) {
  std::vector<Diagnostic> found;
  const auto add = [&](const auto& rule) {
    if (rule.holds(p, s)) return;
    Words words = rule.say(p, s);
    Diagnostic& d = found.emplace_back();
    d.field = words.field.empty() ? rule.field : words.field;
    d.message = std::move(words.message);
    d.hint = std::move(words.hint);
  };
  std::apply([&](const auto&... rule) { (add(rule), ...); }, rules);
  return found;
}

}  // namespace

Strategy acting(const Problem& p, Strategy s) noexcept {
  const Strategy usual;
  if (s.pp == 1) s.schedule = usual.schedule;
  if (s.pp == 1 || s.dp == 1) s.order = usual.order;
  if (s.cp == 1) s.context = usual.context;
  if (s.shard == s.dp) s.shard = usual.shard;
  if (!shares_states(p, s)) {
    s.zero = usual.zero;
    s.shard = usual.shard;
  }
  if (s.recompute == Recompute::full && Count{s.recompute_layers} * s.pp >= p.model.layers)
    s.recompute_layers = 0;
  s.modules = modules_of(s);
  if (!has_module(p.graph, graph::Module::mlp)) s.modules.mlp = false;
  if (!has_module(p.graph, graph::Module::experts)) s.modules.experts = false;
  if (!has_module(p.graph, graph::Module::latent)) s.modules.latent = false;
  return s;
}

Verdict legal(const Problem& p, const Strategy& s) noexcept {
  return first_broken(training_rules, p, s);
}

Verdict legal_serving(const Problem& p, const Strategy& s) noexcept {
  return first_broken(serving_rules, p, s);
}

std::vector<Diagnostic> check(const Problem& p, const Strategy& s) {
  return all_broken(training_rules, p, s);
}

std::vector<Diagnostic> check_serving(const Problem& p, const Strategy& s) {
  return all_broken(serving_rules, p, s);
}

}  // namespace sextant
