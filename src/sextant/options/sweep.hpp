// SPDX-License-Identifier: Apache-2.0
// Options of `sweep` and `report`.
#pragma once

#include <array>

#include "sextant/answer/stored.hpp"
#include "sextant/options/option.hpp"

namespace sextant {

/// Every point of a plan, into a file of results.
struct SweepOptions {
  std::string plan;
  std::string output;
  std::string format;  ///< sqlite, csv or jsonl; empty: by the output's name
  bool resume = false;
  bool dry_run = false;
  int threads = 0;  ///< 0: as many as the machine runs at once
};

template <class V>
void describe(V& v, SweepOptions& o) {
  static constexpr std::array<std::string_view, 3> formats = {"sqlite", "csv", "jsonl"};
  v("plan", o.plan,
    {.help = "what stays and what varies: plan.toml",
     .required = true,
     .positional = true,
     .local = true});
  v("output", o.output,
    {.help = "results: a SQLite database, or .csv or .jsonl",
     .letter = 'o',
     .placeholder = "FILE",
     .local = true});
  v("format", o.format,
    {.help = "sqlite, csv or jsonl; without, by the output's name",
     .choices = formats,
     .local = true});
  v("resume", o.resume, {.help = "go on with results that are there", .local = true});
  v("dry_run", o.dry_run,
    {.help = "check the plan, count its points, and say how long", .local = true});
  v("threads", o.threads,
    {.help = "workers; 0: as many as there are cores", .local = true, .min = 0, .max = 256});
}

/// A figure or a table of a sweep's results.
struct ReportOptions : StoredQuestion {};

template <class V>
void describe(V& v, ReportOptions& o) {
  static constexpr std::array<std::string_view, 2> picks = {"min", "max"};
  v("results", o.results,
    {.help = "a sweep's SQLite database", .required = true, .positional = true, .local = true});
  v("x", o.x,
    {.help = "column along the figure; without, the columns are listed",
     .placeholder = "COLUMN",
     .doubled = true,
     .local = true});
  v("y", o.y,
    {.help = "column up the figure", .placeholder = "COLUMN", .doubled = true, .local = true});
  v("series", o.series,
    {.help = "column that tells lines apart", .placeholder = "COLUMN", .local = true});
  v("where", o.where,
    {.help = "keep points: 'tp=8', 'device.memory.bandwidth>=4 TB/s'",
     .placeholder = "CONDITION",
     .local = true});
  v("pick", o.pick,
    {.help = "of several points at one place, the one with the least or the largest y: min, max",
     .choices = picks,
     .local = true});
  v("log_x", o.log_x, {.help = "logarithmic", .local = true});
  v("log_y", o.log_y, {.help = "logarithmic", .local = true});
  v("all", o.all, {.help = "also what does not fit memory", .local = true});
}

}  // namespace sextant
