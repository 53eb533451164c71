// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/uncertainty.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "sextant/predict/layout.hpp"
#include "sextant/predict/tuning.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

// What a group may differ in from the question, the least harmful first, and how much wider the
// interval gets for each: half as wide again is what whole steps lose from measured to unmeasured
// runtimes and devices among the sets at hand (docs/accuracy.md).
struct Difference {
  bool ErrorGroup::*field;
  double wider;
};
constexpr std::array<Difference, 5> differences = {{
    {&ErrorGroup::many_nodes, 1.15},
    {&ErrorGroup::narrow, 1.15},
    {&ErrorGroup::experts, 1.5},
    {&ErrorGroup::runtime_measured, 1.5},
    {&ErrorGroup::device_measured, 1.5},
}};
// With fewer cases a percentile is not one.
constexpr int least_cases = 20;
// Where no measurement of the kind exists at all: a factor of two either way.
constexpr double nothing_near = 0.7;

/// The distance from the box of everything measured adds to the variance.
double wider_outside(const Errors& errors, const std::vector<Unmeasured>& unmeasured) {
  double squares = 0;
  for (const Unmeasured& u : unmeasured) squares += u.distance * u.distance;
  const double each = errors.wider_outside * errors.wider_outside - 1;
  return std::sqrt(1 + each * std::sqrt(squares));
}

std::string outside_text(const std::vector<Unmeasured>& unmeasured) {
  std::string text;
  for (const Unmeasured& u : unmeasured) {
    text += (text.empty() ? "; widened, never measured so: " : ", ") + u.axis;
  }
  return text;
}

}  // namespace

Likeness likeness_of(Asked question, std::string device, const Problem& p, const Strategy& s) {
  const Precision type = question == Asked::train ? trained_in(p, s) : s.precision;
  return {.question = question,
          .device = std::move(device),
          .runtime = p.runtime.name,
          .experts = p.model.experts.count > 0,
          .narrow = element_bytes(type) < 2,
          .many_nodes = devices_of(s) > p.network.devices_per_node,
          .model = p.model.name,
          .assumed = p.chip.roofline > 0,
          // The other ranks of one that is measured alone are imagined.
          .choices = p.communicates ? choices_of(question, p, s) : std::vector<Choice>{}};
}

namespace {

/// Where errors lie, as logarithms, by the group that is most like what is wanted.
struct Nearest {
  const ErrorGroup* group = nullptr;
  double wider = 1;  ///< for what it differs in
  double low = 0, high = 0;
};

Nearest nearest_to(const Errors& errors, const ErrorGroup& wanted, double outside) {
  Nearest n;
  for (const ErrorGroup& g : errors.groups) {
    if (g.question != wanted.question || g.cases < least_cases) continue;
    double factor = 1;
    for (const Difference& d : differences) factor *= g.*d.field == wanted.*d.field ? 1 : d.wider;
    if (n.group != nullptr && factor >= n.wider) continue;
    n.group = &g;
    n.wider = factor;
  }
  if (n.group == nullptr) return n;
  // About the middle of the group, so that a bias is neither hidden nor multiplied.
  const double middle = (n.group->low + n.group->high) / 2;
  const double half = n.wider * outside * (n.group->high - n.group->low) / 2;
  n.low = middle - half;
  n.high = middle + half;
  return n;
}

/// Takes in the intervals of all easier questions: on one node, wide, dense, of a runtime and a
/// device that someone measured. Cases of a harder one may be few, or of one model, and lie closer
/// together; what is less known is no surer for it.
void take_in_easier(const Errors& errors, const ErrorGroup& wanted, double outside, Nearest& n) {
  constexpr bool easy[] = {false, false, false, true, true};  // of `differences`
  unsigned hard = 0;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    if (wanted.*differences[i].field != easy[i]) hard |= 1U << i;
  }
  // Each part of what is hard about it, made easy.
  for (unsigned part = hard; part != 0; part = (part - 1) & hard) {
    ErrorGroup easier = wanted;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      if ((part >> i & 1U) != 0) easier.*differences[i].field = easy[i];
    }
    const Nearest e = nearest_to(errors, easier, outside);
    n.low = std::min(n.low, e.low);
    n.high = std::max(n.high, e.high);
  }
}

}  // namespace

