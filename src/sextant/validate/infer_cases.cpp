// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/infer_cases.hpp"

#include <algorithm>

#include "sextant/validate/input_columns.hpp"

namespace sextant {
namespace {

// One step of an engine: one token of some requests, and a piece of a prompt whose tokens look at
// so many in the mean.
void read_mixed(RowReader& row, InferCase& c) {
  c.mixed = true;
  PassShape& s = c.shape;
  s.batch = row.number_or("decode_requests", 0, 0, 1e8);
  s.context = row.number_or("decode_context", 1, 1, 1e8);
  s.chunk = row.number_or("prefill_tokens", 0, 0, 1e8);
  if (s.chunk > 0) s.chunk_context = row.number("prefill_context", 1, 1e8) + s.chunk / 2;
  c.context = static_cast<int>(std::max(s.context, s.chunk_context));
  c.inputs.serving.batch = std::max(1, static_cast<int>(s.batch));
}

// One pass: which, over how many tokens, of which rank.
void read_pass(RowReader& row, InferCase& c) {
  c.phase = row.choice("phase", InferPhase::prefill);
  const bool prefill = c.phase == InferPhase::prefill;
  Serving& work = c.inputs.serving;
  work.input = prefill ? row.whole("input", 1, 1e8) : row.whole_or("input", 1, 1, 1e8);
  work.output = row.whole_or("output", 1, 1, 1e6);
  c.context =
      prefill ? row.whole_or("context", work.input, work.input, 1e8) : row.whole("context", 1, 1e8);
}

}  // namespace

InferCase read_infer(RowReader& row, std::string& unsupported) {
  InferCase c;
  c.runtime = row.text("runtime");
  c.model = row.text("model");
  c.backend = row.text("backend");
  c.columns = read_model_columns(row, c.model);
  const std::string metric = row.text("metric");
  if (!parse_enum(metric, c.metric)) unsupported = "metric '" + metric + "' is not modelled";
  if (c.metric == InferMetric::phase_seconds) {
    const bool mixed = row.text("phase") == "mixed";
    c.inputs = mixed ? read_input_columns(row, Task::infer, {}, {"batch", "input", "output"})
                     : read_input_columns(row, Task::infer, {"batch"}, {"input", "output"});
    mixed ? read_mixed(row, c) : read_pass(row, c);
  } else {
    c.inputs = read_input_columns(row, Task::infer, {"batch", "input", "output"});
  }
  const int shard = row.whole_or("shard", 1, 1, 1e6);
  c.shard = shard > 1;
  if (c.shard) {
    int& tp = c.inputs.strategy.tp;
    if (tp > 1 && tp != shard) unsupported = "shard is not tp";
    tp = shard;
    c.inputs.gpus = 0;  // the others are imagined
  }
  return c;
}

}  // namespace sextant
