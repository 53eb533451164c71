// SPDX-License-Identifier: Apache-2.0
// Where an axis begins and ends, and which of its values get a tick and a label.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/units/quantity.hpp"

namespace sextant::plot {

struct Axis {
  std::string label = {};
  /// Data is in base units of this dimension; labels take an SI prefix ("10 µs", "ms").
  std::optional<Dimension> dimension = {};
  std::string unit = {};  ///< printed after the label where there is no dimension; may be empty
  bool log = false;
  std::optional<double> min = {};  ///< else from the data
  std::optional<double> max = {};
  std::vector<std::string> names = {};  ///< labels of 0, 1, 2, … instead of numbers
};

struct Tick {
  double value = 0;
  std::string label;     ///< empty for a minor tick
  std::string exponent;  ///< superscript after the label ("10" and "-6"), or empty
};

/// An axis with its limits settled.
struct Scale {
  bool log = false;
  double low = 0;
  double high = 1;
  std::string title;  ///< label and unit
  std::vector<Tick> ticks;

  /// 0 at `low`, 1 at `high`; linear in between, or linear in the logarithm.
  double at(double value) const;
  /// Whether the axis can show the value at all (finite, positive on a logarithmic axis).
  bool accepts(double value) const;
};

/// Limits that hold all acceptable values of `data` with a little room, unless the axis sets them;
/// `room` is about how many labels fit.
Scale make_scale(const Axis& axis, const std::vector<double>& data, int room);

}  // namespace sextant::plot
