// SPDX-License-Identifier: Apache-2.0
// The web page, compiled into the program: one file with everything in it.
#pragma once

#include <string>
#include <string_view>

namespace sextant::server {

struct Page {
  std::string_view gzip;
  std::string_view etag;  ///< in quotes
  bool built = false;     ///< else it only says that the program was built without
};
const Page& the_page();

/// The page unpacked; it lives as long as the program.
std::string_view page_text();

/// The page with an answer inside, as a file of its own: `view` is the part of the page that shows
/// it, `request` and `answer` are JSON.
std::string page_with_answer(std::string_view view, std::string_view request,
                             std::string_view answer);

}  // namespace sextant::server
