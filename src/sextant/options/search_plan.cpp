// SPDX-License-Identifier: Apache-2.0
#include "sextant/options/search_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "sextant/io/files.hpp"
#include "sextant/io/text.hpp"
#include "sextant/options/request.hpp"
#include "sextant/options/search_systems.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

constexpr std::size_t most_jobs = 16;
constexpr double most_days = 36500;

/// What may be said of all jobs at once.
constexpr std::array<std::string_view, 9> shared_fields = {
    "model", "system", "systems", "budget", "price", "precision", "kv_precision", "time", "set"};
/// What a plan says for itself, or has no place for.
constexpr std::array<std::string_view, 6> foreign_fields = {"plan",   "infer",   "plot",
                                                            "loosen", "threads", "top"};

Document document_of(const SearchOptions& o, const Common& common) {
  const bool text = o.plan.find('\n') != std::string::npos;
  if (text) return parse_toml(o.plan, "plan");
  if (common.lookup == Lookup::presets) {
    throw InputError("--plan: expected the text of a plan, in TOML");
  }
  return parse_toml(read_file(o.plan), o.plan);
}

/// A job before its fields are read.
struct JobTable {
  Task task = Task::train;
  std::string path;  ///< "train", "serve[0]"
  const Node& own;
  Node merged;  ///< with what all jobs share
};

class PlanReader {
 public:
  PlanReader(const SearchOptions& o, const Common& common)
      : o_(o), common_(common), document_(document_of(o, common)) {}

  JobsPlan run() {
    read_shared();
    read_budget_of_all();
    for (const JobTable& t : tables()) read_job(t);
    check_names();
    throw_if_any(std::move(problems_));
    return std::move(plan_);
  }

 private:
  void add(Place place, std::string field, std::string message, std::string hint = "") {
    add_once(problem_at(document_, place, std::move(field), std::move(message), std::move(hint)));
  }
  /// What is wrong for all jobs is said once.
  void add_once(Diagnostic d) {
    const auto key = [](const Diagnostic& x) {
      return std::tie(x.file, x.line, x.column, x.field, x.message);
    };
    const bool known = std::any_of(problems_.begin(), problems_.end(),
                                   [&](const Diagnostic& x) { return key(x) == key(d); });
    if (!known && problems_.size() < max_collected) problems_.push_back(std::move(d));
  }

  /// Whether what a flag is about was given by it, beside the plan.
  bool by_flag(const std::string& flag, const Node& table) const {
    if (!flag.starts_with("--")) return false;
    const Node* value = table.find(field_of_flag(flag));
    if (value == nullptr) return flag == "--set" && !common_.set.empty();
    return value->place.line == 0;
  }

  void read_shared();
  void read_flags();
  void read_budget_of_all();
  std::vector<JobTable> tables();
  JobTable table_of(Task task, std::string path, const Node& own) const;
  void read_job(const JobTable& t);
  void read_own(const JobTable& t, PlanJob& job);
  void limit(const JobTable& t, PlanJob& job);
  void price(const JobTable& t, PlanJob& job);
  bool follows(const JobTable& t, const Diagnostic& d) const;
  void check_job(const JobTable& t, const PlanJob& job, bool damaged);
  void check_names();

  const SearchOptions& o_;
  const Common& common_;
  const Document document_;
  Node shared_ = Node::table();
  JobsPlan plan_;
  std::vector<std::pair<std::string, Place>> names_;
  std::vector<std::string> systems_;  ///< of all jobs
  std::vector<Diagnostic> problems_;
};

void PlanReader::read_shared() {
  std::vector<std::string> known = {"train", "serve"};
  known.insert(known.end(), shared_fields.begin(), shared_fields.end());
  SearchOptions any;
  const std::vector<Option> options = options_of(any);
  for (const Node::Member& m : document_.root.members) {
    if (m.key == "train" || m.key == "serve") continue;
    if (contains(shared_fields, m.key)) {
      shared_.members.push_back(m);
      continue;
    }
    const bool of_a_job = std::any_of(options.begin(), options.end(), [&](const Option& o) {
      return o.name == m.key && !contains(foreign_fields, m.key);
    });
    if (of_a_job) {
      add(m.place, printable(m.key), "is of one job",
          m.key == "gpus" ? "write it in [train] or [[serve]]; what all share is a budget, such as "
                            "'64 gpus'"
                          : "write it in [train] or [[serve]]");
    } else {
      add(m.place, printable(m.key), "unknown field", did_you_mean(m.key, known));
    }
  }
  read_flags();
}

