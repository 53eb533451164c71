// SPDX-License-Identifier: Apache-2.0
// Any bytes as CSV; what was read is written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "sextant/io/csv.hpp"

namespace {

std::string written(const sextant::CsvTable& table) {
  std::string text = sextant::csv_line(table.header());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const auto cells = table.row(i).cells;
    text += sextant::csv_line(std::vector<std::string>(cells.begin(), cells.end()));
    sextant::to_text(table.problem(i, cells.size() - 1, "fuzz"));
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const sextant::CsvTable table =
        sextant::parse_csv(std::string(reinterpret_cast<const char*>(data), size), "fuzz.csv");
    const std::string text = written(table);
    if (written(sextant::parse_csv(text, "again.csv")) != text) std::abort();
  } catch (const sextant::InputError&) {
  }
  return 0;
}
