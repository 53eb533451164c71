// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <nlopt.hpp>
#include <set>

#include "sextant/io/presets.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

struct Parameter {
  std::string name;
  double* value;
  double low;
  double high;
};

// Which types the multiplies of a fit have.
struct Widths {
  bool eight = false;
  bool four = false;
  bool vector = false;
};

// What a fit needs to know: the constants, how they become predictions, and the cases.
struct FitProblem {
  std::vector<Parameter> parameters;
  std::function<void()> apply;  // after the constants changed
  std::function<KernelCost(const Case&)> predict;
  std::function<BytesPerSecond(const Case&)> bandwidth;  // peak of the case's device
};

using CaseList = std::vector<const Case*>;

double relative_error(const FitProblem& p, const CaseList& cases) {
  // Every source weighs by the root of its size, so that a small careful set is heard.
  std::map<std::string, std::pair<double, int>> sums;
  for (const Case* c : cases) {
    auto& [sum, count] = sums[c->group];
    sum += std::abs(std::log(p.predict(*c).time.value / c->measured));
    ++count;
  }
  double total = 0;
  double weight = 0;
  for (const auto& [group, s] : sums) {
    const double w = std::sqrt(static_cast<double>(s.second));
    total += w * s.first / s.second;
    weight += w;
  }
  return total / weight;
}

// A run that moved its bytes faster than the memory can did not move them (shared pages, aliased
// operands): nothing can be learned from it. It still counts in every error that is stated.
CaseList possible(const FitProblem& p, const CaseList& cases) {
  CaseList list;
  for (const Case* c : cases) {
    const Seconds least = p.predict(*c).dram / p.bandwidth(*c);
    const bool from_cache = c->protocol.weights == Weights::hot;
    if (from_cache || least.value <= c->measured) list.push_back(c);
  }
  return list;
}

CaseList thin(const CaseList& cases, int most) {
  if (static_cast<int>(cases.size()) <= most) return cases;
  CaseList few;
  const double step = static_cast<double>(cases.size()) / most;
  for (int i = 0; i < most; ++i) few.push_back(cases[static_cast<std::size_t>(i * step)]);
  return few;
}

std::vector<double> values_of(const FitProblem& p) {
  std::vector<double> values;
  for (const Parameter& q : p.parameters) values.push_back(*q.value);
  return values;
}

void restore(const FitProblem& p, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) *p.parameters[i].value = values[i];
  p.apply();
}

// A constant that the cases do not determine goes wherever the search left it, and harms where it
// matters. So what gives as small an error with its old value keeps that.
void keep_undetermined(const FitProblem& p, const CaseList& cases,
                       const std::vector<double>& before) {
  constexpr double as_small = 1.003;
  p.apply();
  double error = relative_error(p, cases);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Parameter& q = p.parameters[i];
    if (before[i] < q.low || before[i] > q.high) continue;
    const double fitted = std::exchange(*q.value, before[i]);
    p.apply();
    const double kept = relative_error(p, cases);
    if (kept <= as_small * error) {
      error = std::min(error, kept);
    } else {
      *q.value = fitted;
    }
  }
  p.apply();
}

