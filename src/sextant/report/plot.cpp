// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>

#include "sextant/report/utf8.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::plot {
namespace {

// Okabe and Ito's colours less yellow and black, which vanish on a light or a dark page, and brown.
constexpr std::array<std::string_view, palette> colours = {
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#8C5A2B"};
constexpr std::size_t shapes = 6;

constexpr double font = 11;
constexpr double title_font = 12.5;
constexpr double bold = 1.1;      // over the width of plain text
constexpr double small_font = 8;  // exponents
constexpr double edge = 10;       // around everything
constexpr double line_height = 15;
constexpr double sample = 20;  // width of a legend's mark

constexpr std::string_view style =
    "<style>.sx-paper{fill:#fff}.sx-ink{fill:#1a1a1a}.sx-rule{stroke:#1a1a1a;fill:none}"
    ".sx-band{fill:#1a1a1a;fill-opacity:.07}"
    "@media(prefers-color-scheme:dark){.sx-paper{fill:#15171a}.sx-ink{fill:#dcdcdc}"
    ".sx-rule{stroke:#dcdcdc}.sx-band{fill:#fff;fill-opacity:.1}}</style>\n";

// Hundredths of a pixel, without trailing zeros: short, and the same everywhere.
std::string px(double v) {
  std::string text = fmt::format("{:.2f}", v);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

// About as wide as a wide sans-serif face (DejaVu) sets it: where Helvetica is not, others take its
// place.
double text_width(std::string_view text, double size) {
  double width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    const char32_t c = next_code_point(text, i);
    if (c < 0x80 && std::string_view("ijlt.,:;'|!()[]fIr/ ").find(static_cast<char>(c)) !=
                        std::string_view::npos) {
      width += 0.37;
    } else if ((c >= 'A' && c <= 'Z') || c == 'm' || c == 'w' || c == '%' || c == '@') {
      width += 0.74;
    } else {
      width += 0.62 * display_width(text.substr(start, i - start));
    }
  }
  return width * size;
}

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  bool contains(double px, double py) const {
    return px >= x && px <= x + width && py >= y && py <= y + height;
  }
};

struct Pixel {
  double x = 0;
  double y = 0;
};

/// Everything the drawing functions share.
struct Canvas {
  const Figure& figure;
  Scale x;
  Scale y;
  Box plot;
  bool staggered = false;  ///< names below the plot stand in two rows
  std::string out;

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
  }
  std::optional<Pixel> place(double vx, double vy) const {
    if (!x.accepts(vx) || !y.accepts(vy)) return std::nullopt;
    return Pixel{plot.x + x.at(vx) * plot.width, plot.y + (1 - y.at(vy)) * plot.height};
  }
};

struct Look {
  std::string_view colour;
  std::size_t shape;
};
Look look_of(const Figure& figure, std::size_t series) {
  const int asked = figure.series[series].colour;
  const std::size_t colour = asked < 0 ? series : static_cast<std::size_t>(asked);
  return {colours[colour % colours.size()], (series + series / colours.size()) % shapes};
}

double dot_radius(const Figure& figure) {
  std::size_t points = 0;
  for (const Series& s : figure.series) points += s.points.size();
  return points > 2000 ? 1.5 : points > 300 ? 2.0 : 2.8;
}

bool has_boxes(Mark mark) { return mark == Mark::bars || mark == Mark::spans; }
bool has_line(Mark mark) { return mark != Mark::dots && !has_boxes(mark); }
bool has_dots(Mark mark) { return mark == Mark::dots || mark == Mark::line_and_dots; }

// An element's start tag without its end, so that a <title> may go inside.
std::string dot(std::size_t shape, Pixel p, double r) {
  const auto at = [&](double dx, double dy) { return px(p.x + dx * r) + " " + px(p.y + dy * r); };
  switch (shape) {
    case 0:
      return fmt::format(R"(<circle cx="{}" cy="{}" r="{}")", px(p.x), px(p.y), px(r));
    case 1:
      return fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}")", px(p.x - 0.88 * r),
                         px(p.y - 0.88 * r), px(1.76 * r), px(1.76 * r));
    case 2:
      return fmt::format(R"(<path d="M{}L{}L{}z")", at(0, -1.2), at(1.1, 0.75), at(-1.1, 0.75));
    case 3:
      return fmt::format(R"(<path d="M{}L{}L{}L{}z")", at(0, -1.25), at(1.1, 0), at(0, 1.25),
                         at(-1.1, 0));
    case 4:
      return fmt::format(R"(<path d="M{}L{}L{}z")", at(0, 1.2), at(1.1, -0.75), at(-1.1, -0.75));
    default:
      return fmt::format(R"(<path d="M{}L{}L{}L{}L{}z")", at(0, -1.2), at(1.14, -0.37),
                         at(0.71, 0.97), at(-0.71, 0.97), at(-1.14, -0.37));
  }
}

