// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/utf8.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace sextant {
namespace {

TEST(Utf8, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("12 µs"), 5);
  EXPECT_EQ(display_width("█▌├─"), 4);
  EXPECT_EQ(display_width("模型"), 4);
  EXPECT_EQ(display_width("e\xCC\x81"), 1);  // e and a combining accent
  EXPECT_EQ(display_width("🚀"), 2);
}

TEST(Utf8, InvalidBytesCountOneEach) {
  EXPECT_EQ(display_width("\xFF\xFE"), 2);
  EXPECT_EQ(display_width("a\xC3"), 2);             // cut short
  EXPECT_EQ(display_width("\xC0\xAF"), 2);          // overlong
  EXPECT_EQ(display_width("\xED\xA0\x80"), 3);      // a surrogate
  EXPECT_EQ(display_width("\xF5\x80\x80\x80"), 4);  // beyond Unicode
}

TEST(Utf8, StaysOnOneLine) {
  EXPECT_EQ(single_line("a\nb\tc\x1B[31m"), "a b c [31m");
  EXPECT_EQ(single_line("a\xFF"
                        "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(single_line("µ模"), "µ模");
  EXPECT_EQ(single_line("\xC2\x9B"), " ");  // a C1 control
}

TEST(Utf8, MarkupIsEscaped) {
  EXPECT_EQ(escape_markup(R"(<a href="x">'&'</a>)"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
}

// Any bytes give valid UTF-8 without control characters.
TEST(Utf8, SingleLineAcceptsAnyBytes) {
  std::uint32_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int i = 0; i < 12; ++i) {
      state = state * 1664525U + 1013904223U;
      bytes += static_cast<char>(state >> 24U);
    }
    const std::string out = single_line(bytes);
    EXPECT_EQ(single_line(out), out);
    EXPECT_EQ(display_width(out), display_width(single_line(out)));
  }
}

TEST(Utf8, LinesAreCutAndWrappedByColumns) {
  EXPECT_EQ(cut_to("µ模x", 3), "µ模");
  EXPECT_EQ(cut_to("µ模x", 2), "µ");
  EXPECT_EQ(cut_to("µ模x", 0), "");
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped({"ab", "模", "c", "dddddd", "e"}, 5), (Lines{"ab 模", "c", "dddddd", "e"}));
  EXPECT_EQ(wrapped({}, 5), Lines{""});
}

TEST(Utf8, Repeats) {
  EXPECT_EQ(repeat("─", 3), "───");
  EXPECT_EQ(repeat("x", 0), "");
  EXPECT_EQ(repeat("x", -2), "");
}

}  // namespace
}  // namespace sextant
