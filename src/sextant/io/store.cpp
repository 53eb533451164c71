// SPDX-License-Identifier: Apache-2.0
// Results in SQLite. A rollback journal instead of a write-ahead log: it works on the file systems
// of clusters, and leaves one file. Readers see what is committed, and wait a moment at commits.
#include "sextant/io/store.hpp"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <limits>
#include <system_error>

#include "sextant/io/files.hpp"
#include "sextant/io/fnv.hpp"
#include "sextant/io/text.hpp"
#include "sextant/spec/describe.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {
namespace {

int error_number(sqlite3* handle, int code) {
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return ENOSPC;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return EACCES;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return EBUSY;
    case SQLITE_NOMEM:
      return ENOMEM;
    default:
      break;
  }
  const int system = handle == nullptr ? 0 : sqlite3_system_errno(handle);
  return system != 0 ? system : EIO;
}

[[noreturn]] void fail(sqlite3* handle, int code, const std::string& path) {
  const std::string where = "'" + printable(path, 300) + "'";
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw InputError(where + " is not a database, or a damaged one",
                       "'sextant sweep' writes one where its output ends in .db");
    case SQLITE_CONSTRAINT:
      throw InputError(where + " has this point already: another process writes to it as well");
    default:
      throw std::system_error(error_number(handle, code), std::generic_category(), where);
  }
}

class Database;

/// A prepared statement.
class Statement {
 public:
  Statement(Database& database, const std::string& sql);
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int at, std::int64_t value) { sqlite3_bind_int64(statement_, at, value); }
  void bind(int at, double value) { sqlite3_bind_double(statement_, at, value); }
  void bind(int at, std::monostate) { sqlite3_bind_null(statement_, at); }
  /// The text must live until the step is done.
  void bind(int at, std::string_view text) {
    sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  /// True while there is a row.
  bool step();
  void reset() { sqlite3_reset(statement_); }

  int columns() { return sqlite3_column_count(statement_); }
  std::int64_t integer(int column) { return sqlite3_column_int64(statement_, column); }
  std::string text(int column) {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    const int size = sqlite3_column_bytes(statement_, column);
    return bytes == nullptr ? "" : std::string(bytes, static_cast<std::size_t>(size));
  }
  StoredCell cell(int column) {
    switch (sqlite3_column_type(statement_, column)) {
      case SQLITE_INTEGER:
        return integer(column);
      case SQLITE_FLOAT:
        return sqlite3_column_double(statement_, column);
      case SQLITE_TEXT:
        return text(column);
      default:
        return std::monostate{};
    }
  }

 private:
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

class Database {
 public:
  Database(std::string path, int flags) : path_(std::move(path)) {
    const int code = sqlite3_open_v2(path_.c_str(), &handle_, flags, nullptr);
    if (code != SQLITE_OK) {
      const int error = error_number(handle_, code);
      sqlite3_close(handle_);
      throw std::system_error(error, std::generic_category(),
                              "cannot open '" + printable(path_, 300) + "'");
    }
    // A reader may hold a commit up for a while; a minute is more than any we know of.
    sqlite3_busy_timeout(handle_, 60'000);
  }
  ~Database() { sqlite3_close(handle_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const char* sql) { check(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr)); }
  void check(int code) {
    if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) fail(handle_, code, path_);
  }
  sqlite3* handle() { return handle_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  sqlite3* handle_ = nullptr;
};

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
  database.check(sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement_, nullptr));
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  database_.check(code);
  return code == SQLITE_ROW;
}

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

