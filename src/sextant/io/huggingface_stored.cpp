// SPDX-License-Identifier: Apache-2.0
// What a checkpoint's weights are stored in: one reader a method of quantisation.
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sextant/io/huggingface_families.hpp"
#include "sextant/io/parsing.hpp"
#include "sextant/io/text.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::hugging_face {
namespace {

constexpr int nvfp4_block = 16;
constexpr int mxfp4_block = 32;  // of the Open Compute Project's format

bool has_in(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// What a quantization_config says; nothing where it cannot be told.
struct Stored {
  std::optional<Precision> precision = {};
  bool blocks = false;
  std::string_view field = "bits";               ///< what told, or should have
  int fp4_block = nvfp4_block;                   ///< 4-bit floats that share a scale
  std::optional<Narrow> narrow = {};             ///< where modules are named with their types
  Precision rest = Precision::bf16;              ///< what they leave
  Activations activations = Activations::usual;  ///< what they are multiplied with
};

std::optional<Precision> of_bits(int bits, bool whole) {
  if (bits == 4) return whole ? Precision::int4 : Precision::fp4;
  if (bits == 8) return whole ? Precision::int8 : Precision::fp8;
  return std::nullopt;
}

/// The type that a name such as "int4_weight_only", "fp8_e4m3" or "W4A16_NVFP4" has in it, that of
/// weights where activations have another.
std::optional<Precision> named(std::string_view name) {
  const std::string text = lower(name);
  const auto says = [&](std::string_view part) { return has_in(text, part); };
  if (says("fp4")) return Precision::fp4;
  if (says("int4") || says("w4a")) return Precision::int4;
  if (says("fp8") || says("float8")) return Precision::fp8;
  if (says("int8") || says("w8a")) return Precision::int8;
  return std::nullopt;
}

/// What such a name says of activations: "W4A16", "W8A8_SQ_PER_CHANNEL", "W4A8_AWQ",
/// "Int8DynamicActivationInt4WeightConfig".
Activations activations_named(std::string_view name) {
  const std::string text = lower(name);
  const auto says = [&](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return has_in(text, part); });
  };
  if (says({"a16", "weight_only", "weightonly"})) return Activations::wide;
  if (says({"w8a8_sq", "int8_sq", "qserve", "int8_dynamic", "int8dynamic"}))
    return Activations::int8;
  if (says({"w4a8", "float8_dynamic", "float8dynamic"})) return Activations::fp8;
  return Activations::usual;
}

/// What a group of compressed-tensors says of them; null, or nothing, where weights alone are
/// quantised.
Activations activations_of(Config& group) {
  if (!group.has("input_activations")) return Activations::wide;
  Config inputs = group.section("input_activations");
  const bool floats = inputs.word({"type"}, "int") == "float";
  if (inputs.count_or({"num_bits"}, 8, 16) != 8) return Activations::usual;
  return floats ? Activations::fp8 : Activations::int8;
}

/// The types of a checkpoint that names modules with a type each, by what they are.
class Modules {
 public:
  void add(std::string_view name, Precision type) {
    const bool everything = !has_in(name, ".") && !has_in(name, "*");  // a class, such as Linear
    const bool mlp = has_in(name, "mlp") || has_in(name, "ffn") || has_in(name, "up_proj") ||
                     has_in(name, "down_proj") || has_in(name, "gate_proj") ||
                     has_in(name, "feed_forward");
    auto& part = everything                      ? all_
                 : has_in(name, "shared_expert") ? shared_
                 : has_in(name, "expert")        ? experts_
                 : mlp                           ? mlps_
                                                 : mixers_;
    if (!part || element_bytes(type) < element_bytes(*part)) part = type;
  }

  bool named() const { return shared_ || experts_ || mlps_ || mixers_; }

  /// Of most of the weights.
  std::optional<Precision> type() const {
    for (const auto& part : {experts_, mlps_, all_, shared_, mixers_}) {
      if (part) return part;
    }
    return std::nullopt;
  }

  /// What has that type, of what can be told apart.
  Narrow narrow() const {
    const auto same = [&](const std::optional<Precision>& part) {
      return (part ? part : all_) == type();
    };
    if (same(mixers_)) return Narrow::layers;
    return !experts_ || same(shared_) ? Narrow::mlps : Narrow::experts;
  }

  /// What the others have; the mixers' type where it is another than other MLPs'.
  Precision rest() const {
    const auto& part = mixers_ ? mixers_ : all_;
    return part && *part != type() ? *part : Precision::bf16;
  }

  void tell(Stored& stored) const {
    stored.narrow = narrow();
    stored.rest = rest();
  }

 private:
  std::optional<Precision> experts_, shared_, mlps_, mixers_, all_;
};

