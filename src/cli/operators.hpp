// SPDX-License-Identifier: Apache-2.0
// Operators of a step or a pass for people and programs: work, traffic, intensity against the
// ridges, time, bound; and the roofline they lie under.
#pragma once

#include <string>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/predict/train.hpp"
#include "sextant/report/plot.hpp"
#include "sextant/report/table.hpp"

namespace sextant::cli {

struct OperatorList {
  std::string title;    ///< everything about the pass
  std::string heading;  ///< "decode of llama2-13b on h100-sxm", over the figure
  std::vector<Operator> operators;
  Seconds whole;  ///< what shares are of
  Precision type = Precision::bf16;
  FlopsPerSecond peak;        ///< of the matrix units at that type, datasheet
  FlopsPerSecond peak_16bit;  ///< attention runs in 16 bits
  BytesPerSecond dram;
  BytesPerSecond l2;
  FlopsPerByte dram_ridge() const { return peak / dram; }
  FlopsPerByte l2_ridge() const { return peak / l2; }
};

/// Rates of the problem's device.
OperatorList list_operators(const Problem& problem, const Strategy& strategy,
                            std::vector<Operator> operators, Seconds whole);

std::string operators_text(const OperatorList& list);
/// One line an operator; of several lists the title says which.
std::string operators_csv(const std::vector<OperatorList>& lists);
Node operators_node(const OperatorList& list);
/// Work rate over intensity, both logarithmic: the roofs of compute, DRAM and L2, and a dot a
/// kernel.
plot::Figure roofline(const OperatorList& list);

}  // namespace sextant::cli