// Minimises the mean of |log(predicted / measured)| over the logarithms of the constants (Subplex:
// no derivatives, robust to the kinks that tiles and waves make).
void fit(const FitProblem& p, const CaseList& all, const CalibrationOptions& options,
         const Progress& progress) {
  const CaseList cases = thin(possible(p, all), options.most_cases);
  if (cases.empty()) return;
  struct Context {
    const FitProblem& problem;
    const CaseList& cases;
    const Progress& progress;
    int evaluations;
    int budget;
  } context{p, cases, progress, 0, options.evaluations};
  const std::vector<double> before = values_of(p);
  std::vector<double> x;
  std::vector<double> low;
  std::vector<double> high;
  for (const Parameter& q : p.parameters) {
    low.push_back(std::log(q.low));
    high.push_back(std::log(q.high));
    // A start on a bound has nowhere to go.
    const double margin = 0.05 * (high.back() - low.back());
    x.push_back(
        std::clamp(std::log(std::max(*q.value, q.low)), low.back() + margin, high.back() - margin));
  }
  auto objective = [](const std::vector<double>& v, std::vector<double>&, void* data) {
    auto& c = *static_cast<Context*>(data);
    for (std::size_t i = 0; i < v.size(); ++i) *c.problem.parameters[i].value = std::exp(v[i]);
    c.problem.apply();
    if (c.progress && ++c.evaluations % 16 == 0) {
      c.progress(std::min(1.0, static_cast<double>(c.evaluations) / c.budget));
    }
    return relative_error(c.problem, c.cases);
  };
  nlopt::opt search(nlopt::LN_SBPLX, static_cast<unsigned>(x.size()));
  search.set_lower_bounds(low);
  search.set_upper_bounds(high);
  search.set_min_objective(objective, &context);
  search.set_maxeval(options.evaluations);
  search.set_ftol_rel(1e-6);
  double best = 0;
  try {
    search.optimize(x, best);
  } catch (const nlopt::roundoff_limited&) {
    // The best point so far stands.
  }
  for (std::size_t i = 0; i < x.size(); ++i) *p.parameters[i].value = std::exp(x[i]);
  keep_undetermined(p, cases, before);
}

// Which fold each family is left out in: families in alphabetical order, dealt out in turn.
std::map<std::string, int> deal(const CaseList& cases, int folds) {
  std::map<std::string, int> fold_of;
  for (const Case* c : cases) fold_of[c->family] = 0;
  int next = 0;
  for (auto& [family, fold] : fold_of) fold = next++ % folds;
  return fold_of;
}

// Enough cases, enough families, and shapes that differ enough to tell the constants apart. Returns
// how many families there are.
int require_enough(const std::string& what, const FitProblem& p, const CaseList& cases) {
  const std::size_t least = 2 * p.parameters.size() + 3;
  if (cases.size() < least) {
    throw InputError(what + ": " + std::to_string(cases.size()) + " cases cannot determine " +
                         std::to_string(p.parameters.size()) + " constants",
                     "give at least " + std::to_string(least) + " cases of different shapes");
  }
  std::set<std::string> families;
  double shortest = 1e300;
  double longest = 0;
  for (const Case* c : cases) {
    families.insert(c->family);
    shortest = std::min(shortest, c->measured);
    longest = std::max(longest, c->measured);
  }
  if (families.size() < 2) {
    throw InputError(what +
                         ": all cases are of one family of shapes, so nothing can be left out to "
                         "check the fit",
                     "measure several (for GEMMs: pairs of n and k)");
  }
  if (longest < 10 * shortest) {
    throw InputError(what + ": all cases take about as long (" + format(Seconds(shortest)) +
                         " to " + format(Seconds(longest)) +
                         "), so start-up cannot be told from throughput",
                     "measure small and large shapes, a factor of ten apart or more");
  }
  return static_cast<int>(families.size());
}

Calibration calibrate(std::string what, const FitProblem& p, const CaseList& cases,
                      const CalibrationOptions& options) {
  const int folds = std::min(options.folds, require_enough(what, p, cases));
  const std::map<std::string, int> fold_of = deal(cases, folds);
  const std::vector<double> start = values_of(p);
  const double fits = folds + 1;
  Calibration result;
  result.name = std::move(what);
  std::vector<CaseResult> held;
  for (int fold = 0; fold < folds; ++fold) {
    CaseList in;
    CaseList out;
    for (const Case* c : cases) {
      (fold_of.at(c->family) == fold ? out : in).push_back(c);
    }
    if (in.empty() || out.empty()) continue;
    restore(p, start);
    fit(p, in, options, [&](double share) {
      if (options.progress) options.progress((fold + share) / fits);
    });
    for (const Case* c : out) held.push_back(result_of(*c, p.predict(*c)));
  }
  restore(p, start);
  fit(p, cases, options, [&](double share) {
    if (options.progress) options.progress((folds + share) / fits);
  });
  std::vector<CaseResult> seen;
  for (const Case* c : cases) seen.push_back(result_of(*c, p.predict(*c)));
  result.fit = summarize("fit", seen);
  result.left_out = summarize("left out", held);
  result.left_out_results = std::move(held);
  for (std::size_t i = 0; i < p.parameters.size(); ++i) {
    const Parameter& q = p.parameters[i];
    const bool at_bound = *q.value <= q.low * 1.001 || *q.value >= q.high * 0.999;
    result.constants.push_back({q.name, start[i], *q.value, at_bound});
  }
  return result;
}