Stored of_fp8(Config& q) { return {Precision::fp8, q.has("weight_block_size")}; }
Stored of_mxfp4(Config&) { return {.precision = Precision::fp4, .fp4_block = mxfp4_block}; }
Stored of_eetq(Config&) { return {Precision::int8}; }
Stored of_whole_numbers(Config& q) { return {of_bits(q.count_or({"bits", "w_bit"}, 4, 16), true)}; }

/// AutoRound has floats as well: "mx_fp", "nv_fp" or "fp8" beside "int".
Stored of_auto_round(Config& q) {
  const std::string type = q.word({"data_type"}, "int");
  if (!has_in(type, "fp")) {
    Stored stored = of_whole_numbers(q);
    if (q.count_or({"act_bits"}, 16, 32) == 8) stored.activations = Activations::int8;
    return stored;
  }
  return {.precision = of_bits(q.count_or({"bits"}, 4, 16), false),
          .fp4_block = has_in(type, "mx") ? mxfp4_block : nvfp4_block};
}

/// MLX: bits of whole numbers, or a format of floats by its name.
Stored of_mlx(Config& q) {
  const std::string mode = q.word({"mode"}, "affine");
  const int bits = q.count_or({"bits"}, 4, 16);
  const int block = q.count_or({"group_size"}, nvfp4_block, 65536);
  return {.precision = of_bits(bits, !has_in(mode, "fp")),
          .fp4_block = has_in(mode, "fp") ? block : nvfp4_block};
}

/// Files name both, and may have neither: then nothing is quantised.
Stored of_bitsandbytes(Config& q) {
  const bool eight = q.flag({"load_in_8bit", "_load_in_8bit"}, false);
  const bool four = q.flag({"load_in_4bit", "_load_in_4bit"}, !eight);
  return {eight ? Precision::int8 : four ? Precision::int4 : Precision::bf16};
}

/// Groups of modules, each of a type; none: as they were trained.
Stored of_groups(Config& q) {
  Stored stored{.field = "config_groups"};
  Config groups = q.section("config_groups");
  Modules modules;
  std::vector<std::pair<Precision, Activations>> activations;
  bool any = false;
  for (const std::string& name : groups.names()) {
    Config group = groups.section(name);
    if (!group.has("weights")) continue;
    any = true;
    Config weights = group.section("weights");
    const bool whole = weights.word({"type"}, "int") != "float";
    const std::optional<Precision> p = of_bits(weights.count_or({"num_bits"}, 16, 16), whole);
    if (p == Precision::fp4) {
      stored.fp4_block = weights.count_or({"group_size"}, nvfp4_block, 65536);
    }
    stored.blocks = stored.blocks || weights.word({"strategy"}, "") == "block";
    if (!p) continue;
    activations.emplace_back(*p, activations_of(group));
    const std::vector<Node>* targets = group.list("targets");
    if (targets == nullptr) modules.add("Linear", *p);
    for (std::size_t i = 0; targets != nullptr && i < targets->size(); ++i) {
      modules.add((*targets)[i].string, *p);
    }
  }
  stored.precision = any ? modules.type() : Precision::bf16;
  for (const auto& [type, with] : activations) {
    if (type == stored.precision) stored.activations = with;
  }
  if (modules.named()) modules.tell(stored);
  return stored;
}

/// A type a module, in the table or in what it holds.
Stored of_listed(Config& q, Config& inner) {
  constexpr std::string_view key = "quantized_layers";
  Config layers = q.has(key) ? q.section(key) : inner.section(key);
  Stored stored{.field = key};
  Modules modules;
  for (const std::string& name : layers.names()) {
    const std::string kind = layers.section(name).word({"quant_algo"}, "");
    if (has_in(kind, "MXFP4")) stored.fp4_block = mxfp4_block;
    const std::optional<Precision> type = named(kind);
    if (!type) continue;
    modules.add(name, *type);
    if (modules.type() == type) stored.activations = activations_named(kind);
  }
  stored.precision = modules.type();
  modules.tell(stored);
  return stored;
}

Stored of_modelopt(Config& q) {
  Config inner = q.section("quantization");
  const std::string kind = q.word({"quant_algo"}, inner.word({"quant_algo"}, ""));
  const bool mixed = kind == "MIXED_PRECISION";
  if (mixed && (q.has("quantized_layers") || inner.has("quantized_layers"))) {
    return of_listed(q, inner);
  }
  if ((mixed || kind.empty()) && q.has("config_groups")) return of_groups(q);
  if (mixed) return {.field = "quantized_layers"};
  return {.precision = named(kind),
          .blocks = has_in(kind, "FP8_PB"),
          .field = "quant_algo",
          .fp4_block = has_in(kind, "MXFP4") ? mxfp4_block : nvfp4_block,
          .activations = activations_named(kind)};
}

