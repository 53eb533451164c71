// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/parts.hpp"

#include <utility>

namespace sextant {

std::string joined(const std::vector<Diagnostic>& problems) {
  std::string all;
  for (const Diagnostic& d : problems) all += (all.empty() ? "" : "; ") + d.message;
  return all;
}

namespace {

/// Another attention than the runtime's own; false where nobody knows it.
bool attend_by(std::string_view backend, Runtime& runtime) {
  if (backend.empty()) return true;
  runtime.fusion.attention = backend != "eager";
  // Written in plain PyTorch, one operator after the other.
  if (backend == "eager") runtime.fusion.softmax_heads = 0;
  if (backend == "cudnn") runtime.kernels = backend;
  // FlashAttention is what kernel libraries have where nothing else is said.
  return backend == "eager" || backend == "flash" || backend == "cudnn";
}

/// The columns of a row over a preset. Experts of a model that has none are as wide as its MLP.
std::vector<Setting> columns_of(const ModelColumns& given, const std::string& name,
                                Catalogue& catalogue) {
  std::vector<Setting> all = settings_of(given);
  std::string reason;
  const Model* preset = given.experts > 0 ? catalogue.model(name, reason) : nullptr;
  if (preset == nullptr || preset->experts.count > 0) return all;
  all.push_back({"model.experts.ffn", std::to_string(given.ffn > 0 ? given.ffn : preset->ffn)});
  return all;
}

}  // namespace

std::optional<Parts> find_parts(const PartNames& names, Catalogue& catalogue, std::string& reason) {
  Parts parts;
  parts.system = catalogue.system(names.system, reason);
  if (parts.system == nullptr) return std::nullopt;
  const Runtime* runtime = catalogue.runtime(names.runtime, reason);
  if (runtime == nullptr) return std::nullopt;
  parts.runtime = *runtime;
  apply(names.settings, parts.runtime, "runtime");
  if (!attend_by(names.backend, parts.runtime)) {
    reason = "attention by '" + std::string(names.backend) + "' is not modelled";
    return std::nullopt;
  }
  std::optional<Libraries> libraries = catalogue.libraries(*parts.system, parts.runtime, reason);
  if (!libraries) return std::nullopt;
  parts.libraries = std::move(*libraries);
  if (names.model.empty() || (!catalogue.has_model(names.model) && names.columns.complete())) {
    parts.model = model_of(names.columns, names.model, names.context);
    reason = joined(check(parts.model));
    if (!reason.empty()) return std::nullopt;
    return parts;
  }
  const Model* model =
      catalogue.model(names.model, reason, columns_of(names.columns, names.model, catalogue));
  if (model == nullptr) return std::nullopt;
  parts.model = *model;
  return parts;
}

}  // namespace sextant
