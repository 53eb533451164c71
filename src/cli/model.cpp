// SPDX-License-Identifier: Apache-2.0
// `sextant model`: a model's graph, layer by layer.
#include "sextant/answer/model.hpp"

#include "cli/commands.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/options/settings.hpp"

namespace sextant::cli {

Answer run_model(const ModelOptions& o, const Common& common) {
  Flags flags;
  ModelQuestion question{.seq = static_cast<double>(o.seq)};
  question.cache = flags.choice<Precision>("--kv-precision", o.kv_precision);
  throw_if_any(std::move(flags.problems));
  return answer_of(load_model(o.model, settings_of(common, {"model"}), common.lookup), question);
}

}  // namespace sextant::cli
