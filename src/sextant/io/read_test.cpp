// SPDX-License-Identifier: Apache-2.0
// Tests of reading and writing described structs.
#include "sextant/io/read.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "sextant/io/test_support.hpp"
#include "sextant/io/write.hpp"
#include "sextant/spec/device.hpp"
#include "sextant/spec/model.hpp"
#include "sextant/spec/runtime.hpp"
#include "sextant/spec/strategy.hpp"
#include "sextant/spec/system.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {

// One field of every type a description may hold. The bounds matter to the tests.
enum class Colour : std::uint8_t { red, green, blue };
constexpr auto names_of(Colour) { return std::array<std::string_view, 3>{"red", "green", "blue"}; }
struct Inner {
  Seconds time;
  int count = 7;
};
template <class V>
void describe(V& v, Inner& i) {
  v("time", i.time, {.help = "how long", .required = true, .min = above_zero, .max = 10});
  v("count", i.count, {.help = "how many", .min = -5, .max = 100});
}
struct Sample {
  bool on = false;
  int whole = 3;
  std::int64_t wide = 4;
  double share = 0.5;
  std::string text = "x";
  Colour colour = Colour::green;
  BytesPerSecond rate{1e9};
  Inner inner;
  std::vector<Inner> list;
  std::vector<int> numbers;
};
template <class V>
void describe(V& v, Sample& s) {
  v("on", s.on, {.help = "a switch"});
  v("whole", s.whole, {.help = "a count", .required = true, .max = 1e12});
  v("wide", s.wide, {.help = "a large count"});
  v("share", s.share, {.help = "a share", .min = 0, .max = 1});
  v("text", s.text, {.help = "a text"});
  v("colour", s.colour, {.help = "a colour"});
  v("rate", s.rate, {.help = "a rate", .min = 1e6, .max = 1e15});
  v("inner", s.inner, {.help = "a part"});
  v("list", s.list, {.help = "parts"});
  v("numbers", s.numbers, {.help = "counts", .min = 1, .max = 9});
}

