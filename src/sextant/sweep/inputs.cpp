// SPDX-License-Identifier: Apache-2.0
#include "sextant/sweep/inputs.hpp"

#include <iterator>

#include "sextant/io/settings.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::sweep {

template <class V>
void describe(V& v, TechnologyInputs& t) {
  v("node", t.node, {.help = "logic process"});
  v("dram", t.dram, {.help = "memory part"});
  v("core", t.core, {.help = "core template; without, by node"});
  v("link_gen", t.link_gen, {.help = "kind of links; without, by node"});
  v("network", t.network, {.help = "link between nodes"});
  v("tier", t.tier, {.help = "second memory and how many parts, such as 'hbf x2', or none"});
  describe(v, t.budget);
}

namespace {

/// What leads to presets.
struct Names {
  Inputs* inputs;
};

template <class V>
void describe(V& v, Names& names) {
  Inputs& i = *names.inputs;
  v("model", i.model, {.help = "model preset, file or Hugging Face config.json"});
  v("system", i.system, {.help = "system preset or file"});
  v("device", i.device, {.help = "device preset or file, in place of the system's"});
  v("runtime", i.runtime, {.help = "software stack"});
  v("technology", i.technology, {.help = "a generated device in place of a system"});
}

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return contains(words, word);
}

/// The spec that a path starts with, or nothing where the path is a flag.
std::optional<StructRef> spec_of(Scene& s, std::string_view root) {
  if (root == "device") return reflect(s.system.device);
  if (root == "system") return reflect(s.system);
  if (root == "runtime") return reflect(s.runtime);
  if (root == "kernel") return reflect(s.kernels);
  if (root == "collective") return reflect(s.collectives);
  if (root == "model") return reflect(s.model);
  if (root == "node") return reflect(s.node);
  if (root == "dram") return reflect(s.dram);
  if (root == "link") return reflect(s.link);
  if (root == "core") return reflect(s.core);
  if (root == "tier") return reflect(s.tier);
  if (root == "strategy") return reflect(s.inputs.strategy);
  return std::nullopt;
}

struct Number {
  double operator()(const bool* v) const { return *v ? 1 : 0; }
  double operator()(const int* v) const { return *v; }
  double operator()(const std::int64_t* v) const { return static_cast<double>(*v); }
  double operator()(const double* v) const { return *v; }
  double operator()(const std::string*) const { return 0; }
  double operator()(const EnumRef& e) const { return static_cast<double>(e.get(e.value)); }
  double operator()(const QuantityRef& q) const { return *q.value; }
  double operator()(const StructRef&) const { return 0; }
  double operator()(const ListRef&) const { return 0; }
};

struct Assigner {
  double number;
  const std::string& text;
  void operator()(bool* v) const { *v = number != 0; }
  void operator()(int* v) const { *v = static_cast<int>(number); }
  void operator()(std::int64_t* v) const { *v = static_cast<std::int64_t>(number); }
  void operator()(double* v) const { *v = number; }
  void operator()(std::string* v) const { *v = text; }
  void operator()(const EnumRef& e) const { e.set(e.value, static_cast<std::size_t>(number)); }
  void operator()(const QuantityRef& q) const { *q.value = number; }
  void operator()(const StructRef&) const {}
  void operator()(const ListRef&) const {}
};

}  // namespace

Inputs defaults_of(Task) { return {}; }

NamedParts parts_of_tier(const std::string& text) {
  Diagnostic problem;
  const std::optional<NamedParts> parts = read_parts(text, problem);
  if (!parts) throw InputError({problem});
  return *parts;
}

StructRef flags_of(Task task, Inputs& inputs) {
  Names names{&inputs};
  StructRef all = reflect(names);
  StructRef fields = fields_of(task, inputs);
  std::move(fields.fields.begin(), fields.fields.end(), std::back_inserter(all.fields));
  return all;
}

std::string canonical_field(std::string_view path) {
  return path.starts_with("system.device") ? std::string(path.substr(7)) : canonical_input(path);
}

bool of_part(std::string_view canonical) {
  const std::string_view root = root_of(canonical);
  return root != canonical && one_of(root, {"node", "dram", "link", "core", "tier"});
}

Layer layer_of(std::string_view canonical) {
  const std::string_view root = root_of(canonical);
  if (root == "technology") return Layer::preset;
  if (root == canonical) {
    return one_of(root, {"model", "draft", "system", "device", "runtime"}) ? Layer::preset
                                                                           : Layer::point;
  }
  if (root == "model" || of_part(canonical)) return Layer::setting;
  if (one_of(root, {"system", "device", "runtime", "kernel", "collective"})) return Layer::spec;
  return Layer::point;
}

std::optional<Slot> find_slot(Scene& scene, std::string_view canonical, Diagnostic& problem) {
  const std::string_view root = root_of(canonical);
  if (root != canonical) {
    if (const std::optional<StructRef> spec = spec_of(scene, root)) {
      return find_field(*spec, canonical.substr(root.size() + 1), root, problem);
    }
  }
  return find_field(flags_of(scene.task, scene.inputs), canonical, "", problem);
}

double number_of(const Target& target) { return std::visit(Number{}, target); }

void assign(const Target& target, double number, const std::string& text) {
  std::visit(Assigner{number, text}, target);
}

}  // namespace sextant::sweep
