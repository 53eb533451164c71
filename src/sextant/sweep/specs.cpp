// SPDX-License-Identifier: Apache-2.0
#include "sextant/sweep/specs.hpp"

#include <utility>

#include "sextant/io/presets.hpp"
#include "sextant/tech/usual.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::sweep {
namespace {

// So many loaded specs are kept; a plan that varies a model's width in a thousand steps needs each
// of them once.
constexpr std::size_t most_kept = 256;

/// Contradictions wait for the axes: a second memory's size may be a setting, and its rate vary.
void apply_to(System& system, const std::vector<Setting>& settings) {
  apply(settings, system, "system");
  apply(settings, system.device, "device");
}

}  // namespace

template <class T, class Load>
const T& Specs::kept(std::map<std::string, T>& cache, const std::string& name, const Load& load) {
  const std::string key = name + '\n' + settings_key_;
  const auto found = cache.find(key);
  if (found != cache.end()) return found->second;
  if (cache.size() >= most_kept) cache.clear();
  return cache.emplace(key, load(name, settings_, plan_.lookup)).first->second;
}

// Settings of axes come after the plan's own, as later --set options do.
void Specs::read_settings(const std::vector<std::size_t>& digits) {
  settings_ = plan_.settings;
  settings_key_.clear();
  for (std::size_t w = 0; w < plan_.wheels.size(); ++w) {
    for (const std::size_t a : plan_.wheels[w].axes) {
      const Axis& axis = plan_.axes[a];
      if (axis.layer != Layer::setting) continue;
      settings_.push_back({axis.path, axis.text(digits[w])});
      settings_key_ += axis.path + "=" + axis.text(digits[w]) + "\n";
    }
  }
}

void Specs::apply_axes(Scene& scene, const std::vector<std::size_t>& digits,
                       std::initializer_list<std::string_view> roots) {
  for (std::size_t w = 0; w < plan_.wheels.size(); ++w) {
    for (const std::size_t a : plan_.wheels[w].axes) {
      const Axis& axis = plan_.axes[a];
      const std::string_view root = root_of(axis.path);
      if (axis.layer != Layer::spec || !contains(roots, root)) {
        continue;
      }
      Diagnostic problem{.field = axis.field};
      const std::optional<Slot> slot = find_slot(scene, axis.path, problem);
      if (!slot) throw InputError({problem});
      assign(slot->target, axis.numbers[digits[w]], axis.text(digits[w]));
    }
  }
}

void Specs::load_system_of(Scene& scene) {
  const Inputs& in = scene.inputs;
  if (!in.technology.node.empty()) return generate_system(scene);
  scene.system = kept(systems_, in.system + '\n' + in.device,
                      [&](const std::string&, const std::vector<Setting>& settings, Lookup lookup) {
                        std::vector<Setting> device;
                        if (!in.device.empty()) device.push_back({"device", in.device});
                        System system = load_system(in.system, device, lookup);
                        apply_to(system, settings);
                        return system;
                      });
}

