// SPDX-License-Identifier: Apache-2.0
#include "sextant/scenario/catalogue.hpp"

namespace sextant {

bool Catalogue::known(PresetKind kind, const std::string& name) {
  auto listed = names_.find(kind);
  if (listed == names_.end()) {
    const std::vector<std::string> names = preset_names(kind);
    listed = names_.emplace(kind, std::set<std::string>(names.begin(), names.end())).first;
  }
  return listed->second.contains(name);
}

const std::string& Catalogue::why_unknown(PresetKind kind, const std::string& name) {
  const auto [said, first] = unknown_.try_emplace({kind, name});
  if (!first) return said->second;
  const std::string noun = kind == PresetKind::kernel       ? "kernel library"
                           : kind == PresetKind::collective ? "communication library"
                           : kind == PresetKind::device     ? "device preset"
                                                            : std::string(name_of(kind));
  const std::string hint = preset_hint(name, kind);
  said->second = "no " + noun + " is named '" + name + "'" + (hint.empty() ? "" : "; " + hint);
  return said->second;
}

template <class T, class Load>
const T* Catalogue::find(std::map<std::string, T>& cache, PresetKind kind, const std::string& name,
                         const Load& load, std::string& reason) {
  const auto found = cache.find(name);
  if (found != cache.end()) return &found->second;
  const bool file = name.ends_with(".toml");
  if (!file && !known(kind, name)) {
    reason = why_unknown(kind, name);
    return nullptr;
  }
  try {
    const Lookup where = file ? Lookup::anywhere : Lookup::presets;
    return &cache.emplace(name, load(name, settings_, where)).first->second;
  } catch (const InputError& e) {
    if (!file) throw;
    reason = name + ": " + e.diagnostics().front().message;
    return nullptr;
  } catch (const std::runtime_error& e) {  // it cannot be read
    if (!file) throw;
    reason = e.what();
    return nullptr;
  }
}

const Device* Catalogue::device(const std::string& name, std::string& reason) {
  const auto load = [](const auto&... given) { return load_device(given...); };
  return find(devices_, PresetKind::device, name, load, reason);
}

const Kernels* Catalogue::kernels(const std::string& library, const Device& device,
                                  std::string& reason) {
  const auto load = [](const auto&... given) { return load_kernels(given...); };
  return find(kernels_, PresetKind::kernel, kernels_for(library, device), load, reason);
}

const System* Catalogue::system(const std::string& name, std::string& reason) {
  const auto load = [](const auto&... given) { return load_system(given...); };
  return find(systems_, PresetKind::system, name, load, reason);
}

const Runtime* Catalogue::runtime(const std::string& name, std::string& reason) {
  const auto load = [](const auto&... given) { return load_runtime(given...); };
  return find(runtimes_, PresetKind::runtime, name, load, reason);
}

const Model* Catalogue::model(const std::string& name, std::string& reason,
                              const std::vector<Setting>& own) {
  if (own.empty()) {
    const auto load = [](const auto&... given) { return load_model(given...); };
    return find(models_, PresetKind::model, name, load, reason);
  }
  std::string key = name;
  for (const Setting& s : own) key += '\n' + s.path + '=' + s.value;
  const auto found = models_.find(key);
  if (found != models_.end()) return &found->second;
  std::vector<Setting> all = settings_;
  all.insert(all.end(), own.begin(), own.end());
  try {
    return &models_.emplace(key, load_model(name, all, Lookup::presets)).first->second;
  } catch (const InputError& e) {
    for (const Diagnostic& d : e.diagnostics()) {
      reason += (reason.empty() ? "" : "; ") + (d.field.empty() ? "" : d.field + ": ") + d.message;
    }
    return nullptr;
  }
}

const CollectiveLibrary* Catalogue::collectives(const std::string& name, std::string& reason) {
  const auto load = [](const auto&... given) { return load_collectives(given...); };
  return find(collectives_, PresetKind::collective, name, load, reason);
}

std::optional<Libraries> Catalogue::libraries(const System& system, const Runtime& runtime,
                                              std::string& reason) {
  const Kernels* own = kernels(runtime.kernels, system.device, reason);
  const CollectiveLibrary* all = collectives(collectives_for(system, runtime), reason);
  const CollectiveLibrary* small = collectives(small_collectives_for(system, runtime), reason);
  if (own == nullptr || all == nullptr || small == nullptr) return std::nullopt;
  return Libraries{*own, *all, *small};
}

}  // namespace sextant