bool has_table(Database& database, std::string_view name) {
  Statement found(database, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  found.bind(1, name);
  return found.step();
}

const char* sql_type(CellType type) {
  switch (type) {
    case CellType::integer:
      return "INTEGER";
    case CellType::real:
      return "REAL";
    case CellType::text:
      break;
  }
  return "TEXT";
}

// ---- checksums

/// Points of one checksum.
constexpr std::uint64_t chunk_points = 4096;

/// What one row adds to its chunk's sum: FNV-1a over its cells, folded to 32 bits, so that a
/// chunk's sum is a number that SQLite keeps exactly. Rows may come in any order.
class RowHash {
 public:
  void add(std::monostate) { byte(0); }
  void add(std::int64_t value) { add(static_cast<double>(value)); }
  void add(double value) {
    byte(1);
    const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
    for (unsigned i = 0; i < 8; ++i) byte(static_cast<unsigned char>(bits >> (8 * i)));
  }
  void add(std::string_view text) {
    byte(2);
    hash_.add(text);
  }
  std::int64_t value() const {
    const std::uint64_t hash = hash_.value();
    return static_cast<std::int64_t>((hash ^ (hash >> 32U)) & 0xFFFFFFFFU);
  }

 private:
  void byte(unsigned char b) { hash_.byte(b); }
  Fnv hash_;
};

struct ChunkCheck {
  std::int64_t rows = 0;
  std::int64_t sum = 0;
  friend bool operator==(const ChunkCheck&, const ChunkCheck&) = default;
};
using ChunkChecks = std::map<std::uint64_t, ChunkCheck>;

void count_row(std::uint64_t point, const RowHash& hash, ChunkChecks& checks) {
  ChunkCheck& chunk = checks[point / chunk_points];
  ++chunk.rows;
  chunk.sum += hash.value();
}

bool has_checks(Database& database) { return has_table(database, "checks"); }

ChunkChecks checks_of_rows(Database& database) {
  ChunkChecks checks;
  Statement rows(database, "SELECT * FROM results");
  while (rows.step()) {
    RowHash hash;
    for (int i = 0; i < rows.columns(); ++i) {
      std::visit([&](const auto& value) { hash.add(value); }, rows.cell(i));
    }
    count_row(static_cast<std::uint64_t>(rows.integer(0)), hash, checks);
  }
  return checks;
}

/// Throws where rows are not what the checksums say.
void verify(Database& database) {
  if (!has_checks(database)) return;
  ChunkChecks written;
  Statement stored(database, "SELECT chunk, rows, sum FROM checks");
  while (stored.step()) {
    written[static_cast<std::uint64_t>(stored.integer(0))] = {stored.integer(1), stored.integer(2)};
  }
  const ChunkChecks found = checks_of_rows(database);
  std::vector<Diagnostic> problems;
  constexpr std::size_t most = 20;
  const auto compare = [&](std::uint64_t chunk) {
    const auto was = written.find(chunk);
    const auto is = found.find(chunk);
    const ChunkCheck before = was == written.end() ? ChunkCheck{} : was->second;
    const ChunkCheck now = is == found.end() ? ChunkCheck{} : is->second;
    if (before == now || problems.size() >= most) return;
    problems.push_back(
        {.file = printable(database.path(), 300),
         .message = "points " + std::to_string(chunk * chunk_points) + " to " +
                    std::to_string((chunk + 1) * chunk_points - 1) + " are damaged: " +
                    (before.rows == now.rows ? "their values are not those that were written"
                                             : std::to_string(now.rows) + " of " +
                                                   std::to_string(before.rows) + " are there"),
         .hint = "restore the file, or begin another with -o"});
  };
  for (const auto& [chunk, unused] : written) compare(chunk);
  for (const auto& [chunk, unused] : found) {
    if (!written.contains(chunk)) compare(chunk);
  }
  throw_if_any(std::move(problems));
}

class SqliteStore : public Store {
 public:
  SqliteStore(const std::string& path, const std::vector<StoreColumn>& columns,
              const StoreFacts& facts)
      : database_(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) {
    // A transaction that outgrows the cache would lock readers out before its end.
    database_.execute("PRAGMA journal_mode = DELETE; PRAGMA cache_size = -32768");
    database_.execute("BEGIN IMMEDIATE");
    if (!has_table(database_, "results")) create(columns, facts);
    database_.execute("COMMIT");
    verify(database_);
    if (has_checks(database_)) {
      check_ = std::make_unique<Statement>(
          database_,
          "INSERT INTO checks VALUES (?, ?, ?) ON CONFLICT (chunk) DO UPDATE SET "
          "rows = rows + excluded.rows, sum = sum + excluded.sum");
    }
    std::string sql = "INSERT INTO results VALUES (?";
    for (std::size_t i = 0; i < columns.size(); ++i) sql += ", ?";
    insert_ = std::make_unique<Statement>(database_, sql + ")");
  }

  void write(std::uint64_t point, std::span<const Cell> cells) override {
    if (!open_) database_.execute("BEGIN IMMEDIATE");
    open_ = true;
    int at = 1;
    RowHash hash;
    hash.add(static_cast<std::int64_t>(point));
    insert_->bind(at++, static_cast<std::int64_t>(point));
    for (const Cell& cell : cells) {
      const auto add = [&](const auto& value) {
        insert_->bind(at, value);
        hash.add(value);
      };
      std::visit(add, cell);
      ++at;
    }
    try {
      insert_->step();
    } catch (...) {
      insert_->reset();
      throw;
    }
    insert_->reset();
    count_row(point, hash, written_);
  }

  void commit() override {
    if (!open_) return;
    if (check_ != nullptr) write_checks();
    database_.execute("COMMIT");
    open_ = false;
    written_.clear();
  }

  std::vector<PointRange> missing(std::uint64_t count) override {
    std::vector<PointRange> gaps;
    Statement rows(database_, "SELECT point FROM results ORDER BY point");
    std::uint64_t next = 0;
    while (rows.step()) {
      const auto point = static_cast<std::uint64_t>(rows.integer(0));
      if (point > next) gaps.push_back({next, std::min(point, count)});
      next = point + 1;
    }
    if (next < count) gaps.push_back({next, count});
    return gaps;
  }

 private:
  void write_checks() {
    for (const auto& [chunk, check] : written_) {
      check_->bind(1, static_cast<std::int64_t>(chunk));
      check_->bind(2, check.rows);
      check_->bind(3, check.sum);
      try {
        check_->step();
      } catch (...) {
        check_->reset();
        throw;
      }
      check_->reset();
    }
  }

  // All in one transaction: a store is begun as a whole, or not at all.
  void create(const std::vector<StoreColumn>& columns, const StoreFacts& facts) {
    std::string sql = "CREATE TABLE results (point INTEGER PRIMARY KEY";
    for (const StoreColumn& c : columns) sql += ", " + quoted_name(c.name) + " " + sql_type(c.type);
    database_.execute((sql + ")").c_str());
    database_.execute("CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT)");
    database_.execute("CREATE TABLE checks (chunk INTEGER PRIMARY KEY, rows INTEGER, sum INTEGER)");
    database_.execute(
        "CREATE TABLE columns (name TEXT PRIMARY KEY, type TEXT, role TEXT, unit TEXT, help TEXT)");
    Statement fact(database_, "INSERT INTO facts VALUES (?, ?)");
    for (const auto& [name, value] : facts) {
      fact.bind(1, name);
      fact.bind(2, value);
      fact.step();
      fact.reset();
    }
    Statement column(database_, "INSERT INTO columns VALUES (?, ?, ?, ?, ?)");
    for (const StoreColumn& c : columns) {
      column.bind(1, std::string_view(c.name));
      column.bind(2, name_of(c.type));
      column.bind(3, std::string_view(c.role));
      column.bind(4, std::string_view(c.unit));
      column.bind(5, std::string_view(c.help));
      column.step();
      column.reset();
    }
  }

  Database database_;
  std::unique_ptr<Statement> insert_;
  std::unique_ptr<Statement> check_;  ///< none: a store of before, without checksums
  ChunkChecks written_;               ///< since the last commit
  bool open_ = false;                 ///< a transaction is
};

bool exists(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISREG(info.st_mode)) return true;
    throw InputError("'" + printable(path, 300) + "' is no file that results can be kept in");
  }
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw std::system_error(errno, std::generic_category(), "'" + printable(path, 300) + "'");
}