std::vector<Parameter> parameters_of(Mechanism& m, const Widths& widths) {
  std::vector<Parameter> p = {
      {"start_cycles", &m.start_cycles, 1000, 12000},
      {"memory_latency", &m.memory_latency.value, 2e-7, 1.5e-6},
      {"memory_efficiency", &m.memory_efficiency, 0.5, 0.97},
      {"matrix_efficiency", &m.matrix_efficiency, 0.5, 1},
      {"tile_cycles", &m.tile_cycles, 20, 4000},
      {"drain_cycles", &m.drain_cycles, 100, 12000},
      {"feed", &m.feed, 0.004, 0.06},
      {"split_cycles", &m.split_cycles, 200, 12000},
      {"tail", &m.tail, 0.1, 1},
  };
  if (widths.eight) p.push_back({"matrix_efficiency_8bit", &m.matrix_efficiency_8bit, 0.4, 1});
  if (widths.four) p.push_back({"matrix_efficiency_4bit", &m.matrix_efficiency_4bit, 0.3, 1});
  if (widths.vector) p.push_back({"vector_efficiency", &m.vector_efficiency, 0.4, 1});
  return p;
}

// Warp-level matrix units reach 0.86 in FlashAttention (RTX 4090); a slower device alone cannot
// tell that from its exponentials, so there it is given.
std::vector<Parameter> parameters_of(PrefillKernel& k, bool synchronous) {
  return {{"start", &k.start.value, 1e-7, 3e-5},
          {"traffic", &k.traffic, 0.05, 8},
          {"efficiency", &k.efficiency, synchronous ? 0.86 : 0.15, 1},
          {"softmax", &k.softmax, 0.01, 20},
          {"tile_cycles", &k.tile_cycles, 10, 2e4},
          {"imbalance", &k.imbalance, 0.01, 1.2}};
}

std::vector<Parameter> parameters_of(DecodeKernel& k, bool grouped, bool latent) {
  std::vector<Parameter> p = {{"start", &k.start.value, 1e-6, 3e-5},
                              {"memory_efficiency", &k.memory_efficiency, 0.3, 1},
                              {"block_cycles", &k.block_cycles, 50, 3e4},
                              {"block_bytes", &k.block_bytes.value, 1, 150},
                              {"resident", &k.resident, 0.4, 8},
                              {"chunk", &k.chunk, 16, 1e6},
                              {"combine", &k.combine.value, 1e-7, 3e-5}};
  // FlashAttention-2 has a kernel of its own for caches that are split.
  if (k.split_bytes.value > 0) {
    p.push_back({"split_bytes", &k.split_bytes.value, 1, 150});
    p.push_back({"combine_piece", &k.combine_piece.value, 1e-9, 3e-6});
  }
  if (grouped) p.push_back({"group", &k.group, 0.001, 3});
  if (latent) {
    p.push_back({"efficiency", &k.efficiency, 0.05, 1});
    p.push_back({"traffic", &k.traffic, 0.5, 8});
  }
  return p;
}

std::vector<Parameter> parameters_of(ExpertKernel& k) {
  return {{"start", &k.start.value, 5e-6, 1e-4},
          {"memory_efficiency", &k.memory_efficiency, 0.5, 1},
          {"efficiency", &k.efficiency, 0.3, 1},
          {"feed", &k.feed, 0.004, 0.06},
          {"tile_cycles", &k.tile_cycles, 100, 8000},
          {"drain_cycles", &k.drain_cycles, 100, 12000},
          {"traffic", &k.traffic, 0.2, 6},
          {"per_expert", &k.per_expert.value, 1e-10, 1e-6},
          {"route_cycles", &k.route_cycles, 0.1, 3000}};
}

