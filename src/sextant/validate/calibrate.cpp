// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/calibrate.hpp"

#include <algorithm>
#include <concepts>
#include <set>

#include "sextant/io/presets.hpp"
#include "sextant/units/lists.hpp"
#include "sextant/validate/fit.hpp"

namespace sextant {
namespace {

// Which types the multiplies of a fit have.
struct Widths {
  bool eight = false;
  bool blocks = false;  ///< of scales, in 8 bits
  bool four = false;
  bool vector = false;
  bool matrix = false;
};

std::vector<Parameter> parameters_of(Mechanism& m, const Widths& widths) {
  std::vector<Parameter> p;
  // What was measured on lanes alone tells nothing of matrix units, nor of memory.
  if (widths.matrix) {
    p = {{"start_cycles", &m.start_cycles, 1000, 12000},
         {"memory_latency", &m.memory_latency.value, 2e-7, 4e-6},
         {"memory_efficiency", &m.memory_efficiency, 0.5, 0.97},
         {"matrix_efficiency", &m.matrix_efficiency, 0.5, 1},
         {"tile_cycles", &m.tile_cycles, 20, 8000},
         {"drain_cycles", &m.drain_cycles, 100, 40000},
         {"feed", &m.feed, 0.004, 0.06},
         {"split_cycles", &m.split_cycles, 200, 20000},
         {"tail", &m.tail, 0.1, 1}};
  }
  if (widths.eight) p.push_back({"matrix_efficiency_8bit", &m.matrix_efficiency_8bit, 0.25, 1});
  if (widths.blocks) p.push_back({"promotion", &m.promotion, 0, 20});
  if (widths.four) {
    p.push_back({"memory_efficiency_4bit", &m.memory_efficiency_4bit, 0.5, 0.97});
    p.push_back({"matrix_efficiency_4bit", &m.matrix_efficiency_4bit, 0.3, 1});
  }
  if (!widths.vector) return p;
  p.push_back({"vector_efficiency", &m.vector_efficiency, 0.4, 1});
  // How long rows are read shows where a device is said to have a reach.
  if (m.page_reach.value > 0) {
    p.push_back({"page_reach", &m.page_reach.value, 1e5, 2e7});
    p.push_back({"walk_cycles", &m.walk_cycles, 1, 100});
  }
  return p;
}

// Warp-level matrix units reach 0.86 in FlashAttention (RTX 4090); a slower device alone cannot
// tell that from its exponentials, so there it is given.
std::vector<Parameter> parameters_of(PrefillKernel& k, bool synchronous) {
  std::vector<Parameter> p = {{"start", &k.start.value, 1e-7, 3e-5},
                              {"traffic", &k.traffic, 0.05, 8},
                              {"efficiency", &k.efficiency, synchronous ? 0.86 : 0.15, 1},
                              {"tile_cycles", &k.tile_cycles, 10, 2e4},
                              {"imbalance", &k.imbalance, 0.01, 1.2}};
  // Heads of one width cannot tell exponentials that add up from slower multiplies.
  if (!k.serial) p.push_back({"softmax", &k.softmax, 0.01, 20});
  if (k.empty_cycles > 0) p.push_back({"empty_cycles", &k.empty_cycles, 50, 1e4});
  return p;
}

std::vector<Parameter> parameters_of(DecodeKernel& k, bool grouped, bool latent) {
  // The longest caches of H100 and H200 come at 0.90 and 0.93 of their peaks.
  std::vector<Parameter> p = {
      {"start", &k.start.value, 1e-6, 3e-5},
      {"memory_efficiency", &k.memory_efficiency, 0.3, 0.95},
      {"block_cycles", &k.block_cycles, 50, 3e4},
      {"block_bytes", &k.block_bytes.value, 1, 150},
      k.pair > 0 ? Parameter{"pair", &k.pair, 1, 2} : Parameter{"resident", &k.resident, 0.4, 8},
      {"combine", &k.combine.value, 1e-7, 3e-5}};
  if (k.waves == 0) p.push_back({"chunk", &k.chunk, 16, 1e6});  // else it is in the sources
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
  if (k.narrow_cols > 0) p.push_back({"wide_elements", &k.wide_elements, 0.2, 50});
  if (by_row) p.push_back({"row_cycles", &k.row_cycles, 0.05, 10});
  return p;
}

bool walks_rows(StreamOp op) {
  return op == StreamOp::layernorm || op == StreamOp::rmsnorm || op == StreamOp::add_rmsnorm ||
         op == StreamOp::softmax;
}

// The kernel of the library that a case exercises, by its field name, with its constants.
std::vector<Parameter> kernel_of(const Case& c, const Chip& chip, Kernels& k, std::string& name) {
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
    if (takes_group(chip, k, a->shape)) {
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

// Where the quantising kernels of 8-bit multiplies come from.
Kernels gemm_library(const std::vector<Device>& devices, Catalogue& catalogue) {
  std::string reason;
  const Kernels* library =
      devices.empty() ? nullptr : catalogue.kernels("pytorch", devices.front(), reason);
  return library != nullptr ? *library : Kernels{};
}

using CostOf = std::function<KernelCost(const Case&)>;

// Of cases that are one kernel each.
FitProblem kernel_problem(std::vector<Parameter> parameters, const CostOf& cost) {
  FitProblem p;
  p.parameters = std::move(parameters);
  p.apply = [] {};
  p.predict = [cost](const Case& c) { return cost(c).time.value; };
  p.result = [cost](const Case& c) { return result_of(c, cost(c)); };
  // Start-up must differ from throughput.
  p.least_range = 10;
  return p;
}

// A run that moved its bytes faster than the memory can did not move them (shared pages, aliased
// operands): nothing can be learned from it. It still counts in every error that is stated.
std::function<bool(const Case&)> moves_its_bytes(CostOf cost,
                                                 std::function<BytesPerSecond(const Case&)> peak) {
  return [cost = std::move(cost), peak = std::move(peak)](const Case& c) {
    const Seconds least = cost(c).dram / peak(c);
    return c.protocol.weights == Weights::hot || least.value <= c.measured;
  };
}

Widths widths_of(const CaseList& cases, const SharedMechanism& shared) {
  Widths w;
  for (const Case* c : cases) {
    const auto* g = std::get_if<GemmCase>(&c->kernel);
    if (g == nullptr) continue;
    const double bytes = element_bytes(g->shape.type);
    w.eight |= bytes == 1 && g->shape.scale_block == 0;
    w.blocks |= bytes == 1 && g->shape.scale_block > 0;
    w.four |= bytes < 1;
    const Chip& chip = shared.chip(c->device);
    const bool lanes = chip.on_vector(chip.runs[g->shape.type]);
    w.vector |= lanes;
    w.matrix |= !lanes;
  }
  return w;
}

// One mechanism for all devices; everything given must outlive the problem.
FitProblem gemm_problem(SharedMechanism& shared, const Kernels& kernels, Mechanism& mechanism,
                        const CaseList& cases) {
  const CostOf cost = [&](const Case& c) {
    return evaluate_case(c, shared.chip(c.device), kernels);
  };
  FitProblem p = kernel_problem(parameters_of(mechanism, widths_of(cases, shared)), cost);
  p.apply = [&] { shared.apply(); };
  p.possible =
      moves_its_bytes(cost, [&](const Case& c) { return shared.chip(c.device).bandwidth; });
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
  for (const Case& c : cases) {
    if (c.device == device.name && std::holds_alternative<GemmCase>(c.kernel)) own.push_back(c);
  }
  if (own.empty()) {
    throw InputError("no GEMM case is of device '" + device.name + "'",
                     "the mechanism constants are fitted to GEMMs");
  }
  catalogue.put(device);
  std::vector<Device> devices;
  const CaseList list = gemm_cases(own, catalogue, devices);
  if (list.empty()) {
    throw InputError("no GEMM case of device '" + device.name + "' can be predicted",
                     own.front().unsupported);
  }
  Calibration result =
      calibrate_shared(device.name, list, devices, device.mechanism, catalogue, options);
  device.provenance = result.provenance;
  return result;
}

std::vector<Calibration> calibrate_kernels(const std::vector<Case>& cases, Kernels& kernels,
                                           Catalogue& catalogue, const CalibrationOptions& options,
                                           std::vector<Diagnostic>* refused) {
  std::map<std::string, Chip> chips;
  std::map<std::string, CaseList> slots;
  std::set<std::string> others;  // a library has kernels of its own for some kinds of devices
  CaseList used;
  for (const Case& c : cases) {
    std::string reason;
    if (!c.unsupported.empty()) continue;
    const Device* d = catalogue.device(c.device, reason);
    if (d == nullptr) continue;
    const Kernels* own = catalogue.kernels(c.provider, *d, reason);
    std::string slot;
    if (own != nullptr && own->name != kernels.name) others.insert(own->name);
    if (own == nullptr || own->name != kernels.name) continue;
    const Chip& chip = chips.try_emplace(c.device, lower(*d)).first->second;
    if (kernel_of(c, chip, kernels, slot).empty()) continue;
    slots[slot].push_back(&c);
    used.push_back(&c);
  }
  if (slots.empty()) {
    throw InputError("no case uses a kernel of library '" + kernels.name + "'",
                     others.empty()
                         ? "attention cases name it as backend; gemm cases with quantize, streams "
                           "and flash attention belong to 'pytorch', experts to 'trtllm'"
                         : "they use those of " + *others.begin());
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
    const CostOf cost = [&](const Case& c) {
      return evaluate_case(c, chips.at(c.device), kernels);
    };
    std::string name;
    FitProblem p = kernel_problem(
        kernel_of(*list.front(), chips.at(list.front()->device), kernels, name), cost);
    p.possible = moves_its_bytes(cost, [&](const Case& c) { return chips.at(c.device).bandwidth; });
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
  kernels.provenance.method = results.front().provenance.method;
  kernels.provenance.data = sources_of(used);
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
    return find_by(fabrics_, &Fabric::name, name);
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
  }
  const auto most = std::max_element(
      count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  FitProblem p = kernel_problem(parameters_of(library), [&](const Case& c) {
    return evaluate_case(c, shared.network(c.system), library);
  });
  if (!library.peer_reads) {
    for (Fabric& f : fabrics) {
      p.parameters.push_back({"fabric/" + f.name + "/efficiency", &f.efficiency, 0.1, 0.98});
      if (most == count.end() || f.name == most->first) continue;
      p.parameters.push_back({"fabric/" + f.name + "/latency", &f.latency.value, 1e-7, 1e-5});
    }
  }
  p.apply = [&] { shared.apply(); };
  p.families = "system, collective and ranks";
  Calibration result = calibrate(library.name, p, list, options);
  library.provenance = result.provenance;
  return result;
}

namespace {

// Why a case that can be predicted has no prediction by a fit without it.
std::string not_refitted(const Case& c) {
  if (std::holds_alternative<ServingCase>(c.kernel)) return "engines are not refitted";
  if (const auto* t = std::get_if<TrainCase>(&c.kernel);
      t != nullptr && t->metric >= TrainMetric::activation_bytes_after_forward) {
    return "memory has no fitted constants";
  }
  return "too few cases of its kernel or of its runtime, or no preset of its device";
}

}  // namespace

std::vector<CaseResult> leave_families_out(const std::vector<Case>& cases, Catalogue& catalogue,
                                           const CalibrationOptions& options) {
  // What there is to fit: devices that have GEMMs, libraries that have kernels.
  std::set<std::string> devices;
  std::set<std::string> libraries;
  std::set<std::string> collectives;
  std::set<std::string> runtimes;
  for (const Case& c : cases) {
    std::string reason;
    if (const auto* t = std::get_if<TrainCase>(&c.kernel)) runtimes.insert(t->runtime);
    if (const auto* i = std::get_if<InferCase>(&c.kernel)) runtimes.insert(i->runtime);
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
  std::vector<Case> steps;  // without loads: a fit of those simulates hours
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(steps), [](const Case& c) {
    return std::holds_alternative<TrainCase>(c.kernel) ||
           std::holds_alternative<InferCase>(c.kernel);
  });
  std::vector<CaseResult> results;
  const double parts =
      static_cast<double>(devices.size() + libraries.size() + collectives.size() + runtimes.size());
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
  for (const std::string& name : runtimes) {
    std::string reason;
    const Runtime* preset = catalogue.runtime(name, reason);
    if (preset != nullptr) {
      Runtime runtime = *preset;
      try {
        take(calibrate_runtime(steps, runtime, catalogue, part));
      } catch (const InputError&) {  // too few cases, which are counted below
      }
    }
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
      results.push_back(p.result(*c));
      results.back().group = left.name + " left out";
    }
    ++done;
  }
  return results;
}

}  // namespace sextant
