// SPDX-License-Identifier: Apache-2.0
// Operators of a step or a pass for people and programs: work, traffic, intensity against the
// ridges, time, bound; and the roofline they lie under.
#pragma once

#include <string>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/predict/train.hpp"
#include "sextant/predict/uncertainty.hpp"

namespace sextant {

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
  bool passes() const;  ///< it has more than one: forward, backward
  FlopsPerByte dram_ridge() const { return peak / dram; }
  FlopsPerByte l2_ridge() const { return peak / l2; }
};

/// Rates of the problem's device; `type` is what multiplies run in.
OperatorList list_operators(const Problem& problem, Precision type, std::vector<Operator> operators,
                            Seconds whole);

/// A record each; of CSV with the list's ridges and its title, since several lists may follow one
/// another there.
Records operator_records(const OperatorList& list);
Records operator_lines(const std::vector<OperatorList>& lists);
/// Title, ridges and operators.
Record record_of(const OperatorList& list);
void say(Answer& answer, const OperatorList& list);
/// Of a list alone, with its roofline and how sure the whole is.
Answer answer_of(const OperatorList& list, const Likeness& likeness,
                 const std::vector<std::string>& assumptions);
/// Work rate over intensity, both logarithmic: the roofs of compute, DRAM and L2, and a dot a
/// kernel.
plot::Figure roofline(const OperatorList& list);

}  // namespace sextant
