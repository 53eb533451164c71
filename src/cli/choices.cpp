// SPDX-License-Identifier: Apache-2.0
#include "cli/choices.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/predict/infer.hpp"
#include "sextant/predict/layout.hpp"

namespace sextant::cli {
namespace {

/// No slider has more steps.
constexpr int most_values = 4096;

class TrainingChoices {
 public:
  TrainingChoices(const TrainOptions& options, const Scenario& scenario)
      : o_(options), x_(scenario), p_(scenario.problem) {}

  Node run() {
    const int devices = std::min(p_.max_devices, most_values);
    Node all = Node::table();
    all.set("tp", values(&Strategy::tp, 1, devices));
    all.set("pp", values(&Strategy::pp, 1, std::min(devices, p_.model.layers)));
    all.set("cp", values(&Strategy::cp, 1, devices));
    all.set("ep", values(&Strategy::ep, 1, std::max(1, p_.model.experts.count)));
    all.set("microbatch",
            values(&Strategy::microbatch, 1, std::min(most_microbatch(), most_values)));
    all.set("interleave", values(&Strategy::interleave, 1, p_.model.layers));
    all.set("zero", values(&Strategy::zero, 0, 3));
    return all;
  }

 private:
  int most_microbatch() const { return o_.batch ? *o_.batch : 64; }

  Node values(int Strategy::*axis, int low, int high) {
    Node list = Node::array();
    for (int v = low; v <= high; ++v) {
      Strategy s = x_.strategy;
      s.*axis = v;
      if (possible(s)) list.push(Node::of(v));
    }
    return list;
  }

  bool possible(Strategy s) {
    if (s.tp == 1) s.sp = false;
    if (!o_.sp && s.tp > 1) s.sp = p_.runtime.sequence_parallel;
    if (!o_.dp && o_.gpus) {
      const double others = static_cast<double>(s.tp) * s.pp * s.cp;
      if (std::fmod(*o_.gpus, others) != 0) return false;
      s.dp = static_cast<int>(*o_.gpus / others);
    } else if (o_.gpus && devices_of(s) != *o_.gpus) {
      return false;
    }
    if (!o_.batch) {
      p_.work.batch =
          static_cast<int>(std::min(static_cast<double>(s.dp) * s.microbatch * s.pp, 1e8));
    }
    return legal(p_, s) == Verdict::fits;
  }

  const TrainOptions& o_;
  const Scenario& x_;
  Problem p_;  ///< with the batch of the strategy at hand
};

}  // namespace

Node training_choices(const TrainOptions& options, const Scenario& scenario) {
  return TrainingChoices(options, scenario).run();
}

Node serving_choices(const Scenario& x) {
  const auto values = [&](int Strategy::*axis, int high) {
    Node list = Node::array();
    for (int v = 1; v <= std::min(high, most_values); ++v) {
      Strategy s = x.strategy;
      s.*axis = v;
      if (legal_serving(x.problem, s) == Verdict::fits) list.push(Node::of(v));
    }
    return list;
  };
  Node all = Node::table();
  all.set("tp", values(&Strategy::tp, x.problem.max_devices));
  all.set("pp", values(&Strategy::pp, x.problem.model.layers));
  all.set("dp", values(&Strategy::dp, x.problem.max_devices));
  all.set("ep", values(&Strategy::ep, std::max(1, x.problem.model.experts.count)));
  return all;
}

}  // namespace sextant::cli
