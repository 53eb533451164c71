// SPDX-License-Identifier: Apache-2.0
// sextant-manual FOLDER: writes shell completions and manual pages. A tool of the build, not
// installed.
#include <cstdio>
#include <filesystem>

#include "manual/manual.hpp"
#include "sextant/io/files.hpp"

int main(int argc, char** argv) {
  using namespace sextant;
  if (argc != 2) {
    std::fputs("usage: sextant-manual FOLDER\n", stderr);
    return 2;
  }
  try {
    for (const manual::Page& page : manual::all_pages(manual::the_manual())) {
      const std::filesystem::path path = std::filesystem::path(argv[1]) / page.path;
      std::filesystem::create_directories(path.parent_path());
      write_file_atomically(path.string(), page.text);
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sextant-manual: %s\n", e.what());
    return 3;
  }
}
