// SPDX-License-Identifier: Apache-2.0
// Options of `model`.
#pragma once

#include "sextant/options/option.hpp"
#include "sextant/spec/device.hpp"

namespace sextant {

struct ModelOptions {
  PresetRef model;
  std::optional<int> seq;
  std::string kv_precision = "bf16";
};

template <class V>
void describe(V& v, ModelOptions& o) {
  v("model", o.model,
    {.help = "model preset, file or Hugging Face config.json",
     .required = true,
     .positional = true,
     .preset = PresetKind::model});
  v("seq", o.seq,
    {.help = "tokens of a sequence, for attention; without, 4096 or what the model takes",
     .min = 1,
     .max = 1 << 30});
  v("kv_precision", o.kv_precision,
    {.help = "of the cache: bf16 fp16 fp8 int8", .choices = choices_of<Precision>()});
}

}  // namespace sextant
