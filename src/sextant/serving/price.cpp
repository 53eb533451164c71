// SPDX-License-Identifier: Apache-2.0
#include "sextant/serving/price.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "sextant/cost/kernel.hpp"
#include "sextant/predict/pass.hpp"
#include "sextant/spec/patience.hpp"

namespace sextant {
namespace {

/// Points of a logarithmic axis: 2^e (1 + k / steps).
struct Axis {
  int steps;
  double at(int i) const {
    const std::uint64_t exponent = 1023U + static_cast<unsigned>(i / steps);
    return std::bit_cast<double>(exponent << 52U) * (1 + static_cast<double>(i % steps) / steps);
  }
  /// The point at or below `value` (at least 1).
  int below(double value) const {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
    const int exponent = static_cast<int>(bits >> 52U) - 1023;
    const double inside = std::bit_cast<double>((bits & 0xfffffffffffffU) | 0x3ff0000000000000U);
    return exponent * steps + static_cast<int>((inside - 1) * steps);
  }
};
constexpr Axis context_axis{2};
constexpr Axis request_axis{2};
constexpr Axis token_axis{4};
constexpr int short_prompt = 128;

template <class T>
T& grown(std::vector<T>& list, int index) {
  if (list.size() <= static_cast<std::size_t>(index))
    list.resize(static_cast<std::size_t>(index) + 1);
  return list[static_cast<std::size_t>(index)];
}

}  // namespace

StepPrice::StepPrice(const Problem& problem, const Strategy& strategy, double usual_context)
    : graph_(problem),
      mixed_(problem),
      strategy_(strategy),
      ranks_(std::max(1, strategy.dp)),
      usual_(std::max(1.0, usual_context)),
      gained_(tokens_a_step(problem.serving.speculation)),
      launch_(prompt_launch(problem, strategy, 1).value),
      meeting_((prompt_launch(problem, strategy, 2).value - launch_) / delay_of_slowest(2)) {
  const Engine& e = problem.runtime.engine;
  mixed_.runtime.launch.graph =
      problem.runtime.launch.graph && e.mixed_launch != MixedLaunch::eager;
}

PassCost StepPrice::pass(const Problem& problem, PassShape shape) {
  ++passes_;
  // Stages work on different parts of the batch at a time.
  const double waves = std::clamp<double>(shape.batch, 1, strategy_.pp);
  shape.batch = std::ceil(shape.batch / waves) * ranks_;
  const bool drafts = &problem == graph_.draft.get();
  PassCost c =
      serving_pass(problem, drafts ? draft_strategy(problem, strategy_) : strategy_, shape);
  // Stages share what all the waves of a step draw.
  c.work = waves / strategy_.pp * c.work;
  return c;
}

/// A step, with what drafts: a pass for each token that it proposes, the first of them over prompts
/// as well, for its own cache.
StepPrice::Cell StepPrice::cell_of(const Problem& problem, const PassShape& shape, bool decodes) {
  const Speculation& x = graph_.serving.speculation;
  PassShape whole = shape;
  if (decodes) whole.queries += x.tokens;
  const PassCost c = pass(problem, whole);
  Cell cell{c.time.value, (c.parts[Work::experts] + c.parts[Work::exchange]).value, 0};
  Joules work = c.work.device();
  const auto draft = [&](const PassShape& proposed, double times) {
    if (times <= 0) return;
    const PassCost d = pass(problem.draft ? *problem.draft : problem, proposed);
    if (!problem.draft) times *= x.draft_cost;
    cell.seconds += times * d.time.value;
    work += times * d.work.device();
  };
  const bool prompts = !decodes || shape.chunk > 0;
  if (prompts) draft(shape, x.tokens > 0 ? 1 : 0);
  PassShape plain = shape;
  plain.chunk = 0;
  if (decodes) draft(plain, x.tokens - (prompts ? 1 : 0));
  cell.watts = work.value / cell.seconds;
  return cell;
}

const StepPrice::Cell& StepPrice::decode_cell(int batch, int column) {
  Cell& c = grown(grown(decode_, batch), column);
  if (c.seconds < 0) {
    const bool graph = batch <= graph_.runtime.engine.graph_limit;
    c = cell_of(graph ? graph_ : mixed_,
                {.batch = double(batch), .queries = 1, .context = context_axis.at(column)}, true);
    c.seconds /= gained_;
    c.shared /= gained_;
  }
  return c;
}

const StepPrice::Cell& StepPrice::base_cell(int row, int column) {
  Cell& c = grown(grown(base_, row), column);
  if (c.seconds < 0) {
    const double chunk = token_axis.at(column);
    // Prompts alone are what `infer` calls a prefill.
    const PassShape alone{.batch = 1, .queries = chunk, .context = chunk};
    const PassShape beside{.batch = row > 0 ? request_axis.at(row - 1) : 0,
                           .queries = 1,
                           .context = usual_,
                           .chunk = chunk,
                           .chunk_context = chunk};
    c = cell_of(mixed_, row == 0 ? alone : beside, row > 0);
  }
  return c;
}

const StepPrice::Prompt& StepPrice::prompt(int column) {
  Prompt& p = grown(prompts_, column);
  if (p.alone < 0) {
    const double n = token_axis.at(column);
    const auto attention = [&](double batch, double queries, double context) {
      return pass(mixed_, {.batch = batch, .queries = queries, .context = context})
          .parts[Work::attention]
          .value;
    };
    const double more = std::max(n, 1024.0);
    const double alone = attention(1, n, n);
    p.slope = std::max(0.0, attention(1, n, n + more) - alone) / (n * more);
    p.low =
        n > short_prompt
            ? std::min(alone, attention(std::ceil(n / short_prompt), short_prompt, short_prompt))
            : alone;
    p.alone = alone;
    // Attention changes its kernel where tokens begin to be chosen.
    if (const double top = mixed_.model.attention.index_top; top > 0) {
      const std::array<double, Prompt::marks> contexts{top, top + 1, 2 * std::max(n, top + 1)};
      for (std::size_t k = 0; k < Prompt::marks; ++k) {
        const double long_one = std::min(n, contexts[k]);
        p.pieces[k] = {contexts[k], attention(n / long_one, long_one, contexts[k])};
      }
    }
  }
  return p;
}

/// Against one prompt of so many tokens, along straight lines between the contexts that are known.
double StepPrice::chosen_change(const Prompt& x, double tokens, double reach) {
  struct Point {
    double reach, seconds;
  };
  std::array<Point, 2 + Prompt::marks> points{{{tokens * tokens / 2, x.alone}}};
  std::size_t known = 1;
  if (tokens > short_prompt) points[known++] = {tokens * short_prompt / 2, x.low};
  for (const auto& [context, seconds] : x.pieces) {
    points[known++] = {tokens * (context - std::min(tokens, context) / 2), seconds};
  }
  std::sort(points.data(), points.data() + known,
            [](const Point& a, const Point& b) { return a.reach < b.reach; });
  std::size_t k = 1;
  while (k + 1 < known && reach > points[k].reach) ++k;
  const Point& a = points[k - 1];
  const Point& b = points[k];
  const double t = b.reach > a.reach ? std::max(0.0, (reach - a.reach) / (b.reach - a.reach)) : 1;
  return a.seconds + t * (b.seconds - a.seconds) - x.alone;
}

StepPrice::Sum StepPrice::decode(double n, double sum) {
  const int batch = graph_batch(static_cast<int>(std::ceil(n)), graph_.runtime.engine.graph_limit);
  const double context = std::max(1.0, sum / batch);
  const int column = context_axis.below(context);
  const Cell& a = decode_cell(batch, column);
  const Cell low = a;
  const Cell& high = decode_cell(batch, column + 1);
  const double t =
      (context - context_axis.at(column)) / (context_axis.at(column + 1) - context_axis.at(column));
  return {low.seconds + t * (high.seconds - low.seconds),
          low.shared + t * (high.shared - low.shared), low.watts + t * (high.watts - low.watts)};
}

StepPrice::Sum StepPrice::base(double n, double count) {
  const double p = std::max(1.0, count);
  const int column = token_axis.below(p);
  const double t =
      (p - token_axis.at(column)) / (token_axis.at(column + 1) - token_axis.at(column));
  const int row = n < 1 ? 0 : 1 + request_axis.below(n);
  const double low = row == 0 ? 0 : request_axis.at(row - 1);
  const double u = (n - low) / (request_axis.at(row) - low);
  Sum s;
  const auto add = [&](int r, int c, double weight) {
    if (weight <= 0) return;
    const Cell& x = base_cell(r, c);
    s.seconds += weight * x.seconds;
    s.shared += weight * x.shared;
    s.watts += weight * x.watts;
  };
  add(row, column, (1 - u) * (1 - t));
  add(row, column + 1, (1 - u) * t);
  add(row + 1, column, u * (1 - t));
  add(row + 1, column + 1, u * t);
  return s;
}

double StepPrice::prompt_change(double count, double reach) {
  const double p = std::max(1.0, count);
  const int column = token_axis.below(p);
  const double t =
      (p - token_axis.at(column)) / (token_axis.at(column + 1) - token_axis.at(column));
  const double whole = p * p / 2;  // that one prompt looks at from its start
  const auto change = [&](int c, double weight) {
    if (weight <= 0) return 0.0;
    const Prompt& x = prompt(c);
    if (mixed_.model.attention.index_top > 0) return weight * chosen_change(x, p, reach);
    if (reach >= whole) return weight * x.slope * (reach - whole);
    const double least = p * std::min<double>(p, short_prompt) / 2;
    if (whole <= least) return 0.0;
    return -weight * (x.alone - x.low) * std::min(1.0, (whole - reach) / (whole - least));
  };
  return change(column, 1 - t) + change(column + 1, t);
}

double StepPrice::with_host(double device, const StepShape& s) const {
  // Graphs are made for steps of single tokens; with prompts the host launches a layer's kernels.
  if (s.prompt_tokens > 0) {
    device = smooth_max(device, launch_ + delay_of_slowest(ranks_ - s.idle_ranks) * meeting_);
  }
  return sextant::with_host(graph_.runtime.engine, Seconds(device), s.decoding, s.prompts).value;
}

StepCost StepPrice::step(const StepShape& s) {
  const bool mixed = s.prompt_tokens > 0;
  Sum sum;
  if (!mixed) {
    sum = decode(s.decoding, s.contexts);
  } else {
    // Stages take whole prompts, each a part of them.
    const double share = 1 / std::clamp<double>(s.prompts, 1, strategy_.pp);
    sum = base(s.decoding, s.prompt_tokens * share);
    sum.seconds += prompt_change(s.prompt_tokens * share, s.reach * share);
    if (s.decoding > 0) {
      const double usual = decode(s.decoding, usual_ * s.decoding).seconds;
      sum.seconds += decode(s.decoding, s.contexts).seconds - usual;
      sum.seconds -= (gained_ - 1) * usual;  // that later steps need not do
    }
  }
  if (ranks_ > 1 && sum.shared > 0) {
    const Sum mean = mixed && s.mean_prompt_tokens >= 1
                         ? base(s.mean_decoding, s.mean_prompt_tokens)
                         : decode(std::max(1.0, s.mean_decoding), s.contexts);
    sum.seconds += std::min(0.0, mean.shared - sum.shared);
  }
  // The host prepares a whole step, whatever tokens it gives.
  const double tokens = mixed ? 1 : gained_;
  return {with_host(tokens * sum.seconds, s) / tokens, sum.watts * sum.seconds};
}

void StepPrice::fill(double most_requests, double most_context, double most_prompt_tokens) {
  const int limit = graph_.runtime.engine.graph_limit;
  const int longest = context_axis.below(std::max(usual_, most_context)) + 1;
  for (int n = 1, last = 0; n <= most_requests; ++n) {
    Patience::check();
    const int batch = graph_batch(n, limit);
    for (int c = 0; batch != last && c <= longest; ++c) decode_cell(batch, c);
    last = batch;
  }
  const int rows = 2 + request_axis.below(std::max(1.0, most_requests));
  for (int c = 0; c <= token_axis.below(std::max(1.0, most_prompt_tokens)) + 1; ++c) {
    Patience::check();
    for (int r = 0; r <= rows; ++r) base_cell(r, c);
    prompt(c);
  }
}

StepCost StepPrice::filled(const StepShape& shape) const {
  // Every cell that a step looks up is there, so that nothing is written.
  return const_cast<StepPrice*>(this)->step(shape);
}

StepPrice::Line StepPrice::decode_line(const StepShape& s) {
  const int batch =
      graph_batch(static_cast<int>(std::ceil(s.decoding)), graph_.runtime.engine.graph_limit);
  const double context = std::max(1.0, s.contexts / batch);
  const double end = context_axis.at(context_axis.below(context) + 1);
  Line line;
  line.first = step(s);
  line.steps = std::max(1.0, std::floor((end - context) * batch / s.decoding));
  StepShape last = s;
  last.contexts = s.contexts + line.steps * s.decoding;
  if (line.steps > 1) line.growth = (step(last).seconds - line.first.seconds) / line.steps;
  return line;
}

}  // namespace sextant
