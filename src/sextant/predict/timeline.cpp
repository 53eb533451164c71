// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/timeline.hpp"

#include <algorithm>

namespace sextant {
namespace {

enum class Pass : std::uint8_t { forward, backward, weights };

/// One pass of one microbatch through one chunk.
struct Task {
  Pass pass = Pass::forward;
  int microbatch = 0;
  int chunk = 0;
};
using Tasks = std::vector<Task>;

struct Shape {
  int stages = 1;
  int chunks = 1;
  int microbatches = 1;
};

Shape shape_of(const Problem& p, const Strategy& s) {
  const double count = p.work.batch / (static_cast<double>(s.dp) * s.microbatch);
  return {s.pp, s.interleave, static_cast<int>(std::max(1.0, count))};
}

// All forward passes, then all backward passes (Huang et al., arXiv 1811.06965).
Tasks gpipe(const Shape& n) {
  Tasks tasks;
  for (int c = 0; c < n.chunks; ++c) {
    for (int m = 0; m < n.microbatches; ++m) tasks.push_back({Pass::forward, m, c});
  }
  for (int c = n.chunks - 1; c >= 0; --c) {
    for (int m = 0; m < n.microbatches; ++m) tasks.push_back({Pass::backward, m, c});
  }
  return tasks;
}

// One forward, one backward (Narayanan et al., arXiv 2104.04473, section 2.2). With chunks,
// microbatches go through them in rounds of `stages`, as Megatron-LM's schedules.py deals them.
Tasks one_f_one_b(const Shape& n, int stage) {
  const int total = n.microbatches * n.chunks;
  int ahead = n.stages - stage - 1;
  if (n.chunks > 1) {
    ahead = 2 * ahead + (n.chunks - 1) * n.stages;
    if (n.microbatches == n.stages) ahead = total;
  }
  ahead = std::min(ahead, total);
  const auto task = [&](Pass pass, int k) {
    const int round = n.stages * n.chunks;
    if (n.chunks == 1) return Task{pass, k, 0};
    const int chunk = k % round / n.stages;
    return Task{pass, k / round * n.stages + k % n.stages,
                pass == Pass::forward ? chunk : n.chunks - 1 - chunk};
  };
  Tasks tasks;
  for (int k = 0; k < ahead; ++k) tasks.push_back(task(Pass::forward, k));
  for (int k = ahead; k < total; ++k) {
    tasks.push_back(task(Pass::forward, k));
    tasks.push_back(task(Pass::backward, k - ahead));
  }
  for (int k = total - ahead; k < total; ++k) tasks.push_back(task(Pass::backward, k));
  return tasks;
}

// ZB-H1 (Qi et al., arXiv 2401.10241, section 2.3): 1F1B whose weight gradients wait, on a later
// stage longer, so that every stage holds as much as the first.
Tasks zero_bubble(const Shape& n, int stage) {
  Tasks tasks;
  int owed = 0;
  int next = 0;
  int forwards = 0;
  const auto pay = [&](int keep) {
    if (owed <= keep) return;
    tasks.push_back({Pass::weights, next++, 0});
    --owed;
  };
  for (const Task& t : one_f_one_b(n, stage)) {
    tasks.push_back(t);
    if (t.pass == Pass::forward) {
      ++forwards;
      continue;
    }
    ++owed;
    pay(forwards < n.microbatches ? stage : 0);
  }
  while (owed > 0) pay(0);
  return tasks;
}

/// Whether weight gradients are passes of their own. ZB-V and DualPipe are drawn as ZB-H1 is, with
/// one piece a stage.
bool puts_off_weights(const Strategy& s, const Shape& n) {
  return n.chunks == 1 && s.schedule != Schedule::gpipe && s.schedule != Schedule::one_f_one_b;
}

Tasks tasks_of(const Strategy& s, const Shape& n, int stage) {
  if (puts_off_weights(s, n)) return zero_bubble(n, stage);
  return s.schedule == Schedule::gpipe ? gpipe(n) : one_f_one_b(n, stage);
}

/// When each pass of each microbatch through each chunk of the model ended.
class Ends {
 public:
  explicit Ends(const Shape& n)
      : microbatches_(static_cast<std::size_t>(n.microbatches)),
        times_(
            microbatches_ * static_cast<std::size_t>(n.stages) * static_cast<std::size_t>(n.chunks),
            Seconds(-1)) {}
  /// `part` counts chunks from the first of the model to the last.
  Seconds& at(int part, int microbatch) {
    return times_[static_cast<std::size_t>(part) * microbatches_ +
                  static_cast<std::size_t>(microbatch)];
  }

 private:
  std::size_t microbatches_;
  std::vector<Seconds> times_;
};

class Runner {
 public:
  Runner(const Problem& problem, const Strategy& strategy)
      : strategy_(strategy), n_(shape_of(problem, strategy)), forward_(n_), backward_(n_) {
    for (int stage = 0; stage < n_.stages; ++stage) {
      StageTimes t = stage_times(problem, strategy, stage);
      for (Seconds* part : {&t.forward, &t.recompute, &t.backward, &t.weights}) *part /= n_.chunks;
      times_.push_back(t);
      tasks_.push_back(tasks_of(strategy, n_, stage));
    }
    next_.resize(tasks_.size());
    free_.resize(tasks_.size());
    line_.stages = n_.stages;
  }

