// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/plot.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sextant/units/units.hpp"

namespace sextant::plot {
namespace {

Figure parity() {
  Figure figure{.title = "GEMM",
                .x = {.label = "Measured", .dimension = Seconds::dimension, .log = true},
                .y = {.label = "Predicted"},
                .parity = true};
  figure.series = {{.name = "h100-sxm", .points = {{1e-5, 1.1e-5, "a"}, {1e-3, 0.9e-3, "b"}}},
                   {.name = "b200", .points = {{2e-5, 2e-5, ""}}}};
  return figure;
}

std::size_t occurrences(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Enough of XML to catch an element left open: every tag closes in order.
bool well_formed(std::string_view text) {
  std::vector<std::string> open;
  for (auto at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
    const auto end = text.find('>', at);
    if (end == text.npos) return false;
    const std::string_view tag = text.substr(at + 1, end - at - 1);
    const std::string name(
        tag.substr(tag[0] == '/' ? 1 : 0).substr(0, tag.find_first_of(" /\n", 1)));
    if (tag[0] == '/') {
      if (open.empty() || "/" + open.back() != tag) return false;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
  }
  return open.empty();
}

TEST(Plot, ParityHasBothAxesBandsAndLegend) {
  const std::string svg = to_svg(parity());
  EXPECT_TRUE(well_formed(svg)) << svg;
  EXPECT_EQ(svg.rfind("<svg xmlns=", 0), 0U);
  for (const char* text : {">GEMM<", ">Measured<", ">Predicted<", ">h100-sxm<", ">b200<",
                           ">±10 %, ±20 %<", ">100 µs<", "<title>a</title>"}) {
    EXPECT_NE(svg.find(text), svg.npos) << text;
  }
  EXPECT_EQ(occurrences(svg, ">100 µs<"), 2U);           // the same scale twice
  EXPECT_EQ(occurrences(svg, "class=\"sx-band\""), 4U);  // two in the plot, two in the legend
}

TEST(Plot, SameInputSameBytes) { EXPECT_EQ(to_svg(parity()), to_svg(parity())); }

TEST(Plot, LabelsAreEscaped) {
  Figure figure = parity();
  figure.title = "a < b & \"c\"";
  figure.series[0].name = "<script>";
  figure.series[0].points[0].label = "x\x01</title>";
  figure.x.label = "\xFFµ";
  figure.notes = {{1e-4, 1e-4, "<b>"}};
  const std::string svg = to_svg(figure);
  EXPECT_TRUE(well_formed(svg)) << svg;
  EXPECT_EQ(svg.find("<script"), svg.npos);
  EXPECT_EQ(svg.find("<b>"), svg.npos);
  EXPECT_EQ(svg.find('\x01'), svg.npos);
  EXPECT_NE(svg.find("a &lt; b &amp; &quot;c&quot;"), svg.npos);
}

TEST(Plot, UnshowablePointsAreLeftOutAndBreakLines) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Figure figure{.x = {.label = "x", .log = true}, .y = {.label = "y"}};
  figure.series = {{.mark = Mark::line_and_dots,
                    .points = {{1, 1, ""}, {2, 2, ""}, {-1, 3, ""}, {4, nan, ""}, {5, 5, ""}}}};
  const std::string svg = to_svg(figure);
  EXPECT_TRUE(well_formed(svg));
  EXPECT_EQ(occurrences(svg, "<circle"), 3U);
  EXPECT_EQ(svg.find("nan"), svg.npos);
  const auto line = svg.find("stroke-linejoin");
  const std::string path = svg.substr(line, svg.find('\n', line) - line);
  EXPECT_EQ(occurrences(path, "M"), 2U);
  EXPECT_EQ(occurrences(path, "L"), 1U);
}

TEST(Plot, EmptyFigureStillDraws) {
  EXPECT_TRUE(well_formed(to_svg({})));
  EXPECT_TRUE(well_formed(to_svg({.parity = true})));
  EXPECT_TRUE(
      well_formed(to_svg({.x = {.log = true}, .y = {.log = true}, .width = 1, .height = 1})));
}

TEST(Plot, MinusSignsAreMinusSigns) {
  Figure figure{.x = {.label = "x", .log = true}, .y = {.label = "y"}};
  figure.series = {{.points = {{1e-9, -10, ""}, {1, 10, ""}}}};
  const std::string svg = to_svg(figure);
  EXPECT_NE(svg.find(">−10<"), svg.npos);
  EXPECT_NE(svg.find(">−9<"), svg.npos);
}

TEST(Plot, CrowdedLegendMovesOutside) {
  Figure figure{.x = {.label = "x"}, .y = {.label = "y"}};
  figure.series = {{.name = "everywhere", .points = {}}};
  for (int i = 0; i <= 40; ++i) {
    for (int j = 0; j <= 40; ++j) {
      figure.series[0].points.push_back({static_cast<double>(i), static_cast<double>(j), ""});
    }
  }
  const std::string crowded = to_svg(figure);
  figure.series[0].points.resize(1);
  const std::string sparse = to_svg(figure);
  const auto width = [](const std::string& svg) {
    return std::stod(svg.substr(svg.find("width=\"") + 7));
  };
  EXPECT_GT(width(crowded), width(sparse) + 50);
}

TEST(Plot, NamesAreAllShownInsideTheFrame) {
  Figure figure{.x = {.label = "x"}, .y = {.label = "y"}};
  figure.x.names = {"a", "b", "c"};
  figure.series = {{.points = {{0, 1, ""}, {1, 2, ""}, {2, 3, ""}}}};
  const std::string few = to_svg(figure);
  const auto row_of = [](const std::string& svg, const std::string& name) {
    const auto text = svg.rfind("<text", svg.find(">" + name + "<"));
    const auto y = svg.find("y=\"", text) + 3;
    return std::stod(svg.substr(y));
  };
  EXPECT_EQ(row_of(few, "a"), row_of(few, "b"));
  // The first point is off the frame's left edge.
  const double left = std::stod(few.substr(few.find("<svg x=\"") + 8));
  EXPECT_GT(std::stod(few.substr(few.find("cx=\"") + 4)), left + 20);
  figure.x.names = {"a-very-long-name-of-a-device", "b-very-long-name-of-a-device",
                    "c-very-long-name-of-a-device"};
  const std::string long_ones = to_svg(figure);
  EXPECT_LT(row_of(long_ones, figure.x.names[0]), row_of(long_ones, figure.x.names[1]));
  EXPECT_EQ(row_of(long_ones, figure.x.names[0]), row_of(long_ones, figure.x.names[2]));
}

TEST(Plot, ALongTitleIsNotCut) {
  Figure figure{.title = std::string(120, 'n'), .width = 200};
  const std::string svg = to_svg(figure);
  EXPECT_GT(std::stod(svg.substr(svg.find("width=\"") + 7)), 120 * 0.62 * 12.5);
}

TEST(Plot, AColourMayBeAskedFor) {
  Figure figure{.x = {.label = "x"}, .y = {.label = "y"}};
  figure.series.push_back({.name = "DRAM", .points = {{1, 1, ""}, {3, 2, ""}}, .colour = 1});
  EXPECT_EQ(occurrences(to_svg(figure), "#D55E00"), 2U);  // drawn, and in the legend
  EXPECT_EQ(occurrences(to_svg(figure), "#0072B2"), 0U);
  EXPECT_EQ(occurrences(to_svg(figure), "stroke-dasharray=\"1 2\""), 0U);
  figure.dividers = {2, 1e9};
  const std::string parted = to_svg(figure);
  EXPECT_TRUE(well_formed(parted));
  EXPECT_EQ(occurrences(parted, "stroke-dasharray=\"1 2\""), 2U);
}

TEST(Plot, ManySeriesLookDifferent) {
  Figure figure{.x = {.label = "x"}, .y = {.label = "y"}};
  for (int i = 0; i < 2 * palette; ++i) {
    figure.series.push_back({.name = "s" + std::to_string(i), .points = {{1.0 * i, 1.0, ""}}});
  }
  const std::string svg = to_svg(figure);
  EXPECT_TRUE(well_formed(svg));
  EXPECT_GE(occurrences(svg, "#0072B2"), 2U);  // colours come round, with another shape
}

TEST(Plot, PageIsSelfContained) {
  const std::string page = to_html(to_svg(parity()), "a <title>");
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0U);
  EXPECT_NE(page.find("<title>a &lt;title&gt;</title>"), page.npos);
  EXPECT_EQ(page.find("src="), page.npos);
  EXPECT_EQ(occurrences(page, "http"), 1U);  // the SVG name space
}

TEST(Plot, BarsStandOnZeroUnderTheirNames) {
  Figure f;
  f.x = {.label = "",
         .dimension = {},
         .unit = {},
         .log = false,
         .min = {},
         .max = {},
         .names = {"one", "two & more"}};
  f.y = {.label = "memory", .dimension = {}, .unit = "GiB", .log = false, .min = {}, .max = {}};
  f.series = {{.name = "held", .mark = Mark::bars, .points = {{0, 40, "a"}, {1, 80, "b"}}}};
  const std::string svg = to_svg(f);
  EXPECT_NE(svg.find(">one</text>"), std::string::npos);
  EXPECT_NE(svg.find(">two &amp; more</text>"), std::string::npos);
  EXPECT_NE(svg.find("<title>b</title></rect>"), std::string::npos);
  // The bar of 80 is twice as high as that of 40.
  std::vector<double> heights;
  const std::string mark = "height=\"";
  const std::size_t bars = svg.find("<g fill=");
  for (std::size_t at = svg.find(mark, bars); heights.size() < 2; at = svg.find(mark, at + 1)) {
    ASSERT_NE(at, std::string::npos);
    heights.push_back(std::stod(svg.substr(at + mark.size())));
  }
  EXPECT_NEAR(heights[1], 2 * heights[0], 0.03);
}

}  // namespace
}  // namespace sextant::plot
