// SPDX-License-Identifier: Apache-2.0
// The commands: each takes its options (cli/options) and returns what it has to say. The table of
// them is in command_table.cpp; only main.cpp knows CLI11.
#pragma once

#include <string>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/options/common.hpp"
#include "sextant/options/compare.hpp"
#include "sextant/options/import.hpp"
#include "sextant/options/infer.hpp"
#include "sextant/options/model.hpp"
#include "sextant/options/ops.hpp"
#include "sextant/options/presets.hpp"
#include "sextant/options/profile.hpp"
#include "sextant/options/rl.hpp"
#include "sextant/options/search.hpp"
#include "sextant/options/study.hpp"
#include "sextant/options/sweep.hpp"
#include "sextant/options/tech.hpp"
#include "sextant/options/traffic.hpp"
#include "sextant/options/train.hpp"
#include "sextant/options/validate.hpp"

namespace sextant::cli {

Answer run_list(const ListOptions& options, const Common& common);
Answer run_show(const ShowOptions& options, const Common& common);
Answer run_model(const ModelOptions& options, const Common& common);
Answer run_ops(const OpsOptions& options, const Common& common);
Answer run_collective(const CollectiveOptions& options, const Common& common);
Answer run_train(const TrainOptions& options, const Common& common);
Answer run_ops_train(const OpsTrainOptions& options, const Common& common);
Answer run_infer(const InferOptions& options, const Common& common);
Answer run_ops_infer(const OpsInferOptions& options, const Common& common);
Answer run_compare(const CompareOptions& options, const Common& common);
Answer run_import(const ImportOptions& options, const Common& common);
Answer run_traffic(const TrafficOptions& options, const Common& common);
Answer run_rl(const RlOptions& options, const Common& common);
Answer run_profile(const ProfileOptions& options, const Common& common);
Answer run_search(const SearchOptions& options, const Common& common);
Answer run_tech(const TechOptions& options, const Common& common);
std::string run_sweep(const SweepOptions& options, const Common& common);
Answer run_report(const ReportOptions& options, const Common& common);
Answer run_study(const StudyOptions& options, const Common& common);
Answer run_validate(const ValidateOptions& options, const Common& common);
Answer run_calibrate(const CalibrateOptions& options, const Common& common);

}  // namespace sextant::cli

namespace sextant {
/// Throws all that is wrong with what is asked, where numbers among it could not be read.
void check_scenario(const TechOptions& options, const Common& common);
void check_scenario(const ModelOptions& options, const Common& common);
}  // namespace sextant
