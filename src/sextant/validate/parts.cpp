// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/parts.hpp"

#include <utility>

namespace sextant {

std::string joined(const std::vector<Diagnostic>& problems) {
  std::string all;
  for (const Diagnostic& d : problems) all += (all.empty() ? "" : "; ") + d.message;
  return all;
}

std::optional<Parts> find_parts(const PartNames& names, Catalogue& catalogue, std::string& reason) {
  Parts parts;
  parts.system = catalogue.system(names.system, reason);
  if (parts.system == nullptr) return std::nullopt;
  parts.runtime = catalogue.runtime(names.runtime, reason);
  if (parts.runtime == nullptr) return std::nullopt;
  std::optional<Libraries> libraries = catalogue.libraries(*parts.system, *parts.runtime, reason);
  if (!libraries) return std::nullopt;
  parts.libraries = std::move(*libraries);
  if (names.model.empty() || (!catalogue.has_model(names.model) && names.columns.complete())) {
    parts.model = model_of(names.columns, names.model, names.context);
    reason = joined(check(parts.model));
    if (!reason.empty()) return std::nullopt;
    return parts;
  }
  const Model* model = catalogue.model(names.model, reason, settings_of(names.columns));
  if (model == nullptr) return std::nullopt;
  parts.model = *model;
  return parts;
}

}  // namespace sextant
