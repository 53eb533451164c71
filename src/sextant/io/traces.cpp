// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/traces.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "sextant/io/csv.hpp"
#include "sextant/io/files.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {
namespace {

constexpr double most_tokens = 1e8;

/// Days from 1970-01-01 (Howard Hinnant's algorithm).
double days_of(int year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const int era = year / 400;
  const int of_era = year - era * 400;
  const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int leap_days = of_era / 4 - of_era / 100;
  return era * 146097.0 + of_era * 365.0 + leap_days + of_year - 719468;
}

/// "2023-11-16 18:15:46.6805900", with T or a space, as seconds.
std::optional<double> read_time(std::string_view text) {
  if (const std::optional<double> plain = parse_number(text)) return plain;
  std::array<double, 6> parts{};
  const std::string_view between = "-- ::";
  for (std::size_t i = 0; i < 6; ++i) {
    std::size_t n = 0;
    while (n < text.size() &&
           (std::isdigit(static_cast<unsigned char>(text[n])) != 0 || text[n] == '.'))
      ++n;
    const std::optional<double> value = parse_number(text.substr(0, n));
    if (!value || *value > 9999) return std::nullopt;
    parts[i] = *value;
    text.remove_prefix(n);
    if (i == 5) break;
    if (text.empty() || (text[0] != between[i] && !(i == 2 && text[0] == 'T'))) return std::nullopt;
    text.remove_prefix(1);
  }
  if (!text.empty() && text != "Z" && !text.starts_with("+00")) return std::nullopt;
  return days_of(static_cast<int>(parts[0]), static_cast<int>(parts[1]),
                 static_cast<int>(parts[2])) *
             86400 +
         parts[3] * 3600 + parts[4] * 60 + parts[5];
}

/// Times count from the first one.
void finish(Trace& trace) {
  std::stable_sort(trace.requests.begin(), trace.requests.end(),
                   [](const Request& a, const Request& b) { return a.arrival < b.arrival; });
  if (trace.requests.empty()) return;
  const double first = trace.requests.front().arrival;
  std::uint32_t number = 0;
  for (Request& r : trace.requests) {
    // What counts from an event before it, as a user's trace may, keeps its own zero.
    if (first > 1e6) r.arrival -= first;
    r.number = number++;
  }
}

class TableReader {
 public:
  TableReader(const CsvTable& table, std::vector<Diagnostic>& problems)
      : table_(table), problems_(problems) {
    const bool azure = table.column("ContextTokens").has_value();
    arrival_ = table.column(azure ? "TIMESTAMP" : "arrival");
    input_ = table.column(azure ? "ContextTokens" : "input");
    output_ = table.column(azure ? "GeneratedTokens" : "output");
    prefix_ = table.column("prefix_blocks");
    if (input_ && output_) return;
    Diagnostic d;
    d.file = table.file();
    d.line = 1;
    d.column = 1;
    d.message =
        "a trace has the columns arrival, input and output, or Azure's TIMESTAMP, "
        "ContextTokens and GeneratedTokens";
    throw InputError(std::vector<Diagnostic>{std::move(d)});
  }

  /// What is wrong becomes a problem.
  Trace run() {
    Trace t;
    t.requests.reserve(table_.rows());
    for (std::size_t i = 0; i < table_.rows(); ++i) {
      Request r;
      r.input = length(i, *input_);
      r.output = length(i, *output_);
      if (arrival_) {
        r.arrival = time(i);
        t.timed = t.timed || !table_.row(i).cells[*arrival_].empty();
      }
      if (prefix_) read_prefix(i, r, t);
      t.requests.push_back(r);
    }
    finish(t);
    return t;
  }

 private:
  void add(std::size_t row, std::size_t column, const char* message) const {
    if (problems_.size() < max_collected) {
      problems_.push_back(table_.problem(row, column, message));
    }
  }
  int length(std::size_t row, std::size_t column) const {
    const std::optional<double> n = parse_number(table_.row(row).cells[column]);
    if (!n || *n < 0 || *n > most_tokens || *n != std::floor(*n)) {
      add(row, column, "expected a number of tokens");
      return 1;
    }
    return std::max(1, static_cast<int>(*n));
  }
  double time(std::size_t row) const {
    const std::string_view cell = table_.row(row).cells[*arrival_];
    if (cell.empty()) return 0;  // of a closed loop
    const std::optional<double> t = read_time(cell);
    if (!t || *t < 0 || !std::isfinite(*t)) {
      add(row, *arrival_, "expected seconds, or a date and a time");
      return 0;
    }
    return *t;
  }
  void read_prefix(std::size_t row, Request& r, Trace& t) const {
    std::string_view cell = table_.row(row).cells[*prefix_];
    r.prefix = static_cast<std::uint32_t>(t.blocks.size());
    while (!cell.empty()) {
      std::uint32_t id = 0;
      const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), id);
      if (error != std::errc{}) return add(row, *prefix_, "expected ids of blocks between spaces");
      t.blocks.push_back(id);
      cell.remove_prefix(static_cast<std::size_t>(end - cell.data()));
      while (cell.starts_with(' ')) cell.remove_prefix(1);
    }
    r.prefix_blocks = static_cast<std::uint32_t>(t.blocks.size()) - r.prefix;
  }

  const CsvTable& table_;
  std::vector<Diagnostic>& problems_;
  std::optional<std::size_t> arrival_, input_, output_, prefix_;
};