Interval interval_of(const Errors& errors, const Likeness& asked) {
  ErrorGroup wanted;
  wanted.question = asked.question;
  wanted.experts = asked.experts;
  wanted.narrow = asked.narrow;
  wanted.many_nodes = asked.many_nodes;
  wanted.device_measured = contains(errors.devices, asked.device);
  wanted.runtime_measured = asked.runtime.empty() || contains(errors.runtimes, asked.runtime);
  Interval i;
  i.unmeasured = unmeasured_of(errors, asked.question, asked.choices);
  const double outside = wider_outside(errors, i.unmeasured);
  // Steps may have been measured on a device whose kernels nobody measured alone.
  const bool alone = !wanted.device_measured && asked.question != Asked::collective;
  i.basis = (alone ? "kernels of " : "") + asked.device +
            (wanted.device_measured ? " measured" : " never measured");
  if (!asked.runtime.empty()) {
    i.basis +=
        ", runtime " + asked.runtime + (wanted.runtime_measured ? " measured" : " never measured");
  }
  Nearest nearest = nearest_to(errors, wanted, outside);
  if (nearest.group == nullptr || asked.assumed) {
    i.low = std::exp(-nothing_near * outside);
    i.high = std::exp(nothing_near * outside);
    i.basis += asked.assumed ? "; kernels are assumed" : "; no measurement of this kind";
    i.basis += outside_text(i.unmeasured);
    return i;
  }
  take_in_easier(errors, wanted, outside, nearest);
  i.low = std::exp(nearest.low);
  i.high = std::exp(nearest.high);
  i.cases = nearest.group->cases;
  if (asked.experts && !nearest.group->experts) {
    i.basis += "; experts unlike the measured dense models";
  }
  if (nearest.wider > 1) i.basis += "; widened, no measured case is alike";
  i.basis += outside_text(i.unmeasured);
  return i;
}

namespace {

constexpr double percentile_95 = 1.6449;  // of the standard normal distribution

}  // namespace

double deviation_of(const Interval& i) { return std::log(i.high / i.low) / 2 / percentile_95; }

namespace {

/// The normal distribution whose middle 90 % an interval is.
struct Normal {
  double mean = 0;
  double deviation = 0;
};

Normal logarithm_of(const Errors& errors, const Contender& c) {
  const Interval i = interval_of(errors, c.likeness);
  return {std::log(c.seconds) + (std::log(i.low) + std::log(i.high)) / 2, deviation_of(i)};
}

double shared_by(const Errors& errors, const Likeness& a, const Likeness& b) {
  if (a.question != b.question || a.device != b.device || a.runtime != b.runtime) return 0;
  const bool model = !a.model.empty() && a.model == b.model;
  for (const SharedError& s : errors.shared) {
    if (s.question == a.question && s.model == model) return s.share;
  }
  return 0;
}

/// Nothing lies between them: whatever is wrong with one is wrong with the other.
bool same_question(const Contender& a, const Contender& b) {
  const auto parts = [](const Likeness& x) {
    return std::tie(x.question, x.device, x.runtime, x.model, x.choices);
  };
  return a.seconds == b.seconds && parts(a.likeness) == parts(b.likeness);
}

}  // namespace

Relation relate(const Errors& errors, const Contender& first, const Contender& second) {
  if (same_question(first, second)) return {};
  const Normal a = logarithm_of(errors, first);
  const Normal b = logarithm_of(errors, second);
  const double shared = shared_by(errors, first.likeness, second.likeness);
  const double variance = a.deviation * a.deviation + b.deviation * b.deviation -
                          2 * shared * a.deviation * b.deviation;
  const double ahead = b.mean - a.mean;
  const double spread = std::max(variance, 1e-12);
  const double reach = percentile_95 * std::sqrt(spread);
  return {0.5 * std::erfc(-ahead / std::sqrt(2 * spread)), std::exp(-ahead - reach),
          std::exp(-ahead + reach)};
}

}  // namespace sextant
