// SPDX-License-Identifier: Apache-2.0
#include "server/page.hpp"

#include <algorithm>

#include "sextant/io/bytes.hpp"

namespace sextant::server {
namespace {

// A script may hold no "</": what the page reads must not end it, nor start a comment.
std::string inside_script(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string_view page_text() {
  static const std::string text = unpacked(the_page().gzip, "the page in the program");
  return text;
}

std::string page_with_answer(std::string_view view, std::string_view request,
                             std::string_view answer) {
  const std::string data = "<script type=\"application/json\" id=\"sextant-answer\">{\"view\":\"" +
                           std::string(view) + "\",\"request\":" + inside_script(request) +
                           ",\"answer\":" + inside_script(answer) + "}</script>\n";
  std::string page(page_text());
  // Before the page's own script, the last one, which looks for it when it starts.
  const std::size_t at = page.rfind("<script>", page.rfind("</body>"));
  page.insert(std::min(at, page.size()), data);
  return page;
}

}  // namespace sextant::server
