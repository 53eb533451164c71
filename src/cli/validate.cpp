// SPDX-License-Identifier: Apache-2.0
// `sextant validate` and `sextant calibrate`: predicted against measured, and fitting to it.
#include <fmt/format.h>

#include <filesystem>

#include "cli/answer.hpp"
#include "cli/flags.hpp"
#include "cli/terminal.hpp"
#include "sextant/io/embedded.hpp"
#include "sextant/io/files.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/write.hpp"
#include "sextant/report/plot.hpp"
#include "sextant/report/table.hpp"
#include "sextant/units/format.hpp"
#include "sextant/validate/calibrate.hpp"
#include "sextant/validate/ranking.hpp"

namespace sextant::cli {
namespace {

Node to_node(const std::vector<Accuracy>& groups, const std::vector<CaseResult>& results) {
  Node root = Node::table();
  Node& list = root.set("groups", Node::array());
  for (const Accuracy& a : groups) {
    Node& g = list.push(Node::table());
    g.set("name", Node::of(a.name));
    g.set("cases", Node::of(a.cases));
    g.set("mape", Node::of(a.mape));
    g.set("median_ape", Node::of(a.median_ape));
    g.set("p90_ape", Node::of(a.p90_ape));
    g.set("bias", Node::of(a.bias));
    g.set("unsupported", Node::of(a.unsupported));
  }
  Node& rows = root.set("rows", Node::array());
  for (const CaseResult& r : results) {
    Node& row = rows.push(Node::table());
    row.set("id", Node::of(r.id));
    row.set("group", Node::of(r.group));
    if (!r.unsupported.empty()) {
      row.set("unsupported", Node::of(r.unsupported));
    } else {
      row.set("predicted", Node::of(r.predicted));
      row.set("measured", Node::of(r.measured));
      row.set("error", Node::of(r.error));
      row.set("metric", Node::of(r.metric));
      row.set("bound", Node::of(r.bound));
    }
  }
  return root;
}

Node to_node(const std::vector<Ranking>& rankings) {
  Node root = Node::table();
  Node& list = root.set("rankings", Node::array());
  for (const Ranking& r : rankings) {
    Node& n = list.push(Node::table());
    n.set("name", Node::of(r.name));
    n.set("cases", Node::of(r.cases));
    n.set("spearman", Node::of(r.spearman));
    n.set("best_predicted_of_best_measured", Node::of(r.chosen));
  }
  return root;
}

TextTable accuracy_table(const std::vector<Accuracy>& groups) {
  using enum Align;
  TextTable t;
  t.columns = {{"cases of"},          {"number", right},        {"mean error", right},
               {"median", right},     {"9 in 10 under", right}, {"bias", right},
               {"unsupported", right}};
  for (const Accuracy& a : groups) {
    if (a.name == "all" && groups.size() > 1) t.rows.push_back({});
    const bool any = a.cases > 0;
    t.rows.push_back({a.name, std::to_string(a.cases), any ? format_percent(a.mape) : "",
                      any ? format_percent(a.median_ape) : "", any ? format_percent(a.p90_ape) : "",
                      any ? fmt::format("{:+.1f} %", a.bias * 100) : "",
                      a.unsupported > 0 ? std::to_string(a.unsupported) : ""});
  }
  return t;
}

TextTable ranking_table(const std::vector<Ranking>& rankings) {
  using enum Align;
  TextTable t;
  t.columns = {{"runs of"},
               {"number", right},
               {"rank correlation", right},
               {"best predicted, of the best measured", right}};
  for (const Ranking& r : rankings) {
    t.rows.push_back({r.name, std::to_string(r.cases), fmt::format("{:+.2f}", r.spearman),
                      format_percent(r.chosen)});
  }
  return t;
}

std::string ranking_text(const std::vector<Ranking>& rankings) {
  const auto right = std::count_if(rankings.begin(), rankings.end(),
                                   [](const Ranking& r) { return r.chosen >= 0.95; });
  return render_text(ranking_table(rankings)) +
         fmt::format("\nthe best predicted is within 5 % of the best measured in {} of {} groups\n",
                     right, rankings.size());
}

TextTable row_table(const std::vector<CaseResult>& results) {
  TextTable t;
  t.columns = {{"id"},       {"group"}, {"device"}, {"metric"},     {"predicted"},
               {"measured"}, {"error"}, {"bound"},  {"unsupported"}};
  for (const CaseResult& r : results) {
    const bool ok = r.unsupported.empty();
    t.rows.push_back({r.id, r.group, r.device, r.metric, ok ? write_number(r.predicted) : "",
                      write_number(r.measured), ok ? write_number(r.error) : "",
                      ok ? std::string(r.bound) : "", r.unsupported});
  }
  return t;
}

// The unit that all results share: seconds, bytes, or none.
std::optional<Dimension> shared_dimension(const std::vector<CaseResult>& results) {
  std::optional<Dimension> shared;
  for (const CaseResult& r : results) {
    std::optional<Dimension> own;
    if (r.metric.ends_with("seconds")) own = Seconds::dimension;
    if (r.metric.find("bytes") != std::string::npos) own = Bytes::dimension;
    if (!own || (shared && !(*shared == *own))) return std::nullopt;
    shared = own;
  }
  return shared;
}

plot::Figure scatter(const std::vector<CaseResult>& results) {
  const std::optional<Dimension> unit = shared_dimension(results);
  plot::Figure f = plot::parity_figure("Predicted against measured", unit);
  if (!unit) f.x.label += ", each in the unit of its metric";
  // A figure of more than a few thousand dots says no more and takes megabytes.
  constexpr std::size_t most = 4000;
  const std::size_t step = 1 + results.size() / most;
  for (std::size_t i = 0; i < results.size(); i += step) {
    const CaseResult& r = results[i];
    if (!r.unsupported.empty()) continue;
    auto series = std::find_if(f.series.begin(), f.series.end(),
                               [&](const plot::Series& s) { return s.name == r.group; });
    if (series == f.series.end())
      series = f.series.insert(f.series.end(),
                               {.name = r.group, .mark = plot::Mark::dots, .points = {}});
    series->points.push_back(
        {r.measured, r.predicted, fmt::format("{}: {:+.1f} %", r.id, r.error * 100)});
  }
  return f;
}

// The reasons rows have no prediction, most frequent first.
std::string reasons(const std::vector<CaseResult>& results) {
  std::map<std::string, int> counts;
  for (const CaseResult& r : results) {
    if (!r.unsupported.empty()) ++counts[r.unsupported];
  }
  if (counts.empty()) return "";
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [reason, n] : counts) sorted.emplace_back(-n, reason);
  std::sort(sorted.begin(), sorted.end());
  std::string text = "\nunsupported:\n";
  for (const auto& [n, reason] : sorted) text += fmt::format("  {:6}  {}\n", -n, reason);
  return text;
}

sextant::Progress progress_of(Progress& bar) {
  return [&bar](double share) { bar.set(static_cast<std::int64_t>(share * 1000)); };
}

std::string with_bounds(const Calibration& c) {
  TextTable t;
  t.columns = {{"constant"}, {"before", Align::right}, {"after", Align::right}, {""}};
  for (const FittedConstant& k : c.constants) {
    t.rows.push_back({k.name, fmt::format("{:.4g}", k.before), fmt::format("{:.4g}", k.after),
                      k.at_bound ? "at its bound: the cases do not determine it" : ""});
  }
  return fmt::format(
             "{}: {} cases, mean error {} (median {}), on families left out {} (median {})\n",
             c.name, c.fit.cases, format_percent(c.fit.mape), format_percent(c.fit.median_ape),
             format_percent(c.left_out.mape), format_percent(c.left_out.median_ape)) +
         render_text(t, {.indent = 2}) + "\n";
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

Node to_node(const std::vector<Calibration>& fits) {
  Node root = Node::table();
  Node& list = root.set("fits", Node::array());
  for (const Calibration& c : fits) {
    Node& f = list.push(Node::table());
    f.set("name", Node::of(c.name));
    f.set("cases", Node::of(c.fit.cases));
    f.set("fit_mape", Node::of(c.fit.mape));
    f.set("left_out_mape", Node::of(c.left_out.mape));
    Node& constants = f.set("constants", Node::table());
    for (const FittedConstant& k : c.constants) constants.set(k.name, Node::of(k.after));
    if (c.provenance.cases > 0) f.set("provenance", write(c.provenance));
  }
  return root;
}

}  // namespace

std::vector<Case> load_cases(const std::vector<std::string>& files) {
  std::vector<Case> all;
  std::vector<Diagnostic> problems;
  const auto add = [&](std::string text, const std::string& file) {
    try {
      const std::vector<Case> cases = read_cases(parse_csv(std::move(text), file));
      all.insert(all.end(), cases.begin(), cases.end());
    } catch (const InputError& e) {
      problems.insert(problems.end(), e.diagnostics().begin(), e.diagnostics().end());
    }
  };
  for (const std::string& f : files) add(read_file(f, max_csv_bytes), f);
  if (files.empty()) {
    for (const EmbeddedFile& f : embedded_cases()) add(f.text(), std::string(f.path));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return all;
}

std::string run_validate(const ValidateOptions& options, const Common& common) {
  check_figure_path(options.plot);
  std::vector<Case> cases = load_cases(options.cases);
  Catalogue catalogue;
  std::vector<CaseResult> results;
  {
    const bool fits = options.leave_devices_out || options.leave_families_out;
    Progress bar(fits ? "fitting" : "predicting", 1000);
    const CalibrationOptions fitting{.evaluations = 1200, .progress = progress_of(bar)};
    results = options.leave_devices_out    ? leave_devices_out(cases, catalogue, fitting)
              : options.leave_families_out ? leave_families_out(cases, catalogue, fitting)
                                           : validate(cases, catalogue, progress_of(bar));
  }
  if (options.ranking) {
    const std::vector<Ranking> rankings = rank_runs(cases, results);
    if (common.format == Format::json) return to_json(to_node(rankings)) + "\n";
    if (common.format == Format::csv) return render_csv(ranking_table(rankings));
    return ranking_text(rankings);
  }
  if (options.by_device) {
    for (CaseResult& r : results) r.group += " " + r.device;
  }
  if (options.by_metric) {
    for (CaseResult& r : results) r.group += " " + r.metric;
  }
  const std::vector<Accuracy> groups = summarize_groups(results);
  write_figure(options.plot, scatter(results));
  switch (common.format) {
    case Format::json:
      return to_json(to_node(groups, results)) + "\n";
    case Format::csv:
      return render_csv(row_table(results));
    case Format::html:
      return plot::to_html(plot::to_svg(scatter(results)), "Sextant: predicted against measured");
    case Format::text:
      break;
  }
  return render_text(accuracy_table(groups)) + reasons(results);
}

std::string run_calibrate(const CalibrateOptions& options, const Common& common) {
  const int chosen = (options.device.empty() ? 0 : 1) + (options.kernels.empty() ? 0 : 1) +
                     (options.collectives.empty() ? 0 : 1) + (options.defaults ? 1 : 0);
  if (chosen != 1) {
    throw InputError("calibrate: say what to fit",
                     "one of --device NAME, --kernels NAME, --collectives NAME or --defaults");
  }
  const std::vector<Setting> settings = settings_of(common, {"device", "kernel", "collective"});
  const std::vector<Case> cases = load_cases(options.cases);
  Catalogue catalogue;
  std::vector<Calibration> fits;
  std::vector<Diagnostic> refused;
  std::string preset;
  {
    Progress bar("fitting", 1000);
    const CalibrationOptions fitting{
        .folds = options.folds, .evaluations = options.evaluations, .progress = progress_of(bar)};
    if (!options.device.empty()) {
      Device device = load_device(options.device, settings);
      fits.push_back(calibrate_device(cases, device, catalogue, fitting));
      Node node = Node::table();
      node.set("name", Node::of(device.name));
      node.set("extends", Node::of(options.device));
      node.set("mechanism", write(device.mechanism));
      node.set("provenance", write(device.provenance));
      preset = to_toml(node);
    } else if (options.defaults) {
      Mechanism mechanism;
      fits.push_back(calibrate_mechanism(cases, mechanism, catalogue, fitting));
      Node node = Node::table();
      node.set("mechanism", write(mechanism));
      preset = to_toml(node);
    } else if (!options.collectives.empty()) {
      CollectiveLibrary library = load_collectives(options.collectives, settings);
      std::vector<Fabric> fabrics;
      fits.push_back(calibrate_collectives(cases, library, fabrics, catalogue, fitting));
      preset = to_toml(write(library));
    } else {
      Kernels kernels = load_kernels(options.kernels, settings);
      fits = calibrate_kernels(cases, kernels, catalogue, fitting, &refused);
      preset = to_toml(fitted_tables(options.kernels, kernels, fits));
    }
  }
  if (common.format == Format::json) return to_json(to_node(fits)) + "\n";
  // With -o the file is the preset; the report goes to standard error, where a person sees it.
  std::string report;
  for (const Calibration& c : fits) report += with_bounds(c);
  for (const Diagnostic& d : refused) report += "left as it was: " + to_text(d) + "\n\n";
  if (common.output.empty()) return report + preset;
  std::fputs(report.c_str(), stderr);
  return preset;
}

}  // namespace sextant::cli
