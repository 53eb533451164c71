// SPDX-License-Identifier: Apache-2.0
#include "sextant/profile/analyse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "sextant/profile/clock.hpp"
#include "sextant/profile/idle.hpp"
#include "sextant/profile/losses.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant::profile {
namespace {

/// Adds up the work of one operator and shape.
struct Gathered {
  std::uint32_t name = 0;
  std::uint32_t shape = 0;
  std::uint32_t kernel = 0;
  std::uint32_t launch = 0;
  Nanoseconds longest = -1;
  Nanoseconds measured = 0;
  Found found = Found::nowhere;
  int calls = 0;
  int kernels = 0;
  double blocks = 0;
};

/// The busiest device, or the one that was asked for.
int choose(const Recording& r, Profile& p, int asked) {
  std::map<int, DeviceSeen> seen;
  std::map<int, std::pair<Nanoseconds, Nanoseconds>> spans;
  for (const Activity& a : r.activities) {
    DeviceSeen& d = seen[a.device];
    d.number = a.device;
    d.busy += seconds(a.end - a.start);
    auto& span = spans.emplace(a.device, std::pair(a.start, a.end)).first->second;
    span.second = std::max(span.second, a.end);
  }
  int best = -1;
  std::string all;
  for (auto& [number, d] : seen) {
    d.window = seconds(spans[number].second - spans[number].first);
    if (best < 0 || d.busy > seen[best].busy) best = number;
    all += (all.empty() ? "" : ", ") + std::to_string(number);
    p.devices.push_back(d);
  }
  if (asked >= 0 && !seen.contains(asked)) {
    throw InputError(
        {Diagnostic{.file = "--gpu",
                    .message = fmt::format("the trace has no work of device {}", asked),
                    .hint = "it has " + all}});
  }
  return asked >= 0 ? asked : best;
}

std::string geometry(const Gathered& g, const Texts& texts) {
  const Launch l = launch_of(texts[g.launch]);
  if (!l.collective.empty())
    return fmt::format("{:.0f} {} over {:.0f} ranks", l.elements, l.type, l.ranks);
  if (l.bytes.value > 0) return fmt::format("{:.0f} bytes", l.bytes.value);
  if (texts[g.kernel].find("multi_tensor_apply") != std::string_view::npos) {
    return fmt::format("lists in {:.0f} chunks", g.blocks / std::max(1, g.calls));
  }
  return fmt::format("{:.0f} blocks of {:.0f} threads", l.blocks, l.threads);
}

class Analysis {
 public:
  Analysis(Recording& r, const Question& q) : r_(r), q_(q), owners_(attribute(r)) {}

  Profile run() {
    p_.device = choose(r_, p_, q_.device);
    for (std::uint32_t i = 0; i < r_.activities.size(); ++i) {
      if (r_.activities[i].device == p_.device) mine_.push_back(i);
    }
    first_ = r_.activities[mine_.front()].start;
    const std::uint32_t call = owners_[mine_.front()].call;
    if (call != nobody) first_ = std::min(first_, r_.calls[call].start);
    last_ = first_;
    for (const std::uint32_t i : mine_) last_ = std::max(last_, r_.activities[i].end);
    p_.measured = seconds(last_ - first_);
    gather();
    predict();
    mark_steps();
    const IdleInput idle{r_, owners_, mine_, group_, first_, last_};
    find_idle(idle, p_);
    std::stable_sort(
        p_.groups.begin(), p_.groups.end(),
        [](const OperatorGroup& a, const OperatorGroup& b) { return a.measured > b.measured; });
    find_losses(p_);
    return std::move(p_);
  }

 private:
  void gather() {
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    std::vector<bool> seen(r_.operators.size() + r_.activities.size(), false);
    group_.resize(mine_.size());
    for (std::size_t m = 0; m < mine_.size(); ++m) {
      const Activity& a = r_.activities[mine_[m]];
      const Owner& o = owners_[mine_[m]];
      // Without recorded shapes, those of the launch tell calls apart: of copies, of graphs'
      // kernels.
      const bool lists = r_.texts[a.name].find("multi_tensor_apply") != std::string_view::npos;
      const std::uint64_t what =
          o.shape != 0 || lists ? o.shape : std::uint64_t{a.launch} | std::uint64_t{1} << 31;
      const auto at = numbers.emplace(std::uint64_t{o.name} << 32 | what,
                                      static_cast<std::uint32_t>(all_.size()));
      if (at.second) all_.push_back({.name = o.name, .shape = o.shape, .found = o.found});
      group_[m] = at.first->second;
      Gathered& g = all_[group_[m]];
      const Nanoseconds length = a.end - a.start;
      g.measured += length;
      ++g.kernels;
      g.blocks += launch_of(r_.texts[a.launch]).blocks;
      if (length > g.longest) {
        g.longest = length;
        g.kernel = a.name;
        g.launch = a.launch;
      }
      if (!seen[o.instance]) ++g.calls;
      seen[o.instance] = true;
      if (g.calls == 0) g.calls = 1;
    }
  }

