// SPDX-License-Identifier: Apache-2.0
// `sextant study`: published analyses reproduced, on standard output and as files.
#include "cli/study.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "sextant/io/files.hpp"
#include "sextant/spec/diagnostic.hpp"
#include "sextant/units/parse.hpp"

namespace sextant::cli {
namespace {

struct Entry {
  const char* name;
  Study (*make)();
};
constexpr std::array<Entry, 4> studies = {{
    {"training-validation", training_validation},
    {"memory-footprint", memory_footprint},
    {"inference-validation", inference_validation},
    {"gemm-bounds", gemm_bounds},
}};

std::vector<Study> chosen(const std::string& name) {
  std::vector<Study> list;
  std::vector<std::string> names = {"all"};
  for (const Entry& e : studies) {
    names.emplace_back(e.name);
    if (name == e.name || name == "all") list.push_back(e.make());
  }
  if (!list.empty()) return list;
  std::string known;
  for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
  const std::string hint = did_you_mean(name, names);
  throw InputError("no study is called '" + name + "'", hint.empty() ? "one of " + known : hint);
}

std::string findings_of(const Study& s, const std::string& bullet) {
  std::string text;
  for (const std::string& f : s.findings) text += bullet + f + "\n";
  return text;
}

std::string to_text(const Study& s) {
  return s.title + "\n\n" + render_text(s.table) + "\n" + findings_of(s, "");
}

std::string to_markdown(const Study& s) {
  return "# " + s.title + "\n\n" + render_markdown(s.table) + "\n![" + s.title + "](" + s.name +
         ".svg)\n\n" + findings_of(s, "* ");
}

Node to_node(const Study& s) {
  Node root = Node::table();
  root.set("name", Node::of(s.name));
  root.set("title", Node::of(s.title));
  Node& rows = root.set("rows", Node::array());
  for (const auto& cells : s.data.rows) {
    Node& row = rows.push(Node::table());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].empty()) continue;
      const std::optional<double> number = parse_number(cells[i]);
      row.set(s.data.columns[i].title, number ? Node::of(*number) : Node::of(cells[i]));
    }
  }
  Node& findings = root.set("findings", Node::array());
  for (const std::string& f : s.findings) findings.push(Node::of(f));
  return root;
}

// Four files a study; says where they are.
std::string write_files(const Study& s, const std::string& folder) {
  const std::filesystem::path base = std::filesystem::path(folder) / s.name;
  const auto path = [&](const char* ending) { return base.string() + ending; };
  write_file_atomically(path(".csv"), render_csv(s.data));
  write_file_atomically(path(".json"), to_json(to_node(s)) + "\n");
  write_file_atomically(path(".svg"), plot::to_svg(s.figure));
  write_file_atomically(path(".md"), to_markdown(s));
  return fmt::format("wrote {}.csv, .json, .svg and .md\n", base.string());
}

}  // namespace

std::string run_study(const StudyOptions& options, const Common& common) {
  if (!options.folder.empty()) std::filesystem::create_directories(options.folder);
  std::string out;
  Node all = Node::array();
  for (const Study& s : chosen(options.name)) {
    const std::string files = options.folder.empty() ? "" : write_files(s, options.folder);
    switch (common.format) {
      case Format::json:
        all.push(to_node(s));
        break;
      case Format::csv:
        out += render_csv(s.data);
        break;
      case Format::html:
        out += plot::to_html(plot::to_svg(s.figure), s.title);
        break;
      case Format::text:
        out += (out.empty() ? "" : "\n") + to_text(s) + files;
    }
  }
  if (common.format != Format::json) return out;
  return to_json(all.items.size() == 1 ? all.items.front() : all) + "\n";
}

}  // namespace sextant::cli
