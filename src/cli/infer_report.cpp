// SPDX-License-Identifier: Apache-2.0
#include "cli/infer_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/answer.hpp"
#include "cli/energy.hpp"
#include "sextant/io/write.hpp"
#include "sextant/report/table.hpp"
#include "sextant/units/format.hpp"

namespace sextant::cli {
namespace {

std::string rate_text(double n) {
  return n >= 1000 ? fmt::format("{:.0f}", n) : fmt::format("{:.3g}", n);
}

Breakdown node_of(std::string label, double seconds, std::string note) {
  return {.label = std::move(label),
          .value = seconds,
          .unit = Seconds::dimension,
          .share = 0,
          .note = std::move(note),
          .parts = {}};
}

// The parts of a pass, `times` over, as parts of `whole`. What a request waits for beyond its own
// passes is a part of its own; several tokens a pass shrink all of them alike.
Breakdown phase(std::string label, const PassCost& pass, double times, double whole,
                const char* waiting) {
  Breakdown b = node_of(std::move(label), whole, "");
  const double own = pass.time.value * times;
  const double scale = own > whole * (1 + 1e-9) ? whole / own : 1;
  for (std::size_t i = 0; i < pass.parts.size; ++i) {
    const auto w = static_cast<Work>(i);
    if (pass.parts[w].value <= 0) continue;
    b.parts.push_back(node_of(std::string(name_of(w)), pass.parts[w].value * times * scale,
                              std::string(meaning_of(w))));
  }
  const double rest = whole - own * scale;
  if (rest > 1e-9 * whole) b.parts.push_back(node_of("waiting", rest, waiting));
  return b;
}

std::string memory_text(const InferAnswer& a) {
  const ServingMemory& m = a.estimate.memory;
  std::string out =
      fmt::format("\nmemory of a device: {} of {}\n", format_binary_bytes(m.total().value, 4),
                  format_binary_bytes(m.capacity.value, 4));
  TextTable t;
  t.columns = {{""}, {"", Align::right}, {"", Align::right}, {""}};
  const auto add = [&](const char* name, Bytes b, const std::string& note) {
    if (b.value <= 0) return;
    t.rows.push_back({name, format_binary_bytes(b.value), format_percent(b / m.capacity), note});
  };
  add("weights", m.weights, fmt::format("in {}", name_of(a.scenario.strategy.precision)));
  const int batch = a.scenario.problem.serving.batch;
  const std::string held = a.estimate.active < batch
                               ? fmt::format("{:.0f} of {} requests at a time, the others wait",
                                             a.estimate.active, batch)
                           : batch == 1 ? "one request at its longest"
                                        : "all requests at their longest";
  add("cache", m.cache, fmt::format("{}; {:.0f} B a token here", held, m.cache_per_token.value));
  add("activations", m.activations, "of one pass");
  add("other", m.other, "driver, libraries, communicators");
  out += render_text(t, {.header = false, .rule = false, .indent = 2});
  if (m.max_batch >= 1) {
    out += fmt::format("  {} requests of this length fit at a time\n", rate_text(m.max_batch));
  }
  return out;
}

std::string misfit_text(const InferAnswer& a) {
  const ServingMemory& m = a.estimate.memory;
  const Bytes over = m.total() - m.capacity;
  std::string out = fmt::format("\ndoes not fit: {} ({:.0f} bytes) too much\n",
                                format_binary_bytes(over.value), over.value);
  if (a.neighbours.empty()) {
    return out + "  nothing near it fits: it takes more devices, or devices with more memory\n";
  }
  const ServingNeighbour& first = a.neighbours.front();
  if (first.strategy.tp > a.scenario.strategy.tp) {
    out += fmt::format("tp {} is the smallest at which it fits\n", first.strategy.tp);
  }
  TextTable t;
  t.columns = {{"what would fit"},
               {"devices", Align::right},
               {"latency", Align::right},
               {"memory", Align::right}};
  for (const ServingNeighbour& n : a.neighbours) {
    t.rows.push_back({n.change, fmt::format("{}", n.estimate.devices),
                      format(n.estimate.latency, 4),
                      format_binary_bytes(n.estimate.memory.total().value)});
  }
  return out + render_text(t, {.indent = 2});
}

std::string curve_text(const InferAnswer& a) {
  using enum Align;
  TextTable t;
  t.columns = {{"batch", right},    {"first token", right}, {"a token", right},
               {"latency", right},  {"tokens/s", right},    {"a request", right},
               {"a device", right}, {"memory", right},      {"Pareto"}};
  for (const CurvePoint& c : a.curve) {
    const ServingEstimate& e = c.estimate;
    t.rows.push_back({std::to_string(c.batch), format(e.ttft), format(e.tpot), format(e.latency),
                      rate_text(e.tokens_per_second), rate_text(e.tokens_per_second / c.batch),
                      rate_text(e.tokens_per_second / e.devices),
                      format_binary_bytes(e.memory.total().value), c.pareto ? "yes" : ""});
  }
  const bool fits = a.curve.front().estimate.verdict == Verdict::fits;
  return fmt::format("\nbatch sizes{}\n", fits ? "" : ": none fits") +
         render_text(t, {.indent = 2});
}

TextTable curve_csv(const std::vector<CurvePoint>& curve) {
  TextTable t;
  t.columns = {{"batch"},
               {"ttft_seconds"},
               {"tpot_seconds"},
               {"latency_seconds"},
               {"output_tokens_per_second"},
               {"output_tokens_per_second_per_gpu"},
               {"memory_bytes"},
               {"fits"},
               {"pareto"}};
  for (const CurvePoint& c : curve) {
    const ServingEstimate& e = c.estimate;
    t.rows.push_back(
        {std::to_string(c.batch), write_number(e.ttft.value), write_number(e.tpot.value),
         write_number(e.latency.value), write_number(e.tokens_per_second),
         write_number(e.tokens_per_second / e.devices), write_number(e.memory.total().value),
         e.verdict == Verdict::fits ? "1" : "0", c.pareto ? "1" : "0"});
  }
  return t;
}

Node memory_node(const ServingMemory& m) {
  Node n = Node::table();
  n.set("weights_bytes", Node::of(m.weights.value));
  n.set("kv_cache_bytes", Node::of(m.cache.value));
  n.set("activation_bytes", Node::of(m.activations.value));
  n.set("other_bytes", Node::of(m.other.value));
  n.set("total_bytes", Node::of(m.total().value));
  n.set("capacity_bytes", Node::of(m.capacity.value));
  n.set("fits", Node::of(m.fits()));
  n.set("max_batch", Node::of(m.max_batch));
  n.set("kv_cache_bytes_per_token", Node::of(m.cache_per_token.value));
  return n;
}

void set_rates(Node& root, const ServingEstimate& e) {
  root.set("ttft_seconds", Node::of(e.ttft.value));
  root.set("tpot_seconds", Node::of(e.tpot.value));
  root.set("latency_seconds", Node::of(e.latency.value));
  root.set("output_tokens_per_second", Node::of(e.tokens_per_second));
  root.set("output_tokens_per_second_per_gpu", Node::of(e.tokens_per_second / e.devices));
  root.set("decode_step_seconds", Node::of(e.step.value));
  root.set("active_requests", Node::of(e.active));
}

Node pass_node(const PassCost& p) {
  Node n = Node::table();
  n.set("seconds", Node::of(p.time.value));
  Node& parts = n.set("parts", Node::table());
  for (std::size_t i = 0; i < p.parts.size; ++i) {
    parts.set(std::string(names_of(Work{})[i]), Node::of(p.parts.values[i].value));
  }
  n.set("flops", Node::of(p.flops.value));
  n.set("dram_bytes", Node::of(p.dram.value));
  n.set("clock_hz", Node::of(p.clock.value));
  n.set("power_watts", Node::of(p.power.value));
  return n;
}

Node neighbour_nodes(const std::vector<ServingNeighbour>& neighbours) {
  Node list = Node::array();
  for (const ServingNeighbour& n : neighbours) {
    Node& one = list.push(Node::table());
    one.set("change", Node::of(n.change));
    one.set("tp", Node::of(n.strategy.tp));
    one.set("pp", Node::of(n.strategy.pp));
    one.set("precision", Node::of(name_of(n.strategy.precision)));
    one.set("kv_precision", Node::of(name_of(n.serving.cache)));
    one.set("batch", Node::of(n.serving.batch));
    one.set("latency_seconds", Node::of(n.estimate.latency.value));
    one.set("total_bytes", Node::of(n.estimate.memory.total().value));
  }
  return list;
}

Node curve_nodes(const std::vector<CurvePoint>& curve) {
  Node list = Node::array();
  for (const CurvePoint& c : curve) {
    Node& n = list.push(Node::table());
    n.set("batch", Node::of(c.batch));
    set_rates(n, c.estimate);
    n.set("total_bytes", Node::of(c.estimate.memory.total().value));
    n.set("fits", Node::of(c.estimate.verdict == Verdict::fits));
    n.set("pareto", Node::of(c.pareto));
  }
  return list;
}

/// Of a batch of requests from their prompts to their last tokens.
EnergyAnswer energy_of(const InferAnswer& a) {
  const Serving& w = a.scenario.problem.serving;
  return {request_energy(a.scenario.problem, a.scenario.strategy), a.estimate.devices,
          static_cast<double>(w.batch) * w.output};
}

std::string head_text(const InferAnswer& a) {
  const ServingEstimate& e = a.estimate;
  const Scenario& x = a.scenario;
  const Serving& w = x.problem.serving;
  std::string out =
      fmt::format("{} on {} x {} of {}: {} to the first token{}\n", x.problem.model.name, e.devices,
                  x.system.device.name, x.system.name, format(e.ttft, 4),
                  w.output > 1 ? ", " + format(e.tpot, 4) + " for each after it" : "");
  out += fmt::format("{} a request; {} output tokens/s, {} a device; decoding {} at {}\n",
                     format(e.latency, 4), rate_text(e.tokens_per_second),
                     rate_text(e.tokens_per_second / e.devices), format(e.decode.power),
                     format(e.decode.clock));
  out += energy_text(energy_of(a));
  out += fmt::format("{}; {} {}, {} tokens in, {} out; {}\n\n", describe_serving(x.strategy),
                     w.batching == Batching::fixed ? "batch" : "closed loop of", w.batch, w.input,
                     w.output, x.problem.runtime.name);
  return out;
}

}  // namespace

Breakdown latency_breakdown(const ServingEstimate& e, const Serving& w) {
  Breakdown root = node_of("request", e.latency.value, "");
  const bool closed = w.batching == Batching::closed_loop;
  root.parts.push_back(phase("prefill", e.prefill, 1, e.ttft.value,
                             closed ? "for the step that runs" : "for the stages to fill"));
  if (w.output > 1) {
    const double steps = w.output - 1.0;
    root.parts.push_back(phase("decode", e.decode, steps, steps * e.tpot.value,
                               closed ? "for the prompts of others" : "for drafts and stages"));
  }
  fill_shares(root);
  return root;
}

std::string infer_text(const InferAnswer& a) {
  const ServingEstimate& e = a.estimate;
  const Scenario& x = a.scenario;
  std::string out = head_text(a);
  out += render_text(latency_breakdown(e, x.problem.serving));
  out += memory_text(a);
  if (e.verdict == Verdict::out_of_memory) out += misfit_text(a);
  if (!a.curve.empty()) out += curve_text(a);
  if (!a.sensitivity.empty()) out += sensitivity_text(a.sensitivity);
  for (const OperatorList& l : a.passes) out += "\n" + operators_text(l);
  return out + assumptions_text(x.assumptions);
}

void set_prediction(Node& root, const ServingEstimate& e, const Serving& serving) {
  set_rates(root, e);
  root.set("memory", memory_node(e.memory));
  root.set("breakdown", to_node(latency_breakdown(e, serving)));
}

std::string infer_json(const InferAnswer& a) {
  const ServingEstimate& e = a.estimate;
  const Scenario& x = a.scenario;
  Node root = scenario_node(x, e.devices);
  set_prediction(root, e, x.problem.serving);
  root.set("prefill", pass_node(e.prefill));
  root.set("decode", pass_node(e.decode));
  set_energy(root, energy_of(a));
  root.set("serving", write(x.problem.serving, Quantities::si));
  root.set("strategy", write(x.strategy, Quantities::si));
  root.set("active_parameters", Node::of(active_parameters(x.problem.model)));
  root.set("kv_cache_bytes_per_token", Node::of(cache_bytes_per_token(x.problem).value));
  if (!a.neighbours.empty()) root.set("would_fit", neighbour_nodes(a.neighbours));
  if (!a.curve.empty()) root.set("curve", curve_nodes(a.curve));
  if (!a.sensitivity.empty()) set_sensitivity(root, a.sensitivity);
  if (!a.passes.empty()) {
    Node& passes = root.set("passes", Node::array());
    for (const OperatorList& l : a.passes) passes.push(operators_node(l));
  }
  set_assumptions(root, x.assumptions);
  return to_json(root) + "\n";
}

std::string infer_csv(const InferAnswer& a) {
  if (!a.curve.empty()) return render_csv(curve_csv(a.curve));
  if (!a.passes.empty()) return operators_csv(a.passes);
  const ServingEstimate& e = a.estimate;
  const Scenario& x = a.scenario;
  const Serving& w = x.problem.serving;
  Node flat = Node::table();
  set_rates(flat, e);
  TextTable t;
  t.columns = {{"model"}, {"system"}, {"runtime"}, {"gpus"}, {"batch"}, {"input"}, {"output"}};
  t.rows.push_back({x.problem.model.name, x.system.name, x.problem.runtime.name,
                    write_number(e.devices), std::to_string(w.batch), std::to_string(w.input),
                    std::to_string(w.output)});
  const auto add = [&](const std::string& name, double value) {
    t.columns.push_back({name});
    t.rows.front().push_back(write_number(value));
  };
  for (const Node::Member& m : flat.members) add(m.key, m.value.number);
  add("memory_bytes", e.memory.total().value);
  add("capacity_bytes", e.memory.capacity.value);
  add("fits", e.memory.fits() ? 1 : 0);
  return render_csv(t);
}

plot::Figure curve_figure(const InferAnswer& a) {
  const Scenario& x = a.scenario;
  plot::Figure f;
  f.title = fmt::format("{} on {} x {}, {} in, {} out", x.problem.model.name, a.estimate.devices,
                        x.system.device.name, x.problem.serving.input, x.problem.serving.output);
  const bool tokens = x.problem.serving.output > 1;
  f.x = {.label = tokens ? "time a token" : "time to the first token",
         .dimension = Seconds::dimension,
         .unit = {},
         .log = true,
         .min = {},
         .max = {}};
  f.y = {.label = "output tokens a second",
         .dimension = {},
         .unit = {},
         .log = true,
         .min = {},
         .max = {}};
  plot::Series all{.name = "batch sizes that fit", .mark = plot::Mark::line_and_dots, .points = {}};
  plot::Series worse{.name = "another is better in both", .mark = plot::Mark::dots, .points = {}};
  for (const CurvePoint& c : a.curve) {
    const ServingEstimate& e = c.estimate;
    const double time = (tokens ? e.tpot : e.ttft).value;
    const plot::Point p{time, e.tokens_per_second, fmt::format("batch {}", c.batch)};
    all.points.push_back(p);
    if (!c.pareto) worse.points.push_back(p);
  }
  for (const plot::Point& p : {all.points.front(), all.points.back()}) {
    f.notes.push_back({p.x * 1.01, p.y, p.label});
  }
  f.x.max = all.points.back().x * 1.6;  // room for the note
  f.series.push_back(std::move(all));
  if (!worse.points.empty()) f.series.push_back(std::move(worse));
  return f;
}

}  // namespace sextant::cli
