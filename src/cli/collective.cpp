// SPDX-License-Identifier: Apache-2.0
// `sextant ops collective`: one collective on one system, explained.
#include "sextant/cost/collective.hpp"

#include <fmt/format.h>

#include "cli/answer.hpp"
#include "cli/flags.hpp"
#include "sextant/io/node.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/report/table.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/parse.hpp"
#include "sextant/validate/evaluate.hpp"

namespace sextant::cli {
namespace {

struct Question {
  System system;
  CollectiveLibrary library;
  CollectiveCase what;
};

Bytes bytes_of(const std::string& text, Flags& flags) {
  const ParseResult r = parse_quantity(text);
  if (r.quantity && r.quantity->dimension == Bytes::dimension && r.quantity->value >= 0 &&
      r.quantity->value <= 1e18) {
    return Bytes(r.quantity->value);
  }
  flags.add("--bytes", "expected a size such as \"64 MiB\", got '" + text + "'");
  return {};
}

Question read(const CollectiveOptions& o, const Common& common,
              const std::vector<Setting>& settings) {
  Question q;
  Flags flags;
  q.what.op = flags.choice<Collective>("--collective", o.collective);
  q.what.bytes = bytes_of(o.bytes, flags);
  const auto attempt = [&](const char* flag, const auto& load) {
    try {
      load();
    } catch (const InputError& e) {
      for (Diagnostic d : e.diagnostics()) {
        if (d.file.empty() && d.field.empty()) d.file = flag;
        flags.problems.push_back(std::move(d));
      }
    }
  };
  attempt("--system", [&] { q.system = load_system(o.system, settings, common.lookup); });
  attempt("--library", [&] {
    q.library = load_collectives(o.library.empty() ? q.system.collectives : o.library, settings,
                                 common.lookup);
  });
  throw_if_any(std::vector(flags.problems));
  if (o.gpus < 1 || o.gpus > q.system.max_devices) {
    flags.add("--gpus", fmt::format("expected 1 to {}, which {} is meant for", q.system.max_devices,
                                    q.system.name));
  }
  if (o.gpus_per_node < 0 || o.gpus_per_node > q.system.devices_per_node) {
    flags.add("--gpus-per-node",
              fmt::format("a node of {} has {}", q.system.name, q.system.devices_per_node));
  }
  throw_if_any(std::move(flags.problems));
  const int node = o.gpus_per_node > 0 ? o.gpus_per_node : q.system.devices_per_node;
  q.what.group = {o.gpus, std::min(o.gpus, node)};
  return q;
}

std::string fabric_name(const System& s, const CollectiveCost& c) {
  const auto i = static_cast<std::size_t>(c.fabric);
  return i < s.fabrics.size() ? s.fabrics[i].name : "the host's link";
}

std::string bound_of(const System& s, const CollectiveCost& c) {
  if (c.algorithm == CollectiveAlgorithm::none) return "nothing";
  if (c.transfer >= c.start && c.transfer >= c.latency) return fabric_name(s, c);
  return c.latency > c.start ? "latency" : "launch";
}

Node to_node(const Question& q, const CollectiveCost& c) {
  Node root = Node::table();
  root.set("system", Node::of(q.system.name));
  root.set("collective", Node::of(std::string(name_of(q.what.op))));
  root.set("library", Node::of(q.library.name));
  root.set("gpus", Node::of(q.what.group.ranks));
  root.set("gpus_per_node", Node::of(q.what.group.per_node));
  root.set("bytes", Node::of(q.what.bytes.value));
  root.set("seconds", Node::of(c.time.value));
  root.set("start_seconds", Node::of(c.start.value));
  root.set("latency_seconds", Node::of(c.latency.value));
  root.set("transfer_seconds", Node::of(c.transfer.value));
  root.set("algorithm", Node::of(std::string(name_of(c.algorithm))));
  root.set("protocol", Node::of(std::string(name_of(c.protocol))));
  root.set("bus_bytes_per_second", Node::of(c.bus.value));
  root.set("bound", Node::of(bound_of(q.system, c)));
  return root;
}

std::string to_csv(const Question& q, const CollectiveCost& c) {
  TextTable t;
  t.columns = {{"system"},    {"collective"}, {"library"},
               {"gpus"},      {"bytes"},      {"seconds"},
               {"algorithm"}, {"protocol"},   {"bus_bytes_per_second"},
               {"bound"}};
  t.rows.push_back({q.system.name, std::string(name_of(q.what.op)), q.library.name,
                    std::to_string(q.what.group.ranks), write_number(q.what.bytes.value),
                    write_number(c.time.value), std::string(name_of(c.algorithm)),
                    std::string(name_of(c.protocol)), write_number(c.bus.value),
                    bound_of(q.system, c)});
  return render_csv(t);
}

std::string to_text(const Question& q, const CollectiveCost& c) {
  std::string out =
      fmt::format("{} of {} over {} devices of {}: {}\n\n", name_of(q.what.op),
                  format(q.what.bytes), q.what.group.ranks, q.system.name, format(c.time, 4));
  if (c.algorithm == CollectiveAlgorithm::none) return out + "  one rank has nothing to do\n";
  TextTable t;
  t.columns = {{""}, {""}, {""}};
  const auto at = static_cast<std::size_t>(c.fabric);
  t.rows.push_back({"algorithm", std::string(name_of(c.algorithm)),
                    "protocol " + std::string(name_of(c.protocol))});
  std::string of_peak = "as nccl-tests count it";
  if (at < q.system.fabrics.size()) {
    of_peak += fmt::format("; a device's raw {} on {}", format(q.system.fabrics[at].bandwidth),
                           q.system.fabrics[at].name);
  }
  t.rows.push_back({"bus bandwidth", format(c.bus), of_peak});
  const auto share = [&](Seconds s) { return format_percent(s / c.time, 0) + " of the time"; };
  t.rows.push_back({"start", format(c.start), share(c.start) + ": launch and synchronisation"});
  t.rows.push_back({"steps", format(c.latency), share(c.latency) + ": from rank to rank"});
  t.rows.push_back(
      {"transfer", format(c.transfer), share(c.transfer) + ": over " + fabric_name(q.system, c)});
  t.rows.push_back({"bound", bound_of(q.system, c), ""});
  return out + render_text(t, {.header = false, .rule = false, .indent = 2});
}

// Bus bandwidth by size, of the library's best way and of what the wires alone would allow.
plot::Figure bus_figure(const Question& q) {
  plot::Figure f;
  f.title = fmt::format("{} over {} devices of {}", name_of(q.what.op), q.what.group.ranks,
                        q.system.name);
  f.x = {.label = "buffer",
         .dimension = Bytes::dimension,
         .unit = {},
         .log = true,
         .min = {},
         .max = {}};
  f.y = {.label = "bus bandwidth",
         .dimension = BytesPerSecond::dimension,
         .unit = {},
         .log = true,
         .min = {},
         .max = {}};
  const Network network = lower(q.system);
  plot::Series with{.name = q.library.name, .mark = plot::Mark::line_and_dots, .points = {}};
  plot::Series wires{.name = "the wires alone", .mark = plot::Mark::dashed_line, .points = {}};
  CollectiveCase what = q.what;
  for (double bytes = 1024; bytes <= 8.6e9; bytes *= 2) {
    what.bytes = Bytes(bytes);
    const CollectiveCost c = evaluate_collective(what, network, q.library);
    const CollectiveCost bound = evaluate_collective(what, network, CollectiveLibrary{});
    with.points.push_back(
        {bytes, c.bus.value,
         fmt::format("{}, {}, {}", format(what.bytes), name_of(c.algorithm), format(c.time))});
    wires.points.push_back({bytes, bound.bus.value, ""});
  }
  f.series = {std::move(with), std::move(wires)};
  return f;
}

}  // namespace

std::string run_collective(const CollectiveOptions& o, const Common& common) {
  const std::vector<Setting> settings = settings_of(common, {"system", "device", "collective"});
  check_figure_path(o.plot);
  const Question q = read(o, common, settings);
  if (!o.plot.empty()) write_figure(o.plot, bus_figure(q));
  const CollectiveCost c = evaluate_collective(q.what, lower(q.system), q.library);
  if (common.format == Format::json) return to_json(to_node(q, c)) + "\n";
  if (common.format == Format::csv) return to_csv(q, c);
  return to_text(q, c);
}

}  // namespace sextant::cli
