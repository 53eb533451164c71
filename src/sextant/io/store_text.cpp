// SPDX-License-Identifier: Apache-2.0
// Results as lines of text. A line that a kill tore is cut off before writing goes on; the facts
// stand in a file beside, since neither format has a place for them.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <system_error>

#include "sextant/io/csv.hpp"
#include "sextant/io/files.hpp"
#include "sextant/io/node.hpp"
#include "sextant/io/store.hpp"
#include "sextant/io/text.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {
namespace {

std::string facts_path(const std::string& path) { return path + ".sweep"; }

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw std::system_error(errno, std::generic_category(),
                          std::string(what) + " '" + printable(path, 300) + "'");
}

/// A file that grows at its end.
class LineFile {
 public:
  explicit LineFile(const std::string& path) : path_(path) {
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("cannot write", path);
  }
  ~LineFile() { ::close(descriptor_); }
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  std::uint64_t size() const {
    struct stat info {};
    if (::fstat(descriptor_, &info) != 0) fail("cannot read", path_);
    return static_cast<std::uint64_t>(info.st_size);
  }

  /// Keeps so many bytes, and goes on after them.
  void cut(std::uint64_t length) {
    const auto end = static_cast<off_t>(length);
    if (::ftruncate(descriptor_, end) != 0 || ::lseek(descriptor_, end, SEEK_SET) != end) {
      fail("cannot write", path_);
    }
    length_ = length;
  }

  std::string read(std::uint64_t from, std::size_t count) const {
    std::string bytes(count, '\0');
    std::size_t filled = 0;
    while (filled < count) {
      const ssize_t n = ::pread(descriptor_, bytes.data() + filled, count - filled,
                                static_cast<off_t>(from + filled));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("cannot read", path_);
      if (n == 0) break;
      filled += static_cast<std::size_t>(n);
    }
    bytes.resize(filled);
    return bytes;
  }

  void append(std::string_view text) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const ssize_t n = ::write(descriptor_, rest.data(), rest.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        const int error = errno;
        (void)!::ftruncate(descriptor_, static_cast<off_t>(length_));  // no torn line, if we can
        errno = error;
        fail("cannot write", path_);
      }
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
    length_ += text.size();
  }

  void sync() {
    // Pipes cannot be synced and need not be.
    if (::fsync(descriptor_) != 0 && errno != EINVAL) fail("cannot write", path_);
  }

 private:
  const std::string& path_;
  int descriptor_ = -1;
  std::uint64_t length_ = 0;  ///< of whole lines
};

std::string cell_text(const Cell& cell, bool json) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&cell)) {
    if (std::isfinite(*real)) return fmt::format("{}", *real);
  }
  if (const auto* text = std::get_if<std::string_view>(&cell)) {
    if (json) return "\"" + escaped(*text) + "\"";
    // One row is one line.
    std::string flat(*text);
    std::replace_if(
        flat.begin(), flat.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return flat;
  }
  return json ? "null" : "";
}

class TextStore : public Store {
 public:
  TextStore(std::string path, StoreFormat format, const std::vector<StoreColumn>& columns)
      : path_(std::move(path)), file_(path_), json_(format == StoreFormat::jsonl) {
    std::vector<std::string> header = {std::string(point_column)};
    for (const StoreColumn& c : columns) {
      names_.push_back("\"" + escaped(c.name) + "\":");
      header.push_back(c.name);
    }
    header_ = json_ ? "" : csv_line(header);
    go_on();
  }

  void write(std::uint64_t point, std::span<const Cell> cells) override {
    if (point != next_) {
      throw InputError("'" + printable(path_, 300) + "' takes points in order only");
    }
    ++next_;
    json_ ? add_json(point, cells) : add_csv(point, cells);
    if (buffer_.size() >= flush_bytes) flush();
  }

  void commit() override {
    flush();
    file_.sync();
  }