void draw_text(Canvas& c, Pixel p, std::string_view text, std::string_view more = "") {
  c.add("<text class=\"sx-ink\" x=\"{}\" y=\"{}\"{}>{}</text>\n", px(p.x), px(p.y), more,
        escape_markup(text));
}

double label_width(const Tick& tick) {
  return text_width(tick.label, font) + text_width(tick.exponent, small_font);
}

// A true minus sign is as wide as a digit; a hyphen is not.
std::string with_minus(std::string number) {
  if (number.starts_with('-')) number.replace(0, 1, "−");
  return number;
}

std::string label_markup(const Tick& tick) {
  std::string text = escape_markup(with_minus(tick.label));
  if (!tick.exponent.empty()) {
    text += fmt::format(R"(<tspan dy="-4.5" font-size="{}">{}</tspan>)", px(small_font),
                        with_minus(tick.exponent));
  }
  return text;
}

constexpr double between_labels = 5;
constexpr double second_row = 13;

// Names that would run into each other in one row.
bool crowded(const Figure& figure, const Scale& x, double plot_width) {
  if (figure.x.names.empty()) return false;
  double free_from = -1e9;
  for (const Tick& t : x.ticks) {
    const double middle = x.at(t.value) * plot_width;
    const double half = label_width(t) / 2;
    if (middle - half < free_from) return true;
    free_from = middle + half + between_labels;
  }
  return false;
}

// Labels stand only where they do not run into the one before in their row.
void draw_ticks(Canvas& c) {
  const double bottom = c.plot.y + c.plot.height;
  const double right = c.plot.x + c.plot.width;
  std::string marks;
  std::string labels;
  std::array<double, 2> free_from = {-1e9, -1e9};
  std::size_t row = 0;
  for (const Tick& t : c.x.ticks) {
    const double x = c.plot.x + c.x.at(t.value) * c.plot.width;
    const double size = t.label.empty() ? 2.5 : 5;
    marks += fmt::format("M{0} {1}v{3}M{0} {2}v{4}", px(x), px(bottom), px(c.plot.y), px(-size),
                         px(size));
    const double half = label_width(t) / 2;
    if (t.label.empty() || x - half < free_from.at(row)) continue;
    free_from.at(row) = x + half + between_labels;
    labels += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", px(x),
                          px(bottom + 15 + static_cast<double>(row) * second_row), label_markup(t));
    if (c.staggered) row = 1 - row;
  }
  for (const Tick& t : c.y.ticks) {
    const double y = c.plot.y + (1 - c.y.at(t.value)) * c.plot.height;
    const double size = t.label.empty() ? 2.5 : 5;
    marks += fmt::format("M{1} {0}h{3}M{2} {0}h{4}", px(y), px(c.plot.x), px(right), px(size),
                         px(-size));
    if (t.label.empty()) continue;
    labels += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n",
                          px(c.plot.x - 6), px(y + 3.8), label_markup(t));
  }
  c.add("<path class=\"sx-rule\" stroke-width=\".7\" d=\"{}\"/>\n", marks);
  c.add(
      "<rect class=\"sx-rule\" stroke-width=\".9\" x=\"{}\" y=\"{}\" width=\"{}\" "
      "height=\"{}\"/>\n",
      px(c.plot.x), px(c.plot.y), px(c.plot.width), px(c.plot.height));
  c.add("<g class=\"sx-ink\">\n{}</g>\n", labels);
}

