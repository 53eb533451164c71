// SPDX-License-Identifier: Apache-2.0
// `sextant report`: a figure or a table from the results of a sweep.
#include "cli/commands.hpp"
#include "sextant/options/settings.hpp"

namespace sextant::cli {

Answer run_report(const ReportOptions& options, const Common& common) {
  no_settings(common, "results are what the sweep's plan said", "write it there");
  const StoredView view(options);
  if (view.lists_columns()) return view.columns();
  const auto ends = [&](std::string_view end) { return common.output.ends_with(end); };
  const auto wants = [&](Format f) { return common.output.empty() && common.format == f; };
  const auto said = [](std::string text) { return Answer::verbatim(std::move(text)); };
  if (ends(".csv") || wants(Format::csv)) return said(render_csv(view.table(false)));
  if (ends(".json") || wants(Format::json)) return said(view.json());
  if (ends(".svg")) return said(plot::to_svg(view.figure()));
  if (ends(".html") || common.format == Format::html) {
    return said(plot::to_html(plot::to_svg(view.figure()), "Sextant: " + view.title()));
  }
  return said(render_text(view.table(true)));
}

}  // namespace sextant::cli
