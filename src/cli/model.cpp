// SPDX-License-Identifier: Apache-2.0
// `sextant model`: a model's graph, layer by layer.
#include "sextant/answer/model.hpp"

#include <algorithm>

#include "cli/commands.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/options/settings.hpp"

namespace sextant::cli {

namespace {

/// The model, and all that is wrong with what is asked of it.
Model read_model(const ModelOptions& o, const Common& common, ModelQuestion& question) {
  Flags flags;
  Model model;
  question.cache = flags.choice<Precision>("--kv-precision", o.kv_precision);
  const std::vector<Setting> settings = settings_of(common, {"model"}, flags.problems);
  flags.attempt("model", [&] { model = load_model(o.model, settings, common.lookup); });
  throw_if_any(std::move(flags.problems));
  return model;
}

}  // namespace

Answer run_model(const ModelOptions& o, const Common& common) {
  ModelQuestion question;
  const Model model = read_model(o, common, question);
  constexpr int usual = 4096;
  question.seq = o.seq.value_or(model.max_context > 0 ? std::min(usual, model.max_context) : usual);
  return answer_of(model, question);
}

}  // namespace sextant::cli

namespace sextant {
void check_scenario(const ModelOptions& options, const Common& common) {
  ModelQuestion question;
  cli::read_model(options, common, question);
}
}  // namespace sextant