std::vector<Parameter> parameters_of(QuantizeKernel& k) {
  return {{"start", &k.start.value, 1e-7, 2e-5},
          {"row_cycles", &k.row_cycles, 10, 2e4},
          {"elements", &k.elements, 0.1, 100},
          {"blocks", &k.blocks, 1, 32}};
}

std::vector<Parameter> parameters_of(StreamKernel& k, bool by_row) {
  std::vector<Parameter> p = {{"start_cycles", &k.start_cycles, 200, 2e4},
                              {"memory_efficiency", &k.memory_efficiency, 0.4, 0.97}};
  p.push_back({"elements", &k.elements, 0.2, 50});
  if (by_row) p.push_back({"row_cycles", &k.row_cycles, 0.05, 10});
  return p;
}

bool walks_rows(StreamOp op) {
  return op == StreamOp::layernorm || op == StreamOp::rmsnorm || op == StreamOp::add_rmsnorm ||
         op == StreamOp::softmax;
}

// The kernel of the library that a case exercises, by its field name, with its constants.
std::vector<Parameter> kernel_of(const Case& c, Kernels& k, std::string& name) {
  const bool synchronous = k.name.ends_with("-sync");
  if (const auto* g = std::get_if<GemmCase>(&c.kernel)) {
    if (!g->quantize) return {};
    const bool four_bits = element_bytes(g->shape.type) < 1;
    name = four_bits ? "quantize_4bit" : "quantize";
    return parameters_of(four_bits ? k.quantize_4bit : k.quantize);
  }
  if (const auto* a = std::get_if<AttentionCase>(&c.kernel)) {
    const bool small = narrow(a->shape.cache_type);
    if (a->phase == Phase::backward) {
      name = "backward";
      return parameters_of(k.backward, false);
    }
    if (a->phase == Phase::prefill || a->phase == Phase::mixed) {
      name = small ? "prefill_8bit" : "prefill";
      return parameters_of(small ? k.prefill_8bit : k.prefill, synchronous);
    }
    const double group = a->shape.heads / a->shape.kv_heads;
    if (group >= k.group_min && group <= k.group_max) {
      name = small ? "decode_8bit" : "decode";
      return parameters_of(small ? k.decode_8bit : k.decode, true, false);
    }
    name = small ? "decode_single_8bit" : "decode_single";
    return parameters_of(small ? k.decode_single_8bit : k.decode_single, false, false);
  }
  if (const auto* l = std::get_if<LatentCase>(&c.kernel)) {
    const bool small = narrow(l->shape.cache_type);
    if (l->phase == Phase::prefill) {
      name = small ? "latent_prefill_8bit" : "latent_prefill";
      return parameters_of(small ? k.latent_prefill_8bit : k.latent_prefill, false);
    }
    name = small ? "latent_decode_8bit" : "latent_decode";
    return parameters_of(small ? k.latent_decode_8bit : k.latent_decode, false, true);
  }
  if (const auto* e = std::get_if<ExpertsCase>(&c.kernel)) {
    const bool small = narrow(e->layer.type);
    if (e->unfused) {
      name = "experts_unfused";
      return {{"start", &k.experts_unfused.start.value, 5e-6, 3e-4},
              {"memory_efficiency", &k.experts_unfused.memory_efficiency, 0.5, 1},
              {"efficiency", &k.experts_unfused.efficiency, 0.3, 1},
              {"tile_cycles", &k.experts_unfused.tile_cycles, 100, 8000},
              {"traffic", &k.experts_unfused.traffic, 0.2, 12},
              {"route_cycles", &k.experts_unfused.route_cycles, 0.1, 30000}};
    }
    name = small ? "experts_8bit" : "experts";
    return parameters_of(small ? k.experts_8bit : k.experts);
  }
  if (const auto* s = std::get_if<StreamCase>(&c.kernel)) {
    name = "stream." + std::string(name_of(s->op));
    return parameters_of(k.stream[s->op], walks_rows(s->op));
  }
  return {};
}