[[noreturn]] void fail_foreign(const std::string& path) {
  throw InputError("'" + printable(path, 300) + "' holds no results of a sweep");
}

Database open_to_read(const std::string& path) {
  check_readable(path);
  return Database(path, SQLITE_OPEN_READWRITE);  // a journal left behind must be rolled back
}

std::optional<StoreFacts> sqlite_facts(const std::string& path) {
  Database database = open_to_read(path);
  if (!has_table(database, "results")) {
    // Killed before its first transaction, or somebody else's.
    if (Statement(database, "SELECT 1 FROM sqlite_master").step()) fail_foreign(path);
    return std::nullopt;
  }
  if (!has_table(database, "facts")) fail_foreign(path);
  StoreFacts facts;
  Statement rows(database, "SELECT name, value FROM facts");
  while (rows.step()) facts[rows.text(0)] = rows.text(1);
  return facts;
}

}  // namespace

StoreFormat store_format_of(std::string_view path) {
  if (path.ends_with(".csv")) return StoreFormat::csv;
  if (path.ends_with(".jsonl")) return StoreFormat::jsonl;
  return StoreFormat::sqlite;
}

std::optional<StoreFacts> stored_facts(const std::string& path, StoreFormat format) {
  if (!exists(path)) return std::nullopt;
  return format == StoreFormat::sqlite ? sqlite_facts(path) : text_store_facts(path);
}

