// SPDX-License-Identifier: Apache-2.0
// Readers of config.json, one a family, and what families share. Internal to io.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/huggingface_config.hpp"

namespace sextant::hugging_face {

struct Family {
  std::string_view type;  ///< value of model_type
  std::string_view name;  ///< for people
  void (*read)(Config&, Model&);
};

/// Those whose layers are attention and one MLP; with experts; with recurrences, or pruned.
std::span<const Family> dense_families();
std::span<const Family> expert_families();
std::span<const Family> hybrid_families();

/// What the checkpoint's weights are stored in, and whether blocks of them have scales.
void read_stored(Config& config, Model& model);
/// The same of a quantization_config itself.
void read_quantised(Config& table, Model& model);

// ---- what families share

enum class Gate : std::uint8_t { gated, plain };

void read_activation(Config& c, Keys keys, std::string_view otherwise, Gate gate, Model& m);
void all_biases(Model& m, bool present);

/// Embeddings, widths and heads by the names that most families use; where a list has told the
/// number of layers, a file need not.
void read_shape(Config& c, Model& m, int layers = 0);

/// RMSNorm, rotary positions, gated MLP, grouped attention: what followed Llama.
void read_llama(Config& c, Model& m);
void read_llama(Config& c, Model& m, Gate gate, std::string_view activation);
/// The same without its MLP's width.
void read_like_llama(Config& c, Model& m, Gate gate = Gate::gated,
                     std::string_view activation = "silu");

/// Layers whose entry in a list is not `full`, and one of `others`; `otherwise` where there is no
/// such list.
int layers_unlike(Config& c, const Model& m, std::string_view full, Keys others, int otherwise,
                  std::string_view key = "layer_types");

/// The sliding window, of so many layers where layer_types does not tell.
void read_window(Config& c, Model& m, int window_layers, int otherwise = 0);
/// The same where use_sliding_window says that there is one: in layers from max_window_layers on.
void read_optional_window(Config& c, Model& m);

/// Layers among `layers` for which (i + 1) % step is zero.
inline int every(int step, int layers) { return step > 0 ? layers / step : 0; }

/// Queries and keys and values of low rank: DeepSeek V2 and who followed.
void read_latent(Config& c, Model& m);

/// Hundreds of experts, a few of them shared: DeepSeek and who followed.
void read_fine_experts(Config& c, Model& m);

/// Experts of Qwen 2 and 3: in every decoder_sparse_step-th layer, less the exceptions.
void read_qwen_experts(Config& c, Model& m);

// Families that others build upon.
void read_mistral(Config& c, Model& m);
void read_qwen3(Config& c, Model& m);
void read_gemma3(Config& c, Model& m);
void read_hunyuan_dense(Config& c, Model& m);
void read_exaone4(Config& c, Model& m);
void read_bailing_v2(Config& c, Model& m);
/// Experts of Ling and Ring.
void read_bailing_experts(Config& c, Model& m);

/// What is not counted, for people.
void note(Model& m, std::string_view what);

}  // namespace sextant::hugging_face