void draw_titles(Canvas& c, double left) {
  const double middle = c.plot.y + c.plot.height / 2;
  const double below = c.plot.y + c.plot.height + 33 + (c.staggered ? second_row : 0);
  draw_text(c, {c.plot.x + c.plot.width / 2, below}, c.x.title,
            R"( text-anchor="middle" font-size="12")");
  draw_text(c, {left, middle}, c.y.title,
            fmt::format(R"-( text-anchor="middle" font-size="12" transform="rotate(-90 {} {})")-",
                        px(left), px(middle)));
  if (!c.figure.title.empty()) {
    draw_text(c, {c.plot.x, edge + title_font - 1}, c.figure.title,
              fmt::format(R"( font-size="{}" font-weight="bold")", px(title_font)));
  }
}

// y = x, and the region where y is within a share of x.
void draw_parity(Canvas& c) {
  constexpr int steps = 48;  // curves on a linear axis are straight, on a logarithmic one parallel
  for (const double band : c.figure.bands) {
    if (!(band > 0 && band < 1)) continue;
    std::string forth;
    std::string back;
    for (int i = 0; i <= steps; ++i) {
      const double t = static_cast<double>(i) / steps;
      const double v =
          c.x.log ? c.x.low * std::pow(c.x.high / c.x.low, t) : c.x.low + t * (c.x.high - c.x.low);
      const auto above = c.place(v, v * (1 + band));
      const auto below = c.place(v, v * (1 - band));
      if (!above || !below) continue;
      forth += fmt::format("{}{} {}", forth.empty() ? "M" : "L", px(above->x), px(above->y));
      back.insert(0, fmt::format("L{} {}", px(below->x), px(below->y)));
    }
    c.add("<path class=\"sx-band\" d=\"{}{}z\"/>\n", forth, back);
  }
  const auto from = c.place(c.x.low, c.x.low);
  const auto to = c.place(c.x.high, c.x.high);
  if (!from || !to) return;
  c.add("<path class=\"sx-rule\" stroke-width=\".8\" d=\"M{} {}L{} {}\"/>\n", px(from->x),
        px(from->y), px(to->x), px(to->y));
}

void draw_line(Canvas& c, const Series& series, Look look) {
  std::string path;
  bool pen_down = false;
  for (const Point& point : series.points) {
    const auto p = c.place(point.x, point.y);
    if (p) path += fmt::format("{}{} {}", pen_down ? "L" : "M", px(p->x), px(p->y));
    pen_down = p.has_value();
  }
  if (path.empty()) return;
  c.add(
      "<path fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" stroke-linejoin=\"round\"{} "
      "d=\"{}\"/>\n",
      look.colour, series.mark == Mark::dashed_line ? " stroke-dasharray=\"5 3\"" : "", path);
}

void draw_dots(Canvas& c, const Series& series, Look look) {
  const double radius = dot_radius(c.figure);
  const bool on_boxes = std::any_of(c.figure.series.begin(), c.figure.series.end(),
                                    [](const Series& s) { return has_boxes(s.mark); });
  // Where dots crowd, let those below shine through; on bars a rim sets them off.
  c.add("<g fill=\"{}\"{}>\n", look.colour,
        on_boxes                    ? R"( stroke="#fff" stroke-width=".8")"
        : series.mark == Mark::dots ? " fill-opacity=\".8\""
                                    : "");
  for (const Point& point : series.points) {
    const auto p = c.place(point.x, point.y);
    if (!p) continue;
    const std::string mark = dot(look.shape, *p, radius);
    if (point.label.empty()) {
      c.add("{}/>\n", mark);
    } else {
      const std::string_view tag = std::string_view(mark).substr(1, mark.find(' ') - 1);
      c.add("{}><title>{}</title></{}>\n", mark, escape_markup(point.label), tag);
    }
  }
  c.add("</g>\n");
}

// Half the height of a span, in rows.
constexpr double half_row = 0.4;

// A bar from the axis' lowest value, or 0, to the point; a span from the point to its end.
std::optional<Box> box_of(const Canvas& c, Mark mark, const Point& point) {
  if (mark == Mark::spans) {
    const auto from = c.place(point.x, point.y + half_row);
    const auto to = c.place(point.x + point.length, point.y - half_row);
    if (!from || !to) return std::nullopt;
    return Box{from->x, from->y, to->x - from->x, to->y - from->y};
  }
  const double half = c.figure.bar / 2;
  const auto top = c.place(point.x - half, point.y);
  const auto foot = c.place(point.x + half, std::max(c.y.low, 0.0));
  if (!top || !foot) return std::nullopt;
  return Box{top->x, std::min(top->y, foot->y), foot->x - top->x, std::abs(foot->y - top->y)};
}