// Chips of the devices in question with one mechanism put into all of them.
class SharedMechanism {
 public:
  SharedMechanism(const std::vector<Device>& devices, const Mechanism& mechanism)
      : devices_(devices), mechanism_(mechanism) {
    apply();
  }
  void apply() {
    for (Device d : devices_) {
      const bool asynchronous = d.mechanism.asynchronous;  // a fact of the device, not a constant
      d.mechanism = mechanism_;
      d.mechanism.asynchronous = asynchronous;
      chips_[d.name] = lower(d);
    }
  }
  const Chip& chip(const std::string& device) const { return chips_.at(device); }

 private:
  std::vector<Device> devices_;
  const Mechanism& mechanism_;
  std::map<std::string, Chip> chips_;
};

// GEMM cases of devices that exist; the devices they name.
CaseList gemm_cases(const std::vector<Case>& cases, Catalogue& catalogue,
                    std::vector<Device>& devices) {
  CaseList list;
  std::set<std::string> names;
  for (const Case& c : cases) {
    std::string reason;
    if (!c.unsupported.empty() || !std::holds_alternative<GemmCase>(c.kernel)) continue;
    const Device* d = catalogue.device(c.device, reason);
    if (d == nullptr) continue;
    if (names.insert(c.device).second) devices.push_back(*d);
    list.push_back(&c);
  }
  return list;
}

Widths widths_of(const CaseList& cases) {
  Widths w;
  for (const Case* c : cases) {
    const auto* g = std::get_if<GemmCase>(&c->kernel);
    if (g == nullptr) continue;
    const double bytes = element_bytes(g->shape.type);
    w.eight |= bytes == 1;
    w.four |= bytes < 1;
    w.vector |= g->shape.type == Precision::fp32;
  }
  return w;
}

// Where the quantising kernels of 8-bit multiplies come from.
Kernels gemm_library(const std::vector<Device>& devices, Catalogue& catalogue) {
  std::string reason;
  const Kernels* library =
      devices.empty() ? nullptr : catalogue.kernels("pytorch", devices.front(), reason);
  return library != nullptr ? *library : Kernels{};
}

// One mechanism for all devices; everything given must outlive the problem.
FitProblem gemm_problem(SharedMechanism& shared, const Kernels& kernels, Mechanism& mechanism,
                        const CaseList& cases) {
  FitProblem p;
  p.parameters = parameters_of(mechanism, widths_of(cases));
  p.apply = [&] { shared.apply(); };
  p.predict = [&](const Case& c) { return evaluate_case(c, shared.chip(c.device), kernels); };
  p.bandwidth = [&](const Case& c) { return shared.chip(c.device).bandwidth; };
  return p;
}

Calibration calibrate_shared(const std::string& what, const CaseList& cases,
                             const std::vector<Device>& devices, Mechanism& mechanism,
                             Catalogue& catalogue, const CalibrationOptions& options) {
  SharedMechanism shared(devices, mechanism);
  const Kernels kernels = gemm_library(devices, catalogue);
  const FitProblem p = gemm_problem(shared, kernels, mechanism, cases);
  return calibrate(what, p, cases, options);
}

}  // namespace

Calibration calibrate_mechanism(const std::vector<Case>& cases, Mechanism& mechanism,
                                Catalogue& catalogue, const CalibrationOptions& options) {
  std::vector<Device> devices;
  const CaseList list = gemm_cases(cases, catalogue, devices);
  return calibrate_shared("mechanism", list, devices, mechanism, catalogue, options);
}

Calibration calibrate_device(const std::vector<Case>& cases, Device& device, Catalogue& catalogue,
                             const CalibrationOptions& options) {
  std::vector<Case> own;
  std::string sources;
  for (const Case& c : cases) {
    if (c.device != device.name || !std::holds_alternative<GemmCase>(c.kernel)) continue;
    if (sources.find(c.group) == std::string::npos) {
      sources += (sources.empty() ? "" : ", ") + c.group;
    }
    own.push_back(c);
  }
  if (own.empty()) {
    throw InputError("no GEMM case is of device '" + device.name + "'",
                     "the mechanism constants are fitted to GEMMs");
  }
  catalogue.put(device);
  std::vector<Device> devices;
  const CaseList list = gemm_cases(own, catalogue, devices);
  const Calibration result =
      calibrate_shared(device.name, list, devices, device.mechanism, catalogue, options);
  device.provenance = {.method = "sextant calibrate: mean |log error|, k-fold by shape family",
                       .data = sources,
                       .cases = result.fit.cases,
                       .fit_error = result.fit.mape,
                       .left_out_error = result.left_out.mape};
  return result;
}

