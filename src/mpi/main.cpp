// SPDX-License-Identifier: Apache-2.0
// `sextant-mpi sweep`: the points of a plan on many machines. Ranks take chunks from a counter that
// rank 0 holds and everyone advances by one-sided operations; rank 0 alone writes, and works on
// chunks itself while no results wait. When a rank is lost, mpirun ends the job: what was committed
// is whole, and --resume goes on.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <mutex>
#include <thread>

#include "cli/sweep.hpp"
#include "sextant/io/files.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace {

using namespace sextant;
using namespace sextant::cli;
using Clock = std::chrono::steady_clock;

constexpr int result_tag = 1;
constexpr const char* usage =
    "usage: mpirun sextant-mpi sweep plan.toml -o results.db [--resume]\n";

/// Ends MPI with the program.
class Session {
 public:
  Session(int& argc, char**& argv) {
    // Two threads of rank 0 call MPI, one after another: see Attendant.
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &threads_);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~Session() { MPI_Finalize(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool writes() const { return rank_ == 0; }
  bool may_attend() const { return threads_ >= MPI_THREAD_SERIALIZED && size_ > 1; }

 private:
  int rank_ = 0;
  int size_ = 1;
  int threads_ = MPI_THREAD_SINGLE;
};

/// The next chunk, on rank 0, advanced by everyone without its help.
class Counter {
 public:
  explicit Counter(bool holds) {
    const MPI_Aint bytes = holds ? MPI_Aint{sizeof(std::uint64_t)} : 0;
    MPI_Win_allocate(bytes, sizeof(std::uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &memory_,
                     &window_);
    if (holds) *memory_ = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window_);
  }
  ~Counter() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  std::uint64_t next() {
    const std::uint64_t one = 1;
    std::uint64_t before = 0;
    MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, 0, 0, MPI_SUM, window_);
    MPI_Win_flush_local(0, window_);  // what was there before has come back
    return before;
  }

 private:
  std::uint64_t* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

// ---- messages

/// Numbers first, then what is left is text: machines of a job are alike.
std::string to_bytes(const sweep::Chunk& chunk) {
  const std::uint64_t head[] = {chunk.number, chunk.values.size()};
  std::string bytes(reinterpret_cast<const char*>(head), sizeof head);
  bytes.append(reinterpret_cast<const char*>(chunk.values.data()),
               chunk.values.size() * sizeof(double));
  for (const std::string& text : chunk.texts) bytes += text + '\0';
  return bytes;
}

sweep::Chunk from_bytes(const std::string& bytes) {
  std::uint64_t head[2] = {};
  std::memcpy(head, bytes.data(), sizeof head);
  sweep::Chunk chunk;
  chunk.number = head[0];
  chunk.values.resize(head[1]);
  std::memcpy(chunk.values.data(), bytes.data() + sizeof head, head[1] * sizeof(double));
  for (std::size_t at = sizeof head + head[1] * sizeof(double); at < bytes.size();) {
    const std::size_t end = bytes.find('\0', at);
    chunk.texts.push_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  return chunk;
}

/// Rank 0's text, to all.
std::string broadcast(std::string text) {
  auto size = static_cast<std::uint64_t>(text.size());
  MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  text.resize(size);
  MPI_Bcast(text.data(), static_cast<int>(size), MPI_BYTE, 0, MPI_COMM_WORLD);
  return text;
}

/// What is left to do, as rank 0 found it in the results.
sweep::Worklist broadcast(const sweep::Worklist& worklist) {
  std::vector<std::uint64_t> numbers = {worklist.chunk_points()};
  for (const PointRange& r : worklist.ranges()) numbers.insert(numbers.end(), {r.first, r.last});
  auto size = static_cast<std::uint64_t>(numbers.size());
  MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  numbers.resize(size);
  MPI_Bcast(numbers.data(), static_cast<int>(size), MPI_UINT64_T, 0, MPI_COMM_WORLD);
  std::vector<PointRange> ranges;
  for (std::size_t i = 1; i + 1 < numbers.size(); i += 2) {
    ranges.push_back({numbers[i], numbers[i + 1]});
  }
  return {std::move(ranges), numbers[0]};
}

// ---- work

/// Sends chunks without waiting for them to arrive, a few at a time.
class Outbox {
 public:
  ~Outbox() { settle(0); }

  void send(const sweep::Chunk& chunk) {
    settle(most_under_way - 1);
    Letter& letter = letters_.emplace_back();
    letter.bytes = to_bytes(chunk);
    MPI_Isend(letter.bytes.data(), static_cast<int>(letter.bytes.size()), MPI_BYTE, 0, result_tag,
              MPI_COMM_WORLD, &letter.request);
  }

 private:
  static constexpr std::size_t most_under_way = 4;
  struct Letter {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void settle(std::size_t left) {
    while (letters_.size() > left) {
      MPI_Wait(&letters_.front().request, MPI_STATUS_IGNORE);
      letters_.pop_front();
    }
  }

  std::deque<Letter> letters_;  ///< which never moves what it holds
};

/// Answers chunks, and knows how long that took: by the clock, and of a processor, which ranks on
/// the same one share.
class Worker {
 public:
  Worker(const sweep::Plan& plan, const sweep::Worklist& worklist)
      : worklist_(worklist), evaluator_(plan, sweep::inner_search()) {}

  sweep::Chunk answer(std::uint64_t chunk) {
    const auto start = Clock::now();
    const std::clock_t computed = std::clock();
    sweep::Chunk answered = sweep::answer_chunk(evaluator_, worklist_, chunk);
    effort_[0] += std::chrono::duration<double>(Clock::now() - start).count();
    effort_[1] += static_cast<double>(std::clock() - computed) / CLOCKS_PER_SEC;
    return answered;
  }
  const std::array<double, 2>& effort() const { return effort_; }

 private:
  const sweep::Worklist& worklist_;
  sweep::Evaluator evaluator_;
  std::array<double, 2> effort_ = {};
};

void labour(Worker& worker, const sweep::Worklist& worklist, Counter& counter) {
  Outbox outbox;
  for (std::uint64_t c = counter.next(); c < worklist.chunks(); c = counter.next()) {
    outbox.send(worker.answer(c));
  }
}

/// A result that has arrived, if `wait`ing need be.
bool receive(sweep::Chunk& chunk, bool wait) {
  int there = 1;
  MPI_Status status;
  if (wait) {
    MPI_Probe(MPI_ANY_SOURCE, result_tag, MPI_COMM_WORLD, &status);
  } else {
    MPI_Iprobe(MPI_ANY_SOURCE, result_tag, MPI_COMM_WORLD, &there, &status);
  }
  if (there == 0) return false;
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, result_tag, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  chunk = from_bytes(bytes);
  return true;
}

/// Where the network cannot advance rank 0's counter by itself (TCP), it moves only while rank 0 is
/// in MPI. While rank 0 works on a chunk, and calls nothing else of MPI, this looks in now and
/// then.
class Attendant {
 public:
  explicit Attendant(bool may) {
    if (may) thread_ = std::jthread([this](const std::stop_token& end) { attend(end); });
  }

 private:
  void attend(const std::stop_token& end) {
    constexpr std::chrono::microseconds often{200};  // a search takes a hundred times as long
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, end, often, [&] { return end.stop_requested(); })) {
      int there = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, result_tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    }
  }

  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // the last: it ends before what it uses
};

// Results that wait are written first, and the counter is attended to: the others must never wait
// for the writer's own work.
void write_all(const Session& session, Worker& worker, const sweep::Worklist& worklist,
               Counter& counter, sweep::Results& results) {
  sweep::Chunk chunk;
  bool chunks_left = true;
  for (std::uint64_t done = 0; done < worklist.chunks(); ++done) {
    while (!receive(chunk, !chunks_left)) {
      const std::uint64_t own = counter.next();
      chunks_left = own < worklist.chunks();
      if (!chunks_left) continue;
      const Attendant attendant(session.may_attend());
      chunk = worker.answer(own);
      break;
    }
    results.take(worklist, chunk);
  }
  results.commit();
}

// ---- the command line

SweepOptions read_arguments(int argc, char** argv) {
  SweepOptions o;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::vector<std::string> known = {"-o", "--output", "--resume"};
  if (words.empty() || words[0] != "sweep") throw InputError("expected the command sweep", usage);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& w = words[i];
    if (w == "-o" || w == "--output") {
      if (++i >= words.size()) throw InputError(w + ": missing (where the results go)", usage);
      o.output = words[i];
    } else if (w == "--resume") {
      o.resume = true;
    } else if (w.starts_with("-") || !o.plan.empty()) {
      const std::string hint = did_you_mean(w, known);
      throw InputError("'" + w + "' was not expected", hint.empty() ? usage : hint);
    } else {
      o.plan = w;
    }
  }
  if (o.plan.empty()) throw InputError("the plan is missing", usage);
  return o;
}

/// Rank 0's store, if this is it; results from several ranks come in any order.
std::unique_ptr<sweep::Results> open_results(const sweep::Plan& plan, const SweepOptions& o) {
  const sweep::Target target = target_of(o);
  if (target.format != StoreFormat::sqlite) {
    throw InputError("-o: many ranks write in no order, which a text file cannot take",
                     "give a SQLite database, such as results.db");
  }
  return std::make_unique<sweep::Results>(plan, target);
}

/// What rank 0 finds out before anybody works.
struct Task {
  SweepOptions options;
  std::string text;  ///< of the plan
  std::unique_ptr<sweep::Plan> plan;
  std::unique_ptr<sweep::Results> results;
  sweep::Worklist worklist;
};

Task prepare_task(const Session& session, int argc, char** argv) {
  Task task;
  task.options = read_arguments(argc, argv);
  task.text = read_file(task.options.plan);
  task.plan = std::make_unique<sweep::Plan>(sweep::read_plan(task.text, task.options.plan));
  sweep::check_objective(*task.plan);
  task.results = open_results(*task.plan, task.options);
  task.worklist = task.results->worklist(session.size());
  return task;
}

/// Every rank's effort, on rank 0.
std::vector<double> gathered(const Session& session, const Worker& worker) {
  const int each = static_cast<int>(worker.effort().size());
  std::vector<double> all(static_cast<std::size_t>(session.size() * each));
  MPI_Gather(worker.effort().data(), each, MPI_DOUBLE, all.data(), each, MPI_DOUBLE, 0,
             MPI_COMM_WORLD);
  return all;
}

/// "busy 97 to 99 % of the time, 12.3 s of processors".
std::string effort_text(const std::vector<double>& efforts, double seconds) {
  double least = seconds;
  double most = 0;
  double processor = 0;
  for (std::size_t i = 0; i + 1 < efforts.size(); i += 2) {
    least = std::min(least, efforts[i]);
    most = std::max(most, efforts[i]);
    processor += efforts[i + 1];
  }
  return fmt::format("busy {:.0f} to {:.0f} % of the time, {:.3g} s of processors",
                     100 * least / seconds, 100 * most / seconds, processor);
}

void sweep_together(const Session& session, Task task) {
  // Only rank 0 reads the plan's file; presets that it names must be found by all.
  task.text = broadcast(std::move(task.text));
  task.worklist = broadcast(task.worklist);
  if (!task.plan) task.plan = std::make_unique<sweep::Plan>(sweep::read_plan(task.text, "plan"));
  const auto start = Clock::now();
  Worker worker(*task.plan, task.worklist);
  {
    Counter counter(session.writes());
    if (task.results) {
      write_all(session, worker, task.worklist, counter, *task.results);
    } else {
      labour(worker, task.worklist, counter);
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const std::vector<double> efforts = gathered(session, worker);
  if (!task.results) return;
  fmt::print("{} ranks, {}\n{}", session.size(), effort_text(efforts, seconds),
             summary_text({*task.plan, task.options, *task.results, seconds}));
}

int complain(const std::string& message, int status) {
  std::fprintf(stderr, "sextant-mpi: %s\n", message.c_str());
  std::fflush(stderr);
  return status;
}

int run(const Session& session, int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    if (session.writes()) fmt::print("{}", usage);
    return 0;
  }
  Task task;
  int status = 0;
  try {
    if (session.writes()) task = prepare_task(session, argc, argv);
  } catch (const InputError& e) {
    status = complain(e.what(), 2);
  } catch (const std::exception& e) {
    status = complain(e.what(), 3);
  }
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (status != 0) return session.writes() ? status : 0;  // said once
  sweep_together(session, std::move(task));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(argc, argv);
  try {
    return run(session, argc, argv);
  } catch (const std::exception& e) {
    // A rank that fails takes the others with it, or they would wait for ever.
    MPI_Abort(MPI_COMM_WORLD, complain(e.what(), 3));
    return 3;
  }
}
