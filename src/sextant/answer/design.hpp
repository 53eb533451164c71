// SPDX-License-Identifier: Apache-2.0
// What `sextant tech` says beyond one device: how sure it is, what may be traded for what, and what
// a number would have to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/design/front.hpp"
#include "sextant/design/inverse.hpp"
#include "sextant/design/together.hpp"
#include "sextant/design/uncertainty.hpp"

namespace sextant {

/// Lines of CSV as `tech` has them: what, part, value.
void add_line(Records& lines, std::string_view what, std::string_view part, double value);
void add_lines(Records& lines, const design::Uncertainty& uncertainty, bool trains);
void add_lines(Records& lines, const design::Solution& solution);
/// A front's designs, a line each.
Records lines_of(const design::Front& front, const std::vector<Technology>& technologies);

/// "technology_uncertainty", a table and a figure of shares with their bands.
void add_uncertainty(Answer& answer, const design::Uncertainty& uncertainty, bool trains);

/// "together": the strategy and the network that a device was chosen with.
void add_together(Answer& answer, const design::Together& together, const std::string& network,
                  bool trains);

/// "pareto": designs of which none is better in all respects, and their figure.
void add_front(Answer& answer, const design::Front& front,
               const std::vector<Technology>& technologies);

/// "solve": what a number would have to be, or what keeps the condition from holding.
void add_solution(Answer& answer, const design::Solution& solution);

}  // namespace sextant
