// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/train_cases.hpp"

#include <cmath>

namespace sextant {
namespace {

Strategy read_strategy(RowReader& row) {
  Strategy s;
  s.tp = row.whole_or("tp", 1, 1, 1e6);
  s.pp = row.whole_or("pp", 1, 1, 1e6);
  s.cp = row.whole_or("cp", 1, 1, 1e6);
  s.ep = row.whole_or("ep", 1, 1, 1e6);
  s.etp = row.whole_or("etp", 1, 1, 1e6);
  s.microbatch = row.whole_or("microbatch", 1, 1, 1e6);
  s.interleave = row.whole_or("interleave", 1, 1, 1e4);
  s.zero = row.whole_or("zero", 0, 0, 3);
  s.shard = row.whole_or("shard", 0, 0, 1e7);
  s.schedule = row.choice("schedule", Schedule::one_f_one_b);
  s.recompute = row.choice("recompute", Recompute::none);
  s.precision = row.choice("precision", Precision::bf16);
  return s;
}

// Replicas: given, or what is left of the devices.
void read_replicas(RowReader& row, Strategy& s, std::string& unsupported) {
  const double others = static_cast<double>(s.tp) * s.pp * s.cp;
  const double gpus = row.whole_or("gpus", 0, 0, 1e7);
  s.dp = row.whole_or("dp", 0, 0, 1e7);
  if (s.dp == 0) s.dp = gpus > 0 ? static_cast<int>(gpus / others) : 1;
  if (s.dp < 1) s.dp = 1;
  if (gpus > 0 && others * s.dp != gpus) {
    unsupported = "gpus is not tp x pp x cp x dp";
  }
}

}  // namespace

TrainCase read_train(RowReader& row, std::string& unsupported) {
  TrainCase c;
  c.runtime = row.text("runtime");
  c.model = row.text("model");
  c.columns = read_model_columns(row);
  if (c.model.empty() && !c.columns.complete()) {
    row.problem("model", "a row without a model's name gives layers, hidden, heads and vocab");
  }
  c.work.batch = row.whole("batch", 1, 1e8);
  c.work.seq = row.whole("seq", 1, 1e8);
  const std::string optimizer = row.text("optimizer");
  if (!optimizer.empty() && !parse_enum(optimizer, c.work.optimizer)) {
    unsupported = "optimizer '" + optimizer + "' is not modelled";
  }
  c.strategy = read_strategy(row);
  read_replicas(row, c.strategy, unsupported);
  if (!row.text("sp").empty()) c.sp = row.whole_or("sp", 0, 0, 1) != 0;
  const std::string metric = row.text("metric");
  if (!parse_enum(metric, c.metric)) unsupported = "metric '" + metric + "' is not modelled";
  // Written in units of 2^30 by the loggers these columns come from.
  c.allocated = Bytes(row.number_or("allocated_gb", 0, 0, 1e9) * 1024 * 1024 * 1024);
  return c;
}

}  // namespace sextant