/// Flags beside the plan stand for what all jobs share.
void PlanReader::read_flags() {
  SearchOptions given = o_;
  SearchOptions fresh;
  const Node flags = write_request(options_of(given), options_of(fresh));
  for (const Node::Member& m : flags.members) {
    if (m.key == "plan" || m.key == "top") continue;
    if (!contains(shared_fields, m.key)) {
      problems_.push_back({.file = flag_of_field(m.key),
                           .message = "is of one job",
                           .hint = "write it in [train] or [[serve]] of the plan"});
      continue;
    }
    if (m.key == "systems" || m.key == "system") {
      std::erase_if(shared_.members,
                    [](const Node::Member& x) { return x.key == "systems" || x.key == "system"; });
    }
    shared_.set(m.key, m.value);
  }
  if (!o_.plot.empty()) {
    problems_.push_back({.file = "--plot", .message = "is of one system", .hint = "leave it out"});
  }
}

void PlanReader::read_budget_of_all() {
  const Node* given = shared_.find("budget");
  if (given == nullptr) return;
  if (given->kind != Node::Kind::string) {
    return add(given->place, "budget", "expected a text in quotes",
               "such as '2 MW', '300 $/h', '512 gpus' or '5 M$'");
  }
  Flags flags;
  plan_.budget = read_budget(given->string, flags);
  for (Diagnostic& d : flags.problems) {
    add_once(by_flag(d.file, shared_) ? std::move(d) : as_field(d, document_, shared_, ""));
  }
}

JobTable PlanReader::table_of(Task task, std::string path, const Node& own) const {
  JobTable t{.task = task, .path = std::move(path), .own = own, .merged = shared_};
  t.merged.place = own.place;
  const bool elsewhere = own.find("systems") != nullptr || own.find("system") != nullptr;
  if (elsewhere) {
    std::erase_if(t.merged.members,
                  [](const Node::Member& x) { return x.key == "systems" || x.key == "system"; });
  }
  for (const Node::Member& m : own.members) {
    std::erase_if(t.merged.members, [&](const Node::Member& x) { return x.key == m.key; });
    t.merged.members.push_back(m);
  }
  return t;
}

std::vector<JobTable> PlanReader::tables() {
  std::vector<JobTable> all;
  const Node& root = document_.root;
  const Node* train = root.find("train");
  if (train == nullptr) {
    add({}, "train", "missing (the job that trains)", "write [train]");
  } else if (train->kind != Node::Kind::table) {
    add(train->place, "train", "expected one table", "write [train]");
  } else {
    all.push_back(table_of(Task::train, "train", *train));
  }
  const Node* serve = root.find("serve");
  if (serve == nullptr || (serve->kind == Node::Kind::array && serve->items.empty())) {
    add(serve == nullptr ? Place{} : serve->place, "serve", "missing (a job that serves)",
        "write [[serve]]; training alone is 'sextant search --systems'");
    return all;
  }
  if (serve->kind == Node::Kind::table) {
    all.push_back(table_of(Task::infer, "serve", *serve));
    return all;
  }
  if (serve->kind != Node::Kind::array) {
    add(serve->place, "serve", "expected tables", "write [[serve]]");
    return all;
  }
  if (serve->items.size() >= most_jobs) {
    add(serve->place, "serve",
        fmt::format("{} jobs are more than one plan holds", serve->items.size()),
        fmt::format("{} at most", most_jobs - 1));
    return all;
  }
  for (std::size_t i = 0; i < serve->items.size(); ++i) {
    std::string path = fmt::format("serve[{}]", i);
    if (serve->items[i].kind != Node::Kind::table) {
      add(serve->items[i].place, std::move(path), "expected a table", "write [[serve]]");
      continue;
    }
    all.push_back(table_of(Task::infer, std::move(path), serve->items[i]));
  }
  return all;
}

