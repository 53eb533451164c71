// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/infer_cases.hpp"

namespace sextant {
namespace {

// Sources write fp16 or bf16 for 16 bits; the matrix units run both at one rate.
Precision sixteen_bit(Precision p) { return p == Precision::fp16 ? Precision::bf16 : p; }

Strategy read_strategy(RowReader& row) {
  Strategy s;
  s.tp = row.whole_or("tp", 1, 1, 1e6);
  s.pp = row.whole_or("pp", 1, 1, 1e6);
  s.ep = row.whole_or("ep", 1, 1, 1e6);
  s.precision = sixteen_bit(row.choice("precision", Precision::bf16));
  return s;
}

// Replicas: given, or what is left of the devices.
void read_replicas(RowReader& row, Strategy& s, std::string& unsupported) {
  const double others = static_cast<double>(s.tp) * s.pp;
  const double gpus = row.whole_or("gpus", 0, 0, 1e7);
  s.dp = row.whole_or("dp", 0, 0, 1e7);
  if (s.dp == 0) s.dp = gpus > 0 ? static_cast<int>(gpus / others) : 1;
  if (s.dp < 1) s.dp = 1;
  if (gpus > 0 && others * s.dp != gpus) unsupported = "gpus is not tp x pp x dp";
}

// One pass: which, over how many tokens, of which rank.
void read_pass(RowReader& row, InferCase& c) {
  c.phase = row.choice("phase", InferPhase::prefill);
  const bool prefill = c.phase == InferPhase::prefill;
  c.work.input = prefill ? row.whole("input", 1, 1e8) : row.whole_or("input", 1, 1, 1e8);
  c.work.output = row.whole_or("output", 1, 1, 1e6);
  c.context = prefill ? row.whole_or("context", c.work.input, c.work.input, 1e8)
                      : row.whole("context", 1, 1e8);
}

}  // namespace

InferCase read_infer(RowReader& row, std::string& unsupported) {
  InferCase c;
  c.runtime = row.text("runtime");
  c.model = row.text("model");
  c.columns = read_model_columns(row);
  if (c.model.empty() && !c.columns.complete()) {
    row.problem("model", "a row without a model's name gives layers, hidden, heads and vocab");
  }
  const std::string metric = row.text("metric");
  if (!parse_enum(metric, c.metric)) unsupported = "metric '" + metric + "' is not modelled";
  c.work.batch = row.whole("batch", 1, 1e8);
  c.work.batching = row.choice("batching", Batching::fixed);
  c.work.cache = sixteen_bit(row.choice("kv_precision", Precision::bf16));
  c.strategy = read_strategy(row);
  read_replicas(row, c.strategy, unsupported);
  if (c.metric == InferMetric::phase_seconds) {
    read_pass(row, c);
  } else {
    c.work.input = row.whole("input", 1, 1e8);
    c.work.output = row.whole("output", 1, 1e6);
  }
  const int shard = row.whole_or("shard", 1, 1, 1e6);
  c.shard = shard > 1;
  if (c.shard) {
    if (c.strategy.tp > 1 && c.strategy.tp != shard) unsupported = "shard is not tp";
    c.strategy.tp = shard;
  }
  return c;
}

}  // namespace sextant
