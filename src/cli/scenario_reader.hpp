// SPDX-License-Identifier: Apache-2.0
// What reading flags has in common for training and serving: checks that collect every problem,
// assumptions that are listed, kernels that belong to the runtime and the device.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/flags.hpp"
#include "cli/scenario.hpp"

namespace sextant::cli {

class ScenarioReader {
 protected:
  explicit ScenarioReader(const Common& common)
      : settings(settings_of(
            common, {"system", "device", "model", "runtime", "strategy", "kernel", "collective"})),
        lookup(common.lookup) {}

  int whole(const char* flag, const std::optional<int>& given, int otherwise, int low, int high) {
    if (!given) return otherwise;
    if (*given >= low && *given <= high) return *given;
    flags.add(flag, fmt::format("expected {} to {}, got {}", low, high, *given));
    return otherwise;
  }
  double number(const char* flag, const std::optional<double>& given, double otherwise, double low,
                double high) {
    if (!given) return otherwise;
    if (*given >= low && *given <= high) return *given;
    flags.add(flag, fmt::format("expected {} to {}, got {}", low, high, *given));
    return otherwise;
  }
  template <NamedEnum E>
  E choice(const char* flag, const std::string& text, E otherwise) {
    return text.empty() ? otherwise : flags.choice<E>(flag, text);
  }
  void attempt(const std::function<void()>& work) {
    try {
      work();
    } catch (const InputError& e) {
      flags.add(e);
    }
  }
  template <class... Args>
  void assume(fmt::format_string<Args...> text, Args&&... args) {
    scenario.assumptions.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  /// System, model and runtime; problems are collected.
  void load(const PresetRef& wanted_system, const PresetRef& wanted_model,
            const PresetRef& wanted_runtime);
  /// What the runtime calls on this system.
  Libraries libraries() const;
  /// What the device cannot do, and whether it was measured.
  void say_device();

  const std::vector<Setting> settings;
  const Lookup lookup;
  Flags flags;
  Runtime runtime;
  Model model;
  Scenario scenario;
};

}  // namespace sextant::cli
