// SPDX-License-Identifier: Apache-2.0
// Which reader a config.json has, by its model_type; where in the file the language model is; what
// no reader has asked for.
#include "sextant/io/huggingface.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "sextant/io/huggingface_families.hpp"
#include "sextant/io/text.hpp"

namespace sextant {
namespace {

using namespace hugging_face;

const Family* family_of(std::string_view type) {
  for (const auto& families : {dense_families(), expert_families(), hybrid_families()}) {
    for (const Family& family : families) {
      if (family.type == type) return &family;
    }
  }
  return nullptr;
}

/// Types that people bring and whose mechanism there is no graph for.
struct Unmodelled {
  std::string_view type;
  std::string_view why;
};
constexpr std::string_view encoder = "an encoder, which makes no token after another";
constexpr std::string_view recurrence = "a recurrence that is not modelled";
constexpr std::string_view same_weights = "layers that share their weights, which are not modelled";
constexpr std::string_view block_choice = "attention that chooses blocks, which is not modelled";
constexpr Unmodelled unmodelled[] = {
    {"albert", encoder},
    {"bert", encoder},
    {"bitnet", "weights of three values, which are not modelled"},
    {"deberta", encoder},
    {"deberta-v2", encoder},
    {"distilbert", encoder},
    {"electra", encoder},
    {"jet_nemotron", "convolutions made for each token, which are not modelled"},
    {"longcat_flash_ngram", "embeddings of several tokens together, which are not modelled"},
    {"minimax_m3", block_choice},
    {"minimax_m3_vl", block_choice},
    {"minimax_m3_vl_text", block_choice},
    {"modernbert", encoder},
    {"mpnet", encoder},
    {"nomic_bert", encoder},
    {"openelm", "layers of different widths, which are not modelled"},
    {"ouro", same_weights},
    {"phi3small", "block-sparse attention, which is not modelled"},
    {"phi4flash",
     "attention to what an earlier layer kept, and gates of its memory, which are not modelled"},
    {"recurrent_gemma", recurrence},
    {"roberta", encoder},
    {"rwkv", recurrence},
    {"rwkv5", recurrence},
    {"rwkv6", recurrence},
    {"rwkv7", recurrence},
    {"solar", "connections past blocks of layers, which are not modelled"},
    {"xlm-roberta", encoder},
    {"xlstm", recurrence},
    {"zamba", same_weights},
    {"zamba2", same_weights},
    {"zaya", "convolutions inside its attention, which are not modelled"},
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Says why a type has no reader.
void refuse(Config& config, const std::string& type) {
  if (config.flag({"is_encoder_decoder"}, false)) {
    return config.problem("model_type", in_quotes(type) +
                                            " has an encoder and a decoder; models that decode "
                                            "alone are modelled");
  }
  for (const Unmodelled& u : unmodelled) {
    if (u.type != type) continue;
    const bool is = u.why == encoder;
    return config.problem("model_type",
                          in_quotes(type) + (is ? " is " : " has ") + std::string(u.why));
  }
  const std::vector<std::string> known = hugging_face_types();
  std::string hint = did_you_mean(type, known);
  hint += (hint.empty() ? "" : " ") +
          ("if its layers are those of a family that is known, give that family's model_type; "
           "known are " +
           joined(known));
  config.problem("model_type", "no model of type " + in_quotes(type) + " is known",
                 std::move(hint));
}

/// The reader for this file; where there is none, the reason is added to the problems.
const Family* find_family(Config& config) {
  if (!config.has("model_type")) {
    config.missing("model_type", "one of " + joined(hugging_face_types()));
    return nullptr;
  }
  const std::string type = config.word("model_type");
  const Family* family = family_of(type);
  if (family == nullptr && config.has_word("model_type")) refuse(config, type);
  return family;
}

/// What a multimodal model's file leaves out of its text_config, which holds what differs from the
/// defaults of its class (LLaVA). Files of language models alone say all of it.
const Node* class_defaults(const Node& text) {
  struct Defaults {
    std::string_view type;
    Document fields;
  };
  static const std::array<Defaults, 2> all = {
      Defaults{"llama", parse_json(R"({"hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000})",
                                   "LlamaConfig")},
      Defaults{"mistral", parse_json(R"({"hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "vocab_size": 32000})",
                                     "MistralConfig")}};
  const Node* type = text.find("model_type");
  for (const Defaults& d : all) {
    if (type != nullptr && type->string == d.type) return &d.fields.root;
  }
  return nullptr;
}

/// Where the language model is: multimodal models keep it in a table of its own.
struct Part {
  const Node* whole;  ///< the table with the language model and its towers
  const Node* text;
  std::string prefix;
};

Part find_text(const Node& root) {
  const auto table = [](const Node& in, std::string_view key) {
    const Node* node = in.find(key);
    return node != nullptr && node->kind == Node::Kind::table ? node : nullptr;
  };
  Part part{&root, &root, ""};
  if (const Node* thinker = table(root, "thinker_config")) {
    part = {thinker, thinker, "thinker_config."};
  }
  for (const std::string_view key : {"text_config", "llm_config", "language_config"}) {
    if (const Node* text = table(*part.whole, key)) {
      part.text = text;
      part.prefix += std::string(key) + ".";
      return part;
    }
  }
  return part;
}

/// Numbers that say nothing of the shape, whatever their names look like.
constexpr std::string_view harmless[] = {"max_window_layers", "mtp_transformer_layers",
                                         "no_rope_layers",    "original_max_position_embeddings",
                                         "qk_head_dim",       "rotary_dim",
                                         "rotary_emb_dim",    "sliding_window_size",
                                         "time_step_rank"};

}  // namespace

std::vector<std::string> quantisation_files() {
  return {"hf_quant_config.json", "quant_config.json", "quantize_config.json"};
}

void quantise_as(const Document& document, Model& model) {
  std::vector<Diagnostic> problems;
  Config table(document, document.root, problems);
  read_quantised(table, model);
  throw_if_any(std::move(problems));
}

std::vector<std::string> hugging_face_types() {
  std::vector<std::string> types;
  for (const auto& families : {dense_families(), expert_families(), hybrid_families()}) {
    for (const Family& family : families) types.emplace_back(family.type);
  }
  std::sort(types.begin(), types.end());
  return types;
}

Model model_from_hugging_face(const Document& document) {
  std::vector<Diagnostic> problems;
  const Node& root = document.root;
  const Part part = find_text(root);
  const bool nested = part.text != &root;
  Config config(document, *part.text, problems, part.prefix, nested ? part.whole : nullptr,
                nested ? class_defaults(*part.text) : nullptr);
  Model model;
  if (root.kind != Node::Kind::table) {
    problems.push_back(problem_at(document, root.place, "", "expected an object, { … }"));
  } else if (const Family* family = find_family(config)) {
    model.family = family->name;
    family->read(config, model);
    read_stored(config, model);
    config.report_unread(
        "no " + model.family + " with this field is known: it may change the shape",
        "remove it where it does not", harmless);
    Config whole(document, *part.whole, problems, part.whole == &root ? "" : "thinker_config.");
    read_vision(whole, model);
    if (whole.has("audio_config")) note(model, "its tower for sound is not counted");
    if (part.whole != &root) note(model, "what makes speech is not counted");
  }
  throw_if_any(std::move(problems));
  return model;
}

}  // namespace sextant
