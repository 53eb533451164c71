// SPDX-License-Identifier: Apache-2.0
// Fitting the few constants of a device's mechanisms, of a kernel or communication library, or of a
// software stack, to measurements; judged by families of cases that the fit did not see.
#pragma once

#include <string>
#include <vector>

#include "sextant/validate/validate.hpp"

namespace sextant {

struct CalibrationOptions {
  int folds = 5;
  int evaluations = 2000;  ///< of the objective, for each fit
  int most_cases = 1500;   ///< a fit looks at no more than these, evenly taken
  Progress progress = {};
};

/// A fitted constant.
struct FittedConstant {
  std::string name;
  double before = 0;
  double after = 0;
  bool at_bound = false;  ///< the data would push it further: it is not determined
};

struct Calibration {
  std::string name;   ///< what was fitted: "mechanism", "prefill", …
  Accuracy before;    ///< on all cases given, with the constants that were there
  Accuracy fit;       ///< on all cases given
  Accuracy left_out;  ///< on each fold, fitted without it
  std::vector<CaseResult> left_out_results;
  std::vector<FittedConstant> constants;
  Provenance provenance;  ///< of a preset of which the fit is all
};

/// Fits the mechanism of one device to its GEMM cases, and records where it comes from. Throws
/// InputError when the cases are too few or too alike to determine the constants.
Calibration calibrate_device(const std::vector<Case>& cases, Device& device, Catalogue& catalogue,
                             const CalibrationOptions& options = {});

/// Fits one mechanism to the GEMM cases of all devices at once: the defaults of unknown devices.
Calibration calibrate_mechanism(const std::vector<Case>& cases, Mechanism& mechanism,
                                Catalogue& catalogue, const CalibrationOptions& options = {});

/// Fits every kernel of a library that the cases speak of, over all their devices at once. Kernels
/// with too few cases are left as they are and named in `refused`; throws InputError when that is
/// all of them.
std::vector<Calibration> calibrate_kernels(const std::vector<Case>& cases, Kernels& kernels,
                                           Catalogue& catalogue,
                                           const CalibrationOptions& options = {},
                                           std::vector<Diagnostic>* refused = nullptr);

/// Fits a communication library to its cases, over all their systems at once, and with it what it
/// finds of the fabrics inside their nodes: latency and payload share, returned in `fabrics` by
/// name. All starts and steps are in latencies, so that of the fabric with most cases stays.
Calibration calibrate_collectives(const std::vector<Case>& cases, CollectiveLibrary& library,
                                  std::vector<Fabric>& fabrics, Catalogue& catalogue,
                                  const CalibrationOptions& options = {});

/// Fits a software stack's host costs, its ranks' spread and an engine's to whatever of it the
/// cases are: steps, requests, serving under load (ten minutes of it on one's own cluster are
/// enough).
Calibration calibrate_runtime(const std::vector<Case>& cases, Runtime& runtime,
                              Catalogue& catalogue, const CalibrationOptions& options = {});

/// Every case predicted by constants fitted without its family of shapes: devices to their GEMMs,
/// libraries to other kernels, runtimes to whole steps and requests.
std::vector<CaseResult> leave_families_out(const std::vector<Case>& cases, Catalogue& catalogue,
                                           const CalibrationOptions& options = {});

/// Results on each device with a mechanism fitted to the others alone: what an unknown device gets.
std::vector<CaseResult> leave_devices_out(const std::vector<Case>& cases, Catalogue& catalogue,
                                          const CalibrationOptions& options = {});

}  // namespace sextant
