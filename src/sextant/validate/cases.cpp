// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/cases.hpp"

#include <algorithm>
#include <filesystem>

#include "sextant/io/settings.hpp"
#include "sextant/validate/known_experts.hpp"
#include "sextant/validate/row.hpp"

namespace sextant {
namespace {

std::string join(std::initializer_list<std::string> parts) {
  std::string all;
  for (const std::string& p : parts) all += (all.empty() ? "" : "/") + p;
  return all;
}

// The habits of the source, and over them what the row says itself.
Protocol read_protocol(RowReader& row, const std::string& kind) {
  Protocol p = measurement_of(kind, row.text("source"), row.text("dtype")).protocol;
  for (const Slot& slot : reflect(p).fields) {
    const std::string cell = row.text(slot.name);
    if (cell.empty()) continue;
    std::vector<Diagnostic> problems;
    apply_settings({{"case." + std::string(slot.name), cell}}, reflect(p), "case", problems);
    for (const Diagnostic& d : problems) row.problem(slot.name, d.message, d.hint);
  }
  return p;
}

void read_gemm(RowReader& row, Case& c) {
  GemmCase g;
  g.shape.m = row.size("m");
  g.shape.n = row.size("n");
  g.shape.k = row.size("k");
  g.shape.type = row.choice("dtype", Precision::bf16);
  g.shape.result_bytes = activation_bytes(g.shape.type);
  g.shape.scale_block = row.number_or("scale_block", 0, 0, 1e6);
  const std::string quantize = row.text("quantize");
  g.quantize = quantize == "dynamic";
  if (!quantize.empty() && quantize != "none" && !g.quantize) {
    c.unsupported = "quantize '" + quantize + "' is not modelled";
  }
  if (g.quantize) g.shape.provider = GemmLibrary::scaled;
  c.provider = "pytorch";
  c.family = join({c.device, row.text("dtype"), row.text("n"), row.text("k")});
  c.kernel = g;
}

// One chunk of a prompt beside decoding requests.
void read_mixed(RowReader& row, Case& c, AttentionCase a) {
  a.shape.queries = row.size("prefill_tokens");
  a.shape.context = a.shape.queries + row.number_or("prefill_context", 0, 0, 1e12);
  a.decoding = row.number_or("decode_requests", 0, 0, 1e9);
  a.decode_context = row.number_or("decode_context", 0, 0, 1e12);
  if (!a.shape.causal) c.unsupported = "mixed attention that is not causal is not modelled";
  c.family = join({c.device, "mixed", row.text("prefill_tokens"), row.text("decode_requests")});
  c.kernel = a;
}

void read_latent(RowReader& row, Case& c, const AttentionCase& a) {
  LatentCase l;
  l.phase = a.phase;
  l.scope = a.scope;
  c.kernel = l;
  if (a.phase == Phase::backward || a.phase == Phase::mixed) {
    c.unsupported = std::string(name_of(a.phase)) + " latent attention is not modelled";
    return;
  }
  if (a.phase == Phase::prefill && !a.shape.causal) {
    c.unsupported = "latent attention that is not causal is not modelled";
  }
  l.shape.batch = row.size("batch");
  l.shape.heads = row.size("heads");
  l.shape.queries = row.size("q_len");
  l.shape.context = row.size("kv_len");
  l.shape.cache_type = a.shape.cache_type;
  c.kernel = l;
}

void read_attention(RowReader& row, Case& c) {
  AttentionCase a;
  a.phase = row.choice("phase", Phase::prefill);
  a.shape.type = row.choice("dtype", Precision::bf16);
  a.shape.cache_type = row.choice("kv_dtype", a.shape.type);
  a.shape.causal = row.number_or("causal", 1, 0, 1) != 0;
  if (!row.text("scope").empty()) a.scope = row.choice("scope", Timed::kernel);
  c.provider = library_of(row.text("backend"));
  c.family = join({c.device, row.text("phase"), row.text("heads"), row.text("kv_heads")});
  const std::string attention = row.text("attention");
  if (attention == "mla") return read_latent(row, c, a);
  a.shape.heads = row.size("heads");
  a.shape.kv_heads = row.size_or("kv_heads", a.shape.heads);
  a.shape.head_dim = row.size("head_dim");
  a.shape.value_dim = a.shape.head_dim;
  // All that kv_heads tells apart is one.
  if (!attention.empty() && attention != "mha" && attention != "gqa" && attention != "mqa") {
    c.unsupported = "attention '" + attention + "' is not modelled";
  }
  if (a.shape.kv_heads > a.shape.heads) c.unsupported = "more kv_heads than heads";
  if (a.phase == Phase::mixed) return read_mixed(row, c, a);
  a.shape.batch = row.size("batch");
  a.shape.queries = row.size("q_len");
  a.shape.context = row.size("kv_len");
  a.shape.window = row.number_or("window", 0, 0, 1e12);
  if (a.shape.causal && a.shape.queries > a.shape.context) {
    c.unsupported = "more queries than causal attention has tokens to look at";
  }
  c.kernel = a;
}

void read_experts(RowReader& row, Case& c) {
  ExpertsCase e;
  ExpertLayer& l = e.layer;
  l.tokens = row.size("tokens");
  l.hidden = row.size("hidden");
  l.ffn = row.size("ffn");
  l.topk = row.size("topk");
  l.experts = row.whole("experts", 1, 1e6);
  l.tp = row.size_or("tp", 1);
  l.ep = row.whole_or("ep", 1, 1, 1e6);
  if (l.topk > l.experts) c.unsupported = "topk is more than all experts";
  l.type = row.choice("dtype", Precision::bf16);
  const Mlp usual = known_mlp({l.hidden, l.ffn, 1.0 * l.experts, l.topk}).value_or(Mlp::swiglu);
  l.gated = gated(row.choice("mlp", usual));
  const std::string routing = row.text("routing");
  const NamedRouting named = routing_named(routing.empty() ? "balanced" : routing);
  if (!named.known) {
    c.unsupported = "routing '" + routing + "' is not modelled";
  } else if (!named.exponent) {
    row.problem("routing", "bad exponent");
  }
  l.routing.exponent = named.exponent.value_or(0);
  const std::string backend = row.text("backend");
  c.provider =
      backend.empty() ? measurement_of(c.kind, row.text("source")).library : library_of(backend);
  if (c.provider.empty()) c.provider = "trtllm";
  e.unfused = c.provider == "pytorch";  // which has no kernels for it
  l.routing.independent = c.protocol.chosen == Chosen::even;
  c.family =
      join({c.device, row.text("hidden"), row.text("ffn"), row.text("experts"), row.text("topk")});
  c.kernel = e;
}

void read_stream(RowReader& row, Case& c) {
  StreamCase s;
  std::string op = row.text("op");
  if (op.starts_with("adamw")) op = "adamw";
  if (!parse_enum(op, s.op)) c.unsupported = "operator '" + op + "' is not modelled";
  s.shape.rows = row.size("rows");
  s.shape.cols = row.size("cols");
  const Bytes derived =
      stream_bytes(s.op, s.shape.rows, s.shape.cols, row.choice("dtype", Precision::bf16));
  s.shape.bytes = Bytes(row.number_or("bytes", derived.value, 0, 1e18));
  const Bytes tensor = s.shape.bytes / 3;
  const Bytes most = c.protocol.one_operand;
  if (s.op == StreamOp::add && most.value > 0 && tensor >= most) s.shape.bytes -= tensor;
  c.provider = "pytorch";
  c.family = join({c.device, op, row.text("cols")});
  c.kernel = s;
}

void read_collective(RowReader& row, Case& c) {
  CollectiveCase k;
  const Measurement& habits = measurement_of(c.kind, row.text("source"));
  c.system = measured_system(habits, row.text("system"));
  c.provider = row.text("library");
  const std::string op = row.text("collective");
  if (!parse_enum(op, k.op)) c.unsupported = "collective '" + op + "' is not modelled";
  k.group.ranks = row.whole("gpus", 1, 1e7);
  const double nodes = row.number_or("nodes", 0, 0, 1e7);
  if (nodes >= 1) {
    k.group.per_node = std::max(1, static_cast<int>(k.group.ranks / nodes));
  } else {
    k.group.per_node =
        std::min(k.group.ranks, static_cast<int>(row.number_or("gpus_per_node", 1e7, 1, 1e7)));
  }
  k.bytes = Bytes(row.number("bytes", 0, 1e18));
  const std::string network = row.text("network");
  if (!network.empty()) c.adapters = adapters_of(habits, network, c.system);
  c.family = join({c.system, op, row.text("gpus")});
  c.kernel = k;
}

void read_step(RowReader& row, Case& c) {
  c.system = row.text("system");
  TrainCase t = read_train(row, c.unsupported);
  for (const std::string& text : measurement_of(c.kind, row.text("source")).set) {
    t.settings.push_back(parse_setting(text));
  }
  c.family = join({c.system, t.runtime, t.model, row.text("layers"), row.text("hidden")});
  if (c.unsupported.empty() && t.metric != TrainMetric::fits && c.measured <= 0) {
    row.problem("measured", "expected a positive number");
  }
  c.kernel = std::move(t);
}

void read_serving(RowReader& row, Case& c) {
  c.system = row.text("system");
  const InferCase t = read_infer(row, c.unsupported);
  c.family = join({c.system, t.runtime, t.model, row.text("layers"), row.text("hidden")});
  if (c.unsupported.empty() && c.measured <= 0) {
    row.problem("measured", "expected a positive number");
  }
  c.kernel = t;
}

void read_load(RowReader& row, Case& c, const std::string& file) {
  c.system = row.text("system");
  ServingCase t = read_serving_case(row, file, c.protocol, c.unsupported);
  c.family = join({c.system, t.runtime, t.model});
  if (c.unsupported.empty() && c.measured <= 0) {
    row.problem("measured", "expected a positive number");
  }
  c.kernel = std::move(t);
}

Case read_case(RowReader& row, const std::string& group, const std::string& file) {
  Case c;
  c.group = group;
  c.id = row.text("id");
  c.kind = row.text("kind");
  c.device = row.text("device");
  c.protocol = read_protocol(row, c.kind);
  c.measured = row.number("measured", 0, 1e18);
  c.metric = row.text("metric");
  if (c.kind == "gemm") {
    read_gemm(row, c);
  } else if (c.kind == "attention") {
    read_attention(row, c);
  } else if (c.kind == "experts") {
    read_experts(row, c);
  } else if (c.kind == "stream") {
    read_stream(row, c);
  } else if (c.kind == "collective") {
    read_collective(row, c);
  } else if (c.kind == "train" || c.kind == "memory") {
    return read_step(row, c), c;
  } else if (c.kind == "infer") {
    return read_serving(row, c), c;
  } else if (c.kind == "serving") {
    return read_load(row, c, file), c;
  } else {
    c.unsupported = "cases of kind '" + c.kind + "' are not modelled";
    return c;
  }
  if (c.metric != "seconds") c.unsupported = "metric '" + c.metric + "' is not modelled";
  if (c.unsupported.empty() && c.measured <= 0) row.problem("measured", "expected a positive time");
  return c;
}

}  // namespace

std::string library_of(const std::string& backend) {
  return backend.empty() || backend == "flash" ? "pytorch" : backend;
}

std::vector<Case> read_cases(const CsvTable& table) {
  std::vector<Diagnostic> problems;
  for (const char* column : {"id", "kind", "metric", "measured", "source"}) {
    if (table.column(column)) continue;
    problems.push_back({.file = table.file(),
                        .line = 1,
                        .column = 1,
                        .field = column,
                        .message = "every case file has this column",
                        .hint = did_you_mean(column, table.header())});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  const std::string group = std::filesystem::path(table.file()).stem().string();
  std::vector<Case> cases;
  cases.reserve(table.rows());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    RowReader row(table, i, problems);
    const Measurement& habits = measurement_of(row.text("kind"), row.text("source"));
    row.assume(habits.unsaid, habits.corrected);
    cases.push_back(read_case(row, group, table.file()));
    if (cases.back().unsupported.empty()) cases.back().unsupported = row.unknown();
  }
  throw_if_any(std::move(problems));
  return cases;
}

}  // namespace sextant