Stored of_quark(Config& q) {
  constexpr std::string_view key = "global_quant_config";
  Config all = q.section(key);
  Config weights = all.section("weight");
  Stored stored{named(weights.word({"dtype"}, "")), false, key,
                weights.count_or({"group_size"}, mxfp4_block, 65536)};
  const std::optional<Precision> with = named(all.section("input_tensors").word({"dtype"}, ""));
  stored.activations = !with                      ? Activations::wide
                       : *with == Precision::fp8  ? Activations::fp8
                       : *with == Precision::int8 ? Activations::int8
                                                  : Activations::usual;
  Config others = q.section("layer_quant_config");
  Modules modules;
  if (stored.precision) modules.add("Linear", *stored.precision);
  for (const std::string& name : others.names()) {
    const auto type = named(others.section(name).section("weight").word({"dtype"}, ""));
    if (type) modules.add(name, *type);
  }
  if (modules.named() && stored.precision) modules.tell(stored);
  return stored;
}

/// The name of a type, or a table of the class that makes it.
Stored of_torchao(Config& q) {
  constexpr std::string_view key = "quant_type";
  const bool plain = q.has_word(key) || !q.has(key);
  const std::string type =
      plain ? q.word(key) : q.section(key).section("default").word({"_type"}, "");
  return {.precision = named(type), .field = key, .activations = activations_named(type)};
}

Stored of_hqq(Config& q) {
  Config weights = q.section("quant_config").section("weight_quant_params");
  return {of_bits(weights.count_or({"nbits"}, 4, 16), true), false, "quant_config"};
}

struct Method {
  std::string_view name;
  Stored (*read)(Config&);
};
constexpr Method methods[] = {
    {"auto-round", of_auto_round},
    {"auto_round", of_auto_round},
    {"awq", of_whole_numbers},
    {"bitsandbytes", of_bitsandbytes},
    {"compressed-tensors", of_groups},
    {"compressed_tensors", of_groups},
    {"eetq", of_eetq},
    {"fbgemm_fp8", of_fp8},
    {"finegrained_fp8", of_fp8},
    {"fp8", of_fp8},
    {"gptq", of_whole_numbers},
    {"hqq", of_hqq},
    {"intel/auto-round", of_auto_round},
    {"mlx", of_mlx},
    {"modelopt", of_modelopt},
    {"modelopt_fp4", of_modelopt},
    {"mxfp4", of_mxfp4},
    {"mxfp8", of_fp8},
    {"quark", of_quark},
    {"torchao", of_torchao},
};

/// By its own word, or where old files have none by what only one method says.
std::string method_of(Config& q) {
  if (!q.has("quant_method")) {
    if (q.has("load_in_4bit") || q.has("load_in_8bit")) return "bitsandbytes";
    if (q.has("quantization") || q.has("quant_algo")) return "modelopt";
    if (q.has("w_bit")) return "awq";
    if (q.has("desc_act")) return "gptq";
    if (q.has("config_groups")) return "compressed-tensors";
    if (q.has("bits") && q.has("group_size")) return "mlx";
  }
  return q.word("quant_method");
}

/// Names of the modules that stay as they were trained; parts of them stand for all that have them.
std::vector<std::string> left_wide(Config& q) {
  std::vector<std::string> names;
  Config inner = q.section("quantization");
  for (Config* table : {&q, &inner}) {
    for (const char* key : {"ignore", "modules_to_not_convert", "ignored_layers", "exclude_modules",
                            "exclude", "llm_int8_skip_modules"}) {
      const std::vector<Node>* modules = table->has(key) ? table->list(key) : nullptr;
      if (modules == nullptr) continue;
      for (const Node& module : *modules) names.push_back(module.string);
    }
  }
  if (!q.has("dynamic")) return names;
  // GPTQModel: patterns that are left out begin with a minus.
  for (const std::string& name : q.section("dynamic").names()) {
    if (name.starts_with("-:")) names.push_back("re:" + name.substr(2));
  }
  return names;
}

/// What the cache was made for: ModelOpt names the type, compressed-tensors its bits; MXFP4 as it
/// is trained (gpt-oss) has no scales for it; what nobody of these made says nothing.
CheckpointCache cache_of(Config& q) {
  Config inner = q.section("quantization");
  const std::string kind = q.word({"kv_cache_quant_algo"}, inner.word({"kv_cache_quant_algo"}, ""));
  const int bits = q.section("kv_cache_scheme").count_or({"num_bits"}, 16, 16);
  if (named(kind) == Precision::fp8 || bits == 8) return CheckpointCache::narrow;
  const std::string method = method_of(q);
  const bool would_say =
      method.starts_with("modelopt") || method.starts_with("compressed") || method == "mxfp4";
  return would_say && kind.empty() ? CheckpointCache::wide : CheckpointCache::unsaid;
}

