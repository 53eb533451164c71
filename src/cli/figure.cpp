// SPDX-License-Identifier: Apache-2.0
#include "cli/figure.hpp"

#include "sextant/io/files.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant::cli {

void check_figure_path(const std::string& path) {
  if (path.empty()) return;
  if (!path.ends_with(".svg") && !path.ends_with(".html")) {
    throw InputError("--plot: expected a file that ends in .svg or .html, got '" + path + "'");
  }
  check_writable(path);
}

Answer with_figure(Answer answer, const std::string& path) {
  if (!path.empty()) {
    write_file_atomically(
        path, path.ends_with(".html") ? answer.html() : plot::to_svg(answer.figures().front()));
  }
  return answer;
}

}  // namespace sextant::cli
