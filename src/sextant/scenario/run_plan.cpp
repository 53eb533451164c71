// SPDX-License-Identifier: Apache-2.0
#include "sextant/scenario/run_plan.hpp"

#include <fmt/format.h>

#include "sextant/io/prices.hpp"
#include "sextant/io/text.hpp"
#include "sextant/io/write.hpp"
#include "sextant/scenario/prices.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {
namespace {

// More than any text there is; a thousand times the largest run.
constexpr double most_tokens = 1e18;

void add(std::vector<Diagnostic>& problems, std::string flag, std::string message,
         std::string hint) {
  problems.push_back(
      {.file = std::move(flag), .message = std::move(message), .hint = std::move(hint)});
}

}  // namespace

const std::vector<InputField>& run_fields() {
  static RunTerms nobodys;
  static const std::vector<InputField> all = listed(reflect(nobodys));
  return all;
}

RunPlan read_run(const RunQuestion& q, std::vector<Diagnostic>& problems) {
  RunPlan plan;
  GivenFields given;
  read_given(reflect(plan.terms), q.given, given, problems);
  if (!q.tokens.empty()) {
    const std::optional<double> tokens = parse_count(q.tokens);
    if (!tokens || !(*tokens >= 1 && *tokens <= most_tokens)) {
      add(problems, "--tokens", "expected 1 to 1e18 tokens, got '" + printable(q.tokens) + "'",
          "such as 15T, 300B or 1.4e12");
    } else {
      plan.tokens = *tokens;
    }
    for (const Slot& f : reflect(plan.terms).fields) {
      if (given.contains(f.name) || f.name == "checkpoint_interval") continue;
      const auto* number = std::get_if<QuantityRef>(&f.target);
      const bool time = number != nullptr && number->dimension == Seconds::dimension;
      plan.assumptions.push_back(
          fmt::format("{} {}", f.name,
                      time                ? format_duration(Seconds(*number->value))
                      : number != nullptr ? format_quantity(*number->value, number->dimension)
                                          : text_of(f.target)));
    }
    return plan;
  }
  if (!q.price.empty()) given.insert("price");
  for (const std::string& name : given) {
    add(problems, flag_of_field(name), "there is no run", "give --tokens, such as 15T");
  }
  return plan;
}

std::vector<Diagnostic> with_length(const RunPlan& plan, const Training& step,
                                    std::vector<Diagnostic> problems) {
  const double tokens = static_cast<double>(step.batch) * step.seq;
  if (plan.tokens > 0 && plan.tokens < tokens) {
    add(problems, "--tokens",
        fmt::format("{} are fewer than the {} of one step", plan.tokens, tokens),
        "of the whole run, such as 15T");
  }
  return problems;
}

void read_run_price(const RunQuestion& q, const std::string& device, RunPlan& plan) {
  if (plan.tokens <= 0) return;
  if (!q.price.empty()) {
    std::vector<Diagnostic> problems;
    plan.dollars_per_hour = read_price(q.price, device, problems);
    throw_if_any(std::move(problems));
    return;
  }
  DevicePrice price = public_price(device);
  plan.dollars_per_hour = price.dollars_per_hour;
  plan.assumptions.push_back(std::move(price.assumption));
}

}  // namespace sextant