void PlanReader::read_job(const JobTable& t) {
  PlanJob job{.name = {}, .task = t.task, .options = {}, .common = common_};
  const std::size_t before = problems_.size();
  read_own(t, job);
  std::vector<Option> options = options_of(job.options);
  std::erase_if(options, [](const Option& o) { return contains(foreign_fields, o.name); });
  for (Option& o : options) {
    if (o.name != "model") o.info.required = false;  // what is missing is said below, by its job
  }
  for (Option& o : options_of(job.common)) {
    if (o.name == "set") options.push_back(std::move(o));
  }
  const std::vector<std::string> set = std::exchange(job.common.set, {});
  std::vector<Diagnostic> found;
  std::vector<std::string_view> own = {"name", "days"};
  if (const Node* p = t.merged.find("price"); p != nullptr && p->kind == Node::Kind::table) {
    own.emplace_back("price");
  }
  // What is wrong with the budget of all jobs was said above.
  const Node* budget = shared_.find("budget");
  const bool text = budget == nullptr || budget->kind == Node::Kind::string;
  if (!text && t.own.find("budget") == nullptr) own.emplace_back("budget");
  read_request(document_, t.merged, options, found, {.asker = Asker::program, .skip = own});
  for (Diagnostic& d : found) {
    const std::string_view field = std::string_view(d.field).substr(0, d.field.find('.'));
    if (t.own.find(field) != nullptr) d.field = join_path(t.path, d.field);
    add_once(std::move(d));
  }
  job.common.set.insert(job.common.set.end(), set.begin(), set.end());
  job.options.infer = t.task == Task::infer;
  job.options.threads = o_.threads;
  systems_.insert(systems_.end(), job.options.systems.begin(), job.options.systems.end());
  systems_.push_back(job.options.system.name);
  limit(t, job);
  price(t, job);
  check_job(t, job, problems_.size() > before);
  plan_.jobs.push_back(std::move(job));
}

/// What a plan says of a job that a request has no field for.
void PlanReader::read_own(const JobTable& t, PlanJob& job) {
  job.name = t.task == Task::train ? "train" : "serve";
  if (t.path.ends_with(']') && t.path != "serve[0]") {
    job.name += fmt::format(" {}", plan_.jobs.size());
  }
  Place place = t.own.place;
  if (const Node* name = t.own.find("name")) {
    place = name->place;
    if (name->kind != Node::Kind::string || name->string.empty() || name->string.size() > 60) {
      add(name->place, t.path + ".name", "expected a short text in quotes");
    } else {
      job.name = printable(name->string);
    }
  }
  names_.emplace_back(job.name, place);
  const Node* days = t.own.find("days");
  if (days == nullptr) return;
  const bool number = days->kind == Node::Kind::integer || days->kind == Node::Kind::number;
  if (t.task == Task::train) {
    add(days->place, t.path + ".days", "a training job says its tokens",
        "such as tokens = \"15T\"");
  } else if (!number || !(days->number > 0 && days->number <= most_days)) {
    add(days->place, t.path + ".days",
        fmt::format("expected a number of days above 0, {:.0f} at most", most_days));
  } else {
    job.days = days->number;
  }
}

/// What the job may take: of what all share, or its own.
void PlanReader::limit(const JobTable& t, PlanJob& job) {
  const SearchOptions& o = job.options;
  if (shared_.find("budget") == nullptr) {
    if (o.budget.empty() && !o.gpus && t.own.find("gpus") == nullptr) {
      add(t.own.place, t.path, "nothing says what it may take",
          "write gpus or a budget here, or a budget that all jobs share above them");
    }
    return;
  }
  for (const char* name : {"budget", "gpus"}) {
    if (const Node* own = t.own.find(name)) {
      add(own->place, join_path(t.path, name), "the jobs share a budget",
          "leave one of the two out");
    }
  }
  if (!plan_.budget || t.task == Task::train) return;
  const bool fewest = !o.traffic.empty() || o.objective == name_of(ServingObjective::devices);
  if (!fewest) {
    add(t.own.place, t.path, "a budget that jobs share needs to know what each must serve",
        "write traffic and a rate, or objective = \"gpus\" and min_throughput");
  }
  if (plan_.budget->kind != BudgetKind::dollars) return;
  if (job.days <= 0) {
    if (t.own.find("days") == nullptr) {
      add(t.own.place, join_path(t.path, "days"), "a budget in dollars is of so many days",
          "such as days = 365");
    }
    return;
  }
  job.options.budget =
      exact_text({BudgetKind::dollars_per_hour, plan_.budget->amount / (24 * job.days)});
}

