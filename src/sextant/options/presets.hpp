// SPDX-License-Identifier: Apache-2.0
// Options of `list` and `show`.
#pragma once

#include <array>

#include "sextant/options/option.hpp"

namespace sextant {

inline constexpr std::array<std::string_view, 11> kinds_of_presets = {
    "devices",      "systems", "models", "runtimes", "kernels", "collectives",
    "measurements", "nodes",   "drams",  "links",    "cores"};

struct ListOptions {
  std::string kind;  ///< "devices", …; empty: all
};

template <class V>
void describe(V& v, ListOptions& o) {
  v("kind", o.kind,
    {.help =
         "devices, systems, models, runtimes, kernels, collectives, measurements, nodes, drams, "
         "links or cores",
     .positional = true,
     .choices = kinds_of_presets});
}

struct ShowOptions {
  std::string name;
  std::string kind;  ///< where a name is of several kinds
  bool toml = false;
  bool json = false;
  bool fields = false;  ///< what may be set, instead of what is
};

template <class V>
void describe(V& v, ShowOptions& o) {
  v("name", o.name,
    {.help = "a preset, a file, or with --fields a kind", .required = true, .positional = true});
  v("kind", o.kind,
    {.help = "device, system, model, runtime, kernel, node, dram, link or core",
     .choices = choices_of<PresetKind>()});
  v("toml", o.toml, {.help = "as a file to start your own from"});
  v("json", o.json, {.help = "in SI base units"});
  v("fields", o.fields, {.help = "every field, its type, default and meaning"});
}

}  // namespace sextant
