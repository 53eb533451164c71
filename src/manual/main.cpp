// SPDX-License-Identifier: Apache-2.0
// sextant-manual FOLDER: writes shell completions, manual pages, the functions of the Python
// package, and for the page the types of answers and the fields of a scenario. A tool of the build,
// not installed.
#include <cstdio>
#include <filesystem>

#include "manual/manual.hpp"
#include "server/serve.hpp"
#include "sextant/io/files.hpp"

namespace {

using namespace sextant;

void write(const std::filesystem::path& folder, const std::vector<manual::Page>& pages) {
  for (const manual::Page& page : pages) {
    const std::filesystem::path path = folder / page.path;
    std::filesystem::create_directories(path.parent_path());
    write_file_atomically(path.string(), page.text);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || *argv[1] == '-') {  // a flag is no folder, and there are none
    std::fputs("usage: sextant-manual FOLDER\n", stderr);
    return 2;
  }
  try {
    write(argv[1], manual::python_modules(manual::the_manual()));
    write(argv[1], {manual::answers_module(), manual::fields_module(manual::the_manual())});
    cli::add_command(server::serve_command());  // the program's alone
    write(argv[1], manual::shell_pages(manual::the_manual()));
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sextant-manual: %s\n", e.what());
    return 3;
  }
}