std::vector<Calibration> calibrate_kernels(const std::vector<Case>& cases, Kernels& kernels,
                                           Catalogue& catalogue, const CalibrationOptions& options,
                                           std::vector<Diagnostic>* refused) {
  std::map<std::string, Chip> chips;
  std::map<std::string, CaseList> slots;
  std::string sources;
  for (const Case& c : cases) {
    std::string reason;
    if (!c.unsupported.empty()) continue;
    const Device* d = catalogue.device(c.device, reason);
    if (d == nullptr) continue;
    const Kernels* own = catalogue.kernels(c.provider, *d, reason);
    std::string slot;
    if (own == nullptr || own->name != kernels.name || kernel_of(c, kernels, slot).empty())
      continue;
    chips.try_emplace(c.device, lower(*d));
    slots[slot].push_back(&c);
    if (sources.find(c.group) == std::string::npos) {
      sources += (sources.empty() ? "" : ", ") + c.group;
    }
  }
  if (slots.empty()) {
    throw InputError("no case uses a kernel of library '" + kernels.name + "'",
                     "attention cases name it as backend; gemm cases with quantize, streams and "
                     "flash attention belong to 'pytorch', experts to 'trtllm'");
  }
  std::vector<Calibration> results;
  std::vector<Diagnostic> problems;
  double done = -1;
  double total = 0;
  double left_out = 0;
  for (const auto& [slot, list] : slots) {
    CalibrationOptions own = options;
    own.progress = [&](double share) {
      if (options.progress) options.progress((done + share) / static_cast<double>(slots.size()));
    };
    FitProblem p;
    std::string name;
    p.parameters = kernel_of(*list.front(), kernels, name);
    p.apply = [] {};
    p.predict = [&](const Case& c) { return evaluate_case(c, chips.at(c.device), kernels); };
    p.bandwidth = [&](const Case& c) { return chips.at(c.device).bandwidth; };
    ++done;
    try {
      results.push_back(calibrate(slot, p, list, own));
    } catch (const InputError& e) {
      problems.insert(problems.end(), e.diagnostics().begin(), e.diagnostics().end());
      continue;
    }
    const Calibration& r = results.back();
    total += r.fit.mape * r.fit.cases;
    left_out += r.left_out.mape * r.fit.cases;
  }
  if (results.empty()) throw InputError(std::move(problems));
  if (refused != nullptr) *refused = std::move(problems);
  kernels.provenance.method = "sextant calibrate: mean |log error|, k-fold by shape family";
  kernels.provenance.data = sources;
  kernels.provenance.cases = 0;
  for (const Calibration& r : results) kernels.provenance.cases += r.fit.cases;
  kernels.provenance.fit_error = total / kernels.provenance.cases;
  kernels.provenance.left_out_error = left_out / kernels.provenance.cases;
  return results;
}

namespace {

void add_line(std::vector<Parameter>& p, const std::string& name, CollectiveLine& l,
              bool chunks = true) {
  p.push_back({name + ".start", &l.start, 0.05, 300});
  p.push_back({name + ".hop", &l.hop, 0.01, 20});
  p.push_back({name + ".share", &l.share, 0.003, 1});
  if (chunks) p.push_back({name + ".fill", &l.fill, 0.01, 10});
}
template <class Line>
void add_lines(std::vector<Parameter>& p, const std::string& name, Protocols<Line>& l) {
  constexpr bool chunks = std::same_as<Line, CollectiveLine>;
  add_line(p, name + ".low_latency", l.low_latency, chunks);
  add_line(p, name + ".ll128", l.ll128, chunks);
  add_line(p, name + ".simple", l.simple, chunks);
}

// What the library adds to one that it extends.
std::vector<Parameter> parameters_of(CollectiveLibrary& l) {
  std::vector<Parameter> p;
  if (l.peer_reads) {
    add_line(p, "one_shot", l.one_shot);
    add_line(p, "one_shot_barrier", l.one_shot_barrier);
    add_line(p, "two_shot", l.two_shot);
    return p;
  }
  add_lines(p, "ring", l.ring);
  add_lines(p, "direct", l.direct);
  add_lines(p, "send", l.send);
  add_line(p, "in_network", l.in_network);
  p.push_back({"direct_network_share", &l.direct_network_share, 0.1, 1});
  return p;
}

// The systems of the cases, whose fabrics of one name share their constants.
class SharedFabrics {
 public:
  explicit SharedFabrics(std::vector<Fabric>& fabrics) : fabrics_(fabrics) {}

