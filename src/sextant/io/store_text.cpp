// SPDX-License-Identifier: Apache-2.0
// Results as lines of text. A line that a kill tore is cut off before writing goes on; the facts
// stand in a file beside, since neither format has a place for them, and so do checksums.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <system_error>

#include "sextant/io/csv.hpp"
#include "sextant/io/files.hpp"
#include "sextant/io/fnv.hpp"
#include "sextant/io/node.hpp"
#include "sextant/io/store.hpp"
#include "sextant/io/text.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {
namespace {

std::string facts_path(const std::string& path) { return path + ".sweep"; }
std::string sums_path(const std::string& path) { return path + ".sums"; }

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw std::system_error(errno, std::generic_category(),
                          std::string(what) + " '" + printable(path, 300) + "'");
}

/// A file that grows at its end.
class LineFile {
 public:
  explicit LineFile(std::string path) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("cannot write", path_);
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
  const std::string path_;
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

/// What a file was at its commits: a line each with its bytes, its points, and FNV-1a over what the
/// commit added. A line is written after the bytes it speaks of are safe, so what differs from it
/// changed later; of what follows the last one nothing was promised.
class Sums {
 public:
  explicit Sums(const std::string& path) : path_(path), file_(sums_path(path)) {}

  /// Throws, naming the points, where the file is not what was committed. One that was cut short is
  /// no damage: its whole lines count, and what is missing is written again.
  void verify(const LineFile& file) {
    const std::string lines = file_.read(0, static_cast<std::size_t>(file_.size()));
    std::vector<Diagnostic> problems;
    std::size_t kept = 0;
    for (std::size_t end = 0; (end = lines.find('\n', kept)) != std::string::npos;) {
      const std::optional<Sum> next = parse(std::string_view(lines).substr(kept, end - kept));
      if (!next || next->bytes > file.size()) break;  // torn: from here on nothing is known
      kept = end + 1;
      if (problems.size() < most_named) compare(file, *next, problems);
      last_ = *next;
    }
    throw_if_any(std::move(problems));
    file_.cut(kept);
  }

  /// The next commit speaks of what the file has beyond the last.
  void go_on(const LineFile& file) {
    const std::uint64_t end = file.size();
    add_bytes(file, last_.bytes, end, added_);
    last_.bytes = end;
  }

  void add(std::string_view text) {
    added_.add(text);
    last_.bytes += text.size();
  }

  void commit(std::uint64_t points) {
    if (points == last_.points) return;
    file_.append(fmt::format("{} {} {:016x}\n", last_.bytes, points, added_.value()));
    last_.points = points;
    added_ = {};
  }

 private:
  struct Sum {
    std::uint64_t bytes = 0;
    std::uint64_t points = 0;
    std::uint64_t hash = 0;
  };
  static constexpr std::size_t most_named = 20;

  std::optional<Sum> parse(std::string_view line) const {
    Sum s;
    const std::array<std::pair<std::uint64_t*, int>, 3> fields = {
        {{&s.bytes, 10}, {&s.points, 10}, {&s.hash, 16}}};
    const char* at = line.data();
    const char* end = at + line.size();
    for (const auto& field : fields) {
      const std::from_chars_result r = std::from_chars(at, end, *field.first, field.second);
      if (r.ec != std::errc{}) return std::nullopt;
      at = r.ptr < end ? r.ptr + 1 : end;
    }
    if (s.bytes < last_.bytes || s.points <= last_.points) return std::nullopt;
    return s;
  }

  void compare(const LineFile& file, const Sum& now, std::vector<Diagnostic>& problems) const {
    Fnv found;
    add_bytes(file, last_.bytes, now.bytes, found);
    if (found.value() == now.hash) return;
    problems.push_back({.file = printable(path_, 300),
                        .message = fmt::format("points {} to {} are damaged: their lines are not "
                                               "those that were written",
                                               last_.points, now.points - 1),
                        .hint = "restore the file, or begin another with -o"});
  }

  static void add_bytes(const LineFile& file, std::uint64_t from, std::uint64_t to, Fnv& hash) {
    constexpr std::uint64_t block = std::uint64_t{1} << 20;
    for (; from < to; from += std::min(block, to - from)) {
      hash.add(file.read(from, static_cast<std::size_t>(std::min(block, to - from))));
    }
  }

  const std::string path_;
  LineFile file_;
  Sum last_;   ///< committed, with the bytes that were added since
  Fnv added_;  ///< over those
};

class TextStore : public Store {
 public:
  TextStore(std::string path, StoreFormat format, const std::vector<StoreColumn>& columns)
      : path_(std::move(path)), file_(path_), sums_(path_), json_(format == StoreFormat::jsonl) {
    std::vector<std::string> header = {std::string(point_column)};
    for (const StoreColumn& c : columns) {
      names_.push_back("\"" + escaped(c.name) + "\":");
      header.push_back(c.name);
    }
    header_ = json_ ? "" : csv_line(header);
    sums_.verify(file_);
    go_on();
    sums_.go_on(file_);
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
    sums_.commit(next_);
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
    sums_.add(buffer_);
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
  Sums sums_;
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
    ::unlink(sums_path(path).c_str());  // of a file that is no more
    // First the facts: rows without them could never be gone on with.
    Node root = Node::table();
    for (const auto& [name, value] : facts) root.set(name, Node::of(value));
    write_file_atomically(facts_path(path), to_json(root) + "\n");
  }
  return std::make_unique<TextStore>(path, format, columns);
}

}  // namespace sextant
