// SPDX-License-Identifier: Apache-2.0
// What a step of an engine costs, from tables that are filled as they are asked: a step needs a
// look-up, not a walk over kernels.
//
// A step of n decoding requests whose contexts sum to C, beside P tokens of prompts that look at W
// tokens in all, is priced as
//   base(n, P) at a usual context and one prompt from its start, interpolated,
//   + decode(n, C/n) - decode(n, usual): more or less cache to read,
//   + what W differs from P²/2: several short prompts, or a piece of a long one.
// Steps without prompts come from decode(n, C/n) alone, at the batch of their graph.
// With drafts, a step of decoding requests is priced by the token that it gives, so that the other
// side may count a token a step; prompts beside them cost what they add to a step.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sextant/predict/infer.hpp"

namespace sextant {

/// What one rank of an engine has in a step; of several ranks, the fullest and the mean.
struct StepShape {
  double decoding = 0;       ///< requests that get their next token
  double contexts = 0;       ///< tokens they look at, summed
  double prompt_tokens = 0;  ///< of all prompts in the step
  double reach = 0;          ///< tokens that those look at, summed
  int prompts = 0;           ///< how many prompts they belong to
  double mean_decoding = 0;  ///< over the ranks
  double mean_prompt_tokens = 0;
  double idle_ranks = 0;  ///< without a token
};

struct StepCost {
  double seconds = 0;
  double work = 0;  ///< joules of one device, beyond idling
};

class StepPrice {
 public:
  /// `usual_context`: of a decoding request, where the tables are exact. The problem and the
  /// strategy are copied.
  StepPrice(const Problem& problem, const Strategy& strategy, double usual_context);

  StepCost step(const StepShape& shape);

  /// Fills the tables for steps of up to so many requests of so long contexts, beside so many
  /// tokens of prompts. Within that, `filled` is `step`: it writes nothing, so any number of
  /// threads may ask at a time.
  void fill(double most_requests, double most_context, double most_prompt_tokens);
  StepCost filled(const StepShape& shape) const;

  /// Steps of decoding requests alone while their contexts grow by one token each: the k-th takes
  /// `first.seconds + k * growth`, for `steps` steps at least.
  struct Line {
    StepCost first;
    double growth = 0;
    double steps = 1;
  };
  Line decode_line(const StepShape& shape);

  /// Passes of the model that the tables asked for so far.
  std::size_t passes() const { return passes_; }
  const Problem& problem() const { return graph_; }
  const Strategy& strategy() const { return strategy_; }

 private:
  struct Cell {
    double seconds = -1;  // not asked yet
    double shared = 0;    // of that, experts that all ranks of attention share
    double watts = 0;     // of one device, beyond idling
  };
  struct Prompt {
    double alone = -1;  // attention of the prompt from its start
    double low = 0;     // of the same tokens in short prompts
    double slope = 0;   // seconds a token looked at more
    // Where tokens are chosen: of the same tokens in prompts, or after contexts, of so many.
    struct Piece {
      double context;
      double seconds;
    };
    static constexpr std::size_t marks = 3;
    std::array<Piece, marks> pieces{};
  };
  struct Sum {
    double seconds = 0;
    double shared = 0;
    double watts = 0;
  };

  PassCost pass(const Problem& problem, PassShape shape);
  Cell cell_of(const Problem& problem, const PassShape& shape, bool decodes);
  const Cell& decode_cell(int batch, int column);
  const Cell& base_cell(int row, int column);
  const Prompt& prompt(int column);
  Sum decode(double requests, double contexts);
  Sum base(double requests, double tokens);
  double prompt_change(double tokens, double reach);
  static double chosen_change(const Prompt& prompt, double tokens, double reach);
  double with_host(double device, const StepShape& shape) const;

  Problem graph_;  // decode-only steps
  Problem mixed_;  // steps with prompts
  Strategy strategy_;
  double ranks_ = 1;  // of attention
  double usual_;
  double gained_ = 1;                      // tokens of a request a step, with drafts
  double launch_ = 0;                      // host time of a step with prompts, on one rank
  double meeting_ = 0;                     // and more, times its delay, for the slowest rank
  std::vector<std::vector<Cell>> decode_;  // by batch, then context
  std::vector<std::vector<Cell>> base_;    // by decoding requests, then tokens of prompts
  std::vector<Prompt> prompts_;
  std::size_t passes_ = 0;
};

}  // namespace sextant
