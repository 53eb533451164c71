// SPDX-License-Identifier: Apache-2.0
// Tests of the reader of scripts.
#include "sextant/import/shell.hpp"

#include <gtest/gtest.h>

#include "sextant/io/test_support.hpp"

namespace sextant {
namespace {

/// The words of all commands, those of one between bars, unknown ones in angle brackets.
std::string said(const std::string& text) {
  std::string out;
  for (const ShellCommand& c : read_script({"a.sh", text, {}})) {
    out += "|";
    for (const Word& w : c.words) {
      out += (out.back() == '|' ? "" : " ") + (w.unknown.empty() ? w.text : "<" + w.unknown + ">");
    }
  }
  return out;
}

struct Script {
  const char* name;
  const char* text;
  const char* words;
};
class Shell : public testing::TestWithParam<Script> {};
TEST_P(Shell, Words) { EXPECT_EQ(said(GetParam().text), GetParam().words); }

INSTANTIATE_TEST_SUITE_P(
    All, Shell,
    testing::Values(
        Script{"Plain", "a b  c # d\ne; f && g", "|a b c|e|f|g"},
        Script{"Quotes", "a 'b c' \"d $ e\" f\\ g \"h\\\"i\"", "|a b c d $ e f g h\"i"},
        Script{"Continued", "a \\\n  b \\\r\n c\n", "|a b c"},
        Script{"Variables", "X=4\nexport Y=\"5 6\"\na --x $X --y ${Y} \"$Y\" ${X}k",
               "|a --x 4 --y 5 6 5 6 4k"},
        Script{"Arrays", "A=(\n --p 1 # one\n --q \"2 3\"\n)\nA+=(--r)\nb ${A[@]} \"${A[@]}\"",
               "|b --p 1 --q 2 3 --r --p 1 --q 2 3 --r"},
        Script{"MultiLineText", "ARGS=\"\n  --p 1 \\\n  --q 2\n\"\nb $ARGS", "|b --p 1 --q 2"},
        Script{"Defaults", "a ${X:-8} ${Y-9}\nX=1\na ${X:-8}", "|a 8 9|a 1"},
        Script{"QuotedDefaults", "N=${X:-\"4\"}\na $N ${Y:-'5'} \"${Z:-\"6\"}\"", "|a 4 5 6"},
        Script{"Arithmetic", "N=4\nG=8\nW=$(($N*$G))\na $W $((W / 2 + 1)) $(( (N) ))",
               "|a 32 17 4"},
        Script{"Unknown", "a $1 $X $(nproc) `date` ${X%.*}",
               "|a <'1' is not set in the script> <'X' is not set in the script> "
               "<it is what 'nproc' would print> <it is what 'date' would print> "
               "<'${X%.*}' is not read>"},
        Script{"Conditions", "if [ $A = 1 ]; then\n TP=4\nfi\na $TP",
               "|[ <'A' is not set in the script> = 1 ]|a <'TP' is set in line 2 only under a "
               "condition>"},
        Script{"AndThen", "[ -z x ] && TP=4\na $TP",
               "|[ -z x ]|a <'TP' is set in line 1 only under a condition>"},
        Script{"Redirections", "a b > out.txt 2>&1\nc 2> /dev/null | d", "|a b|c|d"},
        Script{"HereDocument", "cat <<EOF > x\nvllm serve\nEOF\na", "|cat|a"}),
    test::name_of_row);

TEST(ShellErrors, OpenQuotesHaveTheirPlace) {
  test::expect_contains(test::error_of([] { said("a\nb 'c"); }),
                        "a.sh:2:3: the script ends inside");
  test::expect_contains(test::error_of([] { said("A=(1 2"); }), "before the ')'");
}

TEST(ShellErrors, VariablesDoNotGrowWithoutBounds) {
  std::string text = "A=0123456789\n";
  for (int i = 0; i < 40; ++i) text += "A=$A$A\n";
  test::expect_contains(test::error_of([&] { said(text); }), "grows too long");
}

}  // namespace
}  // namespace sextant
