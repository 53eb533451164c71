// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/answer.hpp"

#include <fmt/format.h>

#include "sextant/report/utf8.hpp"

namespace sextant {
namespace {

struct TextOf {
  std::string operator()(const std::string& line) const { return line + "\n"; }
  std::string operator()(const Answer::Table& t) const { return render_text(t.table, t.style); }
  std::string operator()(const Breakdown& tree) const { return render_text(tree); }
};

}  // namespace

Answer Answer::verbatim(std::string text) {
  Answer a;
  a.verbatim_ = std::move(text);
  return a;
}

void Answer::show(TextTable table, TableStyle style) {
  blocks_.emplace_back(Table{std::move(table), style});
}

void Answer::facts(const std::vector<std::vector<std::string>>& rows, int indent) {
  TextTable t;
  t.rows = rows;
  show(std::move(t), {.header = false, .rule = false, .indent = indent});
}

void Answer::assume(const std::vector<std::string>& assumptions) {
  strings("assumptions", assumptions);
  if (assumptions.empty()) return;
  gap();
  say("assumed:");
  for (const std::string& s : assumptions) say("  " + s);
}

std::string Answer::text() const {
  if (!verbatim_.empty()) return verbatim_;
  std::string out;
  for (const Block& b : blocks_) out += std::visit(TextOf{}, b);
  return visible(out);
}

std::string Answer::json() const {
  return verbatim_.empty() ? to_json(static_cast<const Record&>(*this)) + "\n" : verbatim_;
}

std::string Answer::csv() const {
  if (!verbatim_.empty()) return verbatim_;
  return to_csv(lines_.empty() && !lines_.sample ? Records{{static_cast<const Record&>(*this)}, {}}
                                                 : lines_);
}

std::string Answer::html() const {
  if (verbatim_.starts_with("<!")) return verbatim_;
  std::string said = "<pre>";
  const std::string all = text();
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    said += escape_markup(std::string_view(all).substr(at, end - at)) + "\n";
    at = end + 1;
  }
  said += "</pre>\n";
  if (figures_.empty()) {
    return "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Sextant</title>\n" + said;
  }
  std::string drawings;
  for (const plot::Figure& f : figures_) drawings += plot::to_svg(f);
  return plot::to_html(drawings, "Sextant: " + figures_.front().title, said);
}

std::string visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    const char32_t c = next_code_point(text, i);
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
    if (control && c != '\n' && c != '\t') {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      out += text.substr(start, i - start);
    }
  }
  return out;
}

}  // namespace sextant
