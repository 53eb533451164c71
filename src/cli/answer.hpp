// SPDX-License-Identifier: Apache-2.0
// What answers have in common: breakdowns and assumptions in JSON and text, figures in files.
#pragma once

#include <string>
#include <vector>

#include "cli/scenario.hpp"
#include "sextant/io/node.hpp"
#include "sextant/report/breakdown.hpp"
#include "sextant/report/plot.hpp"

namespace sextant::cli {

/// An answer's table with what was asked: model, system, runtime, devices.
Node scenario_node(const Scenario& scenario, double devices);

/// {label, seconds, share, parts}.
Node to_node(const Breakdown& breakdown);

/// The list under "assumed:", or nothing.
std::string assumptions_text(const std::vector<std::string>& assumptions);
void set_assumptions(Node& root, const std::vector<std::string>& assumptions);

/// Asked before the work: the path is empty, or ends in .svg or .html and can be written.
void check_figure_path(const std::string& path);
/// Nothing where the path is empty.
void write_figure(const std::string& path, const plot::Figure& figure);

}  // namespace sextant::cli
