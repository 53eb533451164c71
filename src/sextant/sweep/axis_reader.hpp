// SPDX-License-Identifier: Apache-2.0
// Fields and values of a plan: what a name means, and the values of an axis from a list or a range.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/spec/diagnostic.hpp"
#include "sextant/sweep/plan.hpp"

namespace sextant::sweep {

/// The document a plan stands in, and what is wrong with it so far.
struct Findings {
  const Document& document;
  std::vector<Diagnostic>& problems;
  Lookup lookup;  ///< where names may lead

  void add(Place place, std::string field, std::string message, std::string hint = "") const;
};

/// A scene of the first system and model that the plan names, so that lists have their elements.
/// Names that cannot be loaded are left out: they are reported where they stand.
Scene sample_scene(Task task, const Node& plan, Lookup lookup);

/// The field; or nothing, and a problem that suggests one.
std::optional<Slot> find_or_report(const Findings& findings, Scene& scene, const std::string& field,
                                   Place place);

/// Reads a value into the field; names of presets are looked up too. False where there are
/// problems.
bool read_field(const Findings& findings, const Node& node, Slot& slot, const std::string& field,
                const std::string& path);

/// Nothing where there are problems.
std::optional<Axis> read_axis(const Findings& findings, const Scene& sample, const Node& node,
                              const std::string& path);

}  // namespace sextant::sweep
