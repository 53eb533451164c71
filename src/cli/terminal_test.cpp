// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "sextant/report/utf8.hpp"

namespace sextant::cli {
namespace {

TEST(Terminal, AFileIsNone) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  EXPECT_FALSE(is_terminal(file));
  unsetenv("COLUMNS");
  EXPECT_EQ(terminal_width(file, 72), 72);
  setenv("COLUMNS", "123", 1);
  EXPECT_EQ(terminal_width(file, 72), 123);
  setenv("COLUMNS", "many", 1);
  EXPECT_EQ(terminal_width(file, 72), 72);
  std::fclose(file);
}

TEST(Terminal, APseudoTerminalIsOne) {
  int parent = 0;
  int child = 0;
  winsize size{.ws_row = 24, .ws_col = 91, .ws_xpixel = 0, .ws_ypixel = 0};
  if (openpty(&parent, &child, nullptr, nullptr, &size) != 0) GTEST_SKIP() << "no pseudo-terminals";
  std::FILE* stream = fdopen(child, "w");
  ASSERT_NE(stream, nullptr);
  EXPECT_TRUE(is_terminal(stream));
  EXPECT_EQ(terminal_width(stream), 91);
  std::fclose(stream);
  close(parent);
}

TEST(Terminal, ProgressSaysRateAndRest) {
  EXPECT_EQ(progress_line("search", 250000, 1000000, 0.5, 80),
            "search  ━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌  25 %  250k/1.0M  500k/s  2 s left");
  EXPECT_EQ(progress_line("search", 0, 10, 0, 60), "search    0 %  0/10");
  EXPECT_EQ(progress_line("scan", 1500, 0, 1, 80), "scan  1.5k  1.5k/s");
  EXPECT_NE(progress_line("x", 1, 7386, 1, 200).find("2:03:05 left"), std::string::npos);
  EXPECT_NE(progress_line("x", 1, 186, 1, 200).find("3:05 left"), std::string::npos);
}

TEST(Terminal, ProgressFitsAnyWidth) {
  for (int width = 1; width < 140; ++width) {
    EXPECT_LE(display_width(progress_line("a rather long label µ模", 12345, 99999, 7, width)),
              width);
  }
}

// In a test standard error may or may not be a terminal; either way nothing may break.
TEST(Terminal, ProgressTakesReportsFromThreads) {
  Progress progress("work", 4000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) progress.advance(1);
    });
  }
  for (auto& t : threads) t.join();
  progress.set(4000);
}

}  // namespace
}  // namespace sextant::cli
