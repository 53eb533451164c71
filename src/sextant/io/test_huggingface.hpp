// SPDX-License-Identifier: Apache-2.0
// Small files of config.json for tests, and what is wrong with them.
#pragma once

#include <string>
#include <utility>

#include "sextant/io/huggingface.hpp"
#include "sextant/io/parsing.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant::test {

inline Model from_text(std::string text) {
  return model_from_hugging_face(parse_json(std::move(text), "config.json"));
}

/// What is wrong with a config.json, as people see it.
inline std::string complaint(std::string text) {
  try {
    from_text(std::move(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// A small model of a family, with more fields.
inline std::string small(const std::string& type, const std::string& fields) {
  return R"({"model_type": ")" + type + R"(", "hidden_size": 64, "intermediate_size": 128,
             "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 100)" +
         (fields.empty() ? "" : ", " + fields) + "}";
}

}  // namespace sextant::test
