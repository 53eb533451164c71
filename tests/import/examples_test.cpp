// SPDX-License-Identifier: Apache-2.0
// Every example of every format: each of its arguments is accounted for, the scenario it gives and
// the answer to it are kept (golden.tsv), and the printed scenario gives the same answer.
// SEXTANT_UPDATE_GOLDEN=1 writes the file anew.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "cli/command_table.hpp"
#include "sextant/answer/import.hpp"
#include "sextant/io/files.hpp"
#include "sextant/options/request.hpp"

namespace sextant {
namespace {

const std::string folder = std::string(SEXTANT_SOURCE_DIR) + "/tests/import/";

struct Example {
  std::string file;
  std::string ask;
  Node flags;  ///< in JSON, what was given beside the file
};

std::vector<Example> examples() {
  std::vector<Example> all;
  const Document list = parse_json(read_file(folder + "examples.json"), "examples.json");
  for (const Node& item : list.root.items) {
    Example& e = all.emplace_back();
    e.file = item.find("file")->string;
    e.ask = item.find("ask")->string;
    e.flags = Node::table();
    for (const Node::Member& m : item.members) {
      if (m.key != "file" && m.key != "ask") e.flags.set(m.key, m.value);
    }
  }
  return all;
}

std::string headline(const std::string& command, Node request) {
  const Document document{"request", "", std::move(request)};
  const std::unique_ptr<cli::Invocation> invocation = cli::find_command(command)->prepare();
  std::vector<Diagnostic> problems;
  read_request(document, document.root, invocation->all_options(), problems);
  throw_if_any(std::move(problems));
  const Node answer = parse_json(invocation->answer().json(), "answer").root;
  std::string text;
  for (const char* field : {"step_seconds", "ttft_seconds", "tpot_seconds"}) {
    const Node* value = answer.find(field);
    if (value == nullptr) continue;
    char digits[64];
    std::snprintf(digits, sizeof digits, "%.9g", value->number);
    text += (text.empty() ? "" : " ") + std::string(digits);
  }
  text += answer.find("memory")->find("fits")->boolean ? " fits" : " does not fit";
  return text;
}

Imported read(const Example& e) {
  return import_text(read_file(folder + e.file), e.file,
                     {.format = {}, .task = e.ask, .given = e.flags});
}

std::map<std::string, std::string> golden() {
  std::map<std::string, std::string> lines;
  if (!std::filesystem::exists(folder + "golden.tsv")) return lines;
  const std::string text = read_file(folder + "golden.tsv");
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, to - from);
    from = to + 1;
    if (!line.empty() && line[0] != '#') lines[line.substr(0, line.find('\t'))] = line;
  }
  return lines;
}

TEST(ImportExamples, AccountForEveryArgumentAndKeepTheirAnswers) {
  const std::vector<Example> all = examples();
  EXPECT_GE(all.size(), 40U);
  const std::map<std::string, std::string> kept = golden();
  std::string lines = "# file\tused, irrelevant, not modelled\tanswer\tscenario\n";
  for (const Example& e : all) {
    SCOPED_TRACE(e.file);
    Imported imported;
    std::string answer;
    try {
      imported = read(e);
      Node request = e.flags;
      request.set("from", Node::of(folder + e.file));
      answer = headline(e.ask, request);
    } catch (const InputError& error) {
      ADD_FAILURE() << error.what();
      continue;
    }
    std::map<Disposition, int> count;
    for (const ImportedArgument& a : imported.arguments) {
      ++count[a.disposition];
      const bool used = a.disposition == Disposition::used;
      EXPECT_FALSE(used ? a.field.empty() : a.why.empty()) << a.name;
    }
    const std::string line = e.file + "\t" + std::to_string(count[Disposition::used]) + ", " +
                             std::to_string(count[Disposition::irrelevant]) + ", " +
                             std::to_string(count[Disposition::unmodelled]) + "\t" + answer + "\t" +
                             to_json(imported.scenario, 0);
    lines += line + "\n";
    if (std::getenv("SEXTANT_UPDATE_GOLDEN") == nullptr) {
      const auto at = kept.find(e.file);
      EXPECT_EQ(line, at == kept.end() ? "" : at->second);
    }
  }
  if (std::getenv("SEXTANT_UPDATE_GOLDEN") != nullptr) {
    write_file_atomically(folder + "golden.tsv", lines);
  }
}

TEST(ImportExamples, PrintedScenariosGiveTheSameAnswers) {
  const std::string path = testing::TempDir() + "sextant-scenario.toml";
  for (const Example& e : examples()) {
    SCOPED_TRACE(e.file);
    try {
      Node request = e.flags;
      request.set("from", Node::of(folder + e.file));
      write_file_atomically(path, scenario_file(read(e)));
      Node again = Node::table();
      again.set("from", Node::of(path));
      EXPECT_EQ(headline(e.ask, again), headline(e.ask, request));
    } catch (const InputError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

}  // namespace
}  // namespace sextant
