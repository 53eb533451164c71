// SPDX-License-Identifier: Apache-2.0
// `sextant validate` and `sextant calibrate`: predicted against measured, and fitting to it.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/figure.hpp"
#include "cli/terminal.hpp"
#include "sextant/answer/accuracy.hpp"
#include "sextant/io/files.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/write.hpp"
#include "sextant/options/settings.hpp"
#include "sextant/units/format.hpp"

namespace sextant::cli {
namespace {

sextant::Progress progress_of(Progress& bar) {
  return [&bar](double share) { bar.set(static_cast<std::int64_t>(share * 1000)); };
}

// Only what was fitted: a preset that extends the library it started from.
Node fitted_tables(const std::string& base, const Kernels& kernels,
                   const std::vector<Calibration>& fits) {
  const Node all = write(kernels);
  Node node = Node::table();
  node.set("name", Node::of(kernels.name));
  node.set("extends", Node::of(base));
  for (const Calibration& c : fits) {
    const std::size_t dot = c.name.find('.');
    const std::string outer = c.name.substr(0, dot);
    const Node* table = all.find(outer);
    if (table == nullptr) continue;
    if (dot == std::string::npos) {
      node.set(outer, *table);
      continue;
    }
    const std::string inner = c.name.substr(dot + 1);
    Node group = node.find(outer) != nullptr ? *node.find(outer) : Node::table();
    group.set(inner, *table->find(inner));
    node.set(outer, std::move(group));
  }
  node.set("provenance", *all.find("provenance"));
  return node;
}

// The same of single fields: "launch.host".
Node fitted_fields(const std::string& base, const Runtime& runtime, const Calibration& fit) {
  const Node all = write(runtime);
  Node node = Node::table();
  node.set("name", Node::of(runtime.name));
  node.set("extends", Node::of(base));
  for (const FittedConstant& k : fit.constants) {
    const std::size_t dot = k.name.find('.');
    if (dot == std::string::npos) {
      node.set(k.name, *all.find(k.name));
      continue;
    }
    const std::string outer = k.name.substr(0, dot);
    const std::string inner = k.name.substr(dot + 1);
    Node table = node.find(outer) != nullptr ? *node.find(outer) : Node::table();
    table.set(inner, *all.find(outer)->find(inner));
    node.set(outer, std::move(table));
  }
  node.set("provenance", write(fit.provenance));
  return node;
}

}  // namespace

Answer run_validate(const ValidateOptions& options, const Common& common) {
  check_figure_path(options.plot);
  std::vector<Case> cases = load_cases(options.cases);
  Catalogue catalogue(
      settings_of(common, {"system", "device", "model", "runtime", "kernel", "collective"}));
  std::vector<CaseResult> results;
  {
    const bool fits = options.leave_devices_out || options.leave_families_out;
    Progress bar(fits ? "fitting" : "predicting", 1000);
    const CalibrationOptions fitting{.evaluations = 1200, .progress = progress_of(bar)};
    results = options.leave_devices_out    ? leave_devices_out(cases, catalogue, fitting)
              : options.leave_families_out ? leave_families_out(cases, catalogue, fitting)
                                           : validate(cases, catalogue, progress_of(bar));
  }
  if (options.ranking) return ranking_answer(rank_runs(cases, results));
  if (options.by_device) {
    for (CaseResult& r : results) r.group += " " + r.device;
  }
  if (options.by_metric) {
    for (CaseResult& r : results) r.group += " " + r.metric;
  }
  if (!options.against.empty()) {
    return against_answer(
        against(results, parse_csv(read_file(options.against, max_csv_bytes), options.against)));
  }
  return with_figure(accuracy_answer(results), options.plot);
}

namespace {

/// What a fit lacks has no place but the flag that asked for it.
std::vector<Diagnostic> placed(const InputError& e, const CalibrateOptions& options) {
  const char* flag = !options.device.empty()        ? "--device"
                     : !options.collectives.empty() ? "--collectives"
                     : !options.runtime.empty()     ? "--runtime"
                     : !options.kernels.empty()     ? "--kernels"
                                                    : "--defaults";
  return placed_at(flag, e);
}

struct Fitted {
  std::vector<Calibration> fits;
  std::vector<Diagnostic> refused;
  std::string preset;  ///< with the constants that were found
};

Fitted fit(const CalibrateOptions& options, const std::vector<Setting>& settings,
           const std::vector<Case>& cases) {
  Catalogue catalogue;
  Progress bar("fitting", 1000);
  const CalibrationOptions fitting{
      .folds = options.folds, .evaluations = options.evaluations, .progress = progress_of(bar)};
  if (!options.device.empty()) {
    Device device = load_device(options.device, settings);
    const Calibration found = calibrate_device(cases, device, catalogue, fitting);
    Node node = Node::table();
    node.set("name", Node::of(device.name));
    node.set("extends", Node::of(options.device));
    node.set("mechanism", write(device.mechanism));
    node.set("provenance", write(device.provenance));
    return {{found}, {}, to_toml(node)};
  }
  if (options.defaults) {
    Mechanism mechanism;
    const Calibration found = calibrate_mechanism(cases, mechanism, catalogue, fitting);
    Node node = Node::table();
    node.set("mechanism", write(mechanism));
    return {{found}, {}, to_toml(node)};
  }
  if (!options.collectives.empty()) {
    CollectiveLibrary library = load_collectives(options.collectives, settings);
    std::vector<Fabric> fabrics;
    const Calibration found = calibrate_collectives(cases, library, fabrics, catalogue, fitting);
    return {{found}, {}, to_toml(write(library))};
  }
  if (!options.runtime.empty()) {
    Runtime runtime = load_runtime(options.runtime, settings);
    const Calibration found = calibrate_runtime(cases, runtime, catalogue, fitting);
    return {{found}, {}, to_toml(fitted_fields(options.runtime, runtime, found))};
  }
  Kernels kernels = load_kernels(options.kernels, settings);
  Fitted x;
  x.fits = calibrate_kernels(cases, kernels, catalogue, fitting, &x.refused);
  x.preset = to_toml(fitted_tables(options.kernels, kernels, x.fits));
  return x;
}

}  // namespace

Answer run_calibrate(const CalibrateOptions& options, const Common& common) {
  const int chosen = (options.runtime.empty() ? 0 : 1) + (options.device.empty() ? 0 : 1) +
                     (options.kernels.empty() ? 0 : 1) + (options.collectives.empty() ? 0 : 1) +
                     (options.defaults ? 1 : 0);
  if (chosen != 1) {
    throw InputError(chosen == 0 ? "calibrate: say what to fit"
                                 : fmt::format("calibrate: {} things to fit at once", chosen),
                     "one of --device NAME, --kernels NAME, --collectives NAME, --runtime NAME or "
                     "--defaults");
  }
  const std::vector<Setting> settings =
      settings_of(common, {"device", "kernel", "collective", "runtime"});
  const std::vector<Case> cases = load_cases(options.cases);
  const Fitted x = [&] {
    try {
      return fit(options, settings, cases);
    } catch (const InputError& e) {
      throw InputError(placed(e, options));
    }
  }();
  const Answer report = calibration_answer(x.fits, x.refused);
  if (common.format == Format::json) return report;
  // With -o the file is the preset; the report goes to standard error, where a person sees it.
  if (common.output.empty()) return Answer::verbatim(report.text() + x.preset);
  std::fputs(report.text().c_str(), stderr);
  return Answer::verbatim(x.preset);
}

}  // namespace sextant::cli
