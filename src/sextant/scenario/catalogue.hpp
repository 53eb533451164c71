// SPDX-License-Identifier: Apache-2.0
// Presets loaded once by name, with settings over them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sextant/io/presets.hpp"
#include "sextant/io/settings.hpp"

namespace sextant {

class Catalogue {
 public:
  Catalogue() = default;
  /// Settings are applied to whatever is loaded of their root.
  explicit Catalogue(std::vector<Setting> settings) : settings_(std::move(settings)) {}

  /// A device, or nullptr and the reason when no preset has that name. What ends in .toml is a
  /// file.
  const Device* device(const std::string& name, std::string& reason);
  /// The library for a device: one whose matrix units are not asynchronous uses "NAME-sync" where
  /// there is one.
  const Kernels* kernels(const std::string& library, const Device& device, std::string& reason);
  /// A system, a runtime or a model, or nullptr and the reason when no preset has that name.
  const System* system(const std::string& name, std::string& reason);
  const Runtime* runtime(const std::string& name, std::string& reason);
  /// With more settings of its own: a model of other dimensions is made as --set makes it. Also
  /// nullptr where they contradict each other.
  const Model* model(const std::string& name, std::string& reason,
                     const std::vector<Setting>& own = {});
  /// A communication library.
  const CollectiveLibrary* collectives(const std::string& name, std::string& reason);
  /// All that a runtime calls on a system.
  std::optional<Libraries> libraries(const System& system, const Runtime& runtime,
                                     std::string& reason);
  bool has_model(const std::string& name) { return known(PresetKind::model, name); }
  void put(const Runtime& runtime) { runtimes_[runtime.name] = runtime; }
  void put(const Device& device) { devices_[device.name] = device; }
  void put(const Kernels& kernels) { kernels_[kernels.name] = kernels; }
  void put(const CollectiveLibrary& library) { collectives_[library.name] = library; }

 private:
  /// From the cache, or loaded; nullptr and the reason when no preset of the kind has that name.
  template <class T, class Load>
  const T* find(std::map<std::string, T>& cache, PresetKind kind, const std::string& name,
                const Load& load, std::string& reason);
  bool known(PresetKind kind, const std::string& name);
  /// That nothing has this name, and what may be meant; found once, files repeat it row by row.
  const std::string& why_unknown(PresetKind kind, const std::string& name);

  std::vector<Setting> settings_;
  std::map<PresetKind, std::set<std::string>> names_;  ///< listed once a kind
  std::map<std::pair<PresetKind, std::string>, std::string> unknown_;
  std::map<std::string, Device> devices_;
  std::map<std::string, Kernels> kernels_;
  std::map<std::string, CollectiveLibrary> collectives_;
  std::map<std::string, System> systems_;
  std::map<std::string, Runtime> runtimes_;
  std::map<std::string, Model> models_;
};

}  // namespace sextant