  std::vector<PointRange> missing(std::uint64_t count) override {
    if (next_ >= count) return {};
    return {{next_, count}};
  }

 private:
  static constexpr std::size_t flush_bytes = std::size_t{1} << 18;

  void add_json(std::uint64_t point, std::span<const Cell> cells) {
    buffer_ += fmt::format("{{\"point\":{}", point);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      buffer_ += "," + names_[i] + cell_text(cells[i], true);
    }
    buffer_ += "}\n";
  }

  void add_csv(std::uint64_t point, std::span<const Cell> cells) {
    cells_.assign(1, fmt::format("{}", point));
    for (const Cell& c : cells) cells_.push_back(cell_text(c, false));
    buffer_ += csv_line(cells_);
  }

  void flush() {
    if (!buffer_.empty()) file_.append(buffer_);
    buffer_.clear();
  }

  // Cuts what a kill left half written, and finds the number to go on with.
  void go_on() {
    const std::uint64_t end = end_of_lines();
    if (end < header_.size() || (end == 0 && json_)) {
      file_.cut(0);
      file_.append(header_);
      return;
    }
    if (file_.read(0, header_.size()) != header_) {
      throw InputError("'" + printable(path_, 300) + "' has other columns than the plan gives");
    }
    file_.cut(end);
    if (end > header_.size()) next_ = number_of(last_line(end)) + 1;
  }

  /// The length up to the last line that is whole.
  std::uint64_t end_of_lines() const { return line_start(file_.size()); }

  /// Where the line that ends before `end` starts.
  std::uint64_t line_start(std::uint64_t end) const {
    constexpr std::uint64_t block = std::uint64_t{1} << 16;
    for (std::uint64_t at = end; at > 0;) {
      const std::uint64_t from = at > block ? at - block : 0;
      const std::string text = file_.read(from, static_cast<std::size_t>(at - from));
      const std::size_t found = text.rfind('\n');
      if (found != std::string::npos) return from + found + 1;
      at = from;
    }
    return 0;
  }

  std::string last_line(std::uint64_t end) const {
    const std::uint64_t start = line_start(end - 1);
    return file_.read(start, static_cast<std::size_t>(end - start));
  }

  std::uint64_t number_of(const std::string& line) const {
    const std::string_view prefix = json_ ? "{\"point\":" : "";
    std::uint64_t number = 0;
    const char* begin = line.data() + std::min(prefix.size(), line.size());
    const char* end = line.data() + line.size();
    if (!line.starts_with(prefix) || std::from_chars(begin, end, number).ec != std::errc{}) {
      throw InputError("the last line of '" + printable(path_, 300) + "' is none of a sweep");
    }
    return number;
  }

  const std::string path_;
  LineFile file_;
  const bool json_;
  std::string header_;
  std::vector<std::string> names_;  ///< as JSON keys
  std::vector<std::string> cells_;
  std::string buffer_;
  std::uint64_t next_ = 0;
};

}  // namespace

std::optional<StoreFacts> text_store_facts(const std::string& path) {
  struct stat info {};
  if (::stat(facts_path(path).c_str(), &info) != 0) {
    throw InputError("'" + printable(path, 300) + "' is there, but not '" +
                     printable(facts_path(path), 300) + "', which says what made it");
  }
  const Document document = parse_json(read_file(facts_path(path)), facts_path(path));
  StoreFacts facts;
  for (const Node::Member& m : document.root.members) facts[m.key] = m.value.string;
  return facts;
}

std::unique_ptr<Store> open_text_store(const std::string& path, StoreFormat format,
                                       const std::vector<StoreColumn>& columns,
                                       const StoreFacts& facts) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    // First the facts: rows without them could never be gone on with.
    Node root = Node::table();
    for (const auto& [name, value] : facts) root.set(name, Node::of(value));
    write_file_atomically(facts_path(path), to_json(root) + "\n");
  }
  return std::make_unique<TextStore>(path, format, columns);
}

}  // namespace sextant