void draw_boxes(Canvas& c, const Series& series, Look look) {
  c.add("<g fill=\"{}\">\n", look.colour);
  for (const Point& point : series.points) {
    const auto box = box_of(c, series.mark, point);
    if (!box) continue;
    c.add("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>\n",
          px(box->x), px(box->y), px(box->width), px(box->height), escape_markup(point.label));
  }
  c.add("</g>\n");
}

void draw_series(Canvas& c) {
  // A nested viewport clips what lies beyond the axes and, unlike a clip path, needs no identifier,
  // so that several figures can share a page.
  c.add("<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\">\n",
        px(c.plot.x), px(c.plot.y), px(c.plot.width), px(c.plot.height));
  if (c.figure.parity) draw_parity(c);
  for (std::size_t i = 0; i < c.figure.series.size(); ++i) {
    const Series& series = c.figure.series[i];
    if (has_boxes(series.mark)) draw_boxes(c, series, look_of(c.figure, i));
    if (has_line(series.mark)) draw_line(c, series, look_of(c.figure, i));
    if (has_dots(series.mark)) draw_dots(c, series, look_of(c.figure, i));
  }
  for (const double x : c.figure.dividers) {
    const auto p = c.place(x, c.y.low);
    if (!p) continue;
    c.add(
        "<path class=\"sx-rule\" stroke-width=\".8\" stroke-dasharray=\"1 2\" d=\"M{} {}V{}\"/>\n",
        px(p->x), px(c.plot.y), px(c.plot.y + c.plot.height));
  }
  for (const Note& note : c.figure.notes) {
    const auto p = c.place(note.x, note.y);
    if (!p) continue;
    const bool at_top = p->y - c.plot.y < font + 6;
    draw_text(c, {p->x + 5, at_top ? p->y + font + 3 : p->y - 4}, note.text);
  }
  c.add("</svg>\n");
}

std::string band_text(const Figure& figure) {
  std::string text;
  for (const double band : figure.bands) {
    text += (text.empty() ? "±" : ", ±") + fmt::format("{:g} %", 100 * band);
  }
  return text;
}

struct Legend {
  std::vector<std::size_t> series;  // those with a name
  bool bands = false;
  double width = 0;
  double height = 0;
};

Legend measure_legend(const Figure& figure) {
  Legend legend;
  double text = 0;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    if (figure.series[i].name.empty()) continue;
    legend.series.push_back(i);
    text = std::max(text, text_width(figure.series[i].name, font));
  }
  legend.bands = figure.parity && !figure.bands.empty();
  if (legend.bands) text = std::max(text, text_width(band_text(figure), font));
  const std::size_t rows = legend.series.size() + (legend.bands ? 1 : 0);
  if (rows == 0) return legend;
  legend.width = sample + 6 + text + 4;
  legend.height = static_cast<double>(rows) * line_height + 2;
  return legend;
}

// How much of the drawing a box would cover; lines count by points along them.
int covered(const Canvas& c, const Box& box) {
  int count = 0;
  for (const Series& series : c.figure.series) {
    if (!has_boxes(series.mark)) continue;
    for (const Point& point : series.points) {
      const auto bar = box_of(c, series.mark, point);
      const bool apart = !bar || bar->x > box.x + box.width || bar->x + bar->width < box.x ||
                         bar->y > box.y + box.height || bar->y + bar->height < box.y;
      count += apart ? 0 : 1;
    }
  }
  for (const Series& series : c.figure.series) {
    std::optional<Pixel> before;
    for (const Point& point : series.points) {
      const auto p = c.place(point.x, point.y);
      if (p && has_line(series.mark) && before) {
        for (int i = 1; i < 24; ++i) {
          const double t = i / 24.0;
          count +=
              box.contains(before->x + t * (p->x - before->x), before->y + t * (p->y - before->y))
                  ? 1
                  : 0;
        }
      }
      if (p) count += box.contains(p->x, p->y) ? 1 : 0;
      before = p;
    }
  }
  for (const Note& note : c.figure.notes) {
    if (const auto p = c.place(note.x, note.y)) count += box.contains(p->x, p->y) ? 1 : 0;
  }
  return count;
}

