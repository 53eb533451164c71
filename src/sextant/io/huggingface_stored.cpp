// SPDX-License-Identifier: Apache-2.0
// What a checkpoint's weights are stored in: one reader a method of quantisation.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "sextant/io/huggingface_families.hpp"
#include "sextant/io/text.hpp"

namespace sextant::hugging_face {
namespace {

constexpr int nvfp4_block = 16;
constexpr int mxfp4_block = 32;  // of the Open Compute Project's format

/// What a quantization_config says; nothing where it cannot be told.
struct Stored {
  std::optional<Precision> precision = {};
  bool blocks = false;
  std::string_view field = "bits";  ///< what told, or should have
  int fp4_block = nvfp4_block;      ///< 4-bit floats that share a scale
};

std::optional<Precision> of_bits(int bits, bool whole) {
  if (bits == 4) return whole ? Precision::int4 : Precision::fp4;
  if (bits == 8) return whole ? Precision::int8 : Precision::fp8;
  return std::nullopt;
}

/// The type that a name such as "int4_weight_only", "fp8_e4m3" or "W4A16_NVFP4" has in it, that of
/// weights where activations have another.
std::optional<Precision> named(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto says = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  if (says("fp4")) return Precision::fp4;
  if (says("int4") || says("w4a")) return Precision::int4;
  if (says("fp8") || says("float8")) return Precision::fp8;
  if (says("int8") || says("w8a")) return Precision::int8;
  return std::nullopt;
}

Stored of_fp8(Config& q) { return {Precision::fp8, q.has("weight_block_size")}; }
Stored of_mxfp4(Config&) { return {.precision = Precision::fp4, .fp4_block = mxfp4_block}; }
Stored of_eetq(Config&) { return {Precision::int8}; }
Stored of_whole_numbers(Config& q) { return {of_bits(q.count_or({"bits", "w_bit"}, 4, 16), true)}; }

/// Files name both, and may have neither: then nothing is quantised.
Stored of_bitsandbytes(Config& q) {
  const bool eight = q.flag({"load_in_8bit", "_load_in_8bit"}, false);
  const bool four = q.flag({"load_in_4bit", "_load_in_4bit"}, !eight);
  return {eight ? Precision::int8 : four ? Precision::int4 : Precision::bf16};
}

/// Groups of layers, of which the narrowest are most of the weights; none: as they were trained.
Stored of_groups(Config& q) {
  Stored stored{.field = "config_groups"};
  Config groups = q.section("config_groups");
  bool any = false;
  for (const std::string& name : groups.names()) {
    Config group = groups.section(name);
    if (!group.has("weights")) continue;
    any = true;
    Config weights = group.section("weights");
    const bool whole = weights.word({"type"}, "int") != "float";
    const std::optional<Precision> p = of_bits(weights.count_or({"num_bits"}, 16, 16), whole);
    if (p && (!stored.precision || element_bytes(*p) < element_bytes(*stored.precision))) {
      stored.precision = p;
      if (*p == Precision::fp4) {
        stored.fp4_block = weights.count_or({"group_size"}, nvfp4_block, 65536);
      }
    }
    stored.blocks = stored.blocks || weights.word({"strategy"}, "") == "block";
  }
  if (!any) stored.precision = Precision::bf16;
  return stored;
}

Stored of_modelopt(Config& q) {
  Config inner = q.section("quantization");
  const std::string kind = q.word({"quant_algo"}, inner.word({"quant_algo"}, ""));
  if (kind.empty() && q.has("config_groups")) return of_groups(q);
  if (kind == "MIXED_PRECISION") return {Precision::fp8, false, "quant_algo"};
  const auto says = [&](const char* part) { return kind.find(part) != std::string::npos; };
  return {named(kind), says("FP8_PB"), "quant_algo", says("MXFP4") ? mxfp4_block : nvfp4_block};
}

Stored of_quark(Config& q) {
  constexpr std::string_view key = "global_quant_config";
  Config weights = q.section(key).section("weight");
  const int block = weights.count_or({"group_size"}, mxfp4_block, 65536);
  return {named(weights.word({"dtype"}, "")), false, key, block};
}

Stored of_torchao(Config& q) { return {named(q.word("quant_type")), false, "quant_type"}; }

Stored of_hqq(Config& q) {
  Config weights = q.section("quant_config").section("weight_quant_params");
  return {of_bits(weights.count_or({"nbits"}, 4, 16), true), false, "quant_config"};
}

struct Method {
  std::string_view name;
  Stored (*read)(Config&);
};
constexpr Method methods[] = {
    {"auto-round", of_whole_numbers},
    {"auto_round", of_whole_numbers},
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
    {"modelopt", of_modelopt},
    {"modelopt_fp4", of_modelopt},
    {"mxfp4", of_mxfp4},
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
  }
  return q.word("quant_method");
}

/// What is left when attention of all layers, and shared experts or dense MLPs with it, stay as
/// they were trained. Only layers of experts have other MLPs.
Narrow narrow_of(Config& q, const Model& m) {
  Config inner = q.section("quantization");
  int attention = 0;
  int shared = 0;
  for (Config* table : {&q, &inner}) {
    for (const char* key :
         {"ignore", "modules_to_not_convert", "ignored_layers", "exclude_modules"}) {
      const std::vector<Node>* modules = table->has(key) ? table->list(key) : nullptr;
      if (modules == nullptr) continue;
      for (const Node& module : *modules) {
        const std::string& name = module.string;
        const bool pattern = name.starts_with("re:") || name.find(".*.") != std::string::npos;
        const int layers = pattern ? m.layers : 1;
        if (name.find("attn") != std::string::npos) attention += layers;
        if (name.find("shared_expert") != std::string::npos) shared += layers;
      }
    }
  }
  if (attention < m.layers) return Narrow::layers;
  const bool alone = m.experts.shared == 0 || shared >= m.layers;
  return m.experts.count > 0 && alone ? Narrow::experts : Narrow::mlps;
}

}  // namespace

void read_quantised(Config& q, Model& m) {
  const std::string method = method_of(q);
  if (method.empty()) return;
  const auto* const at = std::find_if(std::begin(methods), std::end(methods),
                                      [&](const Method& x) { return x.name == method; });
  if (at == std::end(methods)) {
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
  // Trained in the blocks they are published in; others were made narrow afterwards.
  m.block_training = m.block_scales && m.family == "DeepSeek";
  // What is made narrower than its blocks leaves attention's ways in (DeepSeek-R1-0528-FP4-v2).
  if (m.block_training) {
    m.narrow = Narrow::outputs;
  } else if (m.stored != Precision::bf16) {
    m.narrow = narrow_of(q, m);
  }
}

/// A table that cannot be read is a problem: left out in silence it would make the model four times
/// as large.
void read_stored(Config& config, Model& m) {
  // MLX has a table of its own, with the bits alone.
  if (config.has("quantization") && !config.has("quantization_config")) {
    Config q = config.section("quantization");
    const std::optional<Precision> p = of_bits(q.count_or({"bits"}, 4, 16), true);
    if (!p) q.problem("bits", "expected weights of 4 or 8 bits");
    m.stored = p.value_or(Precision::bf16);
    return;
  }
  for (const std::string_view key : {"quantization_config", "compression_config"}) {
    if (!config.has(key)) continue;
    Config q = config.section(key);
    return read_quantised(q, m);
  }
  const std::string type = config.word({"torch_dtype", "dtype"}, "");
  if (type.starts_with("float8")) m.stored = Precision::fp8;
}

}  // namespace sextant::hugging_face
