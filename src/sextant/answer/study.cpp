// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/study.hpp"

#include <fmt/format.h>

namespace sextant {
namespace {

const Records& table_of(const study::Study& s) { return s.table.empty() ? s.rows : s.table; }

}  // namespace

Answer answer_of(const study::Study& s) {
  Answer a;
  a("name", s.name);
  a("title", s.title);
  a.list("rows", "StudyRow", s.rows);
  a.strings("findings", s.findings);
  a.say(s.title + "\n");
  a.show(table_of(s));
  a.gap();
  for (const std::string& f : s.findings) a.say(f);
  a.lines(s.rows);
  a.figure(s.figure);
  for (const plot::Figure& f : s.companions) a.figure(f);
  return a;
}

std::string markdown_of(const study::Study& s) {
  std::string text = fmt::format("# {}\n\n{}\n![{}]({}.svg)\n\n", s.title,
                                 render_markdown(to_table(table_of(s))), s.title, s.name);
  for (std::size_t i = 0; i < s.companions.size(); ++i) {
    text += fmt::format("![{}]({}-{}.svg)\n\n", s.companions[i].title, s.name, i + 2);
  }
  for (const std::string& f : s.findings) text += "* " + f + "\n";
  return text;
}

}  // namespace sextant
