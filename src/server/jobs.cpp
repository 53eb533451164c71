// SPDX-License-Identifier: Apache-2.0
#include "server/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "server/errors.hpp"
#include "sextant/spec/diagnostic.hpp"
#include "sextant/spec/patience.hpp"

namespace sextant::server {
namespace {

using Clock = std::chrono::steady_clock;

// Ids are not guessable, so that one client cannot watch or cancel another's work.
std::string fresh_id() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

// An event's data may have no line breaks.
std::string event(std::string_view name, std::string data) {
  data.erase(std::remove(data.begin(), data.end(), '\n'), data.end());
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}

}  // namespace

struct Jobs::Entry {
  std::string id;
  std::size_t number = 0;
  Progress progress;
  const Clock::time_point start = Clock::now();
  std::thread thread;
  std::atomic<int> watchers = 0;
  std::atomic<bool> watched = false;             ///< by anyone, ever
  std::atomic<Clock::time_point> asked = start;  ///< last asked for, or left by a watcher

  mutable std::mutex mutex;
  std::string state = "running";
  std::string result;  ///< JSON text
  std::string errors;  ///< JSON text of a list, when failed
  Clock::time_point end;

  bool running() const {
    const std::scoped_lock lock(mutex);
    return state == "running";
  }

  /// Nobody has looked for so long; a program may come back later than a page does.
  bool left_behind(std::chrono::milliseconds patience) const {
    constexpr int of_programs = 10;  // times a page's
    const auto least = watched ? patience : of_programs * patience;
    return watchers == 0 && Clock::now() - asked.load() > least;
  }

  void run(const Job& job, const Node& request, std::size_t most) {
    std::string text;
    std::string problems;
    try {
      const Patience patience(progress.cancelling());
      text = job(request, progress);
      if (text.size() > most) {
        problems =
            errors_json("the result is larger than a job's may be", "ask for fewer candidates");
      }
    } catch (const Abandoned&) {
      text.clear();  // cancelled before there was anything
    } catch (const InputError& e) {
      problems = errors_json(e);
    } catch (const std::exception& e) {
      problems = errors_json(e.what());
    }
    const std::scoped_lock lock(mutex);
    end = Clock::now();
    if (!problems.empty()) {
      state = "failed";
      errors = std::move(problems);
      return;
    }
    state = progress.cancelled() ? "cancelled" : "done";
    result = std::move(text);
  }

  std::string json() const {
    const std::scoped_lock lock(mutex);
    const double done = progress.done();
    const double total = progress.total();
    const bool going = state == "running";
    const double seconds =
        std::chrono::duration<double>((going ? Clock::now() : end) - start).count();
    const double rate = seconds > 0 ? done / seconds : 0;
    const double left = going && rate > 0 && total > done ? (total - done) / rate : 0;
    std::string text = fmt::format(
        R"({{"id": "{}", "state": "{}", "progress": {{"done": {:.0f}, "total": {:.0f}, )"
        R"("rate": {:.6g}, "seconds_left": {:.3f})",
        id, state, done, total, rate, left);
    if (const std::string best = progress.best(); going && !best.empty()) {
      text += ", \"best\": " + best;
    }
    text += "}";
    if (!result.empty()) text += ", \"result\": " + result;
    if (!errors.empty()) text += ", \"errors\": " + errors;
    return text + "}\n";
  }
};

Jobs::~Jobs() {
  for (const auto& [id, entry] : entries_) entry->progress.cancel();
  for (const auto& [id, entry] : entries_) {
    if (entry->thread.joinable()) entry->thread.join();
  }
}

bool Jobs::finish(std::chrono::milliseconds patience) {
  const Clock::time_point end = Clock::now() + patience;
  const std::scoped_lock lock(mutex_);
  for (const auto& [id, entry] : entries_) entry->progress.cancel();
  return std::all_of(entries_.begin(), entries_.end(), [&](const auto& e) {
    while (e.second->running() && Clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return !e.second->running();
  });
}

std::optional<std::string> Jobs::start(Job job, Node request) {
  const std::scoped_lock lock(mutex_);
  for (const auto& [id, entry] : entries_) {
    if (entry->left_behind(limits_.patience)) entry->progress.cancel();
  }
  // One that is cancelled ends in a moment.
  const auto running = std::count_if(entries_.begin(), entries_.end(), [](const auto& e) {
    return e.second->running() && !e.second->progress.cancelled();
  });
  if (static_cast<std::size_t>(running) >= limits_.running) return std::nullopt;
  forget_old();
  auto entry = std::make_shared<Entry>();
  entry->id = fresh_id();
  entry->number = started_++;
  // The entry outlives its thread: whoever forgets it joins first.
  entry->thread = std::thread([e = entry.get(), j = std::move(job), r = std::move(request),
                               most = limits_.result_bytes] { e->run(j, r, most); });
  entries_.emplace(entry->id, entry);
  return entry->id;
}

void Jobs::forget_old() {
  while (entries_.size() >= limits_.kept) {
    auto oldest = entries_.end();
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (at->second->running()) continue;
      if (oldest == entries_.end() || at->second->number < oldest->second->number) oldest = at;
    }
    if (oldest == entries_.end()) return;
    oldest->second->thread.join();
    entries_.erase(oldest);
  }
}

std::shared_ptr<Jobs::Entry> Jobs::find(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  const auto at = entries_.find(id);
  return at == entries_.end() ? nullptr : at->second;
}

std::optional<std::string> Jobs::status(const std::string& id) const {
  const std::shared_ptr<Entry> entry = find(id);
  if (entry == nullptr) return std::nullopt;
  entry->asked = Clock::now();
  return entry->json();
}

bool Jobs::cancel(const std::string& id) {
  const std::shared_ptr<Entry> entry = find(id);
  if (entry == nullptr) return false;
  entry->progress.cancel();
  return true;
}

std::optional<EventSource> Jobs::events(const std::string& id) const {
  const std::shared_ptr<Entry> entry = find(id);
  if (entry == nullptr) return std::nullopt;
  // A comment now and then keeps the connection from being taken for dead.
  struct Watch {
    explicit Watch(Entry& e) : watched(e) {
      ++watched.watchers;
      watched.watched = true;
    }
    ~Watch() {
      watched.asked = Clock::now();
      --watched.watchers;
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    Entry& watched;
    double last = -1;
    int better = 0;
    bool ended = false;
    Clock::time_point spoke = Clock::now();
  };
  return [entry, watch = std::make_shared<Watch>(*entry)]() -> std::optional<std::string> {
    if (watch->ended) return std::nullopt;
    if (!entry->running()) {
      watch->ended = true;
      return event("done", entry->json());
    }
    const double now = entry->progress.done();
    const int better = entry->progress.better();
    if (now != watch->last || better != watch->better) {
      watch->last = now;
      watch->better = better;
      watch->spoke = Clock::now();
      return event("progress", entry->json());
    }
    if (Clock::now() - watch->spoke < std::chrono::seconds(15)) return "";
    watch->spoke = Clock::now();
    return ": waiting\n\n";
  };
}

}  // namespace sextant::server
