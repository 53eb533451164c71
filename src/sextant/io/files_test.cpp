// SPDX-License-Identifier: Apache-2.0
// Tests of whole-file input and output.
#include "sextant/io/files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <system_error>

#include "sextant/io/test_support.hpp"

namespace sextant {
namespace {
namespace fs = std::filesystem;
using test::Folder;

std::size_t entries(const Folder& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
}

TEST(Files, WritesAndReadsBytes) {
  const Folder folder;
  const std::string content("a\0b\r\n\xFF", 6);
  const std::string path = folder.write("x", content);
  EXPECT_EQ(read_file(path), content);
  write_file_atomically(path, "second");
  EXPECT_EQ(read_file(path), "second");
  EXPECT_EQ(entries(folder), 1U) << "a temporary file was left";
}

TEST(Files, KeepsModeAndLinks) {
  const Folder folder;
  const std::string path = folder.write("x", "1");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("x", folder.path("link"));
  write_file_atomically(folder.path("link"), "2");
  EXPECT_TRUE(fs::is_symlink(folder.path("link")));
  EXPECT_EQ(read_file(path), "2");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(Files, WritesToDevices) { EXPECT_NO_THROW(write_file_atomically("/dev/null", "gone")); }

TEST(Files, FailuresNameThePath) {
  const Folder folder;
  for (const std::string& path : {folder.path("missing/x"), folder.path()}) {
    EXPECT_THROW(write_file_atomically(path, "x"), std::system_error) << path;
    EXPECT_THROW(check_writable(path), std::system_error) << path;
    EXPECT_THROW(read_file(path), std::system_error) << path;
  }
  try {
    read_file("no-such-file");
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_STREQ(e.what(), "cannot read 'no-such-file': No such file or directory");
  }
  EXPECT_EQ(entries(folder), 0U);
}

TEST(Files, SayWhatIsMissing) {
  const Folder folder;
  fs::create_symlink("nowhere", folder.path("link"));
  const auto said = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const std::system_error& e) {
      return e.what();
    }
    return "";
  };
  for (const std::string& text : {said([&] { read_file(folder.path("link")); }),
                                  said([&] { check_writable(folder.path("link")); }),
                                  said([&] { write_file_atomically(folder.path("link"), "x"); })}) {
    EXPECT_NE(text.find("a link to 'nowhere', which is not there"), std::string::npos) << text;
  }
  EXPECT_NE(said([&] { check_writable(folder.path("no/x")); }).find("/no' is not there"),
            std::string::npos);
  EXPECT_TRUE(fs::is_symlink(folder.path("link")));
}

TEST(Files, ChecksBeforehand) {
  const Folder folder;
  EXPECT_NO_THROW(check_writable(folder.path("new")));
  EXPECT_NO_THROW(check_writable(folder.write("old", "")));
  EXPECT_NO_THROW(check_writable("/dev/null"));
  EXPECT_THROW(check_writable(folder.path("old/inside-a-file")), std::system_error);
}

TEST(Files, LimitsSize) {
  const Folder folder;
  const std::string path = folder.write("x", std::string(1000, 'x'));
  EXPECT_EQ(read_file(path, 1000).size(), 1000U);
  EXPECT_THROW(read_file(path, 999), InputError);
}

}  // namespace
}  // namespace sextant
