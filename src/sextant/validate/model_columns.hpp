// SPDX-License-Identifier: Apache-2.0
// A model as case files write it: a preset's name, its dimensions in columns, or both.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/io/settings.hpp"
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
  std::optional<int> dense_layers;
  std::optional<Mlp> mlp;
  std::optional<bool> tied;
  /// Enough to build a model without a preset.
  bool complete() const { return layers > 0 && hidden > 0 && heads > 0 && vocab > 0; }
};

/// A row without a model's name must give enough of them.
ModelColumns read_model_columns(RowReader& row, const std::string& name);

/// The columns as --set has them, for a preset.
std::vector<Setting> settings_of(const ModelColumns& given);

/// A model from the columns alone. Completed.
Model model_of(const ModelColumns& given, const std::string& name, int context);

}  // namespace sextant
