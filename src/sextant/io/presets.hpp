// SPDX-License-Identifier: Apache-2.0
// Devices, systems, models, runtimes, libraries, measurements and technologies by name: compiled
// in, from $SEXTANT_PATH, or from a file.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/io/settings.hpp"
#include "sextant/spec/device.hpp"
#include "sextant/spec/libraries.hpp"
#include "sextant/spec/measurement.hpp"
#include "sextant/spec/model.hpp"
#include "sextant/spec/runtime.hpp"
#include "sextant/spec/system.hpp"
#include "sextant/spec/technology.hpp"

namespace sextant {

enum class PresetKind : std::uint8_t {
  device,
  system,
  model,
  runtime,
  kernel,
  collective,
  measurement,
  node,
  dram,
  link,
  core
};
constexpr auto names_of(PresetKind) {
  return std::array<std::string_view, 11>{"device", "system",     "model",       "runtime",
                                          "kernel", "collective", "measurement", "node",
                                          "dram",   "link",       "core"};
}

/// Where names may lead: `presets` keeps out paths, for names that come over a network.
enum class Lookup : std::uint8_t { anywhere, presets };

/// A preset as someone asks for it: by name or path, or written out in place, as a request may.
struct PresetRef {
  std::string name = {};
  std::shared_ptr<const Node> object = {};
  bool empty() const { return name.empty() && object == nullptr; }
};

/// All names of a kind, compiled in and in $SEXTANT_PATH, sorted.
std::vector<std::string> preset_names(PresetKind kind);

/// The kinds that have a preset of this name.
std::vector<PresetKind> preset_kinds(std::string_view name);

/// What may have been meant by a name that no preset of this kind, or of any, has: "did you mean
/// …?", or nothing. Names of checkpoints on Hugging Face are understood as well.
std::string preset_hint(std::string_view name, std::optional<PresetKind> kind = std::nullopt);

/// The text of a preset as it was written, comments included; throws InputError when unknown.
std::string preset_text(PresetKind kind, std::string_view name);

/// Loads what a T describes. Settings of the matching root ("device", "system" and "device",
/// "model", "runtime") are applied. Throws InputError with everything that is wrong, or
/// std::system_error when a file cannot be read.
template <class T>
struct LoadPreset {
  /// By name or path: "h100-sxm", "mine.toml", "models.toml#one-of-many", or for a model the
  /// config.json of Hugging Face or the folder that holds it.
  T operator()(std::string_view name_or_path, const std::vector<Setting>& settings = {},
               Lookup lookup = Lookup::anywhere) const;
  /// From a value inside another document: a string is a name, a table may extend one.
  T operator()(const Document& document, const Node& node,
               const std::vector<Setting>& settings = {}, Lookup lookup = Lookup::anywhere) const;
  /// However it was asked for. Objects are tables as in a file; a model's may be a Hugging Face
  /// config.json.
  T operator()(const PresetRef& preset, const std::vector<Setting>& settings = {},
               Lookup lookup = Lookup::anywhere) const;
};
inline constexpr LoadPreset<Device> load_device{};
inline constexpr LoadPreset<System> load_system{};
inline constexpr LoadPreset<Model> load_model{};
inline constexpr LoadPreset<Runtime> load_runtime{};
inline constexpr LoadPreset<Kernels> load_kernels{};                ///< a kernel library
inline constexpr LoadPreset<CollectiveLibrary> load_collectives{};  ///< a communication library
inline constexpr LoadPreset<Measurement> load_measurement{};        ///< how a source measures
inline constexpr LoadPreset<LogicNode> load_node{};                 ///< technologies: a process,
inline constexpr LoadPreset<MemoryPart> load_dram{};                ///< a part of memory,
inline constexpr LoadPreset<LinkPart> load_link{};                  ///< a link,
inline constexpr LoadPreset<CoreTemplate> load_core{};              ///< a core

/// The preset of a kernel library for a device: that of its kind (kernel_variant()), and of those
/// with 4-bit floats ("-fp4"), where there is one.
std::string kernels_for(const std::string& library, const Device& device);
/// Those of the collective libraries that a runtime calls on a system, of all messages and of small
/// all-reduces.
std::string collectives_for(const System& system, const Runtime& runtime);
std::string small_collectives_for(const System& system, const Runtime& runtime);
/// All that a runtime calls on a system.
Libraries load_libraries(const System& system, const Runtime& runtime,
                         const std::vector<Setting>& settings = {},
                         Lookup lookup = Lookup::anywhere);

}  // namespace sextant