  Timeline run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int stage = 0; stage < n_.stages; ++stage) {
        while (advance(stage)) moved = true;
      }
    }
    for (const Seconds t : free_) line_.forward_backward = max(line_.forward_backward, t);
    return std::move(line_);
  }

 private:
  bool advance(int stage);
  bool ready(int stage, const Task& task, Seconds& when);
  void perform(int stage, const Task& task, Seconds when);
  void send(int stage, const Task& task, Seconds when);
  void span(Activity what, int stage, const Task& task, Seconds length);
  /// Position of a stage's chunk in the model.
  int part(int stage, int chunk) const { return chunk * n_.stages + stage; }
  int parts() const { return n_.stages * n_.chunks; }
  StageTimes& times(int stage) { return times_[static_cast<std::size_t>(stage)]; }
  Seconds& free(int stage) { return free_[static_cast<std::size_t>(stage)]; }

  Strategy strategy_;
  Shape n_;
  Ends forward_;
  Ends backward_;
  std::vector<StageTimes> times_;
  std::vector<Tasks> tasks_;
  std::vector<std::size_t> next_;
  std::vector<Seconds> free_;  ///< since when a stage has nothing to do
  Timeline line_;
};

// Whether what a task needs is known, and when it is there.
bool Runner::ready(int stage, const Task& task, Seconds& when) {
  const int here = part(stage, task.chunk);
  const auto from = [&](Ends& ends, int there) {
    const Seconds end = ends.at(there, task.microbatch);
    const int sender = there % n_.stages;
    when = end + (sender == stage ? Seconds(0) : times(sender).transfer);
    return end.value >= 0;
  };
  switch (task.pass) {
    case Pass::forward:
      return here == 0 || from(forward_, here - 1);
    case Pass::backward:
      return here + 1 == parts() ? from(forward_, here) : from(backward_, here + 1);
    case Pass::weights:
      return from(backward_, here);
  }
  return true;
}

void Runner::span(Activity what, int stage, const Task& task, Seconds length) {
  if (length.value <= 0) return;
  line_.spans.push_back({what, stage, task.microbatch, task.chunk, free(stage), length});
  free(stage) += length;
}

void Runner::send(int stage, const Task& task, Seconds when) {
  const bool forward = task.pass == Pass::forward;
  const int there = part(stage, task.chunk) + (forward ? 1 : -1);
  if (there < 0 || there >= parts() || there % n_.stages == stage) return;
  if (times(stage).transfer.value <= 0) return;
  line_.transfers.push_back({forward ? Activity::send_forward : Activity::send_backward, stage,
                             task.microbatch, task.chunk, when, times(stage).transfer});
}

void Runner::perform(int stage, const Task& task, Seconds when) {
  const StageTimes& t = times(stage);
  // A wait of rounding's size is none.
  if (when.value > free(stage).value * (1 + 1e-12)) {
    span(Activity::bubble, stage, Task{Pass::forward, -1, 0}, when - free(stage));
  }
  const bool split = puts_off_weights(strategy_, n_);
  switch (task.pass) {
    case Pass::forward:
      span(Activity::forward, stage, task, t.forward);
      forward_.at(part(stage, task.chunk), task.microbatch) = free(stage);
      break;
    case Pass::backward:
      span(Activity::recompute, stage, task, t.recompute);
      span(Activity::backward, stage, task, split ? t.backward - t.weights : t.backward);
      backward_.at(part(stage, task.chunk), task.microbatch) = free(stage);
      break;
    case Pass::weights:
      span(Activity::weights, stage, task, t.weights);
      return;
  }
  send(stage, task, free(stage));
}

bool Runner::advance(int stage) {
  const auto at = static_cast<std::size_t>(stage);
  if (next_[at] >= tasks_[at].size()) return false;
  const Task task = tasks_[at][next_[at]];
  Seconds when;
  if (!ready(stage, task, when)) return false;
  perform(stage, task, when);
  ++next_[at];
  return true;
}

// What follows the last microbatch, on every stage alike.
void add_tail(const Problem& p, const Estimate& e, Timeline& line) {
  std::vector<Seconds> free(static_cast<std::size_t>(line.stages));
  for (const TimelineSpan& s : line.spans) {
    Seconds& f = free[static_cast<std::size_t>(s.stage)];
    f = max(f, s.start + s.length);
  }
  const std::array<std::pair<Activity, Seconds>, 5> tail = {{
      {Activity::gradients, e.time[Time::gradients].exposed},
      {Activity::optimizer, e.time[Time::optimizer].exposed},
      {Activity::parameters, e.time[Time::parameters].exposed},
      {Activity::host, p.runtime.host_per_step},  // the host's pace is inside the passes
      {Activity::spread, e.time[Time::spread].exposed},
  }};
  line.end = line.forward_backward;
  for (const auto& [what, length] : tail) line.end += length;
  for (int stage = 0; stage < line.stages; ++stage) {
    Seconds at = free[static_cast<std::size_t>(stage)];
    const auto add = [&](Activity what, Seconds length) {
      if (length.value <= 0) return;
      line.spans.push_back({what, stage, -1, 0, at, length});
      at += length;
    };
    add(Activity::bubble, line.forward_backward - at);
    for (const auto& [what, length] : tail) add(what, length);
  }
}

}  // namespace

double timeline_size(const Problem& problem, const Strategy& strategy) {
  const Shape n = shape_of(problem, strategy);
  const double passes = static_cast<double>(n.stages) * n.chunks * n.microbatches;
  const bool recompute = strategy.recompute != Recompute::none;
  return passes * ((n.stages > 1 ? 5 : 2) + (recompute ? 1 : 0));
}

Timeline timeline(const Problem& problem, const Strategy& strategy) {
  Timeline line = Runner(problem, strategy).run();
  add_tail(problem, evaluate(problem, strategy), line);
  return line;
}

}  // namespace sextant
