// SPDX-License-Identifier: Apache-2.0
// The options of a command as a scenario.
#pragma once

#include <functional>

#include "sextant/options/common.hpp"
#include "sextant/options/infer.hpp"
#include "sextant/options/train.hpp"
#include "sextant/scenario/neighbours.hpp"
#include "sextant/scenario/scenario.hpp"

namespace sextant {

/// What the options ask; `task` says of whom.
Question question_of(const ScenarioOptions& options, const Common& common, Task task);

/// Throw InputError with everything that is wrong with the flags.
/// Of the options that could not be read, those that are fields of the scenario, as such.
void mark_unread(const Common& common, Node& given);

Scenario read_training(const TrainOptions& options, const Common& common);
Scenario read_serving(const InferOptions& options, const Common& common);

/// Throws what is wrong with the scenario, as far as it can be read.
inline void check_scenario(const TrainOptions& o, const Common& c) { read_training(o, c); }
inline void check_scenario(const InferOptions& o, const Common& c) { read_serving(o, c); }

/// Parts of an answer that only programs read, asked for where people read it.
std::vector<Diagnostic> check_readers(const TrainOptions& options, const Common& common);
std::vector<Diagnostic> check_readers(const InferOptions& options, const Common& common);

/// Throws problems of reading options, and beside them what `check` finds wrong with what was read
/// of the others.
[[noreturn]] void refuse(std::vector<Diagnostic> problems, Common common,
                         const std::function<void(const Common&)>& check);

}  // namespace sextant
