// SPDX-License-Identifier: Apache-2.0
// Helpers of the io tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "sextant/io/files.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant::test {

/// The message of the InputError that `action` throws; a note when it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& e) {
    return e.what();
  }
  return "(no error)";
}

inline void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << "expected: " << part << "\nin: " << text;
}

/// A text that a reader refuses, and a part of what it says.
struct Bad {
  const char* name;
  std::string text;
  const char* expected;
};

/// The name of a table's row, for its test.
inline constexpr auto name_of_row = [](const auto& row) { return std::string(row.param.name); };

/// A folder that vanishes with the test.
class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "sextant-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& file = "") const {
    return file.empty() ? path_.string() : (path_ / file).string();
  }
  std::string write(const std::string& file, std::string_view content) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    write_file_atomically(path(file), content);
    return path(file);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace sextant::test