void Specs::generate_system(Scene& scene) {
  const TechnologyInputs& in = scene.inputs.technology;
  const auto node = [](const auto& n, const auto& s, Lookup l) { return load_node(n, s, l); };
  const auto dram = [](const auto& n, const auto& s, Lookup l) { return load_dram(n, s, l); };
  const auto link = [](const auto& n, const auto& s, Lookup l) { return load_link(n, s, l); };
  const auto core = [](const auto& n, const auto& s, Lookup l) { return load_core(n, s, l); };
  // Parts that the plan does not name are not what its settings mean.
  const auto plain_node = [](const auto& n, const auto&, Lookup l) { return load_node(n, {}, l); };
  const auto plain_link = [](const auto& n, const auto&, Lookup l) { return load_link(n, {}, l); };
  Technology t;
  t.node = kept(nodes_, in.node, node);
  const UsualParts usual = usual_parts(t.node);
  t.memory = kept(drams_, in.dram, dram);
  t.link = kept(links_, in.link_gen.empty() ? usual.link : in.link_gen, link);
  const std::string core_name = in.core.empty() ? usual_core : in.core;
  t.core = kept(cores_, core_name == "own" ? usual.core : core_name, core);
  t.bridge = kept(links_, "d2d\nplain",
                  [&](const auto&, const auto& s, Lookup l) { return plain_link("d2d", s, l); });
  t.core_node = kept(nodes_, t.core.node + "\nplain", [&](const auto&, const auto& s, Lookup l) {
    return plain_node(t.core.node, s, l);
  });
  Budget budget = in.budget;
  if (budget.links < 0) budget.links = usual.links;
  const NamedParts tier = parts_of_tier(in.tier);
  if (budget.tier_parts < 0 || tier.count == 0) budget.tier_parts = tier.count;
  if (budget.tier_parts > 0) {
    t.tier = kept(drams_, tier.name + "\ntier", [&](const auto&, const auto& s, Lookup l) {
      MemoryPart part = load_dram(tier.name, {}, l);
      apply(s, part, "tier");
      return part;
    });
  }
  const LinkPart network =
      kept(links_, in.network + "\nplain",
           [&](const auto&, const auto& s, Lookup l) { return plain_link(in.network, s, l); });
  const Blueprint d = generate(t, budget);
  scene.made = {.cores = d.device.cores,
                .power = d.device.power.limit,
                .area = d.device.die.area,
                .cost = d.cost(),
                .yield = d.yield};
  scene.system = system_of(d, t, {.network = network});
  apply_to(scene.system, settings_);
}

void Specs::load_libraries_of(Scene& scene) {
  const System& system = scene.system;
  const Runtime& runtime = scene.runtime;
  const std::string key = kernels_for(runtime.kernels, system.device) + '\n' +
                          collectives_for(system, runtime) + '\n' +
                          small_collectives_for(system, runtime);
  const Libraries& found =
      kept(libraries_, key,
           [&](const std::string&, const std::vector<Setting>& settings, Lookup lookup) {
             return load_libraries(system, runtime, settings, lookup);
           });
  scene.kernels = found.kernels;
  scene.collectives = found.collectives;
  scene.small_collectives = found.small;
}

Problem Specs::problem(Scene& scene, const std::vector<std::size_t>& digits) {
  read_settings(digits);
  load_system_of(scene);
  apply_axes(scene, digits, {"system", "device"});
  throw_if_any(check(scene.system.device));
  scene.model = kept(models_, scene.inputs.model,
                     [](const auto& n, const auto& s, Lookup l) { return load_model(n, s, l); });
  const std::string& draft = scene.inputs.serving.speculation.draft;
  scene.inputs.draft = draft.empty()
                           ? nullptr
                           : std::make_shared<const Model>(
                                 kept(models_, draft, [](const auto& n, const auto& s, Lookup l) {
                                   return load_model(n, s, l);
                                 }));
  const std::string runtime =
      scene.inputs.runtime.empty() ? usual_runtime(scene.task, scene.system) : scene.inputs.runtime;
  scene.runtime = kept(runtimes_, runtime, [](const auto& n, const auto& s, Lookup l) {
    return load_runtime(n, s, l);
  });
  apply_axes(scene, digits, {"runtime"});
  load_libraries_of(scene);
  apply_axes(scene, digits, {"kernel", "collective"});
  // Fields of "collective" are those of both libraries.
  std::swap(scene.collectives, scene.small_collectives);
  apply_axes(scene, digits, {"collective"});
  std::swap(scene.collectives, scene.small_collectives);
  return prepare(scene.system, scene.runtime,
                 {scene.kernels, scene.collectives, scene.small_collectives}, scene.model,
                 Training{.predict_ahead = 0});
}

}  // namespace sextant::sweep
