// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/against.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "sextant/units/parse.hpp"

namespace sextant {
namespace {

using Key = std::pair<std::string, std::string>;  // id and metric
/// Of one case; none where there was no prediction. Files may have rows of one id and metric, which
/// keep their order.
using ErrorsInOrder = std::deque<std::optional<double>>;

std::map<Key, ErrorsInOrder> errors_of(const CsvTable& table) {
  const auto id = table.column("id");
  const auto metric = table.column("metric");
  const auto error = table.column("error");
  if (!id || !metric || !error) {
    throw InputError("--against: " + table.file() + " lacks the columns id, metric and error",
                     "give a file that 'sextant validate --format csv -o FILE' wrote");
  }
  std::map<Key, ErrorsInOrder> errors;
  std::vector<Diagnostic> problems;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const auto cells = table.row(i).cells;
    std::optional<double>& known =
        errors[{std::string(cells[*id]), std::string(cells[*metric])}].emplace_back();
    if (cells[*error].empty()) continue;
    known = parse_number(cells[*error]);
    if (!known) problems.push_back(table.problem(i, *error, "expected a number, such as -0.05"));
  }
  throw_if_any(std::move(problems));
  return errors;
}

}  // namespace

double MovedCase::growth() const { return std::abs(now) - std::abs(before); }

MovedCases against(const std::vector<CaseResult>& now, const CsvTable& before) {
  std::map<Key, ErrorsInOrder> errors = errors_of(before);
  MovedCases all;
  for (const CaseResult& r : now) {
    const auto known = errors.find({r.id, r.metric});
    if (known == errors.end() || known->second.empty()) continue;
    const std::optional<double> then = known->second.front();
    known->second.pop_front();
    const bool predicted = r.unsupported.empty();
    if (predicted && then) {
      all.moved.push_back({r.id, r.group, r.metric, *then, r.error});
    } else if (predicted || then) {
      (predicted ? all.won : all.lost).push_back(r.id + " " + r.metric);
    }
  }
  std::stable_sort(all.moved.begin(), all.moved.end(),
                   [](const MovedCase& a, const MovedCase& b) { return a.growth() > b.growth(); });
  return all;
}

}  // namespace sextant
