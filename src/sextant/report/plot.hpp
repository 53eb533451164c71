// SPDX-License-Identifier: Apache-2.0
// Figures as SVG text that look printed: a frame, ticks, units, colours that colour-blind readers
// can tell apart, and nothing else. The same input gives the same bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/report/ticks.hpp"

namespace sextant::plot {

struct Point {
  double x = 0;
  double y = 0;
  std::string label;  ///< shown when the pointer rests on the mark; may be empty
  double length = 0;  ///< of a span, along x
};

/// Bars stand on 0; of two at one place the later one is drawn over the earlier. Spans lie in the
/// row of their y, from x on.
enum class Mark : std::uint8_t { dots, line, line_and_dots, dashed_line, bars, spans };

/// Colours that a series may ask for.
inline constexpr int palette = 8;

struct Series {
  std::string name = {};  ///< in the legend; empty: not there
  Mark mark = Mark::dots;
  /// Lines join them in this order. A point that its axis cannot show (not finite, not positive on
  /// a logarithmic axis) is left out and interrupts a line.
  std::vector<Point> points = {};
  int colour = -1;  ///< one of `palette`, where it means something; -1: by its place in the figure
};

/// The dots of this name, or new ones behind the others.
Series& dots_called(const std::string& name, std::vector<Series>& all);

/// Text inside the plot, starting at a point.
struct Note {
  double x = 0;
  double y = 0;
  std::string text;
};

struct Figure {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::vector<Note> notes;
  std::vector<double> dividers = {};  ///< values of x at which a thin line parts what is unlike
  /// Predicted against measured: one scale for both axes, a square, the diagonal, and `bands`.
  bool parity = false;
  std::vector<double> bands = {0.1, 0.2};  ///< relative errors shaded around the diagonal
  double bar = 0.8;                        ///< width of a bar, in units of the x axis
  int width = 480;   ///< pixels; a legend that finds no free corner adds to it
  int height = 340;  ///< pixels; of a parity figure it follows from the width
};

/// A figure of predicted against measured numbers of one dimension; nothing: each in its own unit.
Figure parity_figure(std::string title, std::optional<Dimension> unit);

/// A whole SVG document.
std::string to_svg(const Figure& figure);

/// A self-contained page around one or several figures, which can be zoomed, and markup below them.
std::string to_html(std::string_view svg, std::string_view title, std::string_view text = "");

}  // namespace sextant::plot