  void add(const System& system) {
    if (!systems_.emplace(system.name, system).second) return;
    for (const Fabric& f : system.fabrics) {
      if (f.reach > system.devices_per_node || find(f.name) != nullptr) continue;
      fabrics_.push_back(f);
    }
    networks_[system.name] = lower(system);
  }
  void apply() {
    for (auto& [name, system] : systems_) {
      for (Fabric& f : system.fabrics) {
        const Fabric* shared = find(f.name);
        if (shared == nullptr) continue;
        f.latency = shared->latency;
        f.efficiency = shared->efficiency;
      }
      networks_[name] = lower(system);
    }
  }
  const Network& network(const std::string& system) const { return networks_.at(system); }

 private:
  const Fabric* find(const std::string& name) const {
    const auto found = std::find_if(fabrics_.begin(), fabrics_.end(),
                                    [&](const Fabric& f) { return f.name == name; });
    return found == fabrics_.end() ? nullptr : &*found;
  }

  std::vector<Fabric>& fabrics_;
  std::map<std::string, System> systems_;
  std::map<std::string, Network> networks_;
};

}  // namespace

Calibration calibrate_collectives(const std::vector<Case>& cases, CollectiveLibrary& library,
                                  std::vector<Fabric>& fabrics, Catalogue& catalogue,
                                  const CalibrationOptions& options) {
  SharedFabrics shared(fabrics);
  CaseList list;
  std::string sources;
  std::map<std::string, int> count;  // of cases, by their system's first fabric
  for (const Case& c : cases) {
    std::string reason;
    const auto* k = std::get_if<CollectiveCase>(&c.kernel);
    const System* s =
        k == nullptr || !c.unsupported.empty() ? nullptr : catalogue.system(c.system, reason);
    if (s == nullptr || (c.provider.empty() ? s->collectives : c.provider) != library.name)
      continue;
    shared.add(*s);
    list.push_back(&c);
    if (!s->fabrics.empty()) ++count[s->fabrics.front().name];
    if (sources.find(c.group) == std::string::npos) {
      sources += (sources.empty() ? "" : ", ") + c.group;
    }
  }
  const auto most = std::max_element(
      count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  FitProblem p;
  p.parameters = parameters_of(library);
  if (!library.peer_reads) {
    for (Fabric& f : fabrics) {
      p.parameters.push_back({"fabric/" + f.name + "/efficiency", &f.efficiency, 0.1, 0.98});
      if (most == count.end() || f.name == most->first) continue;
      p.parameters.push_back({"fabric/" + f.name + "/latency", &f.latency.value, 1e-7, 1e-5});
    }
  }
  p.apply = [&] { shared.apply(); };
  p.predict = [&](const Case& c) { return evaluate_case(c, shared.network(c.system), library); };
  p.bandwidth = [](const Case&) { return BytesPerSecond(1); };
  Calibration result = calibrate(library.name, p, list, options);
  library.provenance.method =
      "sextant calibrate: mean |log error|, k-fold by system, collective and ranks";
  library.provenance.data = sources;
  library.provenance.cases = result.fit.cases;
  library.provenance.fit_error = result.fit.mape;
  library.provenance.left_out_error = result.left_out.mape;
  result.provenance = library.provenance;
  return result;
}

namespace {

// Why a case that can be predicted has no prediction by a fit without it.
std::string not_refitted(const Case& c) {
  if (std::holds_alternative<TrainCase>(c.kernel) || std::holds_alternative<InferCase>(c.kernel)) {
    return "constants of runtimes are not refitted";
  }
  return "too few cases of its kernel, or no preset of its device";
}

}  // namespace

std::vector<CaseResult> leave_families_out(const std::vector<Case>& cases, Catalogue& catalogue,
                                           const CalibrationOptions& options) {
  // What there is to fit: devices that have GEMMs, libraries that have kernels.
  std::set<std::string> devices;
  std::set<std::string> libraries;
  std::set<std::string> collectives;
  for (const Case& c : cases) {
    std::string reason;
    if (std::holds_alternative<CollectiveCase>(c.kernel) && c.unsupported.empty() &&
        catalogue.collectives(c.provider, reason) != nullptr) {
      collectives.insert(c.provider);
    }
    const Device* d = c.unsupported.empty() ? catalogue.device(c.device, reason) : nullptr;
    if (d == nullptr) continue;
    if (std::holds_alternative<GemmCase>(c.kernel)) {
      devices.insert(c.device);
    } else if (const Kernels* k = catalogue.kernels(c.provider, *d, reason)) {
      libraries.insert(k->name);
    }
  }
  std::vector<CaseResult> results;
  const double parts = static_cast<double>(devices.size() + libraries.size() + collectives.size());
  double done = 0;
  CalibrationOptions part = options;
  part.progress = [&](double share) {
    if (options.progress) options.progress((done + share) / parts);
  };
  const auto take = [&](const Calibration& c) {
    results.insert(results.end(), c.left_out_results.begin(), c.left_out_results.end());
  };
  for (const std::string& name : devices) {
    std::string reason;
    Device device = *catalogue.device(name, reason);
    take(calibrate_device(cases, device, catalogue, part));
    ++done;
  }
  for (const std::string& name : libraries) {
    Kernels kernels = load_kernels(name, {}, Lookup::presets);
    for (const Calibration& c : calibrate_kernels(cases, kernels, catalogue, part)) {
      if (!c.name.starts_with("quantize"))
        take(c);  // those rows are GEMMs and were taken with their device
    }
    ++done;
  }
  for (const std::string& name : collectives) {
    std::string reason;
    CollectiveLibrary library = *catalogue.collectives(name, reason);
    std::vector<Fabric> fabrics;
    take(calibrate_collectives(cases, library, fabrics, catalogue, part));
    ++done;
  }
  // What could not be left out is counted with the reason, as everywhere.
  std::set<std::pair<std::string, std::string>> predicted;
  for (const CaseResult& r : results) predicted.insert({r.group, r.id});
  for (const Case& c : cases) {
    if (predicted.contains({c.group, c.id})) continue;
    results.push_back(unpredicted(c, !c.unsupported.empty() ? c.unsupported : not_refitted(c)));
  }
  return results;
}

std::vector<CaseResult> leave_devices_out(const std::vector<Case>& cases, Catalogue& catalogue,
                                          const CalibrationOptions& options) {
  std::vector<Device> devices;
  const CaseList list = gemm_cases(cases, catalogue, devices);
  if (devices.size() < 2) {
    throw InputError("only one device has GEMM cases: nothing is left to fit when it is left out");
  }
  const Kernels kernels = gemm_library(devices, catalogue);
  std::vector<CaseResult> results;
  double done = 0;
  for (const Device& left : devices) {
    CaseList in;
    CaseList out;
    for (const Case* c : list) (c->device == left.name ? out : in).push_back(c);
    Mechanism mechanism;
    SharedMechanism shared(devices, mechanism);
    const FitProblem p = gemm_problem(shared, kernels, mechanism, in);
    fit(p, in, options, [&](double share) {
      if (options.progress) options.progress((done + share) / static_cast<double>(devices.size()));
    });
    for (const Case* c : out) {
      results.push_back(result_of(*c, p.predict(*c)));
      results.back().group = left.name + " left out";
    }
    ++done;
  }
  return results;
}

}  // namespace sextant
