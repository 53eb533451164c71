// SPDX-License-Identifier: Apache-2.0
// Towers for images, one reader a kind. What a key's absence means is from the configuration
// classes of Hugging Face transformers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "sextant/io/huggingface_families.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::hugging_face {
namespace {

/// Patches of a square image.
int patches_of(const Vision& v) {
  const std::int64_t edge = v.image / std::max(1, v.patch);
  return static_cast<int>(std::min<std::int64_t>(100'000'000, edge * edge));
}

void check_colours(Config& c) {
  for (const char* key : {"num_channels", "in_channels", "in_chans"}) {
    if (c.count_or({key}, 3, most_heads) != 3) c.problem(key, "expected 3: red, green and blue");
  }
}

/// A layer's widths by the names that most have.
void read_tower(Config& c, Vision& v) {
  v.layers = c.count({"num_hidden_layers", "depth", "vt_num_hidden_layers"}, most_layers);
  v.hidden = c.count({"hidden_size", "vt_hidden_size"}, most_heads);
  v.ffn = c.count({"intermediate_size", "vt_intermediate_size"}, most);
  v.heads =
      c.count({"num_attention_heads", "num_heads", "attention_heads", "vt_num_attention_heads"},
              most_heads);
  check_colours(c);
}

/// What a family's towers have where a file does not say.
struct UsualWidths {
  int layers;
  int hidden;
  int ffn;
  int heads;
};

void read_widths(Config& c, Vision& v, const UsualWidths& usual) {
  v.layers = c.count_or({"num_hidden_layers"}, usual.layers, most_layers);
  v.hidden = c.count_or({"hidden_size"}, usual.hidden, most_heads);
  v.ffn = c.count_or({"intermediate_size"}, usual.ffn, most);
  v.heads = c.count_or({"num_attention_heads"}, usual.heads, most_heads);
}

/// Two multiplies to the width of the language model.
void read_llava_projector(Config& whole, bool biased, Model& m) {
  Vision& v = m.vision;
  v.projector_layers = 2;
  v.projector_in = v.hidden;
  v.projector = m.hidden;
  v.projector_bias = whole.flag({"multimodal_projector_bias"}, biased);
}

/// SigLIP as Gemma 3 has it: patches are averaged four by four, then projected.
void read_siglip(Config& c, Config& whole, Model& m) {
  Vision& v = m.vision;
  read_tower(c, v);
  v.image = c.count_or({"image_size"}, 224, 100'000);
  v.patch = c.count_or({"patch_size"}, 16, 10'000);
  v.patch_bias = true;
  const int edge = v.image / std::max(1, v.patch);
  v.positions = patches_of(v);
  v.norms = 2;
  v.projector_in = v.hidden;
  const int tokens = whole.count_or({"mm_tokens_per_image"}, 256, most);
  v.merge = std::max(1, edge / std::max(1, static_cast<int>(std::sqrt(tokens))));
}

/// A picture of 1024 by 1024 is scaled to the smallest grid of tiles that is no smaller, 4 by 4 of
/// 336, and goes beside them as an overview.
void read_llama4_vision(Config& c, Config&, Model& m) {
  Vision& v = m.vision;
  read_tower(c, v);
  v.image = c.count_or({"image_size"}, 448, 100'000);
  v.patch = c.count_or({"patch_size"}, 14, 10'000);
  v.tiles = 17;
  v.class_tokens = 1;
  v.positions = patches_of(v) + 1;
  v.norms = 2;
  v.merge =
      static_cast<int>(std::clamp(std::round(1 / c.share("pixel_shuffle_ratio", 0.5)), 1.0, 16.0));
  v.projector_layers = 3;
  v.projector_in = v.ffn;
  v.projector = c.count_or({"projector_input_dim"}, 4096, most_width);
  v.projector_bias = c.flag({"multi_modal_projector_bias"}, false);
  for (const char* key : {"projector_output_dim", "vision_output_dim"}) {
    const int width = c.count_or({key}, v.projector, most_width);
    if (width != v.projector) {
      c.problem(key,
                "expected " + std::to_string(v.projector) + ", as wide as projector_input_dim");
    }
  }
}

/// A table of positions for every tile of every aspect ratio; features of several depths side by
/// side.
void read_mllama_vision(Config& c, Config&, Model& m) {
  Vision& v = m.vision;
  read_tower(c, v);
  v.layers += c.count_or({"num_global_layers"}, 8, most_layers);
  v.image = c.count_or({"image_size"}, 448, 100'000);
  v.patch = c.count_or({"patch_size"}, 14, 10'000);
  v.tiles = c.count_or({"max_num_tiles"}, 4, 10'000);
  v.joint = true;
  v.attention_bias = false;
  v.class_tokens = 1;
  const std::vector<Node>* ratios = c.list("supported_aspect_ratios");
  const std::int64_t kinds = ratios == nullptr ? 9 : static_cast<std::int64_t>(ratios->size()) + 1;
  const std::int64_t edge = v.image / std::max(1, v.patch);
  const std::int64_t tile = edge * edge + 1;
  v.positions =
      static_cast<int>(std::min<std::int64_t>(100'000'000, tile + kinds * v.tiles * (tile + 2)));
  v.norms = 2;
  v.projector_in = c.count_or({"vision_output_dim"}, 7680, most_width);
  v.projector_bias = true;
}

/// What Qwen's towers have in common: patches of two frames, merged two by two side by side.
void read_qwen_patches(Config& c, Vision& v) {
  check_colours(c);
  v.patch = c.count_or({"patch_size", "spatial_patch_size"}, 14, 10'000);
  v.frames = c.count_or({"temporal_patch_size"}, 2, 64);
  v.merge = c.count_or({"spatial_merge_size"}, 2, 16);
  v.norms = 1;
  v.projector_layers = 2;
  v.projector_bias = true;
}

void read_qwen_vision(Config& c, Vision& v) {
  read_tower(c, v);
  read_qwen_patches(c, v);
}

void read_qwen2_5_vision(Config& c, Config&, Model& m) {
  Vision& v = m.vision;
  read_qwen_vision(c, v);
  v.mlp = Mlp::swiglu;
  v.norm = Norm::rmsnorm;
  const std::vector<Node>* full = c.list("fullatt_block_indexes");
  const int edge = c.count_or({"window_size"}, 112, 100'000) / std::max(1, v.patch);
  v.window = static_cast<int>(std::min<std::int64_t>(100'000'000, std::int64_t{edge} * edge));
  v.window_layers = std::max(0, v.layers - (full == nullptr ? 4 : static_cast<int>(full->size())));
  if (v.window_layers == 0) v.window = 0;
}

void read_qwen3_vision(Config& c, Config&, Model& m) {
  Vision& v = m.vision;
  read_qwen_vision(c, v);
  v.patch_bias = true;
  v.positions = c.count_or({"num_position_embeddings"}, 2304, most);
  const std::vector<Node>* depths = c.list("deepstack_visual_indexes");
  v.projectors = 1 + (depths == nullptr ? 3 : std::min(63, static_cast<int>(depths->size())));
}

/// Qwen3.5 has Qwen3-VL's tower, projected at its end alone unless the file says otherwise.
void read_qwen3_5_vision(Config& c, Config& whole, Model& m) {
  read_qwen3_vision(c, whole, m);
  if (!c.has("deepstack_visual_indexes")) m.vision.projectors = 1;
}

/// MoonViT of Kimi-K2.5. Positions in time are not learned.
void read_kimi_vision(Config& c, Config&, Model& m) {
  Vision& v = m.vision;
  read_tower(c, v);
  v.patch = c.count_or({"patch_size"}, 14, 10'000);
  v.patch_bias = true;
  v.positions = c.count_or({"init_pos_emb_height"}, 64, 10'000) *
                c.count_or({"init_pos_emb_width"}, 64, 10'000);
  v.merge = 2;
  if (const std::vector<Node>* merge = c.list("merge_kernel_size"); merge && !merge->empty()) {
    v.merge = static_cast<int>(std::clamp(merge->front().number, 1.0, 16.0));
  }
  v.norms = 2;
  v.projector_layers = 2;
  v.projector_bias = true;
}

/// GLM-4.1V to 4.6V: its MLPs are as wide as the language model. Behind the tower patches are
/// merged, projected and go through a gated MLP: the two multiplies here have as many weights.
void read_glm_vision(Config& c, Config&, Model& m) {
  Vision& v = m.vision;
  v.layers = c.count_or({"depth", "num_hidden_layers"}, 24, most_layers);
  v.hidden = c.count_or({"hidden_size"}, 1536, most_heads);
  v.heads = c.count_or({"num_heads", "num_attention_heads"}, 12, most_heads);
  v.ffn = c.count_or({"out_hidden_size"}, 4096, most);
  check_colours(c);
  v.mlp = Mlp::swiglu;
  v.norm = Norm::rmsnorm;
  v.attention_bias = c.flag({"attention_bias"}, false);
  v.mlp_bias = false;
  v.patch = c.count_or({"patch_size"}, 14, 10'000);
  v.patch_bias = true;
  v.frames = c.count_or({"temporal_patch_size"}, 2, 64);
  v.merge = std::max(1, c.count_or({"spatial_merge_size"}, 2, 16));
  const double table = std::floor(c.count_or({"image_size"}, 336, 100'000) / std::max(1, v.patch));
  v.positions = static_cast<int>(std::min(1e8, table * table));
  v.norms = 2;
  v.projector_layers = 2;
  const double merged = double(v.hidden) * v.merge * v.merge;
  const double out = v.ffn;
  const double between = c.count_or({"intermediate_size"}, 13'696, most);
  const double weights = merged * out + out * out + 3 * out * between;
  v.projector = static_cast<int>(std::clamp(std::round(weights / (merged + out)), 1.0, 1e7));
}

/// Gemma 4: layers as its language model has them; patches are averaged three by three. About 280
/// tokens an image.
void read_gemma4_vision(Config& c, Config&, Model& m) {
  Vision& v = m.vision;
  read_widths(c, v, {.layers = 16, .hidden = 768, .ffn = 3072, .heads = 12});
  v.head_dim = c.count_or({"head_dim"}, 64, most_heads);
  if (c.count_or({"num_key_value_heads"}, v.heads, most_heads) != v.heads) {
    c.problem("num_key_value_heads", "expected as many as heads, " + std::to_string(v.heads));
  }
  v.mlp = Mlp::geglu;
  v.norm = Norm::rmsnorm;
  v.norms_per_layer = 4;
  v.qk_norm = true;
  v.attention_bias = c.flag({"attention_bias"}, false);
  v.mlp_bias = false;
  v.patch = c.count_or({"patch_size"}, 16, 10'000);
  v.positions = 2 * c.count_or({"position_embedding_size"}, 10'240, 10'000'000);
  v.merge = std::max(1, c.count_or({"pooling_kernel_size"}, 3, 16));
  v.image = 17 * v.patch * v.merge;
  v.projector_in = v.hidden;
}

/// Qwen2-VL calls its width embed_dim, and that of the language model hidden_size.
void read_qwen2_vision(Config& c, Config&, Model& m) {
  Vision& v = m.vision;
  v.layers = c.count_or({"depth"}, 32, most_layers);
  v.hidden = c.count_or({"embed_dim"}, 1280, most_heads);
  v.heads = c.count_or({"num_heads"}, 16, most_heads);
  v.ffn = static_cast<int>(std::min<double>(most, v.hidden * c.positive("mlp_ratio", 4)));
  read_qwen_patches(c, v);
}

/// Pixtral, with the projector of LLaVA or, merging patches before it, of Mistral 3. The merging
/// multiply is not counted: 0.02 % of a model of 24 billion.
void read_pixtral(Config& c, Config& whole, Model& m) {
  Vision& v = m.vision;
  read_widths(c, v, {.layers = 24, .hidden = 1024, .ffn = 4096, .heads = 16});
  v.head_dim = c.count_or({"head_dim"}, 0, most_heads);
  check_colours(c);
  v.patch = c.count_or({"patch_size"}, 16, 10'000);
  v.mlp = Mlp::swiglu;
  v.norm = Norm::rmsnorm;
  v.attention_bias = v.mlp_bias = false;
  v.norms = 2;
  const bool merges = whole.word({"model_type"}, "") == "mistral3";
  if (merges) v.merge = std::max(1, whole.count_or({"spatial_merge_size"}, 2, 16));
  read_llava_projector(whole, !merges, m);
}

/// CLIP as LLaVA 1.5 has it: the picture is scaled to one square.
void read_clip(Config& c, Config& whole, Model& m) {
  Vision& v = m.vision;
  read_widths(c, v, {.layers = 12, .hidden = 768, .ffn = 3072, .heads = 12});
  check_colours(c);
  v.image = c.count_or({"image_size"}, 224, 100'000);
  v.patch = c.count_or({"patch_size"}, 32, 10'000);
  v.class_tokens = 1;
  v.positions = patches_of(v) + 1;
  v.norms = 2;
  read_llava_projector(whole, true, m);
}

struct Tower {
  std::string_view type;  ///< model_type of vision_config, or where it has none of the whole
  void (*read)(Config&, Config&, Model&);
};
constexpr Tower towers[] = {
    {"clip_vision_model", read_clip},
    {"gemma3", read_siglip},
    {"gemma4", read_gemma4_vision},
    {"gemma4_vision", read_gemma4_vision},
    {"glm4v", read_glm_vision},
    {"glm4v_moe", read_glm_vision},
    {"glm4v_moe_vision", read_glm_vision},
    {"glm4v_vision", read_glm_vision},
    {"kimi_k25", read_kimi_vision},
    {"kimi_k25_vision", read_kimi_vision},
    {"llama4", read_llama4_vision},
    {"llama4_vision_model", read_llama4_vision},
    {"mllama", read_mllama_vision},
    {"mllama_vision_model", read_mllama_vision},
    {"moonvit", read_kimi_vision},
    {"pixtral", read_pixtral},
    {"qwen2_5_omni_vision_encoder", read_qwen2_5_vision},
    {"qwen2_5_vl", read_qwen2_5_vision},
    {"qwen2_5_vl_vision", read_qwen2_5_vision},
    {"qwen2_vl", read_qwen2_vision},
    {"qwen2_vl_vision", read_qwen2_vision},
    {"qwen3_5", read_qwen3_5_vision},
    {"qwen3_5_moe", read_qwen3_5_vision},
    {"qwen3_omni_moe_vision_encoder", read_qwen3_vision},
    {"qwen3_vl", read_qwen3_vision},
    {"qwen3_vl_moe", read_qwen3_vision},
    {"qwen3_vl_moe_vision", read_qwen3_vision},
    {"qwen3_vl_vision", read_qwen3_vision},
    {"siglip_vision_model", read_siglip},
};

}  // namespace

/// The tower of a model that has one. One that is not known is a problem: left out in silence it
/// would be missing from memory and from the time of every image.
void read_vision(Config& whole, Model& m) {
  constexpr std::string_view key = "vision_config";
  if (!whole.has(key)) return;
  Config c = whole.section(key);
  const std::string type = c.word({"model_type"}, whole.word({"model_type"}, ""));
  // A network of convolutions, whose 0.3 B parameters are few beside the rest.
  if (type == "gemma3n_vision")
    return note(m, "its tower for images, MobileNet-V5, is not counted");
  const auto* at = find_by(towers, &Tower::type, type);
  if (at == nullptr) {
    std::string known;
    for (const Tower& t : towers) known += (known.empty() ? "" : ", ") + std::string(t.type);
    c.problem("model_type", "no tower of type " + in_quotes(type) + " is known",
              "known are " + known + "; leave vision_config out to count the language model alone");
    return;
  }
  at->read(c, whole, m);
  // What the projector's end says again, and what generation alone looks at.
  constexpr std::string_view irrelevant[] = {"hidden_size",
                                             "image_size",
                                             "out_hidden_size",
                                             "text_hidden_size",
                                             "mm_hidden_size",
                                             "projection_dim",
                                             "init_pos_emb_time",
                                             "intermediate_layers_indices",
                                             "max_position_embeddings",
                                             "global_head_dim"};
  c.report_unread("no tower with this field is known",
                  "leave vision_config out to count the language model alone", irrelevant);
}

}  // namespace sextant::hugging_face
