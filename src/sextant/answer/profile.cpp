// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/answer/parts.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

using profile::DeviceSeen;
using profile::Loss;
using profile::OperatorCall;
using profile::OperatorGroup;
using profile::Piece;
using profile::Profile;
using profile::Recording;
using profile::Waited;

/// Rows of operators that people are shown; programs get all.
constexpr std::size_t most_shown = 20;
constexpr std::size_t most_losses_shown = 12;
/// Below this share of the work, what is missing is worth a sentence.
constexpr double well_attributed = 0.92;

double share(Seconds part, Seconds whole) { return whole.value > 0 ? part / whole : 0; }

/// What the device could need for the same work: as measured where the model knows nothing.
Seconds attainable_of(const Profile& p) {
  Seconds all;
  for (const OperatorGroup& g : p.groups) all += g.predicted.value_or(g.measured);
  return all;
}

Seconds idle_of(const Profile& p) { return max(Seconds(0), p.measured - p.busy); }

std::string short_name(const std::string& name) {
  constexpr std::size_t most = 44;
  return name.size() <= most ? name : name.substr(0, most - 3) + "...";
}

Records operators_of(const Profile& p, std::size_t most) {
  std::vector<OperatorGroup> rows(
      p.groups.begin(),
      p.groups.begin() + static_cast<std::ptrdiff_t>(std::min(most, p.groups.size())));
  return records_of(rows, [](Record& r, const OperatorGroup& g) {
    r("name", said(g.name, short_name(g.name)), "operator");
    r("shape", said(g.shape, short_name(g.shape)), "shape");
    r("kind", g.job.kind, "kind");
    r("calls", g.calls, "calls");
    r("kernels", g.kernels);
    r("measured_seconds", g.measured, "measured");
    r("predicted_seconds", g.predicted, "attainable");
    r("ratio",
      only_if(g.predicted.has_value(), fixed(g.predicted ? g.measured / *g.predicted : 0, 2, " x")),
      "ratio");
    r("bound", only_if(g.predicted.has_value(), g.bound), "bound");
    r("shapes_from", g.found);
    r("kernel", g.kernel);
  });
}

Records pieces_table(const Profile& p) {
  return records_of(p.pieces, [](Record& r, const Piece& x) {
    r("start_seconds", x.start);
    r("seconds", x.length);
    r("kind", x.idle ? std::string_view("idle") : name_of(x.kind));
    r("label", x.idle ? std::string(name_of(x.wait)) : x.label);
  });
}

struct OfKind {
  profile::Kind kind{};
  int calls = 0;
  Seconds measured;
  Seconds predicted;
  bool known = false;
};

std::vector<OfKind> kinds_of(const Profile& p) {
  std::vector<OfKind> all(names_of(profile::Kind{}).size());
  for (const OperatorGroup& g : p.groups) {
    OfKind& k = all[static_cast<std::size_t>(g.job.kind)];
    k.kind = g.job.kind;
    k.calls += g.calls;
    k.measured += g.measured;
    k.predicted += g.predicted.value_or(g.measured);
    k.known = k.known || g.predicted.has_value();
  }
  all.erase(std::remove_if(all.begin(), all.end(), [](const OfKind& k) { return k.calls == 0; }),
            all.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const OfKind& a, const OfKind& b) { return a.measured > b.measured; });
  return all;
}

Records kinds_table(const Profile& p) {
  return records_of(kinds_of(p), [&](Record& r, const OfKind& k) {
    r("kind", k.kind, "kind");
    r("calls", k.calls, "calls");
    r("measured_seconds", k.measured, "measured");
    r("share", percent(share(k.measured, p.device_time)), "share");
    r("predicted_seconds", only_if(k.known, k.predicted), "attainable");
    r("ratio", only_if(k.known, fixed(k.known ? k.measured / k.predicted : 0, 2, " x")), "ratio");
  });
}

