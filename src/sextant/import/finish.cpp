// SPDX-License-Identifier: Apache-2.0
// What follows from the arguments of any tool, as those tools work it out themselves.
#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <vector>

#include "sextant/import/facts.hpp"
#include "sextant/io/checkpoints.hpp"
#include "sextant/io/text.hpp"

namespace sextant {
namespace {

class Finisher {
 public:
  Finisher(Facts& facts, bool trains) : f_(facts), trains_(trains) {}

  void run() {
    precision();
    devices();
    if (trains_) {
      replicas();
      sequences();
      selective();
      local_batch();
      batch();
      chunks();
      layout();
      recompute();
      recompute_modules();
      sharding();
      gradients();
      adapters();
    } else {
      engine_ranks();
    }
    vocabulary();
    layers();
    model();
    drop_intermediate();
  }

 private:
  static std::string number(std::int64_t value) { return std::to_string(value); }
  /// Products beyond what any machine has stop there.
  static std::int64_t product(std::initializer_list<std::int64_t> factors) {
    constexpr std::int64_t most = std::int64_t{1} << 50;
    std::int64_t all = 1;
    for (const std::int64_t factor : factors) all = factor > most / all ? most : all * factor;
    return all;
  }
  std::int64_t degree(const char* field) { return f_.count(field).value_or(1); }

  // A type that multiplies are cast to wins over the type that weights are kept in.
  void precision() {
    std::string narrow = f_.text("_narrow");
    if (narrow.empty()) narrow = f_.text("_stored");
    if (!narrow.empty()) {
      f_.otherwise("precision", narrow);
      f_.replace("precision", narrow);
    }
    // What a recipe of that name does, unless it is said otherwise.
    const std::string kept = f_.text("_narrow_weights");
    if (!kept.empty()) f_.otherwise("runtime.footprint.narrow_weights", kept);
  }

  void devices() {
    std::optional<std::int64_t> nodes = f_.count("_nodes");
    if (!nodes) nodes = f_.count("_usual_nodes");
    const std::optional<std::int64_t> each = f_.count("_devices_per_node");
    if (!nodes || !each) return;
    const std::int64_t all = product({*nodes, *each});
    const std::optional<std::int64_t> said = f_.count("gpus");
    if (said && *said != all && !f_.find("gpus")->given) {
      return f_.problem("gpus", "says " + number(*said) + " devices, but " + number(*nodes) +
                                    " nodes of " + number(*each) + " are " + number(all));
    }
    f_.otherwise("gpus", number(all));
  }

  void replicas() {
    const std::optional<std::int64_t> gpus = f_.count("gpus");
    if (!gpus) {
      others_ = 0;
      return;
    }
    others_ = product({degree("tp"), degree("pp"), degree("cp")});
    if (*gpus % others_ != 0) {
      return f_.problem("gpus", number(*gpus) + " devices are not a multiple of tp x pp x cp = " +
                                    number(others_));
    }
    dp_ = *gpus / others_;
  }

  // Without tensor parallelism there is nothing for it to cut; Megatron switches it off.
  void sequences() {
    if (degree("tp") == 1) f_.drop("sp");
    // And torchtitan asks for no schedule where it makes no pipeline.
    if (degree("pp") == 1) {
      for (const char* field : {"_looped", "schedule"}) {
        if (f_.find(field) != nullptr) f_.pass_over(field, "of a pipeline, which there is none of");
      }
    }
    if (f_.find("_looped") != nullptr && f_.find("_layers_per_chunk") == nullptr) {
      f_.otherwise("interleave", f_.text("_looped"));
    }
  }

  /// torchtitan: operators by its own list, every second multiply of them; or every so many layers.
  void selective() {
    if (f_.find("_selective") == nullptr) return;
    if (const std::optional<std::int64_t> every = f_.count("_selective_every")) {
      return every_layer(*every);
    }
    const bool operators = f_.find("_selective_operators") != nullptr;
    f_.otherwise("recompute", operators ? "none" : "selective");
    if (operators) f_.otherwise("recompute_modules", "alternate");
  }

  /// Of a stage's layers every so many, in full.
  void every_layer(std::int64_t every) {
    const std::optional<std::int64_t> layers = layers_of_model();
    const std::int64_t some = every > 1 && layers ? *layers / degree("pp") / every : 0;
    if (every > 1 && !layers) {
      return f_.problem("_selective_every", "the layers of the model are not said",
                        "give --model with a preset or a file");
    }
    f_.otherwise("recompute", every > 1 && some == 0 ? "none" : "full");
    if (some > 0) f_.otherwise("recompute_layers", number(some));
  }

