// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/embedded.hpp"
#include "sextant/io/files.hpp"
#include "sextant/validate/cases.hpp"

namespace sextant {

std::vector<Case> load_cases(const std::vector<std::string>& files) {
  std::vector<Case> all;
  std::vector<Diagnostic> problems;
  const auto add = [&](std::string text, const std::string& file) {
    std::vector<Diagnostic> found;
    try {
      const CsvTable table = parse_csv(std::move(text), file, found);
      const std::vector<Case> cases = read_cases(table);
      all.insert(all.end(), cases.begin(), cases.end());
    } catch (const InputError& e) {
      found.insert(found.end(), e.diagnostics().begin(), e.diagnostics().end());
    }
    problems.insert(problems.end(), found.begin(), found.end());
  };
  for (const std::string& f : files) add(read_file(f, max_csv_bytes), f);
  if (files.empty()) {
    for (const EmbeddedFile& f : embedded_cases()) add(f.text(), std::string(f.path));
  }
  throw_if_any(std::move(problems));
  return all;
}

}  // namespace sextant