struct WaitRow {
  profile::Wait who{};
  Waited what;
};
Records waits_table(const Profile& p) {
  std::vector<WaitRow> rows;
  for (std::size_t i = 0; i < p.waits.size; ++i)
    rows.push_back({static_cast<profile::Wait>(i), p.waits.values[i]});
  return records_of(rows, [](Record& r, const WaitRow& w) {
    r("cause", w.who);
    r("seconds", w.what.time);
    r("times", w.what.times);
  });
}

Records losses_table(const Profile& p) {
  return records_of(p.losses, [](Record& r, const Loss& l) {
    r("cause", l.cause);
    r("seconds", l.time);
    r("advice", l.advice);
  });
}

Record found_table(const Profile& p) {
  Record r;
  const auto names = names_of(profile::Found{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    Seconds all;
    for (const OperatorGroup& g : p.groups) {
      if (g.found == static_cast<profile::Found>(i)) all += g.measured;
    }
    r(names[i], share(all, p.device_time));
  }
  return r;
}

Records steps_table(const Profile& p) {
  return records_of(p.steps, [](Record& r, const profile::Step& s) {
    r("name", s.name, "step");
    r("seconds", s.time, "time");
    r("idle_seconds", s.idle, "idle");
  });
}

Records devices_table(const Profile& p) {
  return records_of(p.devices, [&](Record& r, const DeviceSeen& d) {
    r("device", d.number, "device");
    r("work_seconds", d.busy, "work");
    r("seconds", d.window, "of");
    r("", d.number == p.device ? "looked at here" : "", "");
  });
}

/// What ran when, a row for each kind, the largest at the top; waiting below.
plot::Figure figure_of(const ProfileResult& x) {
  plot::Figure f;
  f.title = fmt::format("{} on {}", x.trace, x.device);
  f.x = {.label = "time", .dimension = Seconds::dimension};
  f.y = {.label = ""};
  f.width = 960;
  f.height = 260;
  std::vector<OfKind> kinds = kinds_of(x.profile);
  if (kinds.size() > 6) kinds.resize(6);
  double row = static_cast<double>(kinds.size());
  f.y.names = {"idle"};
  for (const OfKind& k : kinds) f.y.names.emplace_back(name_of(k.kind));
  std::reverse(f.y.names.begin() + 1, f.y.names.end());
  const auto add = [&](const auto& wanted) {
    plot::Series s{.mark = plot::Mark::spans};
    for (const Piece& p : x.profile.pieces) {
      if (!wanted(p)) continue;
      const std::string_view what = p.idle ? name_of(p.wait) : std::string_view(p.label);
      s.points.push_back(
          {.x = p.start.value,
           .y = row,
           .label = fmt::format("{}: {} at {}", what, format(p.length), format(p.start)),
           .length = p.length.value});
    }
    f.series.push_back(std::move(s));
    row -= 1;
  };
  for (const OfKind& k : kinds) {
    add([&](const Piece& p) { return !p.idle && p.kind == k.kind; });
  }
  add([](const Piece& p) { return p.idle; });
  return f;
}

void say_head(Answer& a, const ProfileResult& x) {
  const Profile& p = x.profile;
  std::string steps;
  if (!p.steps.empty()) {
    Seconds all;
    for (const profile::Step& s : p.steps) all += s.time;
    steps = fmt::format(", {} step{} of {}", p.steps.size(), p.steps.size() > 1 ? "s" : "",
                        format(all / static_cast<double>(p.steps.size())));
  }
  a.say(fmt::format("{} on {}: {}{}", x.trace, x.device, format(p.measured), steps));
  a.say(fmt::format("device busy {}, idle {} ({} of the time for the host); {} launches",
                    format_percent(share(p.busy, p.measured)), format(idle_of(p)),
                    format_percent(share(p.waits[profile::Wait::host].time, p.measured)),
                    p.launches));
  a.say(fmt::format(
      "{} of its work has an operator and shapes; the same work could take {} instead of {}",
      format_percent(share(p.attributed, p.device_time)), format(attainable_of(p)),
      format(p.device_time)));
  if (share(p.attributed, p.device_time) < well_attributed) {
    a.say(
        "the rest names no operator, as in CUDA graphs: trace a step outside them, or their "
        "capture, as well");
  }
}

void say_losses(Answer& a, const Profile& p) {
  a.gap();
  if (p.losses.empty()) return a.say("nothing is lost that the model sees");
  const bool several = p.steps.size() > 1;
  const double steps = several ? static_cast<double>(p.steps.size()) : 1;
  a.say(several ? "what is lost, a step:" : "what is lost:");
  std::size_t shown = 0;
  for (const Loss& l : p.losses) {
    if (shown++ == most_losses_shown) break;
    a.say(fmt::format("  {:>8}  {}", format(l.time / steps), l.cause));
    a.say(fmt::format("            {}", l.advice));
  }
}

}  // namespace

