// SPDX-License-Identifier: Apache-2.0
#include "manual/manual.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/io/files.hpp"

namespace sextant::manual {
namespace {

using testing::HasSubstr;

const Manual& manual() {
  static const Manual m = the_manual();
  return m;
}

std::string page(const std::string& path) {
  for (const std::vector<Page>& pages : {shell_pages(manual()), python_modules(manual())}) {
    for (const Page& p : pages) {
      if (p.path == path) return p.text;
    }
  }
  ADD_FAILURE() << "no page " << path;
  return "";
}

std::vector<std::string> flags(const OptionDescription& o) {
  std::vector<std::string> all = o.flags;
  if (!o.no_flag.empty()) all.push_back(o.no_flag);
  return all;
}

TEST(Completion, KnowsEveryCommandAndOption) {
  const std::string bash = bash_completion(manual());
  const std::string zsh = zsh_completion(manual());
  const std::string fish = fish_completion(manual());
  for (const CommandDescription& c : manual().commands) {
    const std::string in_bash = bash.substr(bash.find("\n    '" + c.name + "')"));
    const std::string in_zsh = zsh.substr(zsh.find("\n    '" + c.name + "')"));
    for (const OptionDescription& o : c.options) {
      for (const std::string& f : flags(o)) {
        EXPECT_THAT(in_bash.substr(0, in_bash.find(";;\n    '")), HasSubstr(f)) << c.name;
        EXPECT_THAT(in_zsh.substr(0, in_zsh.find("      ;;")), HasSubstr(f + "[")) << c.name;
        const std::string in_fish = f.starts_with("--") ? "-l " + f.substr(2) : "-s " + f.substr(1);
        EXPECT_THAT(fish, HasSubstr("'__sextant_at " + c.name + "' " + in_fish + " "));
      }
    }
  }
}

TEST(Completion, OffersPresetsChoicesAndFiles) {
  const std::string bash = page("completions/sextant");
  EXPECT_THAT(bash, HasSubstr("--model) words=$_sextant_models files=1 ;;"));
  EXPECT_THAT(bash, HasSubstr("--recompute) words='none selective full' ;;"));
  EXPECT_THAT(bash, HasSubstr("--tp) : ;;"));
  EXPECT_THAT(bash, HasSubstr("|| words='devices systems"));
}

TEST(ManualPages, KnowEveryCommandAndOption) {
  const std::string main = page("man/man1/sextant.1");
  for (const CommandDescription& c : manual().commands) {
    EXPECT_THAT(main, HasSubstr("sextant " + c.name));
    const std::string name = "man/man1/sextant-" + replaced(c.name, " ", "-") + ".1";
    const std::string text = page(name);
    for (const OptionDescription& o : c.options) {
      for (const std::string& f : flags(o)) {
        EXPECT_THAT(text, HasSubstr("\\fB" + replaced(f, "-", "\\-") + "\\fR")) << name;
      }
    }
  }
}

TEST(PythonModules, HaveAFunctionACommand) {
  const std::string commands = page("python/sextant/_commands.py");
  const std::string ops = page("python/sextant/ops.py");
  for (const CommandDescription& c : manual().commands) {
    const bool grouped = c.name.starts_with("ops ");
    std::string function = grouped ? c.name.substr(4) : c.name;
    if (function == "import") function += "_";  // a word of the language
    const std::string head = "\ndef " + function + "(\n";
    EXPECT_THAT(grouped ? ops : commands, HasSubstr(head));
  }
  EXPECT_THAT(commands, HasSubstr("    model: Preset,\n"));
  EXPECT_THAT(commands, HasSubstr("    tp: int | None = None,\n"));
  EXPECT_THAT(commands, HasSubstr("    output: int | None = None,\n"));  // tokens of `infer`
  EXPECT_THAT(commands, testing::Not(HasSubstr("text, json, csv or html")));
}

// The page is built where no program is yet, so what it knows of the program is committed.
TEST(ModulesOfThePage, AreThoseThatItHas) {
  for (const Page& p : {answers_module(), fields_module(manual())}) {
    const std::string name = p.path.substr(p.path.find('/') + 1);
    EXPECT_EQ(read_file(SEXTANT_SOURCE_DIR "/ui/src/" + name), p.text)
        << "copy build/" << p.path << " to ui/src/" << name;
  }
}

TEST(Manual, GroupsStandAmongTheCommands) {
  std::vector<std::string> words;
  for (const Entry& e : words_after(manual(), "")) words.push_back(e.name);
  EXPECT_THAT(words, testing::Contains("ops").Times(1));
  EXPECT_THAT(words, testing::Contains("train").Times(1));
  words.clear();
  for (const Entry& e : words_after(manual(), "ops")) words.push_back(e.name);
  EXPECT_THAT(words, testing::Contains("gemm"));
}

}  // namespace
}  // namespace sextant::manual
