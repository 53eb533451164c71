// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// With a true minus sign; a change that rounds to nothing has no sign.
std::string turn_text(double share, int decimals) {
  const double shown = share * 100;
  if (std::abs(shown) < 0.5 * std::pow(10, -decimals))
    return fmt::format("{:.{}f} %", 0.0, decimals);
  return fmt::format("{}{:.{}f} %", shown < 0 ? "−" : "+", std::abs(shown), decimals);
}

std::string name_with_turn(Knob k) {
  return fmt::format("{} {}", turn_text(turn_of(k), 0), meaning_of(k));
}

}  // namespace

Sensitivity find_sensitivity(const Problem& problem, std::vector<Outcome> outcomes,
                             const std::function<std::vector<double>(const Problem&)>& evaluate) {
  Sensitivity s{.outcomes = std::move(outcomes), .effects = {}};
  const std::vector<double> before = evaluate(problem);
  for (std::size_t i = 0; i < static_cast<std::size_t>(Knob::count); ++i) {
    Effect e{.knob = static_cast<Knob>(i), .changes = {}};
    const std::vector<double> after = evaluate(turned(problem, e.knob));
    for (std::size_t j = 0; j < before.size(); ++j) {
      e.changes.push_back(before[j] > 0 ? after[j] / before[j] - 1 : 0);
    }
    s.effects.push_back(std::move(e));
  }
  // What is nothing but rounding has no order of its own, which another machine might turn round.
  const auto size = [](const Effect& e) {
    const double change = std::abs(e.changes.front());
    return change < 1e-12 ? 0 : change;
  };
  std::stable_sort(s.effects.begin(), s.effects.end(),
                   [&](const Effect& a, const Effect& b) { return size(a) > size(b); });
  return s;
}

std::string sentence(const Sensitivity& s) {
  constexpr double worth_saying = 0.01;
  std::string text;
  double rest = 0;
  for (const Effect& e : s.effects) {
    const double change = e.changes.front();
    if (std::abs(change) <= worth_saying) {
      rest = std::max(rest, std::abs(change));
      continue;
    }
    text += fmt::format("{}{}: {}{}", text.empty() ? "" : "; ", name_with_turn(e.knob),
                        turn_text(change, 1), text.empty() ? " " + s.outcomes.front().words : "");
  }
  if (text.empty()) {
    return fmt::format("nothing alone moves the time {} by more than {}", s.outcomes.front().words,
                       turn_text(rest, 1).substr(rest < 5e-4 ? 0 : 1));
  }
  return text + "; nothing else moves it by more than 1 %";
}

void add(Answer& a, const Sensitivity& s) {
  const Records effects = records_of(s.effects, [&](Record& r, const Effect& e) {
    r("parameter", said(e.knob, s.empty() ? "" : name_with_turn(e.knob)), "a tenth better");
    r("change", turn_of(e.knob));
    for (std::size_t i = 0; i < e.changes.size(); ++i) {
      r(s.outcomes[i].field, said(e.changes[i], turn_text(e.changes[i], 2)), s.outcomes[i].words);
    }
  });
  a.some("sensitivity", "Sensitivity", effects);
  a("sensitivity_summary", only_if(!s.empty(), s.empty() ? "" : sentence(s)));
  if (s.empty()) return;
  a.say("\n" + sentence(s));
  a.show(effects, {.indent = 2});
}

}  // namespace sextant
