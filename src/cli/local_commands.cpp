// SPDX-License-Identifier: Apache-2.0
// Commands that need this machine: its files, or libraries that a web page has not.
#include "cli/command_table.hpp"
#include "cli/commands.hpp"

namespace sextant::cli {

std::vector<Command> local_commands() {
  return {
      command<SweepOptions, run_sweep>("sweep", "every point of a plan, into a file of results",
                                       "sextant sweep plan.toml -o results.db"),
      command<ReportOptions, run_report>(
          "report", "a figure or a table of a sweep's results",
          "sextant report results.db --x tp --y tokens_per_second_per_gpu -o figure.svg"),
      command<StudyOptions, run_study>("study",
                                       "a published analysis, reproduced: a table and a figure",
                                       "sextant study training-validation -o studies"),
      command<CalibrateOptions, run_calibrate>(
          "calibrate", "fit a device or a kernel library to measurements",
          "sextant calibrate --cases gemm.csv --device h200-sxm -o my.toml"),
  };
}

}  // namespace sextant::cli
