// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/store.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "sextant/io/test_support.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<StoreColumn> columns = {
    {"tp", CellType::integer, "axis"},
    {"device.memory.bandwidth", CellType::real, "axis", "B/s"},
    {"name \"x\"", CellType::text, "output"}};
const StoreFacts facts = {{"plan", "kind = 'train'\n"}, {"version", "1"}};

class StoreTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }

  static void write_row(Store& store, std::uint64_t point) {
    const std::string text = "row " + std::to_string(point);
    const std::vector<Cell> cells = {static_cast<std::int64_t>(point * 2),
                                     static_cast<double>(point) / 3, std::string_view(text)};
    store.write(point, cells);
  }

  test::Folder folder_;
};

TEST_F(StoreTest, KeepsRowsAndFacts) {
  for (const char* name : {"a.db", "a.csv", "a.jsonl"}) {
    const StoreFormat format = store_format_of(name);
    EXPECT_EQ(stored_facts(path(name), format), std::nullopt);
    {
      const auto store = open_store(path(name), format, columns, facts);
      EXPECT_THAT(store->missing(5), ElementsAre(PointRange{0, 5}));
      for (std::uint64_t i = 0; i < 3; ++i) write_row(*store, i);
      store->commit();
      EXPECT_THAT(store->missing(5), ElementsAre(PointRange{3, 5}));
    }
    EXPECT_EQ(stored_facts(path(name), format), facts);
    const auto store = open_store(path(name), format, columns, facts);
    EXPECT_THAT(store->missing(5), ElementsAre(PointRange{3, 5}));
    EXPECT_THAT(store->missing(3), IsEmpty());
    EXPECT_THROW(write_row(*store, 1), InputError);
  }
}

TEST_F(StoreTest, FindsGapsAndReadsBack) {
  const auto store = open_store(path("gaps.db"), StoreFormat::sqlite, columns, facts);
  for (const std::uint64_t i : {1U, 2U, 5U, 9U}) write_row(*store, i);
  EXPECT_THAT(store->missing(10),
              ElementsAre(PointRange{0, 1}, PointRange{3, 5}, PointRange{6, 9}));
  store->commit();
  const auto stored = stored_columns(path("gaps.db"));
  ASSERT_EQ(stored.size(), 4U);
  EXPECT_EQ(stored[2].unit, "B/s");
  EXPECT_EQ(stored[3].name, "name \"x\"");
  const auto rows = stored_rows(path("gaps.db"), {"point", "name \"x\""},
                                {{"tp", Comparison::at_least, std::int64_t{4}},
                                 {"device.memory.bandwidth", Comparison::less, 3.0}},
                                100);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(std::get<std::int64_t>(rows[1][0]), 5);
  EXPECT_EQ(std::get<std::string>(rows[1][1]), "row 5");
}

// A kill at any moment: committed rows stay, the rest can be written again.
TEST_F(StoreTest, SurvivesAKillInMidTransaction) {
  for (const char* name : {"killed.db", "killed.csv", "killed.jsonl"}) {
    const StoreFormat format = store_format_of(name);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto store = open_store(path(name), format, columns, facts);
      for (std::uint64_t i = 0; i < 2000; ++i) {
        write_row(*store, i);
        if (i == 999) store->commit();
      }
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(stored_facts(path(name), format), facts);
    const auto store = open_store(path(name), format, columns, facts);
    const std::vector<PointRange> missing = store->missing(2000);
    ASSERT_EQ(missing.size(), 1U) << name;
    EXPECT_GE(missing[0].first, 1000U);
    for (std::uint64_t i = missing[0].first; i < 2000; ++i) write_row(*store, i);
    store->commit();
    EXPECT_THAT(store->missing(2000), IsEmpty());
  }
}

