// SPDX-License-Identifier: Apache-2.0
// `sextant sweep`: every point of a plan, into a file of results.
#include "cli/sweep.hpp"

#include <fmt/format.h>

#include <chrono>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/interruption.hpp"
#include "cli/terminal.hpp"
#include "sextant/io/files.hpp"
#include "sextant/io/text.hpp"
#include "sextant/options/settings.hpp"
#include "sextant/sweep/parallel.hpp"
#include "sextant/units/format.hpp"

namespace sextant::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

/// What the plan is, for people: "96 points: system (2) x tp (4) x …".
std::string describe_plan(const sweep::Plan& plan) {
  std::string text = grouped(plan.count) + (plan.count == 1 ? " point: " : " points: ");
  for (std::size_t w = 0; w < plan.wheels.size(); ++w) {
    const sweep::Wheel& wheel = plan.wheels[w];
    if (w > 0) text += " x ";
    for (std::size_t i = 0; i < wheel.axes.size(); ++i) {
      text += (i > 0 ? " with " : "") + plan.axes[wheel.axes[i]].field;
    }
    text += fmt::format(" ({})", wheel.size);
  }
  return text;
}

/// What a row takes in SQLite, roughly: numbers of eight bytes, a few of text.
constexpr double bytes_per_cell = 8.5;

std::string dry_run_text(const sweep::Plan& plan, int threads) {
  const double rate = sweep::measure_rate(plan, sweep::inner_search(), 0.5);
  const auto points = static_cast<double>(plan.count);
  const auto cells = static_cast<double>(plan.axes.size() + sweep::outputs_of(plan).size() + 1);
  return fmt::format("{}\nabout {} with {}, {} points a second each; about {} of results\n",
                     describe_plan(plan),
                     sweep::duration_text(rate > 0 ? points / rate / threads : 0),
                     threads == 1 ? "1 thread" : fmt::format("{} threads", threads),
                     grouped(static_cast<std::uint64_t>(rate)),
                     format_quantity(points * cells * bytes_per_cell, Bytes::dimension, 2));
}

/// False where it was asked to stop before the end.
bool run_plan(const sweep::Plan& plan, sweep::Results& results, int threads) {
  const Interruption catching;
  const std::uint64_t left = results.worklist(threads).points();
  Progress progress("sweep", static_cast<std::int64_t>(left));
  sweep::run(
      plan, results,
      {.threads = threads,
       .search = sweep::inner_search(),
       .stopped = Interruption::asked,
       .progress = [&](std::uint64_t done) { progress.set(static_cast<std::int64_t>(done)); }});
  return results.written() == left;
}

}  // namespace

sweep::Target target_of(const SweepOptions& options) {
  if (options.output.empty()) {
    throw InputError("-o: missing (where the results go)", "write -o results.db");
  }
  sweep::Target target{options.output, store_format_of(options.output), options.resume,
                       SEXTANT_VERSION};
  if (!options.format.empty() && !parse_enum(options.format, target.format)) {
    throw InputError("--format: expected sqlite, csv or jsonl, got " + in_quotes(options.format));
  }
  return target;
}

std::string summary_text(const SweepSummary& s) {
  const std::uint64_t written = s.results.written();
  std::string text = fmt::format("{}\n{} points in {}", describe_plan(s.plan), grouped(written),
                                 sweep::duration_text(s.seconds));
  if (s.seconds > 0.001) {
    const double rate = static_cast<double>(written) / s.seconds;
    text += fmt::format(", {} a second", grouped(static_cast<std::uint64_t>(rate)));
  }
  if (written < s.plan.count) {
    text += fmt::format("; {} were there before", grouped(s.plan.count - written));
  }
  text += "\n";
  for (const auto& [verdict, count] : s.results.verdicts()) {
    text += fmt::format("  {:>14}  {}\n", grouped(count), verdict);
  }
  return text + "results in " + printable(s.options.output, 300) + "\n";
}

std::string run_sweep(const SweepOptions& options, const Common& common) {
  no_settings(common, "a sweep is what its plan says", "write it in [base] of the plan");
  const int threads = options.threads > 0 ? options.threads : sweep::usual_threads();
  const sweep::Plan plan = sweep::read_plan(read_file(options.plan), options.plan);
  sweep::check_objective(plan);
  if (options.dry_run) return dry_run_text(plan, threads);
  sweep::Results results(plan, target_of(options));
  const auto start = Clock::now();
  SweepSummary summary{plan, options, results};
  std::error_code failure;
  try {
    if (!run_plan(plan, results, threads)) failure = std::make_error_code(std::errc::interrupted);
  } catch (const std::system_error& e) {
    failure = e.code();
  }
  if (failure) {
    throw std::system_error(
        failure, fmt::format("{} points were added to '{}'; the same command with --resume goes on",
                             grouped(results.committed()), printable(options.output, 300)));
  }
  summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return summary_text(summary);
}

}  // namespace sextant::cli
