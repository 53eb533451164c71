// SPDX-License-Identifier: Apache-2.0
// A model as case files write it: a preset's name, its dimensions in columns, or both.
#pragma once

#include <optional>
#include <string>

#include "sextant/spec/model.hpp"
#include "sextant/validate/row.hpp"

namespace sextant {

/// Dimensions that a row gives; 0 or nothing where its cell is empty.
struct ModelColumns {
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int ffn = 0;
  int vocab = 0;
  int experts = 0;
  int topk = 0;
  std::optional<Mlp> mlp;
  std::optional<bool> tied;
  /// Enough to build a model without a preset.
  bool complete() const { return layers > 0 && hidden > 0 && heads > 0 && vocab > 0; }
};

ModelColumns read_model_columns(RowReader& row);

/// The model of a row: its columns over the preset's fields, or built from the columns alone where
/// `preset` is nullptr. Completed.
Model model_of(const ModelColumns& given, const std::string& name, int context,
               const Model* preset);

}  // namespace sextant