// A file that may not grow is like a full disk.
TEST_F(StoreTest, SaysThatTheDiskIsFullAndGoesOnLater) {
  for (const char* name : {"full.db", "full.csv"}) {
    const StoreFormat format = store_format_of(name);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{200'000, 200'000};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      int status = 1;
      try {
        const auto store = open_store(path(name), format, columns, facts);
        for (std::uint64_t i = 0; i < 100'000; ++i) {
          write_row(*store, i);
          if (i % 500 == 499) store->commit();
        }
      } catch (const std::system_error&) {
        status = 0;
      }
      ::_exit(status);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << name;
    const auto store = open_store(path(name), format, columns, facts);
    const std::vector<PointRange> missing = store->missing(20'000);
    ASSERT_EQ(missing.size(), 1U);
    EXPECT_GE(missing[0].first, 500U) << name;
    for (std::uint64_t i = missing[0].first; i < 20'000; ++i) write_row(*store, i);
    store->commit();
    EXPECT_THAT(store->missing(20'000), IsEmpty());
  }
}

// A value changed behind our back is found, and where it is said.
TEST_F(StoreTest, NamesWhatIsDamaged) {
  const std::string file = path("damaged.db");
  {
    const auto store = open_store(file, StoreFormat::sqlite, columns, facts);
    for (std::uint64_t i = 0; i < 9000; ++i) {
      write_row(*store, (i * 7) % 9000);  // in any order
      if (i % 1000 == 999) store->commit();
    }
  }
  check_store(file);
  EXPECT_THAT(open_store(file, StoreFormat::sqlite, columns, facts)->missing(9000), IsEmpty());
  std::stringstream bytes;
  bytes << std::ifstream(file).rdbuf();
  std::string text = bytes.str();
  const std::size_t at = text.find("row 5000");
  ASSERT_NE(at, std::string::npos);
  text[at] = 'R';
  std::ofstream(file) << text;
  const auto damage = testing::ThrowsMessage<InputError>(
      testing::HasSubstr("points 4096 to 8191 are damaged: their values are not those"));
  EXPECT_THAT([&] { check_store(file); }, damage);
  EXPECT_THAT([&] { open_store(file, StoreFormat::sqlite, columns, facts); }, damage);
}

// Lines have their checksums beside, a commit each.
TEST_F(StoreTest, NamesLinesThatAreDamaged) {
  for (const char* name : {"damaged.csv", "damaged.jsonl"}) {
    const std::string file = path(name);
    const StoreFormat format = store_format_of(name);
    const auto write_to = [&](std::uint64_t first, std::uint64_t end) {
      const auto store = open_store(file, format, columns, facts);
      for (std::uint64_t i = first; i < end; ++i) {
        write_row(*store, i);
        if (i % 1000 == 999) store->commit();
      }
      store->commit();
    };
    write_to(0, 2500);
    write_to(2500, 4000);  // which finds nothing wrong
    std::stringstream bytes;
    bytes << std::ifstream(file).rdbuf();
    const std::string whole = bytes.str();
    std::string text = whole;
    text[text.find("row 1500")] = 'R';
    std::ofstream(file) << text;
    const auto open = [&] { open_store(file, format, columns, facts); };
    EXPECT_THAT(open, testing::ThrowsMessage<InputError>(testing::HasSubstr(
                          "points 1000 to 1999 are damaged: their lines are not those")));
    std::ofstream(file) << whole.substr(0, whole.find("row 3500"));
    EXPECT_THAT(open_store(file, format, columns, facts)->missing(4000),
                ElementsAre(PointRange{3500, 4000}));
    write_to(3500, 4000);
    std::ofstream(file) << whole;
    EXPECT_THAT(open_store(file, format, columns, facts)->missing(4000), IsEmpty());
    // A checksum that a kill tore, or a file that has none, is gone on with.
    std::ofstream(file + ".sums", std::ios::app) << "123 45";
    EXPECT_THAT(open_store(file, format, columns, facts)->missing(4000), IsEmpty());
    std::filesystem::remove(file + ".sums");
    write_to(4000, 4001);
    open();
    std::filesystem::remove(file);
    write_to(0, 10);
    open();
  }
}

TEST_F(StoreTest, TellsWhatIsNotAStore) {
  std::ofstream(path("text.db")) << "This is no database, however long it is read. "
                                 << std::string(2000, 'x');
  EXPECT_THROW(stored_facts(path("text.db"), StoreFormat::sqlite), InputError);
  std::ofstream(path("foreign.csv")) << "a,b\n1,2\n";
  EXPECT_THROW(stored_facts(path("foreign.csv"), StoreFormat::csv), InputError);
  std::ofstream(path("empty.db")) << "";
  EXPECT_EQ(stored_facts(path("empty.db"), StoreFormat::sqlite), std::nullopt);
  EXPECT_THROW(stored_columns(path("none.db")), std::system_error);
  EXPECT_THROW(stored_facts("/dev/null", StoreFormat::csv), InputError);
  EXPECT_THROW(open_store(path("no/folder.db"), StoreFormat::sqlite, columns, facts),
               std::system_error);
}

}  // namespace
}  // namespace sextant
