// SPDX-License-Identifier: Apache-2.0
#include "sextant/ask/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sextant/answer/search_plan.hpp"
#include "sextant/ask/systems.hpp"
#include "sextant/ask/training.hpp"
#include "sextant/options/search_plan.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

/// Every job is a search over its systems, as it would be asked alone; what a job is to take of a
/// budget that others share is another such search.
class Arranger {
 public:
  Arranger(JobsPlan plan, SearchProgress& progress) : plan_(std::move(plan)), progress_(progress) {}

  PlanFound run() {
    const Stopwatch watch;
    found_.budget = plan_.budget;
    for (const PlanJob& job : plan_.jobs) {
      found_.jobs.push_back(
          {.name = job.name, .task = job.task, .days = job.days, .found = search(job)});
    }
    found_.model = plan_.jobs.front().options.model.name;
    const bool paid = plan_.budget && plan_.budget->kind == BudgetKind::dollars;
    if (!paid) arrange_all(JobOrder::in_turn);
    arrange_all(paid ? JobOrder::paid : JobOrder::together);
    // What is needed at once comes first.
    std::stable_sort(found_.arrangements.begin(), found_.arrangements.end(),
                     [](const Arrangement& a, const Arrangement& b) { return a.order < b.order; });
    found_.seconds = watch.seconds();
    return std::move(found_);
  }

 private:
  SystemsFound search(const PlanJob& job) {
    return systems_found(job.options, job.common, progress_, [](double) {});
  }

  /// Each where it is best, then all on one: on every system that all jobs may take.
  void arrange_all(JobOrder order) {
    const Arrangement& best = found_.arrangements.emplace_back(arrange(order, ""));
    const std::string same = best.any() ? shared_by(best) : shared_front();
    std::vector<Arrangement> ones;
    for (const SystemTaken& t : found_.jobs.front().found.systems) {
      const bool of_all =
          std::all_of(found_.jobs.begin(), found_.jobs.end(),
                      [&](const JobFound& job) { return taken(job, t.system) != nullptr; });
      if (of_all && t.system != same) ones.push_back(arrange(order, t.system));
    }
    std::stable_sort(ones.begin(), ones.end(), [](const Arrangement& a, const Arrangement& b) {
      if (a.any() != b.any()) return a.any();
      return a.any() && a.jobs.front().tokens_per_second > b.jobs.front().tokens_per_second;
    });
    found_.arrangements.insert(found_.arrangements.end(), ones.begin(), ones.end());
  }

  /// The system of all jobs, where each is where it is best; empty where they differ.
  static std::string shared_by(const Arrangement& best) {
    return best.one_system() ? best.jobs.front().system : "";
  }
  /// The same where one of them is nowhere.
  std::string shared_front() const {
    Arrangement fronts;
    for (const JobFound& job : found_.jobs) fronts.jobs.push_back(job.found.systems.front());
    return shared_by(fronts);
  }

  /// What the job does on a system; null where it may not be there.
  static const SystemTaken* taken(const JobFound& job, const std::string& system) {
    const std::vector<SystemTaken>& all = job.found.systems;
    const auto at = std::find_if(all.begin(), all.end(), [&](const SystemTaken& t) {
      return system.empty() || t.system == system;
    });
    return at == all.end() ? nullptr : &*at;
  }

  Arrangement arrange(JobOrder order, const std::string& system) {
    Arrangement a{.order = order, .system = system};
    double others = 0;
    for (const JobFound& job : found_.jobs) {
      const SystemTaken& t = *taken(job, system);
      if (!t.any) {
        a.nothing = fmt::format("{}: {}", job.name, t.nothing);
        return a;
      }
      a.jobs.push_back(t);
      if (job.task == Task::infer) others += share_of_job(job, t, plan_.budget);
    }
    if (plan_.budget && order != JobOrder::in_turn) train_on_rest(a, others);
    return a;
  }

  /// Training on what the others leave of a budget that all share.
  void train_on_rest(Arrangement& a, double others) {
    SearchBudget left{plan_.budget->kind, plan_.budget->amount - others};
    if (left.kind == BudgetKind::devices) left.amount = std::floor(left.amount);
    if (!(left.amount > 0)) {
      a.nothing = fmt::format("serving takes {}", text_of({left.kind, others}));
      return;
    }
    PlanJob job = plan_.jobs.front();
    job.options.budget = exact_text(left);
    if (!a.system.empty() && !job.options.systems.empty()) {
      const SystemTaken& t = a.jobs.front();
      job.options.systems = {t.given};
      job.options.price = t.price ? fmt::format("{:.17g}", *t.price) : "";
    }
    const SystemsFound rest = search(job);
    const SystemTaken& t = rest.systems.front();
    a.left = left;
    if (t.any) {
      a.jobs.front() = t;
    } else {
      a.nothing = fmt::format("serving leaves {} to train: {}", text_of(left), t.nothing);
    }
  }

  JobsPlan plan_;
  SearchProgress& progress_;
  PlanFound found_;
};

}  // namespace

Answer plan_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                   const Announce& announce) {
  JobsPlan plan = read_jobs(options, common);
  announce(0);
  return answer_of(Arranger(std::move(plan), progress).run());
}

}  // namespace sextant
