// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/embedded.hpp"
#include "sextant/io/files.hpp"
#include "sextant/validate/cases.hpp"

namespace sextant {

std::vector<Case> load_cases(const std::vector<std::string>& files) {
  std::vector<Case> all;
  std::vector<Diagnostic> problems;
  const auto add = [&](std::string text, const std::string& file) {
    try {
      const std::vector<Case> cases = read_cases(parse_csv(std::move(text), file));
      all.insert(all.end(), cases.begin(), cases.end());
    } catch (const InputError& e) {
      problems.insert(problems.end(), e.diagnostics().begin(), e.diagnostics().end());
    }
  };
  for (const std::string& f : files) add(read_file(f, max_csv_bytes), f);
  if (files.empty()) {
    for (const EmbeddedFile& f : embedded_cases()) add(f.text(), std::string(f.path));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return all;
}

}  // namespace sextant