  std::optional<std::int64_t> layers_of_model() {
    const std::optional<std::int64_t> own = f_.count("model.layers");
    return own ? own : f_.count("_layers");
  }

  /// torchtitan: the sequences of a rank, cut into microbatches where there are stages.
  void local_batch() {
    const std::optional<std::int64_t> local = f_.count("_local_batch");
    if (!local) return;
    const bool stages = degree("pp") > 1;
    f_.otherwise("microbatch", stages ? f_.text("_pipeline_microbatch") : number(*local));
    if (dp_ > 0 && f_.find("batch") == nullptr) {
      f_.otherwise("batch", number(product({*local, dp_})));
    }
  }

  /// Sequences a step: a microbatch for each replica, as often as gradients are accumulated.
  void batch() {
    if (f_.find("microbatch") == nullptr && f_.find("_accumulation") == nullptr) return;
    f_.otherwise("microbatch", "1");
    const std::optional<std::int64_t> micro = f_.count("microbatch");
    const std::optional<std::int64_t> times = f_.count("_accumulation");
    const std::optional<std::int64_t> said = f_.count("batch");
    if (micro && times && said && dp_ == 0) devices_of_batch(*said, product({*micro, *times}));
    if (!micro || dp_ == 0) return;
    const std::int64_t step = product({*micro, times.value_or(1), dp_});
    if (times && said && *said != step && !f_.find("batch")->given) {
      return f_.problem("batch", number(*said) + " sequences are not " + number(*micro) +
                                     " a microbatch x " + number(*times) + " accumulated x " +
                                     number(dp_) + " replicas = " + number(step));
    }
    if (!said) f_.otherwise("batch", number(step));
  }

  /// DeepSpeed names no devices, but all three of what tells the replicas.
  void devices_of_batch(std::int64_t all, std::int64_t each) {
    if (all % each != 0) {
      return f_.problem(
          "batch", number(all) + " sequences are not a multiple of microbatch x accumulated = " +
                       number(each));
    }
    if (f_.find("dp") != nullptr) return;
    dp_ = all / each;
    f_.otherwise("gpus", number(product({dp_, degree("tp"), degree("pp"), degree("cp")})));
  }

  void chunks() {
    const std::optional<std::int64_t> each = f_.count("_layers_per_chunk");
    if (!each) return;
    const std::optional<std::int64_t> layers = layers_of_model();
    if (!layers) {
      return f_.problem("_layers_per_chunk", "the layers of the model are not said",
                        "give the number of chunks a stage instead");
    }
    const std::int64_t stage = *layers / degree("pp");
    if (*layers % degree("pp") != 0 || stage % *each != 0) {
      return f_.problem("_layers_per_chunk", number(*each) + " layers a chunk do not divide " +
                                                 number(*layers) + " layers on " +
                                                 number(degree("pp")) + " stages");
    }
    if (stage / *each > 1) f_.otherwise("interleave", number(stage / *each));
  }

  /// Megatron's "Et*3|(tt|)*29,m|L": chunks between bars, dealt out to the stages in turn.
  void layout() {
    const std::string text = f_.text("_layout");
    if (text.find('|') == text.npos) return;
    std::int64_t bars = 0;
    std::int64_t inside = 0;  // of the brackets that are open
    bool open = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '|') ++(open ? inside : bars);
      if (text[i] == '(') open = true;
      if (text[i] != ')') continue;
      std::int64_t times = 1;
      if (text.substr(i + 1).starts_with("*")) {
        std::from_chars(text.data() + i + 2, text.data() + text.size(), times);
      }
      if (inside > 0) bars += product({inside, std::max<std::int64_t>(1, times)});
      inside = 0;
      open = false;
    }
    const std::int64_t all = bars + inside + 1;
    if (all % degree("pp") != 0) {
      return f_.problem("_layout", number(all) + " chunks are no whole number for each of " +
                                       number(degree("pp")) + " stages");
    }
    if (all > degree("pp")) f_.otherwise("interleave", number(all / degree("pp")));
  }

  /// One type for what is kept and what is summed.
  void gradients() {
    const std::string type = f_.text("_gradients");
    if (type.empty()) return;
    f_.otherwise("runtime.gradients", type);
    f_.otherwise("runtime.reduction", type);
  }

  void recompute() {
    if (f_.text("_recompute_method") != "block") return;
    const std::optional<std::int64_t> layers = f_.count("_recompute_num_layers");
    if (!layers || f_.text("recompute") != "full") return;
    f_.otherwise("recompute_layers", number(product({*layers, degree("interleave")})));
  }