namespace {
using test::error_of;
using test::expect_contains;

std::string problems_of(const std::string& toml) {
  return error_of([&] { read_document<Sample>(parse_toml(toml, "a.toml")); });
}

TEST(Read, ReadsEveryType) {
  const auto s = read_document<Sample>(parse_toml(
      "on = true\nwhole = -0\nwide = 9007199254740993\nshare = 1\ntext = \"µ\"\n"
      "colour = \"blue\"\nrate = \"400 Gb/s\"\nnumbers = [1, 2.0, 9]\n"
      "[inner]\ntime = \"2 us\"\n[[list]]\ntime = \"1 s\"\ncount = -5\n[[list]]\ntime = \"2 s\"\n",
      "a.toml"));
  EXPECT_TRUE(s.on);
  EXPECT_EQ(s.whole, 0);
  EXPECT_EQ(s.wide, 9007199254740993);
  EXPECT_EQ(s.share, 1);
  EXPECT_EQ(s.text, "µ");
  EXPECT_EQ(s.colour, Colour::blue);
  EXPECT_EQ(s.rate, BytesPerSecond(50e9));
  EXPECT_DOUBLE_EQ(s.inner.time.value, 2e-6);
  EXPECT_EQ(s.inner.count, 7);
  ASSERT_EQ(s.list.size(), 2U);
  EXPECT_EQ(s.list[0].count, -5);
  EXPECT_EQ(s.list[1].count, 7);
  EXPECT_EQ(s.numbers, (std::vector<int>{1, 2, 9}));
}

struct Mistake {
  const char* name;
  const char* line;  ///< stands in line 2
  const char* expected;
};
class Mistakes : public testing::TestWithParam<Mistake> {};
TEST_P(Mistakes, HavePlaceAndAdvice) {
  expect_contains(problems_of("whole = 1\n" + std::string(GetParam().line)), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(
    Read, Mistakes,
    testing::Values(
        Mistake{"bare_quantity", "rate = 3.35e12",
                "a.toml:2:8: rate: expected a quantity with its unit, such as \"3.35 TB/s\"\n"
                "    2 | rate = 3.35e12\n      |        ^"},
        Mistake{"no_unit", "rate = \"80\"",
                "rate: no unit in '80'; expected a quantity in B/s, such as \"3.35 TB/s\""},
        Mistake{"unknown_unit", "rate = \"400 Gbps\"",
                "a.toml:2:8: rate: unknown unit 'Gbps'; write"},
        Mistake{"other_unit", "rate = \"80 GiB\"",
                "'80 GiB' is not a quantity in B/s, such as \"3.35 TB/s\""},
        Mistake{"low_quantity", "rate = \"1 kB/s\"", "must be at least 1 MB/s, not 1 kB/s"},
        Mistake{"high_quantity", "rate = \"2 EB/s\"", "must be at most 1 PB/s, not 2 EB/s"},
        Mistake{"negative_share", "share = -0.5", "share: must not be negative, not -0.5"},
        Mistake{"high_share", "share = 1.5", "share: must be at most 1, not 1.5"},
        Mistake{"nan", "share = nan", "share: must be finite"},
        Mistake{"infinite", "share = -inf", "share: must be finite"},
        Mistake{"text_for_number", "share = \"a\"", "expected a number, not 'a'"},
        Mistake{"quoted_number", "share = \"0.5\"", "not '0.5'; remove the quotes"},
        Mistake{"fraction", "wide = 2.5", "a.toml:2:8: wide: expected a whole number, not 2.5"},
        Mistake{"too_wide", "wide = 1e19", "wide: is too large"},
        Mistake{"bool_for_int", "wide = true", "expected a whole number, not true"},
        Mistake{"int_for_bool", "on = 1", "a.toml:2:6: on: expected true or false, not 1"},
        Mistake{"int_for_text", "text = 1", "expected a text in quotes, not 1"},
        Mistake{"enumerator", "colour = \"gren\"",
                "colour: expected one of red, green, blue, not 'gren'; did you mean 'green'?"},
        Mistake{"int_for_enum", "colour = 1", "expected one of red, green, blue, not 1"},
        Mistake{"unknown", "colur = \"red\"",
                "a.toml:2:1: colur: unknown field; did you mean 'colour'?\n"
                "    2 | colur = \"red\"\n      | ^"},
        Mistake{"deeper", "time = \"1 s\"", "time: unknown field; did you mean 'inner.time'?"},
        Mistake{"strange", "zzzzzz = 1", "zzzzzz: unknown field\n"},
        Mistake{"nested_unknown", "[inner]\ntime = \"1 s\"\ncont = 1",
                "a.toml:4:1: inner.cont: unknown field; did you mean 'count'?"},
        Mistake{"zero", "[inner]\ntime = \"0 s\"", "inner.time: must be more than zero, not 0 s"},
        Mistake{"missing", "[inner]\ncount = 1",
                "a.toml:2:1: inner.time: missing (how long); write it like time = \"2.5 us\" or "
                "\"3 h\""},
        Mistake{"missing_in_list", "[[list]]\ntime = \"1 s\"\n[[list]]\ncount = 1",
                "a.toml:4:1: list[1].time: missing (how long)"},
        Mistake{"number_for_table", "inner = 5", "inner: expected a table, not 5"},
        Mistake{"table_for_list", "[list]\ntime = \"1 s\"", "list: expected an array, not a table"},
        Mistake{"wrong_element", "list = [1]", "a.toml:2:9: list[0]: expected a table, not 1"},
        Mistake{"element_bounds", "numbers = [1, 10]",
                "a.toml:2:15: numbers[1]: must be at most 9"},
        Mistake{"control_characters", "\"\\u001b[2J\" = 1", "a.toml:2:1: ?[2J: unknown field"}),
    test::name_of_row);

TEST(Read, IntStaysInItsRange) {
  expect_contains(problems_of("whole = 3000000000"), "whole: must be at most 2147483647");
}

TEST(Read, MissingAtTheTopHasNoLine) {
  EXPECT_EQ(problems_of(""), "a.toml: whole: missing (a count)");
}

TEST(Read, ReportsEverythingInOrderOfLines) {
  const std::string text = problems_of("on = 1\n[inner]\nx = 1\n[[list]]\ncount = 2.5\n");
  const std::array parts = {"a.toml:1:6: on",           "a.toml:3:1: inner.x",
                            "a.toml:2:1: inner.time",   "a.toml:5:9: list[0].count",
                            "a.toml:4:1: list[0].time", "a.toml: whole: missing"};
  for (const char* part : parts) expect_contains(text, part);
  EXPECT_LT(text.find(parts[2]), text.find(parts[1]));
  EXPECT_LT(text.find(parts[1]), text.find(parts[4]));
  EXPECT_LT(text.find(parts[3]), text.find(parts[5]));
}

TEST(Read, AHostileFileDoesNotFillTheReport) {
  std::string text = "whole = 1\n";
  for (int i = 0; i < 100'000; ++i) text += "k" + std::to_string(i) + " = 1\n";
  const std::string message = problems_of(text);
  expect_contains(message, "and 180 or more further problems");
  EXPECT_LT(message.size(), 10'000U);
}

TEST(Read, NullLeavesTheField) {
  const auto s = read_document<Sample>(parse_json("{\"whole\": 1, \"share\": null}", "a.json"));
  EXPECT_EQ(s.share, 0.5);
}

TEST(Read, PrefixAndSkip) {
  const Document d = parse_toml("extends = \"x\"\nshar = 1", "a.toml");
  Sample s;
  std::vector<Diagnostic> problems;
  read(d, d.root, s, problems, {.prefix = "sample", .skip = {"extends"}});
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].field, "sample.shar");
}

// The example of the architecture, with the fields devices have.
TEST(Read, GoldenMistake) {
  const std::string text =
      "# a device\n"
      "clock  = 1.98e9\n"
      "cores  = 132\n"
      "\n"
      "[memory]\n"
      "bandwith = \"3.35 TB/s\"\n";
  const Document d = parse_toml(text, "wrong.toml");
  Device device;
  std::vector<Diagnostic> problems;
  read(d, d.root, device, problems);
  EXPECT_EQ(error_of([&] { throw_if_any(problems); }),
            "wrong.toml:2:10: clock: expected a quantity with its unit, such as \"1.98 GHz\"\n"
            "    2 | clock  = 1.98e9\n"
            "      |          ^\n"
            "wrong.toml:6:1: memory.bandwith: unknown field; did you mean 'bandwidth'?\n"
            "    6 | bandwith = \"3.35 TB/s\"\n"
            "      | ^");
}

TEST(Locate, FindsTheFieldOfACheck) {
  const Document d = parse_toml("a = 1\n[memory]\nkind = \"x\"\n", "a.toml");
  std::vector<Diagnostic> problems = {{.field = "memory.kind", .message = "odd"},
                                      {.field = "memory.capacity", .message = "zero"},
                                      {.field = "clock", .message = "slow"}};
  locate(d, d.root, problems);
  EXPECT_EQ(problems[0].line, 3);
  EXPECT_EQ(problems[1].line, 2);
  EXPECT_EQ(problems[2].line, 0);
  EXPECT_EQ(problems[2].file, "a.toml");
}

// ---- writing

TEST(Write, QuantitiesAsTextOrNumbers) {
  Inner inner{.time = Seconds(2e-6), .count = 1};
  EXPECT_EQ(to_json(write(inner), 0), "{\"time\":\"2 us\",\"count\":1}");
  EXPECT_EQ(to_json(write(inner, Quantities::si), 0), "{\"time\":2e-06,\"count\":1}");
}

/// Fills every field with a random value inside its bounds.
class Randomizer {
 public:
  explicit Randomizer(unsigned seed) : random_(seed) {}

  void fill(StructRef fields) {
    for (Slot& slot : fields.fields) {
      std::visit([&](auto& target) { put(slot.field, target); }, slot.target);
    }
  }

 private:
  double between(const Field& f) {
    const double low = std::max(f.min, 1e-12);
    const double high = std::min(f.max, 1e15);
    const double t = std::uniform_real_distribution<double>(0, 1)(random_);
    return low >= high ? high : low * std::pow(high / low, t);
  }
  void put(const Field&, bool* v) { *v = random_() % 2 == 0; }
  void put(const Field& f, int* v) {
    *v = static_cast<int>(std::max(f.min, std::floor(std::min(between(f), 2e9))));
  }
  void put(const Field& f, std::int64_t* v) { *v = static_cast<std::int64_t>(between(f)); }
  void put(const Field& f, double* v) { *v = between(f); }
  void put(const Field&, std::string* v) { *v = "text \"" + std::to_string(random_()) + "\" µ\n"; }
  void put(const Field&, EnumRef& e) { e.set(e.value, random_() % e.names.size()); }
  void put(const Field& f, QuantityRef& q) {
    *q.value = between(f);
    // Areas have no base unit of their own in files, so only what was written reads back exactly.
    *q.value = parse_quantity(write_quantity(*q.value, q.dimension)).quantity->value;
  }
  void put(const Field&, StructRef& s) { fill(s); }
  void put(const Field& f, ListRef& l) {
    l.reset(l.list, random_() % 4);
    for (std::size_t i = 0; i < l.size(l.list); ++i) {
      Slot element = l.element(l.list, i);
      std::visit([&](auto& target) { put(f, target); }, element.target);
    }
  }
  std::mt19937 random_;
};

template <class T>
void expect_round_trips() {
  for (unsigned seed = 0; seed < 20; ++seed) {
    T value;
    Randomizer(seed).fill(reflect(value));
    const std::string toml = to_toml(write(value));
    const std::string json = to_json(write(value));
    EXPECT_EQ(to_json(write(read_document<T>(parse_toml(toml, "a.toml")))), json);
    EXPECT_EQ(to_json(write(read_document<T>(parse_json(json, "a.json")))), json);
  }
}
TEST(Write, WhatIsWrittenReadsBack) {
  expect_round_trips<Sample>();
  expect_round_trips<Device>();
  expect_round_trips<System>();
  expect_round_trips<Model>();
  expect_round_trips<Runtime>();
  expect_round_trips<Strategy>();
}

TEST(Write, ListsFields) {
  const std::vector<FieldInfo> fields = fields_of<Sample>();
  const auto find = [&](std::string_view path) {
    for (const FieldInfo& f : fields) {
      if (f.path == path) return f;
    }
    ADD_FAILURE() << path;
    return FieldInfo{};
  };
  EXPECT_EQ(find("rate").type, "quantity in B/s");
  EXPECT_EQ(find("rate").default_text, "1 GB/s");
  EXPECT_EQ(find("colour").type, "one of red, green, blue");
  EXPECT_EQ(find("colour").default_text, "green");
  EXPECT_TRUE(find("whole").required);
  EXPECT_EQ(find("whole").default_text, "");
  EXPECT_EQ(find("inner").type, "table");
  EXPECT_EQ(find("inner.time").help, "how long");
  EXPECT_EQ(find("list[].count").default_text, "7");
}

}  // namespace
}  // namespace sextant