  void predict() {
    for (const Gathered& g : all_) {
      OperatorGroup out{.name = std::string(r_.texts[g.name]),
                        .kernel = std::string(r_.texts[g.kernel]),
                        .found = g.found,
                        .calls = g.calls,
                        .kernels = g.kernels,
                        .measured = seconds(g.measured)};
      const Shape shape = shape_of(r_.texts[g.shape]);
      out.shape = shape.tensors.empty() ? geometry(g, r_.texts) : for_people(shape);
      if (shape.tensors.empty() && g.found == Found::nowhere) out.shape.clear();
      out.job = job_of(out.name, shape,
                       {.kernel = out.kernel,
                        .kernels = static_cast<double>(g.kernels) / g.calls,
                        .blocks = g.blocks / g.calls,
                        .launch = launch_of(r_.texts[g.launch])});
      p_.device_time += out.measured;
      if (out.found != Found::nowhere) p_.attributed += out.measured;
      p_.groups.push_back(std::move(out));
    }
    ClockInput input{r_, owners_, mine_, group_, first_, last_};
    settle(input, q_.attainable, p_);
  }

  void mark_steps() {
    std::vector<Span> marks;
    for (const Span& n : r_.notes) {
      if (r_.texts[n.name].starts_with("ProfilerStep#")) marks.push_back(n);
    }
    const bool own = !marks.empty();
    for (const Span& n : r_.notes) {
      if (!own && r_.texts[n.name].starts_with("Optimizer.step#")) marks.push_back(n);
    }
    std::sort(marks.begin(), marks.end(),
              [](const Span& a, const Span& b) { return a.start < b.start; });
    if (marks.size() > 100'000) marks.clear();
    // Work belongs to the step in which it was launched: up to the end of its mark.
    std::size_t at = 0;
    std::vector<std::pair<Nanoseconds, Nanoseconds>> spans(marks.size(), {0, -1});
    std::vector<std::pair<Nanoseconds, std::uint32_t>> launched;
    for (const std::uint32_t i : mine_) {
      const std::uint32_t c = owners_[i].call;
      if (c != nobody) launched.emplace_back(r_.calls[c].start, i);
    }
    std::sort(launched.begin(), launched.end());
    for (const auto& [when, i] : launched) {
      while (at < marks.size() && when > marks[at].end) ++at;
      if (at == marks.size()) break;
      if (own && when < marks[at].start) continue;
      const Activity& a = r_.activities[i];
      auto& span = spans[at];
      if (span.second < 0) span = {a.start, a.end};
      span.first = std::min(span.first, a.start);
      span.second = std::max(span.second, a.end);
    }
    for (std::size_t i = 0; i < marks.size(); ++i) {
      if (spans[i].second < 0) continue;
      // Up to where the next one begins.
      Nanoseconds end = spans[i].second;
      if (i + 1 < marks.size() && spans[i + 1].second >= 0)
        end = std::max(spans[i + 1].first, spans[i].first);
      Step s{.name = own ? std::string(r_.texts[marks[i].name])
                         : fmt::format("step {}", p_.steps.size() + 1),
             .start = seconds(spans[i].first - first_),
             .time = seconds(end - spans[i].first)};
      p_.steps.push_back(std::move(s));
    }
  }

  Recording& r_;
  const Question& q_;
  std::vector<Owner> owners_;
  Profile p_;
  std::vector<std::uint32_t> mine_;   ///< activities of the device
  std::vector<std::uint32_t> group_;  ///< of each of them
  std::vector<Gathered> all_;
  Nanoseconds first_ = 0;
  Nanoseconds last_ = 0;
};

}  // namespace

Profile analyse(Recording& recording, const Question& question) {
  return Analysis(recording, question).run();
}

}  // namespace sextant::profile