  /// --moe-layer-recompute: experts beside the parts that are named, or beside attention's core.
  void recompute_experts() {
    if (f_.text("recompute") == "full") {
      return f_.problem("_recompute_experts", "all of a layer is recomputed already");
    }
    f_.replace("recompute", "selective");
    const std::string named = f_.text("_recompute_modules");
    f_.replace("_recompute_modules", (named.empty() ? "core_attn" : named) + ",moe");
  }

  /// Megatron-Core's parts of a layer: attention's core is what "selective" means here.
  void recompute_modules() {
    if (f_.yes("_recompute_experts")) recompute_experts();
    const Fact* said = f_.find("_recompute_modules");
    if (said == nullptr || f_.text("recompute") != "selective") return;
    constexpr std::array<std::array<std::string_view, 2>, 5> parts = {{{"layernorm", "norms"},
                                                                       {"moe_act", "activation"},
                                                                       {"mlp", "mlp"},
                                                                       {"moe", "experts"},
                                                                       {"mla_up_proj", "latent"}}};
    bool core = false;
    std::string modules;
    const std::string text = said->value + ",";
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t to = text.find_first_of(", ", from);
      const std::string word = text.substr(from, to - from);
      from = to + 1;
      if (word.empty()) continue;
      core = core || word == "core_attn";
      const auto part =
          std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p[0] == word; });
      if (part != parts.end()) modules += (modules.empty() ? "" : ",") + std::string((*part)[1]);
      if (part == parts.end() && word != "core_attn") {
        f_.problem("_recompute_modules", "no part of a layer is called '" + printable(word) + "'",
                   "known are core_attn, layernorm, moe_act, mlp, moe, mla_up_proj");
      }
    }
    if (!core) f_.replace("recompute", "none");
    if (!modules.empty()) f_.otherwise("recompute_modules", modules);
  }

  // States are shared by all replicas, or by groups of them that are copies of each other (HSDP).
  void sharding() {
    // One rank to share among is none; -1 is all that are left.
    if (f_.text("_shard_degree") == "1") f_.otherwise("zero", "0");
    // With stages, weights that were gathered stay: they are needed for every microbatch.
    if (f_.text("_zero_all") == "3" && degree("pp") > 1 && f_.find("_zero_stages") != nullptr) {
      f_.otherwise("zero", f_.text("_zero_stages"));
    }
    for (const char* kind : {"_zero_all", "_zero"}) {
      if (f_.find(kind) != nullptr) f_.otherwise("zero", f_.text(kind));
    }
    const std::optional<std::int64_t> copies = f_.count("_copies");
    if (!copies || *copies <= 1 || dp_ == 0) return;
    const std::int64_t cp = degree("cp");
    if (product({dp_, cp}) % *copies != 0) {
      return f_.problem("_copies",
                        number(*copies) + " copies do not divide " + number(dp_) + " replicas");
    }
    if (*copies >= dp_) return f_.replace("zero", "0");
    f_.otherwise("shard", number(dp_ / *copies));
  }

  /// Projections as Hugging Face and torchtune name them; weights in 4 bits under them are QLoRA.
  void adapters() {
    if (f_.find("lora_rank") == nullptr) return f_.drop("adapter");
    f_.otherwise("adapter", "lora");
    if (f_.yes("_base_4bit")) f_.replace("adapter", "qlora");
    if (f_.yes("_dora")) f_.replace("adapter", "dora");
    const Fact* said = f_.find("_lora_modules");
    if (said == nullptr) return;
    const auto has = [&](std::initializer_list<std::string_view> names) {
      return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
        return ("," + said->value + ",").find("," + std::string(name) + ",") != std::string::npos;
      });
    };
    std::string targets;
    const auto add = [&](bool present, const char* target) {
      if (present) targets += (targets.empty() ? "" : ",") + std::string(target);
    };
    add(has({"q_proj", "k_proj", "v_proj", "qkv_proj", "Wqkv", "c_attn", "query_key_value"}),
        "qkv");
    add(has({"o_proj", "output_proj", "out_proj"}), "output");
    add(f_.yes("_lora_mlp") || has({"gate_proj", "up_proj", "gate_up_proj", "w1", "w3"}), "up");
    add(f_.yes("_lora_mlp") || has({"down_proj", "w2"}), "down");
    if (targets.empty()) {
      return f_.problem("_lora_modules", "names no projection that is known",
                        "q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj");
    }
    f_.otherwise("lora_targets", targets);
  }

  /// TensorRT-LLM: replicas of attention wait until each has a prompt, where that is on; without
  /// replicas prompts wait until they fill a share of the budget.
  void waits() {
    if (!f_.yes("_attention_replicas_in_tp")) {
      for (const char* field : {"_ranks_wait", "_ranks_wait_steps"}) {
        f_.pass_over(field, "of replicas of attention, which there are none of");
      }
      return;
    }
    for (const char* field : {"runtime.engine.hold_steps", "runtime.engine.hold_fill"}) {
      f_.pass_over(field, "replicas of attention wait for each other alone");
    }
    if (!f_.yes("_ranks_wait")) {
      return f_.pass_over("_ranks_wait_steps", "replicas do not wait: enable_balance is off");
    }
    const std::string steps = f_.text("_ranks_wait_steps");
    f_.otherwise("runtime.engine.hold_steps", steps.empty() ? "50" : steps);
  }

  // Replicas of attention inside the ranks of one engine; experts over all of them.
  void engine_ranks() {
    std::int64_t of_attention = 1;
    if (f_.yes("_attention_replicas_in_tp")) {
      const std::int64_t ranks = degree("tp");
      const std::int64_t copies = f_.find("_replicas") != nullptr ? degree("_replicas") : ranks;
      if (ranks % copies != 0) {
        f_.problem("_replicas", number(copies) + " replicas of attention do not divide " +
                                    number(ranks) + " ranks");
      } else {
        f_.replace("tp", number(ranks / copies));
        f_.replace("dp", number(copies));
      }
      of_attention = copies;
    } else if (const std::optional<std::int64_t> copies = f_.count("_replicas")) {
      if (*copies > 1) f_.otherwise("replicas", number(*copies));
    }
    for (const std::string kind : {"prefill", "decode"}) {
      const std::string ranks = f_.text(kind + "_tp");
      if (!f_.yes("_" + kind + "_replicas_in_tp") || ranks.empty()) continue;
      f_.replace(kind + "_tp", "1");
      f_.otherwise(kind + "_dp", ranks);
    }
    waits();
    // TensorRT-LLM: what is quantised as it is loaded brings no scales of a cache along.
    if (const Fact* narrow = f_.find("_narrow");
        narrow != nullptr && narrow->from.starts_with("quant_config")) {
      f_.otherwise("kv_precision", "bf16");
    }
    limits(of_attention);
    drafts();
    if (f_.yes("_experts_over_all"))
      f_.otherwise("ep", number(product({degree("tp"), degree("dp")})));
  }

  /// SGLang's: a check holds the last token that is known, and those drafted after it.
  void drafts() {
    const std::optional<std::int64_t> checked = f_.count("_checked_tokens");
    const std::optional<std::int64_t> steps = f_.count("_draft_steps");
    if (checked && *checked > 1) f_.otherwise("speculate", number(*checked - 1));
    if (!checked && steps) f_.otherwise("speculate", number(*steps));
    if (f_.find("_draft_model") == nullptr) return;
    const std::string draft = model_like(f_.text("_draft_model"));
    if (draft.empty() || f_.find("speculate") == nullptr) {
      f_.pass_over("_draft_model",
                   "which model drafts is --draft (without, the model's own prediction layers)");
    } else {
      f_.otherwise("draft", draft);
    }
  }

  /// SGLang's are of an engine, which gives each replica of attention its part.
  void limits(std::int64_t copies) {
    for (const char* field : {"max_requests", "token_budget"}) {
      const std::string all = "_" + std::string(field) + "_of_all";
      if (f_.find(all) == nullptr || f_.find(field) != nullptr) continue;
      if (const std::optional<std::int64_t> value = f_.count(all)) {
        f_.otherwise(field, number(std::max<std::int64_t>(1, *value / copies)));
      }
    }
  }

  // Embeddings are padded so that each rank has the same share.
  void vocabulary() {
    std::optional<std::int64_t> size = f_.count("_vocabulary");
    if (!size) size = f_.count("_tokenizer_vocabulary");
    if (!size) return;
    if (f_.text("_tokenizer") == "null") *size += 1;  // its end of text comes on top
    const std::int64_t to = product({f_.count("_vocabulary_multiple").value_or(1), degree("tp")});
    f_.otherwise("model.vocab", number(product({(*size + to - 1) / to, to})));
  }

  /// Which layers have experts: "([0]*3+[1]*58)", or every n-th.
  void layers() {
    const Fact* pattern = f_.find("_expert_layers");
    const std::optional<std::int64_t> all = f_.count("model.layers");
    if (pattern == nullptr || !all || f_.find("model.experts.count") == nullptr) return;
    std::int64_t every = 0;
    const std::string& text = pattern->value;
    const char* const end = text.data() + text.size();
    if (const auto [at, error] = std::from_chars(text.data(), end, every);
        error == std::errc{} && at == end && every > 0) {
      const std::int64_t dense = *all - (*all + every - 1) / every;
      if (dense > 0) f_.otherwise("model.experts.dense_layers", number(dense));
      return;
    }
    const std::optional<std::int64_t> dense = zeros_of(text, *all);
    if (!dense) {
      return f_.problem("_expert_layers",
                        "expected a number, or a list such as ([0]*3+[1]*58) of " + number(*all) +
                            " layers, got '" + printable(text) + "'");
    }
    if (*dense > 0) f_.otherwise("model.experts.dense_layers", number(*dense));
  }

  /// The zeros in a sum of repeated lists of zeros and ones that has `length` entries.
  static std::optional<std::int64_t> zeros_of(std::string_view text, std::int64_t length) {
    std::int64_t zeros = 0;
    std::int64_t entries = 0;
    for (std::size_t at = 0; at < text.size();) {
      const char c = text[at];
      if (c == '(' || c == ')' || c == '+' || c == ' ') {
        ++at;
        continue;
      }
      if (c != '[') return std::nullopt;
      const std::size_t close = text.find(']', at);
      if (close == text.npos) return std::nullopt;
      const std::string_view list = text.substr(at + 1, close - at - 1);
      const auto off = std::count(list.begin(), list.end(), '0');
      const auto on = std::count(list.begin(), list.end(), '1');
      at = close + 1;
      std::int64_t times = 1;
      if (at < text.size() && text[at] == '*') {
        const char* const begin = text.data() + at + 1;
        const auto [after, error] = std::from_chars(begin, text.data() + text.size(), times);
        if (error != std::errc{} || times < 0 || times > length) return std::nullopt;
        at += 1 + static_cast<std::size_t>(after - begin);
      }
      zeros += off * times;
      entries += (off + on) * times;
      if (entries > length) return std::nullopt;
    }
    return entries == length ? std::optional(zeros) : std::nullopt;
  }

  /// Megatron's: a gated MLP has two thirds of the usual width, in steps of 64; experts are as wide
  /// as an MLP.
  void widths() {
    const std::optional<std::int64_t> hidden = f_.count("model.hidden");
    if (hidden && f_.find("_megatron_widths") != nullptr) {
      const bool gate = f_.text("model.mlp") == "swiglu";
      const std::int64_t width = gate ? product({4, *hidden}) * 2 / 3 / 64 * 64 : 4 * *hidden;
      f_.otherwise("model.ffn", number(width));
    }
    if (f_.find("model.experts.count") != nullptr && f_.find("model.ffn") != nullptr) {
      f_.otherwise("model.experts.ffn", f_.text("model.ffn"));
    }
  }

  void model() {
    if (const std::string biases = f_.text("_linear_bias"); !biases.empty()) {
      for (const char* field : {"mlp_bias", "attention.qkv_bias", "attention.output_bias"}) {
        f_.otherwise(std::string("model.") + field, biases);
      }
    }
    widths();
    if (f_.yes("_positions_are_seq") && f_.find("seq") != nullptr) {
      f_.otherwise("model.max_context", f_.text("seq"));
    }
    // Groups of key-value heads count only where they are switched on.
    if (f_.text("_grouped_query") == "false") f_.drop("model.attention.kv_heads");
    if (!f_.yes("_latent_attention") && f_.find("_latent_attention") != nullptr) {
      for (const char* field : {"kind", "q_rank", "kv_rank", "nope_dim", "rope_dim", "value_dim"}) {
        f_.drop(std::string("model.attention.") + field);
      }
    }
    if (f_.yes("_latent_attention")) {
      f_.otherwise("model.attention.kind", "latent");
      f_.drop("model.attention.kv_heads");
      f_.drop("model.attention.head_dim");
    }
    if (f_.find("model.experts.count") == nullptr) {
      for (const char* field : {"topk", "ffn", "shared_ffn", "shared", "router_bias"}) {
        f_.drop(std::string("model.experts.") + field);
      }
    } else if (f_.find("model.experts.shared_ffn") != nullptr) {
      f_.otherwise("model.experts.shared", "1");
    }
  }

  void drop_intermediate() {
    std::vector<std::string> gone;
    for (const auto& [field, fact] : f_.all()) {
      if (field.starts_with("_")) gone.push_back(field);
    }
    for (const std::string& field : gone) f_.drop(field);
  }

  Facts& f_;
  bool trains_;
  std::int64_t others_ = 1;
  std::int64_t dp_ = 0;  ///< replicas; 0: unknown
};

}  // namespace

void finish(Facts& facts, bool trains) { Finisher(facts, trains).run(); }

}  // namespace sextant