/// A table of prices is of all systems; a job is told those of its own.
void PlanReader::price(const JobTable& t, PlanJob& job) {
  const Node* table = t.merged.find("price");
  if (table == nullptr || table->kind != Node::Kind::table) return;
  std::vector<std::string> names = job.options.systems;
  if (names.empty()) names.push_back(job.options.system.name);
  std::string text;
  for (const Node::Member& m : table->members) {
    const Node& v = m.value;
    const bool number = v.kind == Node::Kind::integer || v.kind == Node::Kind::number;
    if ((!number && v.kind != Node::Kind::string) || v.string.find(',') != std::string::npos) {
      add(v.place, join_path("price", printable(m.key)),
          "expected dollars a device and hour, or a public tier", "such as 2.5 or \"aws\"");
    } else if (contains(names, m.key)) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", m.key,
                          number ? write_number(v.number) : v.string);
    }
  }
  job.options.price = text;
}

/// Whether it may be wrong because something else is: of a field that was not given, or that is
/// known to be wrong.
bool PlanReader::follows(const JobTable& t, const Diagnostic& d) const {
  if (!d.file.starts_with("--")) return d.file.empty();
  const std::string name = field_of_flag(d.file);
  if (t.merged.find(name) == nullptr) return true;
  return std::any_of(problems_.begin(), problems_.end(), [&](const Diagnostic& p) {
    std::string_view field = p.field;
    if (field.starts_with(t.path + ".")) field.remove_prefix(t.path.size() + 1);
    return field.substr(0, field.find('.')) == name;
  });
}

void PlanReader::check_job(const JobTable& t, const PlanJob& job, bool damaged) {
  const auto say = [&](const InputError& e) {
    for (Diagnostic d : e.diagnostics()) {
      if (damaged && follows(t, d)) continue;
      if (by_flag(d.file, t.merged)) {
        add_once(std::move(d));
        continue;
      }
      if (d.file.starts_with("--")) {
        const std::string name = field_of_flag(d.file);
        const bool own = t.own.find(name) != nullptr || t.merged.find(name) == nullptr;
        d = as_field(std::move(d), document_, t.merged, own ? t.path : "");
      } else {
        d.message = flags_as_fields(d.message);
        d.hint = flags_as_fields(d.hint);
      }
      if (d.file == document_.file && d.line == 0) {
        d = problem_at(document_, t.own.place, d.field, d.message, d.hint);
      }
      add_once(std::move(d));
    }
  };
  try {
    check_asked(job.options, true);
  } catch (const InputError& e) {
    say(e);
    damaged = true;
  }
  try {
    check_systems(job.options, job.common);
  } catch (const InputError& e) {
    say(e);
  }
}

void PlanReader::check_names() {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto end = names_.begin() + static_cast<std::ptrdiff_t>(i);
    const bool again =
        std::any_of(names_.begin(), end, [&](const auto& n) { return n.first == names_[i].first; });
    if (again) {
      add(names_[i].second, "name", fmt::format("two jobs are called '{}'", names_[i].first));
    }
  }
  const Node* table = shared_.find("price");
  if (table == nullptr || table->kind != Node::Kind::table) return;
  for (const Node::Member& m : table->members) {
    if (contains(systems_, m.key)) continue;
    add(m.place, join_path("price", printable(m.key)), "no job may take this system",
        did_you_mean(m.key, systems_));
  }
}

}  // namespace

std::string exact_text(const SearchBudget& b) {
  switch (b.kind) {
    case BudgetKind::devices:
      return fmt::format("{:.0f} gpus", b.amount);
    case BudgetKind::power:
      return fmt::format("{:.17g} W", b.amount);
    case BudgetKind::dollars_per_hour:
      return fmt::format("{:.17g} $/h", b.amount);
    case BudgetKind::dollars:
      break;
  }
  return fmt::format("{:.17g} $", b.amount);
}

JobsPlan read_jobs(const SearchOptions& options, const Common& common) {
  return PlanReader(options, common).run();
}

}  // namespace sextant
