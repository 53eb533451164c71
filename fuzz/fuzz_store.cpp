// SPDX-License-Identifier: Apache-2.0
// Any bytes as the results of a sweep that goes on, and as what is asked of results. The first line
// is a condition, the second says which kind of store the rest is.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "sextant/answer/stored.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {
namespace {

const std::filesystem::path& folder() {
  static const std::filesystem::path one = [] {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("sextant-fuzz-" + std::to_string(::getpid()));
    std::filesystem::create_directories(path);
    return path;
  }();
  return one;
}

const std::vector<StoreColumn>& columns() {
  static const std::vector<StoreColumn> all = {{"tp", CellType::integer, "axis"},
                                               {"model", CellType::text, "axis"},
                                               {"step_seconds", CellType::real, "output", "s"}};
  return all;
}

/// Results as a sweep leaves them.
const std::string& results() {
  static const std::string path = [] {
    std::string at = (folder() / "results.db").string();
    const std::unique_ptr<Store> store = open_store(at, StoreFormat::sqlite, columns(), {});
    for (std::int64_t i = 0; i < 8; ++i) {
      const Cell cells[] = {i, std::string_view(i % 2 == 0 ? "gpt2" : "8b"), 0.5 / (1.0 + i)};
      store->write(static_cast<std::uint64_t>(i), cells);
    }
    store->commit();
    return at;
  }();
  return path;
}

template <class Do>
void refused_or_done(const Do& act) {
  try {
    act();
  } catch (const InputError& e) {
    for (const Diagnostic& d : e.diagnostics()) to_text(d);
  } catch (const std::system_error&) {
    return;  // no store, or none that can be written
  }
}

void ask(const std::string& condition) {
  refused_or_done([&] {
    const StoredView view({.results = results(),
                           .x = "tp",
                           .y = "step_seconds",
                           .series = "",
                           .where = {condition},
                           .pick = "min"});
    view.table(true);
    view.json();
  });
}

void go_on(const std::string& kind, const std::string& bytes) {
  const StoreFormat format = store_format_of("a." + kind);
  const std::string path =
      (folder() / ("any." + std::to_string(static_cast<int>(format)))).string();
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().string().starts_with(path)) std::filesystem::remove(entry.path());
  }
  std::ofstream(path, std::ios::binary) << bytes;
  refused_or_done([&] { stored_facts(path, format); });
  if (format == StoreFormat::sqlite) {
    refused_or_done([&] { check_store(path); });
    refused_or_done([&] { stored_columns(path); });
    return;  // SQLite's own reader of what is damaged is not ours to try
  }
  refused_or_done([&] { open_store(path, format, columns(), {})->missing(16); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t first = text.find('\n');
  ask(text.substr(0, first));
  if (first == std::string::npos) return 0;
  const std::size_t second = text.find('\n', first + 1);
  if (second == std::string::npos) return 0;
  go_on(text.substr(first + 1, second - first - 1), text.substr(second + 1));
  return 0;
}

}  // namespace sextant
