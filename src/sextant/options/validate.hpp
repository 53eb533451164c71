// SPDX-License-Identifier: Apache-2.0
// Options of `validate` and `calibrate`.
#pragma once

#include "sextant/options/option.hpp"

namespace sextant {

struct ValidateOptions {
  std::vector<std::string> cases;  ///< files; empty: those inside the program
  std::string plot;                ///< .svg or .html
  std::string against;             ///< a CSV that an earlier version wrote
  bool by_device = false;
  bool by_metric = false;
  bool ranking = false;
  bool leave_families_out = false;
  bool leave_devices_out = false;
};

template <class V>
void describe(V& v, ValidateOptions& o) {
  v("cases", o.cases,
    {.help = "case files; without, those inside the program",
     .placeholder = "FILE",
     .local = true});
  v("plot", o.plot,
    {.help = "write a figure: out.svg or out.html", .placeholder = "FILE", .local = true});
  v("against", o.against,
    {.help = "case by case against what an earlier version wrote with --format csv",
     .placeholder = "FILE",
     .local = true});
  v("by_device", o.by_device, {.help = "a line for each device of a file"});
  v("by_metric", o.by_metric, {.help = "a line for each metric of a file"});
  v("ranking", o.ranking,
    {.help = "whether the best predicted strategy of a model is the best measured"});
  // Minutes of work: not for a server to be asked.
  v("leave_families_out", o.leave_families_out,
    {.help = "refit without each family of shapes, and predict it (minutes)", .local = true});
  v("leave_devices_out", o.leave_devices_out,
    {.help = "predict each device's GEMMs with constants fitted to the others", .local = true});
}

struct CalibrateOptions {
  std::vector<std::string> cases;
  std::string device;  ///< one of these five
  std::string kernels;
  std::string collectives;
  std::string runtime;
  bool defaults = false;
  int folds = 5;
  int evaluations = 2000;
};

template <class V>
void describe(V& v, CalibrateOptions& o) {
  v("cases", o.cases,
    {.help = "case files; without, those inside the program",
     .placeholder = "FILE",
     .local = true});
  v("device", o.device,
    {.help = "fit this device's mechanism to its GEMMs", .preset = PresetKind::device});
  v("kernels", o.kernels, {.help = "fit this kernel library", .preset = PresetKind::kernel});
  v("collectives", o.collectives,
    {.help = "fit this communication library, and the fabrics inside nodes",
     .preset = PresetKind::collective});
  v("runtime", o.runtime,
    {.help = "fit this stack's host costs and spread to steps, requests or runs under load",
     .preset = PresetKind::runtime});
  v("defaults", o.defaults, {.help = "fit one mechanism to all devices at once"});
  v("folds", o.folds, {.help = "parts of which one at a time is left out", .min = 2, .max = 100});
  v("evaluations", o.evaluations,
    {.help = "of the objective, each fit", .min = 10, .max = 1000000});
}

}  // namespace sextant
