// SPDX-License-Identifier: Apache-2.0
// What commands share in reading their flags.
#pragma once

#include <string>
#include <vector>

#include "sextant/io/settings.hpp"
#include "sextant/options/common.hpp"
#include "sextant/spec/flags.hpp"

namespace sextant {

/// The --set options, whose paths must start with one of `roots`.
inline std::vector<Setting> settings_of(const Common& common,
                                        const std::vector<std::string>& roots) {
  std::vector<Setting> settings;
  std::vector<Diagnostic> problems;
  const auto attempt = [&](const auto& read) {
    try {
      read();
    } catch (const InputError& e) {
      problems.insert(problems.end(), e.diagnostics().begin(), e.diagnostics().end());
    }
  };
  for (const std::string& s : common.set) attempt([&] { settings.push_back(parse_setting(s)); });
  attempt([&] { check_roots(settings, roots); });
  throw_if_any(std::move(problems));
  return settings;
}

/// Refuses --set where there is nothing to set.
inline void no_settings(const Common& common, const std::string& why, const std::string& hint) {
  if (common.set.empty()) return;
  Flags flags;
  flags.add("--set", why, hint);
  throw_if_any(std::move(flags.problems));
}

}  // namespace sextant
