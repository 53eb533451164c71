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

/// By name or path: "h100-sxm", "mine.toml", "models.toml#one-of-many", or for a model the
/// config.json of Hugging Face or the folder that holds it. Settings of the matching root
/// ("device", "system" and "device", "model", "runtime") are applied. Throws InputError with
/// everything that is wrong, or std::system_error when a file cannot be read.
Device load_device(std::string_view name_or_path, const std::vector<Setting>& settings = {},
                   Lookup lookup = Lookup::anywhere);
System load_system(std::string_view name_or_path, const std::vector<Setting>& settings = {},
                   Lookup lookup = Lookup::anywhere);
Model load_model(std::string_view name_or_path, const std::vector<Setting>& settings = {},
                 Lookup lookup = Lookup::anywhere);
Runtime load_runtime(std::string_view name_or_path, const std::vector<Setting>& settings = {},
                     Lookup lookup = Lookup::anywhere);
/// A kernel library.
Kernels load_kernels(std::string_view name_or_path, const std::vector<Setting>& settings = {},
                     Lookup lookup = Lookup::anywhere);
/// A communication library.
CollectiveLibrary load_collectives(std::string_view name_or_path,
                                   const std::vector<Setting>& settings = {},
                                   Lookup lookup = Lookup::anywhere);
/// How a source takes its measurements.
Measurement load_measurement(std::string_view name_or_path,
                             const std::vector<Setting>& settings = {},
                             Lookup lookup = Lookup::anywhere);

/// The preset of a kernel library for a device: that of its kind (kernel_variant()) where there is
/// one.
std::string kernels_for(const std::string& library, const Device& device);
/// Those of the collective libraries that a runtime calls on a system, of all messages and of small
/// all-reduces.
std::string collectives_for(const System& system, const Runtime& runtime);
std::string small_collectives_for(const System& system, const Runtime& runtime);
/// All that a runtime calls on a system.
Libraries load_libraries(const System& system, const Runtime& runtime,
                         const std::vector<Setting>& settings = {},
                         Lookup lookup = Lookup::anywhere);
/// Technologies: a logic process, a part of memory, a link, a core.
LogicNode load_node(std::string_view name_or_path, const std::vector<Setting>& settings = {},
                    Lookup lookup = Lookup::anywhere);
MemoryPart load_dram(std::string_view name_or_path, const std::vector<Setting>& settings = {},
                     Lookup lookup = Lookup::anywhere);
LinkPart load_link(std::string_view name_or_path, const std::vector<Setting>& settings = {},
                   Lookup lookup = Lookup::anywhere);
CoreTemplate load_core(std::string_view name_or_path, const std::vector<Setting>& settings = {},
                       Lookup lookup = Lookup::anywhere);

/// From a value inside another document: a string is a name, a table may extend one.
Device load_device(const Document& document, const Node& node,
                   const std::vector<Setting>& settings = {}, Lookup lookup = Lookup::anywhere);
System load_system(const Document& document, const Node& node,
                   const std::vector<Setting>& settings = {}, Lookup lookup = Lookup::anywhere);
Model load_model(const Document& document, const Node& node,
                 const std::vector<Setting>& settings = {}, Lookup lookup = Lookup::anywhere);
Runtime load_runtime(const Document& document, const Node& node,
                     const std::vector<Setting>& settings = {}, Lookup lookup = Lookup::anywhere);

/// However it was asked for. Objects are tables as in a file; a model's may be a Hugging Face
/// config.json.
Device load_device(const PresetRef& preset, const std::vector<Setting>& settings = {},
                   Lookup lookup = Lookup::anywhere);
System load_system(const PresetRef& preset, const std::vector<Setting>& settings = {},
                   Lookup lookup = Lookup::anywhere);
Model load_model(const PresetRef& preset, const std::vector<Setting>& settings = {},
                 Lookup lookup = Lookup::anywhere);
Runtime load_runtime(const PresetRef& preset, const std::vector<Setting>& settings = {},
                     Lookup lookup = Lookup::anywhere);

}  // namespace sextant
