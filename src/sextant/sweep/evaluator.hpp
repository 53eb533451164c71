// SPDX-License-Identifier: Apache-2.0
// Answers points of a plan, one after another. What neighbouring points share (a device, a model)
// is made once. One evaluator a thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sextant/sweep/outputs.hpp"
#include "sextant/sweep/plan.hpp"
#include "sextant/sweep/step_cache.hpp"

namespace sextant::sweep {

/// The question that a plan with `best` asks at each point.
struct InnerQuestion {
  const Plan& plan;        ///< its `given` fields are fixed, its `best` says what is best
  const Problem& problem;  ///< with the point's workload
  const Inputs& inputs;    ///< the point's: gpus, and the fields that are fixed
};
struct InnerAnswer {
  Strategy strategy;
  Serving serving;  ///< to serve: with the best batch and cache
};
/// The best strategy, or nothing where none runs. Called by several threads at once.
using InnerSearch = std::function<std::optional<InnerAnswer>(const InnerQuestion&)>;

/// Answers of several points in a row of the worklist.
struct Chunk {
  std::uint64_t number = 0;
  std::vector<double> values;      ///< a row of outputs a point
  std::vector<std::string> texts;  ///< of verdicts beyond the usual
};

class Specs;

class Evaluator {
 public:
  /// The plan must outlive the evaluator. `search` may be empty where the plan asks for none.
  Evaluator(const Plan& plan, InnerSearch search);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// Appends the point's row to the chunk. A point that cannot run is an answer.
  void answer(std::uint64_t point, Chunk& chunk);

  const std::vector<Output>& outputs() const { return outputs_; }

 private:
  void turn_to(std::uint64_t point);
  void make_problem();
  double settle(Answer& answer);
  double run(Answer& answer);
  void fill(const Answer& answer, double verdict, Chunk& chunk) const;

  const Plan& plan_;
  const InnerSearch search_;
  const std::vector<Output> outputs_;
  Scene scene_;
  std::vector<std::optional<Slot>> slots_;  ///< of axes that stand in the inputs
  std::vector<std::size_t> digits_, last_;
  bool fresh_ = true;  ///< no point was answered yet
  std::unique_ptr<Specs> specs_;
  Problem problem_;
  StepCache steps_;
  std::string broken_;  ///< why there is no problem; empty: there is one
};

}  // namespace sextant::sweep
