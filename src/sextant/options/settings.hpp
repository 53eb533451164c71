// SPDX-License-Identifier: Apache-2.0
// What commands share in reading their flags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/settings.hpp"
#include "sextant/options/common.hpp"
#include "sextant/spec/flags.hpp"

namespace sextant {

/// The --set options, whose paths must start with one of `roots`.
inline std::vector<Setting> settings_of(const Common& common, const std::vector<std::string>& roots,
                                        std::vector<Diagnostic>& problems) {
  std::vector<Setting> settings = parse_settings(common.set, problems);
  check_roots(settings, roots, problems);
  return settings;
}

/// Throws all that is wrong with them.
inline std::vector<Setting> settings_of(const Common& common,
                                        const std::vector<std::string>& roots) {
  std::vector<Diagnostic> problems;
  std::vector<Setting> settings = settings_of(common, roots, problems);
  throw_if_any(std::move(problems));
  return settings;
}

/// The axis that a setting is of: "tp" of "strategy.tp=8"; empty of others.
inline std::string_view axis_of(std::string_view setting) {
  if (!setting.starts_with("strategy.")) return {};
  return setting.substr(9, setting.find_first_of("= ") - 9);
}

/// Fields of a file that settings say otherwise are left out.
inline void give_way(Node& fields, const std::vector<std::string>& set) {
  for (const std::string& setting : set) {
    std::erase_if(fields.members, [&](const Node::Member& m) { return m.key == axis_of(setting); });
  }
}

/// Refuses --set where there is nothing to set.
inline void no_settings(const Common& common, const std::string& why, const std::string& hint) {
  if (common.set.empty()) return;
  Flags flags;
  flags.add("--set", why, hint);
  throw_if_any(std::move(flags.problems));
}

}  // namespace sextant
