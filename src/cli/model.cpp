// SPDX-License-Identifier: Apache-2.0
// `sextant model`: a model's graph, layer by layer.
#include "sextant/answer/model.hpp"

#include <algorithm>

#include "cli/commands.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/options/settings.hpp"

namespace sextant::cli {

Answer run_model(const ModelOptions& o, const Common& common) {
  Flags flags;
  ModelQuestion question;
  question.cache = flags.choice<Precision>("--kv-precision", o.kv_precision);
  throw_if_any(std::move(flags.problems));
  const Model model = load_model(o.model, settings_of(common, {"model"}), common.lookup);
  constexpr int usual = 4096;
  question.seq = o.seq.value_or(model.max_context > 0 ? std::min(usual, model.max_context) : usual);
  return answer_of(model, question);
}

}  // namespace sextant::cli
