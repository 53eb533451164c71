// SPDX-License-Identifier: Apache-2.0
// `sextant study`: published analyses reproduced, on standard output and as files.
#include "sextant/answer/study.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "sextant/io/files.hpp"
#include "sextant/options/settings.hpp"
#include "sextant/report/utf8.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant::cli {
namespace {

using study::Study;

/// Refused before anything is computed or written.
void check_name(const std::string& name) {
  std::vector<std::string> names;
  std::string known;
  for (const std::string_view n : study_names) {
    if (name == n) return;
    names.emplace_back(n);
    known += (known.empty() ? "" : ", ") + std::string(n);
  }
  const std::string hint = did_you_mean(name, names);
  throw InputError("no study is called '" + name + "'", hint.empty() ? "one of " + known : hint);
}

std::vector<Study> chosen(const std::string& name) {
  std::vector<Study> list;
  for (const study::Entry& e : study::studies) {
    if (name != e.name && name != "all") continue;
    list.push_back(e.make());
    list.back().name = e.name;
  }
  return list;
}

// One page with every figure and the sentences under it.
std::string index_page(const std::vector<Study>& list) {
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Sextant: "
      "studies</title>\n"
      "<style>body{font:16px/1.5 serif;max-width:52em;margin:2em auto;padding:0 1em}"
      "body>svg{max-width:100%;height:auto}</style>\n<h1>Studies</h1>\n";
  for (const Study& s : list) {
    page += fmt::format("<h2 id=\"{}\">{}</h2>\n{}", s.name, escape_markup(s.title),
                        plot::to_svg(s.figure));
    for (const plot::Figure& f : s.companions) page += plot::to_svg(f);
    page += "\n";
    for (const std::string& f : s.findings) page += "<p>" + escape_markup(f) + "</p>\n";
    page += fmt::format(
        "<p>Data: <a href=\"{0}.csv\">CSV</a>, <a href=\"{0}.json\">JSON</a>, "
        "<a href=\"{0}.md\">table</a></p>\n",
        s.name);
  }
  return page + "</html>\n";
}

// Four files a study; says where they are.
std::string write_files(const Study& s, const Answer& answer, const std::string& folder) {
  const std::string base = (std::filesystem::path(folder) / s.name).string();
  write_file_atomically(base + ".csv", answer.csv());
  write_file_atomically(base + ".json", answer.json());
  write_file_atomically(base + ".md", markdown_of(s));
  for (std::size_t i = 0; i < answer.figures().size(); ++i) {
    const std::string number = i == 0 ? "" : "-" + std::to_string(i + 1);
    write_file_atomically(base + number + ".svg", plot::to_svg(answer.figures()[i]));
  }
  return fmt::format("wrote {}.csv, .json, .svg and .md", base);
}

// Several answers one after another, in the format that was asked for.
Answer joined(const std::vector<Answer>& answers, Format format) {
  std::string text;
  for (const Answer& a : answers) {
    const bool first = &a == &answers.front();
    switch (format) {
      case Format::json: {
        std::string one = a.json();
        one.pop_back();
        text += (first ? "[" : ", ") + one;
        break;
      }
      case Format::csv:
        text += a.csv();
        break;
      case Format::html:
        text += a.html();
        break;
      case Format::text:
        text += (first ? "" : "\n") + a.text();
    }
  }
  return Answer::verbatim(format == Format::json ? text + "]\n" : text);
}

}  // namespace

Answer run_study(const StudyOptions& options, const Common& common) {
  check_name(options.name);
  no_settings(common, "a study is of what was published", "a sweep varies any field");
  if (!options.folder.empty()) make_folder(options.folder);
  const std::vector<Study> list = chosen(options.name);
  std::vector<Answer> answers;
  for (const Study& s : list) {
    answers.push_back(answer_of(s));
    if (options.folder.empty()) continue;
    answers.back().say(write_files(s, answers.back(), options.folder));
  }
  if (list.size() == 1) return answers.front();
  if (!options.folder.empty()) {
    const std::string path = (std::filesystem::path(options.folder) / "index.html").string();
    write_file_atomically(path, index_page(list));
    answers.back().say("wrote " + path);
  }
  return joined(answers, common.format);
}

}  // namespace sextant::cli
