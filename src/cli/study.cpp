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
constexpr std::array<Entry, 8> studies = {{
    {"training-validation", training_validation},
    {"memory-footprint", memory_footprint},
    {"inference-validation", inference_validation},
    {"gemm-bounds", gemm_bounds},
    {"gpu-generations", gpu_generations},
    {"node-scaling", node_scaling},
    {"dram-scaling", dram_scaling},
    {"bottleneck-evolution", bottleneck_evolution},
}};
static_assert(studies.size() + 1 == study_names.size(), "a study is missing among the choices");

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

std::string companions_of(const Study& s) {
  std::string text;
  for (std::size_t i = 0; i < s.companions.size(); ++i) {
    text += fmt::format("![{}]({}-{}.svg)\n\n", s.companions[i].title, s.name, i + 2);
  }
  return text;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string to_markdown(const Study& s) {
  return "# " + s.title + "\n\n" + render_markdown(s.table) + "\n![" + s.title + "](" + s.name +
         ".svg)\n\n" + companions_of(s) + findings_of(s, "* ");
}

// One page with every figure and the sentences under it.
std::string index_page(const std::vector<Study>& list) {
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Sextant: "
      "studies</title>\n"
      "<style>body{font:16px/1.5 serif;max-width:52em;margin:2em auto;padding:0 1em}"
      "body>svg{max-width:100%;height:auto}</style>\n<h1>Studies</h1>\n";
  for (const Study& s : list) {
    page += "<h2 id=\"" + s.name + "\">" + escaped(s.title) + "</h2>\n" + plot::to_svg(s.figure);
    for (const plot::Figure& f : s.companions) page += plot::to_svg(f);
    page += "\n";
    for (const std::string& f : s.findings) page += "<p>" + escaped(f) + "</p>\n";
    page += "<p>Data: <a href=\"" + s.name + ".csv\">CSV</a>, <a href=\"" + s.name +
            ".json\">JSON</a>, <a href=\"" + s.name + ".md\">table</a></p>\n";
  }
  return page + "</html>\n";
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
  for (std::size_t i = 0; i < s.companions.size(); ++i) {
    write_file_atomically(path(("-" + std::to_string(i + 2) + ".svg").c_str()),
                          plot::to_svg(s.companions[i]));
  }
  write_file_atomically(path(".md"), to_markdown(s));
  return fmt::format("wrote {}.csv, .json, .svg and .md\n", base.string());
}

}  // namespace

std::string run_study(const StudyOptions& options, const Common& common) {
  if (!options.folder.empty()) std::filesystem::create_directories(options.folder);
  std::string out;
  Node all = Node::array();
  const std::vector<Study> list = chosen(options.name);
  for (const Study& s : list) {
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
  if (list.size() > 1 && !options.folder.empty()) {
    const std::string path = (std::filesystem::path(options.folder) / "index.html").string();
    write_file_atomically(path, index_page(list));
    if (common.format == Format::text) out += "wrote " + path + "\n";
  }
  if (common.format != Format::json) return out;
  return to_json(all.items.size() == 1 ? all.items.front() : all) + "\n";
}

}  // namespace sextant::cli
