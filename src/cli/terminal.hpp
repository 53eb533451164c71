// SPDX-License-Identifier: Apache-2.0
// What the program knows of the terminal it writes to: whether there is one, how wide it is; and a
// progress line on standard error that a pipe never sees.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

namespace sextant::cli {

bool is_terminal(std::FILE* stream);

/// Columns of the terminal behind the stream, else $COLUMNS, else `otherwise`.
int terminal_width(std::FILE* stream, int otherwise = 100);

/// One line of progress, at most `width` columns; a `total` of 0 means it is not known.
std::string progress_line(const std::string& label, std::int64_t done, std::int64_t total,
                          double seconds, int width);

/// Shows how far long work is, on standard error, if that is a terminal. The line appears when the
/// work has lasted a moment and is gone at the end. Any thread may report.
class Progress {
 public:
  Progress(std::string label, std::int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// So much is done in all; and what else there is to say.
  void set(std::int64_t done, const std::string& note = "");
  void advance(std::int64_t more);  ///< so much more is done

 private:
  using Clock = std::chrono::steady_clock;
  void draw();

  const std::string label_;
  const std::int64_t total_;
  const bool shown_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<std::int64_t> done_ = 0;
  std::mutex drawing_;
  Clock::time_point next_draw_ = start_ + std::chrono::milliseconds(300);
  bool drawn_ = false;
  std::string note_;
};

}  // namespace sextant::cli