std::vector<std::string> assumptions_of(const Recording& r, const std::string& device) {
  const bool any = std::any_of(r.operators.begin(), r.operators.end(),
                               [](const OperatorCall& o) { return o.shape != 0; });
  if (!any) {
    throw InputError(
        r.operators.empty()
            ? "the trace has no operators of the host, so nobody can say what its kernels compute"
            : "the trace has no shapes: it was made with record_shapes=False",
        r.operators.empty()
            ? "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"
            : "profile again with torch.profiler.profile(..., record_shapes=True)");
  }
  std::vector<std::string> all;
  all.push_back("tracing slows the host down: host-bound time is less without it");
  if (!r.devices.empty()) {
    all.push_back(fmt::format("the trace was made on {}; what is attainable is of {}",
                              r.devices.front(), device));
  }
  if (r.ranks > 1)
    all.push_back(
        fmt::format("rank {} of {}: what other ranks do is in their own traces", r.rank, r.ranks));
  if (r.texts.full())
    all.push_back("more texts than fit: later operators and shapes are without names");
  return all;
}

Answer answer_of(const ProfileResult& x) {
  const Profile& p = x.profile;
  Answer a;
  a("trace", x.trace);
  a("device", x.device);
  a("measured_seconds", p.measured);
  a("busy_seconds", p.busy);
  a("device_seconds", p.device_time);
  a("attributed_share", share(p.attributed, p.device_time));
  a.object("attribution", "ProfileAttribution", found_table(p));
  a("attainable_seconds", attainable_of(p));
  a("idle_seconds", idle_of(p));
  a("host_bound_share", share(p.waits[profile::Wait::host].time, p.measured));
  a("launches", p.launches);
  a("exposed_communication_seconds", p.exposed_communication);
  a("clock_low_hz", p.slowest_clock);
  a("clock_high_hz", p.fastest_clock);
  say_head(a, x);
  // Of all kernels; most of the time multiplies take.
  add(a, {.question = Asked::gemm, .device = x.device}, {.value = attainable_of(p).value});
  a.list("losses", "ProfileLoss", losses_table(p));
  say_losses(a, p);
  a.list("kinds", "ProfileKind", kinds_table(p));
  a.gap();
  a.show(kinds_table(p));
  a.list("operators", "ProfileOperator", operators_of(p, p.groups.size()));
  a.gap();
  a.show(operators_of(p, most_shown));
  if (p.groups.size() > most_shown) {
    a.say(fmt::format("and {} more; --format csv has all", p.groups.size() - most_shown));
  }
  a.list("waits", "ProfileWait", waits_table(p));
  a.list("steps", "ProfileStep", steps_table(p));
  if (p.steps.size() > 1) {
    a.gap();
    a.show(steps_table(p));
  }
  a.list("devices", "ProfileDevice", devices_table(p));
  if (p.devices.size() > 1) {
    a.gap();
    a.show(devices_table(p));
  }
  if (x.pieces) a.some("pieces", "ProfilePiece", pieces_table(p));
  a.assume(x.assumptions);
  a.lines(operators_of(p, p.groups.size()));
  a.figure(figure_of(x));
  return a;
}

}  // namespace sextant
