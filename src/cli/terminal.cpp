// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "sextant/report/utf8.hpp"

namespace sextant::cli {
namespace {

constexpr std::string_view clear_line = "\r\x1B[K";
constexpr auto draw_interval = std::chrono::milliseconds(100);

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// "1.2k", "35", "4.7M".
std::string short_count(double value) {
  constexpr std::string_view suffixes = " kMGTP";
  std::size_t i = 0;
  while (value >= 999.5 && i + 1 < suffixes.size()) {
    value /= 1000;
    ++i;
  }
  const std::string number = fmt::format("{:.{}f}", value, i > 0 && value < 99.95 ? 1 : 0);
  return i == 0 ? number : number + suffixes[i];
}

// "42 s", "3:05", "2:03:05".
std::string short_time(double seconds) {
  if (!(seconds < 3.6e6)) return "?";
  const auto s = static_cast<std::int64_t>(std::ceil(seconds));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

int terminal_width(std::FILE* stream, int otherwise) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const std::string columns(environment("COLUMNS"));
  const int width = std::atoi(columns.c_str());
  return width > 0 && width < 10000 ? width : otherwise;
}

std::string progress_line(const std::string& label, std::int64_t done, std::int64_t total,
                          double seconds, int width) {
  const auto amount = static_cast<double>(done);
  const double rate = seconds > 0 ? amount / seconds : 0;
  std::string facts = short_count(amount);
  std::string bar;
  if (total > 0) {
    const double share = std::clamp(amount / static_cast<double>(total), 0.0, 1.0);
    const int columns = std::clamp(width - 60, 0, 30);
    const int filled = static_cast<int>(share * columns);
    if (columns > 4) bar = repeat("━", filled) + repeat("╌", columns - filled) + " ";
    facts = fmt::format("{:3.0f} %  {}/{}", std::floor(100 * share), facts,
                        short_count(static_cast<double>(total)));
  }
  if (rate > 0) facts += fmt::format("  {}/s", short_count(rate));
  if (rate > 0 && total > done) {
    facts += fmt::format("  {} left", short_time(static_cast<double>(total - done) / rate));
  }
  return cut_to(fmt::format("{}  {}{}", single_line(label), bar, facts), std::max(width, 1));
}

Progress::Progress(std::string label, std::int64_t total)
    : label_(std::move(label)),
      total_(total),
      shown_(is_terminal(stderr) && environment("TERM") != "dumb") {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "{}", clear_line);
}

void Progress::set(std::int64_t done, const std::string& note) {
  done_ = done;
  {
    const std::scoped_lock lock(drawing_);
    note_ = note;
  }
  draw();
}

void Progress::advance(std::int64_t more) {
  done_ += more;
  draw();
}

void Progress::draw() {
  if (!shown_) return;
  const std::unique_lock lock(drawing_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const auto now = Clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + draw_interval;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  // One column less than there are: a full line would wrap on some terminals.
  const int width = terminal_width(stderr, 80) - 1;
  const std::string label = note_.empty() ? label_ : label_ + ", " + note_;
  fmt::print(stderr, "{}{}", clear_line, progress_line(label, done_, total_, seconds, width));
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace sextant::cli
