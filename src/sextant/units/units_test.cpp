// SPDX-License-Identifier: Apache-2.0
#include "sextant/units/units.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#include "sextant/units/format.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {
namespace {
using namespace literals;

static_assert(std::is_same_v<decltype(Bytes{1} / BytesPerSecond{1}), Seconds>);
static_assert(std::is_same_v<decltype(Bytes{1} / Bytes{1}), double>);
static_assert(sizeof(Seconds) == sizeof(double) && std::is_trivially_copyable_v<Seconds>);
static_assert((80_GiB).value == 80.0 * 1073741824.0);

struct Good {
  const char* text;
  double value;
  Dimension dimension;
};
class ParseGood : public testing::TestWithParam<Good> {};
TEST_P(ParseGood, ReadsInBaseUnits) {
  const ParseResult r = parse_quantity(GetParam().text);
  ASSERT_TRUE(r.quantity) << r.problem;
  EXPECT_DOUBLE_EQ(r.quantity->value, GetParam().value);
  EXPECT_EQ(r.quantity->dimension, GetParam().dimension);
}
INSTANTIATE_TEST_SUITE_P(Units, ParseGood,
                         testing::Values(Good{"3.35 TB/s", 3.35e12, BytesPerSecond::dimension},
                                         Good{"80 GiB", 80.0 * (1 << 30), Bytes::dimension},
                                         Good{"400 Gb/s", 50e9, BytesPerSecond::dimension},
                                         Good{"1.98 GHz", 1.98e9, Hertz::dimension},
                                         Good{"700 W", 700, Watts::dimension},
                                         Good{"2.5 us", 2.5e-6, Seconds::dimension},
                                         Good{"2 days", 172800, Seconds::dimension},
                                         Good{"12 hours", 43200, Seconds::dimension},
                                         Good{"1 $/hour", 1.0 / 3600, DollarsPerSecond::dimension},
                                         Good{"2.5 µs", 2.5e-6, Seconds::dimension},
                                         Good{"989.4 TFLOP/s", 989.4e12, FlopsPerSecond::dimension},
                                         Good{"1979 TOP/s", 1979e12, FlopsPerSecond::dimension},
                                         Good{"814 mm2", 814e-6, SquareMeters::dimension},
                                         Good{"0.84 pJ/FLOP", 0.84e-12, JoulesPerFlop::dimension},
                                         Good{"4 pJ/b", 32e-12, JoulesPerByte::dimension},
                                         Good{"128 B/clk", 128, Bytes::dimension},
                                         Good{"2.5 $/h", 2.5 / 3600, DollarsPerSecond::dimension},
                                         Good{"1EB", 1e18, Bytes::dimension},
                                         Good{"-1e3 m", -1000, Meters::dimension},
                                         Good{"5 min", 300, Seconds::dimension}));

class ParseBad : public testing::TestWithParam<const char*> {};
TEST_P(ParseBad, SaysWhy) {
  const ParseResult r = parse_quantity(GetParam());
  EXPECT_FALSE(r.quantity);
  EXPECT_FALSE(r.problem.empty());
}
INSTANTIATE_TEST_SUITE_P(Units, ParseBad,
                         testing::Values("", " ", "GB", "80", "80 gib", "80 GBB", "nan s", "inf B",
                                         "0x10 B", "1e999 B", "1 TFLOPS", "400 Gbps", "3 B/",
                                         "3 /s", "3 //s", "1..2 s", "--1 s", "1 s s", "1e 5",
                                         "\xff\xfe"));

TEST(Parse, HintsAtDatasheetSpellings) {
  EXPECT_NE(parse_quantity("989 TFLOPS").problem.find("FLOP/s"), std::string::npos);
  EXPECT_NE(parse_quantity("400 Gbps").problem.find("Gb/s"), std::string::npos);
}

TEST(Parse, ReadsCountsAsPeopleWriteThem) {
  EXPECT_EQ(parse_count("15T"), 15e12);
  EXPECT_EQ(parse_count(" 14.8 T "), 14.8e12);
  EXPECT_EQ(parse_count("300B"), 300e9);
  EXPECT_EQ(parse_count("1.4e12"), 1.4e12);
  EXPECT_EQ(parse_count("2k"), 2000);
  for (const char* text : {"", "T", "many", "15TT", "1e308T", "nan", "0x1"}) {
    EXPECT_FALSE(parse_count(text)) << text;
  }
}

TEST(Format, ReadsWell) {
  EXPECT_EQ(format(3.35_TBps), "3.35 TB/s");
  EXPECT_EQ(format(Seconds(12.34e-6)), "12.3 µs");
  EXPECT_EQ(format(Seconds(0)), "0 s");
  EXPECT_EQ(format(Seconds(2.16e-10)), "0.216 ns");
  EXPECT_EQ(format(Seconds(999.9e-6)), "1.00 ms");
  EXPECT_EQ(format(Seconds(1234)), "1234 s");
  EXPECT_EQ(format(Seconds(5400)), "1.50 h");
  EXPECT_EQ(format(Seconds(86400 * 31.25)), "31.2 days");
  EXPECT_EQ(format_binary_bytes(80.0 * (1 << 30)), "80.0 GiB");
  EXPECT_EQ(format_percent(0.1234), "12.3 %");
  EXPECT_EQ(format_percent(-0.1234), "-12.3 %");
  EXPECT_EQ(format_percent(-0.0004, 0), "0 %");
  EXPECT_EQ(format(0.84_pJ_per_FLOP), "840 fJ/FLOP");
}

TEST(Format, WrittenQuantitiesReadBackExactly) {
  for (double v = 1.2345678901e-14; v < 1e17; v *= 7.3) {
    for (const Dimension d :
         {Seconds::dimension, BytesPerSecond::dimension, Watts::dimension, SquareMeters::dimension,
          DollarsPerSecond::dimension, JoulesPerFlop::dimension, Hertz::dimension}) {
      const std::string text = write_quantity(v, d);
      const ParseResult r = parse_quantity(text);
      ASSERT_TRUE(r.quantity) << text << ": " << r.problem;
      EXPECT_EQ(r.quantity->dimension, d) << text;
      EXPECT_NEAR(r.quantity->value / v, 1, 1e-15) << text;
    }
  }
  EXPECT_EQ(write(3.35_TBps), "3.35 TB/s");
  EXPECT_EQ(write(1.83_GHz), "1.83 GHz");
  EXPECT_EQ(
      write_quantity(parse_quantity("0.85 pJ/FLOP").quantity->value, {.work = -1, .energy = 1}),
      "0.85 pJ/FLOP");
}

}  // namespace
}  // namespace sextant