Trace parse_table(std::string text, const std::string& file) {
  std::vector<Diagnostic> problems;
  const CsvTable table = parse_csv(std::move(text), file, problems);
  Trace t = TableReader(table, problems).run();
  throw_if_any(std::move(problems));
  return t;
}

[[noreturn]] void fail_line(const std::string& file, int line, std::string message) {
  Diagnostic d;
  d.file = file;
  d.line = line;
  d.column = 1;
  d.message = std::move(message);
  throw InputError(std::vector<Diagnostic>{std::move(d)});
}

bool has_number(const Node& node) {
  return node.kind == Node::Kind::integer || node.kind == Node::Kind::number;
}

int json_length(const Node& node, std::initializer_list<const char*> names, const std::string& file,
                int line) {
  for (const char* name : names) {
    const Node* n = node.find(name);
    if (n == nullptr) continue;
    if (!has_number(*n) || !(n->number >= 0 && n->number <= most_tokens)) break;
    return std::max(1, static_cast<int>(n->number));
  }
  fail_line(file, line, std::string("expected a number of tokens as \"") + *names.begin() + "\"");
}

/// Ids of the blocks of a prompt; more than its tokens fill are of smaller blocks than are meant.
void read_blocks(const Node& ids, const std::string& file, int number, Request& r, Trace& t) {
  r.prefix = static_cast<std::uint32_t>(t.blocks.size());
  for (const Node& id : ids.items) {
    if (id.kind != Node::Kind::integer) fail_line(file, number, "expected whole hash_ids");
    t.blocks.push_back(static_cast<std::uint32_t>(id.integer));
  }
  r.prefix_blocks = static_cast<std::uint32_t>(ids.items.size());
  const double most = std::ceil(double(r.input) / t.block_tokens);
  if (r.prefix_blocks > most) {
    fail_line(file, number,
              std::to_string(r.prefix_blocks) + " hash_ids for " + std::to_string(r.input) +
                  " tokens, which fill " + write_number(most) + " blocks of " +
                  std::to_string(t.block_tokens));
  }
}

/// One object a line: Mooncake's names, or those of our CSV. Qwen-Bailian's have chats, Mooncake's
/// names, seconds for milliseconds, and blocks of 16 tokens for 512.
Request parse_line(const std::string& line, const std::string& file, int number, Trace& t) {
  Document d;
  try {
    d = parse_json(line, file);
  } catch (const InputError& e) {
    fail_line(file, number, e.diagnostics().front().message);
  }
  Request r;
  r.input = json_length(d.root, {"input_length", "input"}, file, number);
  r.output = json_length(d.root, {"output_length", "output"}, file, number);
  const bool chats = d.root.find("chat_id") != nullptr;
  if (chats) t.block_tokens = 16;
  for (const auto& [name, scale] :
       {std::pair("timestamp", chats ? 1.0 : 1000.0), std::pair("arrival", 1.0)}) {
    const Node* n = d.root.find(name);
    if (n == nullptr) continue;
    if (!has_number(*n) || !(n->number >= 0)) {
      fail_line(file, number, "expected a time that is not negative");
    }
    r.arrival = n->number / scale;
    t.timed = true;
  }
  if (const Node* n = d.root.find("hash_ids")) read_blocks(*n, file, number, r, t);
  return r;
}

Trace parse_lines(const std::string& text, const std::string& file) {
  Trace t;
  std::vector<Diagnostic> problems;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    ++number;
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.find_first_not_of(" \r\t") == std::string::npos) continue;
    try {
      t.requests.push_back(parse_line(line, file, number, t));
    } catch (const InputError& e) {
      if (problems.size() < max_collected) problems.push_back(e.diagnostics().front());
    }
  }
  throw_if_any(std::move(problems));
  finish(t);
  return t;
}

/// Conversations: each answer is a request whose prompt is all that was said before.
Trace parse_conversations(const Document& d) {
  constexpr double bytes_a_token = 4;  // of English text under today's vocabularies
  Trace t;
  for (const Node& one : d.root.items) {
    const Node* turns = one.find("conversations");
    if (turns == nullptr) fail_line(d.file, one.place.line, "expected \"conversations\"");
    double said = 0;
    for (const Node& turn : turns->items) {
      const Node* from = turn.find("from");
      const Node* value = turn.find("value");
      if (from == nullptr || value == nullptr) {
        fail_line(d.file, turn.place.line, "expected \"from\" and \"value\"");
      }
      const double tokens = std::ceil(static_cast<double>(value->string.size()) / bytes_a_token);
      if (from->string == "gpt" && said > 0 && tokens > 0) {
        Request r;
        r.input = static_cast<int>(said);
        r.output = static_cast<int>(tokens);
        t.requests.push_back(r);
      }
      said += tokens;
    }
  }
  finish(t);
  return t;
}

}  // namespace

Trace parse_trace(std::string text, const std::string& file) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const char start = first == std::string::npos ? '\0' : text[first];
  Trace t = start == '{'   ? parse_lines(text, file)
            : start == '[' ? parse_conversations(parse_json(std::move(text), file))
                           : parse_table(std::move(text), file);
  if (t.requests.empty()) fail_line(file, 1, "the trace has no requests");
  return t;
}

Trace read_trace(const std::string& path) {
  return parse_trace(read_file(path, max_csv_bytes), path);
}

}  // namespace sextant