/// What is left when attention of all layers, and shared experts or dense MLPs with it, stay as
/// they were trained. Only layers of experts have other MLPs.
Narrow narrow_of(Config& q, const Model& m) {
  int attention = 0;
  int shared = 0;
  for (const std::string& name : left_wide(q)) {
    const bool pattern = name.starts_with("re:") || has_in(name, ".*.") ||
                         name.find_first_of("0123456789") == std::string::npos;
    const int layers = pattern ? m.layers : 1;
    if (has_in(name, "attn")) attention += layers;
    if (has_in(name, "shared_expert")) shared += layers;
  }
  if (attention < m.layers) return Narrow::layers;
  const bool alone = m.experts.shared == 0 || shared >= m.layers;
  return m.experts.count > 0 && alone ? Narrow::experts : Narrow::mlps;
}

/// What routed experts are stored in where it is said apart: MXFP4 or NVFP4 beside 8 bits
/// (DeepSeek-V4, MiMo-V2.6).
Stored of_experts(Config& config, Config& q) {
  const auto word = [&](const char* key) { return config.word({key}, q.word({key}, "")); };
  const std::string algorithm = word("moe_quant_algo");
  if (!algorithm.empty()) {
    const int block = has_in(algorithm, "MXFP4") ? mxfp4_block : nvfp4_block;
    return {.precision = named(algorithm),
            .field = "moe_quant_algo",
            .fp4_block = block,
            .activations = activations_named(algorithm)};
  }
  if (word("expert_dtype") != "fp4" && q.word({"store_dtype"}, "") != "mxfp4") return {};
  return {.precision = Precision::fp4, .fp4_block = mxfp4_block};
}

}  // namespace

void read_quantised(Config& q, Model& m) {
  const std::string method = method_of(q);
  if (method.empty()) return;
  const auto* at = find_by(methods, &Method::name, method);
  if (at == nullptr) {
    std::string known;
    for (const Method& x : methods) known += (known.empty() ? "" : ", ") + std::string(x.name);
    q.problem("quant_method", "no quantisation by " + in_quotes(method) + " is known",
              "known are " + known + "; leave the table out for 16-bit weights");
    return;
  }
  const Stored stored = at->read(q);
  if (!stored.precision) {
    q.problem(stored.field, "expected weights of 4 or 8 bits",
              "leave the table out for 16-bit weights");
  }
  m.stored = stored.precision.value_or(Precision::bf16);
  m.block_scales = stored.blocks;
  m.fp4_block = stored.fp4_block;
  m.activations = stored.activations;
  m.cache = cache_of(q);
  // Trained in the blocks they are published in; others were made narrow afterwards.
  m.block_training = m.block_scales && m.family == "DeepSeek";
  // What is made narrower than its blocks leaves attention's ways in (DeepSeek-R1-0528-FP4-v2), or
  // all but routed experts (Kimi-K2-Thinking-NVFP4).
  if (m.block_training) {
    m.narrow = Narrow::outputs;
  } else if (m.block_scales && m.family == "Kimi") {
    m.narrow = Narrow::experts;
  } else if (m.stored != Precision::bf16) {
    m.narrow = stored.narrow.value_or(narrow_of(q, m));
    if (m.narrow == Narrow::experts && m.experts.count == 0) m.narrow = Narrow::mlps;
    if (m.narrow != Narrow::layers) m.rest = stored.rest;
  }
}

/// A table that cannot be read is a problem: left out in silence it would make the model four times
/// as large.
void read_stored(Config& config, Model& m) {
  // MLX has a table of its own, and the same once more in newer files.
  const bool table = config.has("quantization") && !config.has_word("quantization");
  if (table && config.section("quantization").has("bits")) {
    Config q = config.section("quantization");
    const Stored stored = of_mlx(q);
    if (!stored.precision) q.problem("bits", "expected weights of 4 or 8 bits");
    m.stored = stored.precision.value_or(Precision::bf16);
    m.fp4_block = stored.fp4_block;
    return;
  }
  for (const std::string_view key : {"quantization_config", "compression_config"}) {
    if (!config.has(key)) continue;
    Config q = config.section(key);
    read_quantised(q, m);
    const Stored experts = of_experts(config, q);
    if (!experts.precision || *experts.precision == m.stored || m.experts.count == 0) return;
    m.rest = m.stored;
    m.stored = *experts.precision;
    m.fp4_block = experts.fp4_block;
    m.activations = experts.activations;
    m.narrow = Narrow::experts;
    return;
  }
  const std::string type = config.word({"torch_dtype", "dtype"}, "");
  if (type.starts_with("float8")) m.stored = Precision::fp8;
}

}  // namespace sextant::hugging_face