// The first corner that the legend would leave uncluttered, if any.
std::optional<Box> free_corner(const Canvas& c, const Legend& legend) {
  const double inset = 9;
  const double left = c.plot.x + inset;
  const double right = c.plot.x + c.plot.width - inset - legend.width;
  const double top = c.plot.y + inset;
  const double bottom = c.plot.y + c.plot.height - inset - legend.height;
  if (right < left || bottom < top) return std::nullopt;
  const Pixel top_left{left, top};
  const Pixel top_right{right, top};
  const Pixel bottom_left{left, bottom};
  const Pixel bottom_right{right, bottom};
  // The diagonal of a parity figure fills the other two corners.
  const std::vector<Pixel> corners =
      c.figure.parity ? std::vector{top_left, bottom_right}
                      : std::vector{top_right, top_left, bottom_right, bottom_left};
  for (const Pixel p : corners) {
    const Box box{p.x, p.y, legend.width, legend.height};
    const Box wide{p.x - 5, p.y - 5, legend.width + 10, legend.height + 10};
    if (covered(c, wide) == 0) return box;
  }
  return std::nullopt;
}

void draw_legend(Canvas& c, const Legend& legend, Pixel at) {
  double y = at.y + line_height / 2;
  const auto label = [&](std::string_view text) {
    draw_text(c, {at.x + sample + 6, y + 3.8}, text);
    y += line_height;
  };
  for (const std::size_t i : legend.series) {
    const Series& series = c.figure.series[i];
    const Look look = look_of(c.figure, i);
    if (has_line(series.mark)) {
      c.add("<path stroke=\"{}\" stroke-width=\"1.5\"{} d=\"M{} {}h{}\"/>\n", look.colour,
            series.mark == Mark::dashed_line ? " stroke-dasharray=\"5 3\"" : "", px(at.x), px(y),
            px(sample));
    }
    if (has_boxes(series.mark)) {
      c.add("<rect fill=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"9\"/>\n", look.colour,
            px(at.x + 3), px(y - 4.5), px(sample - 6));
    }
    if (has_dots(series.mark)) {
      c.add("{} fill=\"{}\"/>\n", dot(look.shape, {at.x + sample / 2, y}, 2.8), look.colour);
    }
    label(series.name);
  }
  if (!legend.bands) return;
  for (std::size_t i = 0; i < c.figure.bands.size(); ++i) {
    const double half = 4.5 - 2 * static_cast<double>(c.figure.bands.size() - 1 - i);
    if (half <= 0) continue;
    c.add("<rect class=\"sx-band\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", px(at.x),
          px(y - half), px(sample), px(2 * half));
  }
  c.add("<path class=\"sx-rule\" stroke-width=\".8\" d=\"M{} {}h{}\"/>\n", px(at.x), px(y),
        px(sample));
  label(band_text(c.figure));
}

struct Scales {
  Scale x;
  Scale y;
};
Scales scales_of(const Figure& figure) {
  std::vector<double> xs;
  std::vector<double> ys;
  for (const Series& series : figure.series) {
    for (const Point& p : series.points) {
      xs.push_back(p.x);
      ys.push_back(p.y);
      if (series.mark == Mark::spans) {
        xs.push_back(p.x + p.length);
        ys.insert(ys.end(), {p.y - 0.5, p.y + 0.5});
      }
      if (series.mark != Mark::bars) continue;
      xs.back() -= figure.bar / 2;
      xs.push_back(p.x + figure.bar / 2);
      ys.push_back(0);
    }
  }
  // Names stand within the frame, whatever is above them.
  if (!figure.x.names.empty()) {
    xs.insert(xs.end(), {-0.5, static_cast<double>(figure.x.names.size()) - 0.5});
  }
  const int x_room = std::max(2, figure.width / 60);
  if (!figure.parity) {
    return {make_scale(figure.x, xs, x_room),
            make_scale(figure.y, ys, std::max(2, figure.height / 45))};
  }
  xs.insert(xs.end(), ys.begin(), ys.end());
  Axis y = figure.x;
  y.label = figure.y.label;
  return {make_scale(figure.x, xs, x_room), make_scale(y, xs, x_room)};
}

}  // namespace

Series& dots_called(const std::string& name, std::vector<Series>& all) {
  Series* known = find_by(all, &Series::name, name);
  return known != nullptr ? *known : all.emplace_back(Series{.name = name, .mark = Mark::dots});
}

