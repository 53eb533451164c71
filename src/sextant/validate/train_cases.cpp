// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/train_cases.hpp"

#include "sextant/validate/input_columns.hpp"

namespace sextant {

TrainCase read_train(RowReader& row, std::string& unsupported) {
  TrainCase c;
  c.runtime = row.text("runtime");
  c.model = row.text("model");
  c.backend = row.text("backend");
  c.columns = read_model_columns(row, c.model);
  c.inputs = read_input_columns(row, Task::train, {"batch", "seq"}, {"optimizer"});
  const std::string optimizer = row.text("optimizer");
  if (!optimizer.empty() && !parse_enum(optimizer, c.inputs.training.optimizer)) {
    unsupported = "optimizer '" + optimizer + "' is not modelled";
  }
  const std::string metric = row.text("metric");
  if (metric == "reserved_gb") {
    unsupported =
        "'reserved_gb' is not modelled: an allocator keeps what the order of its calls left; "
        "'allocated_gb' is";
  } else if (!parse_enum(metric, c.metric)) {
    unsupported = "metric '" + metric + "' is not modelled";
  }
  c.allocated = row.number_or("allocated_gb", 0, 0, 1e9) * logged_gigabyte;
  return c;
}

}  // namespace sextant