std::unique_ptr<Store> open_store(const std::string& path, StoreFormat format,
                                  const std::vector<StoreColumn>& columns,
                                  const StoreFacts& facts) {
  check_writable(path);
  if (format != StoreFormat::sqlite) return open_text_store(path, format, columns, facts);
  return std::make_unique<SqliteStore>(path, columns, facts);
}

void check_store(const std::string& path) {
  Database database = open_to_read(path);
  verify(database);
}

std::vector<StoreColumn> stored_columns(const std::string& path) {
  Database database = open_to_read(path);
  if (!has_table(database, "results") || !has_table(database, "columns")) fail_foreign(path);
  std::vector<StoreColumn> columns = {
      {std::string(point_column), CellType::integer, "axis", "", "number of the point"}};
  Statement rows(database, "SELECT name, type, role, unit, help FROM columns ORDER BY rowid");
  while (rows.step()) {
    StoreColumn c{rows.text(0), CellType::text, rows.text(2), rows.text(3), rows.text(4)};
    parse_enum(rows.text(1), c.type);
    columns.push_back(std::move(c));
  }
  return columns;
}

std::vector<std::vector<StoredCell>> stored_rows(const std::string& path,
                                                 const std::vector<std::string>& columns,
                                                 const std::vector<StoreCondition>& conditions,
                                                 std::size_t limit) {
  Database database = open_to_read(path);
  std::string sql;
  for (const std::string& c : columns) sql += (sql.empty() ? "SELECT " : ", ") + quoted_name(c);
  sql += " FROM results";
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    sql += (i == 0 ? " WHERE " : " AND ") + quoted_name(conditions[i].column) + " " +
           std::string(name_of(conditions[i].comparison)) + " ?";
  }
  sql += " ORDER BY point LIMIT ?";
  Statement rows(database, sql);
  int at = 1;
  for (const StoreCondition& c : conditions) {
    std::visit([&](const auto& value) { rows.bind(at, value); }, c.value);
    ++at;
  }
  rows.bind(at, static_cast<std::int64_t>(
                    std::min<std::size_t>(limit, std::numeric_limits<std::int64_t>::max())));
  std::vector<std::vector<StoredCell>> out;
  while (rows.step()) {
    std::vector<StoredCell>& row = out.emplace_back();
    row.reserve(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) row.push_back(rows.cell(static_cast<int>(i)));
  }
  return out;
}

}  // namespace sextant
