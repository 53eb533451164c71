// SPDX-License-Identifier: Apache-2.0
#include "server/page.hpp"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>

namespace sextant::server {
namespace {

std::string unpacked(std::string_view packed) {
  z_stream stream{};
  constexpr int gzip_only = 16 + MAX_WBITS;
  if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::bad_alloc();
  // zlib reads through a pointer it does not declare const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  int status = Z_OK;
  while (status == Z_OK) {
    char buffer[65536];
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer, sizeof buffer - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("the page in the program is damaged");
  return text;
}

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
  static const std::string text = unpacked(the_page().gzip);
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