Figure parity_figure(std::string title, std::optional<Dimension> unit) {
  Figure f;
  f.title = std::move(title);
  f.parity = true;
  f.x.label = "measured";
  f.x.dimension = unit;
  f.x.log = true;
  f.y = f.x;
  f.y.label = "predicted";
  return f;
}

std::string to_svg(const Figure& figure) {
  auto [x_scale, y_scale] = scales_of(figure);
  double label = 0;
  for (const Tick& t : y_scale.ticks) label = std::max(label, label_width(t));
  const double left = edge + 16 + label + 8;
  const double top = edge + (figure.title.empty() ? 0 : title_font + 9);
  const double right = edge + 8;  // half of the last label
  const double plot_width = std::max(60.0, figure.width - left - right);
  const bool staggered = crowded(figure, x_scale, plot_width);
  const double bottom = 33 + edge + (staggered ? second_row : 0);
  const double plot_height =
      figure.parity ? plot_width : std::max(60.0, figure.height - top - bottom);
  Canvas c{figure,
           std::move(x_scale),
           std::move(y_scale),
           {left, top, plot_width, plot_height},
           staggered,
           {}};

  double width = left + plot_width + right;
  const double height = top + plot_height + bottom;
  const Legend legend = measure_legend(figure);
  Pixel legend_at{width - right + 12, top};
  if (const auto corner = free_corner(c, legend)) {
    legend_at = {corner->x, corner->y};
  } else {
    width += legend.width + 12;
  }
  width = std::max(width, left + bold * text_width(figure.title, title_font) + edge);
  c.add(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" "
      "role=\"img\" aria-label=\"{2}\" font-family=\"Helvetica, Arial, 'Liberation Sans', "
      "sans-serif\" "
      "font-size=\"{3}\">\n",
      px(std::ceil(width)), px(std::ceil(height)), escape_markup(figure.title), px(font));
  c.out += style;
  c.add("<rect class=\"sx-paper\" width=\"100%\" height=\"100%\"/>\n");
  draw_series(c);
  draw_ticks(c);
  draw_titles(c, edge + 10);
  draw_legend(c, legend, legend_at);
  c.add("</svg>\n");
  return std::move(c.out);
}

namespace {
// The wheel zooms about the pointer, dragging moves, a double click shows all again.
constexpr std::string_view zooming = R"(<script>
for (const svg of document.querySelectorAll("body > svg")) {
  const whole = svg.viewBox.baseVal, all = [whole.x, whole.y, whole.width, whole.height];
  let box = [...all], from = null;
  const show = () => svg.setAttribute("viewBox", box.join(" "));
  const at = (e) => {
    const r = svg.getBoundingClientRect();
    return [(e.clientX - r.left) / r.width, (e.clientY - r.top) / r.height];
  };
  svg.addEventListener("wheel", (e) => {
    e.preventDefault();
    const [x, y] = at(e), f = Math.exp(e.deltaY / 500), size = Math.min(all[2], box[2] * f) / box[2];
    box = [box[0] + x * box[2] * (1 - size), box[1] + y * box[3] * (1 - size), box[2] * size, box[3] * size];
    show();
  }, {passive: false});
  svg.addEventListener("pointerdown", (e) => { from = [...at(e), ...box]; });
  addEventListener("pointerup", () => { from = null; });
  svg.addEventListener("pointermove", (e) => {
    if (!from) return;
    const [x, y] = at(e);
    box = [from[2] + (from[0] - x) * box[2], from[3] + (from[1] - y) * box[3], box[2], box[3]];
    show();
  });
  svg.addEventListener("dblclick", () => { box = [...all]; show(); });
}
</script>
)";
}  // namespace

std::string to_html(std::string_view svg, std::string_view title, std::string_view text) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n"
      "<style>:root{{color-scheme:light dark}}body{{margin:2rem auto;max-width:60rem;padding:0 "
      "1rem;"
      "background:#fff}}svg{{max-width:100%;height:auto}}"
      "@media(prefers-color-scheme:dark){{body{{background:#15171a}}}}</style>\n"
      "</head>\n<body>\n{}{}{}</body>\n</html>\n",
      escape_markup(title), svg, text, zooming);
}

}  // namespace sextant::plot
