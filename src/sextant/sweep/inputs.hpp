// SPDX-License-Identifier: Apache-2.0
// What a point of a sweep is given: the flags of `sextant train` or `infer` and of `sextant tech`,
// each a described field, so that plans are read, checked and applied as files are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sextant/io/reflect.hpp"
#include "sextant/predict/problem.hpp"
#include "sextant/scenario/inputs.hpp"
#include "sextant/tech/generate.hpp"
#include "sextant/tech/parts.hpp"

namespace sextant::sweep {

/// A device from technology and budgets instead of a preset. Empty names and zeros are derived.
struct TechnologyInputs {
  std::string node, dram, core, link_gen;
  std::string network = "ib-ndr";
  std::string tier;  ///< second memory, as `--tier` has it: "hbf x2"
  /// Links: as devices of the node have; parts of a second memory: as `tier` says.
  Budget budget{.tier_parts = -1, .links = -1};
};
/// What `tier` names; throws InputError where it is no such text.
NamedParts parts_of_tier(const std::string& text);

/// All that a point is given: names, and what scenario/inputs.hpp has.
struct Inputs : sextant::Inputs {
  std::string model, system, device, runtime;
  TechnologyInputs technology;
};
Inputs defaults_of(Task task);

/// The flags of a task, as fields of the inputs they point to.
StructRef flags_of(Task task, Inputs& inputs);

/// The spec that a field belongs to: the first word of its path.
inline std::string_view root_of(std::string_view path) { return path.substr(0, path.find('.')); }

/// Where a field's value goes, which is also how often it makes work: presets, settings and specs
/// make a new problem, what belongs to a point does not.
enum class Layer : std::uint8_t {
  preset,   ///< a name or a technology's budget: what is loaded or generated
  setting,  ///< of a spec whose other fields follow from it, given while it is loaded
  spec,     ///< of a spec that is loaded already
  point,    ///< strategy, workload
};
inline bool makes_problem(Layer layer) { return layer != Layer::point; }

/// What a generated device takes to make; zeros where it is none.
struct Made {
  int cores = 0;
  Watts power;  ///< limit of its board
  SquareMeters area;
  Dollars cost;
  double yield = 0;
};

/// Specs and inputs as they are at one point.
struct Scene {
  Task task = Task::train;
  Inputs inputs;
  System system;
  Runtime runtime;
  Kernels kernels;
  CollectiveLibrary collectives;
  CollectiveLibrary small_collectives;
  Model model;
  Made made;
  // What a generated device is made of, for paths only.
  LogicNode node;
  MemoryPart dram;
  LinkPart link;
  CoreTemplate core;
  MemoryPart tier;
};

/// One spelling for a field that has two: "strategy.tp" is "tp".
std::string canonical_field(std::string_view path);
Layer layer_of(std::string_view canonical);
/// A field of what a generated device is made of: "dram.bandwidth".
bool of_part(std::string_view canonical);

/// The field in this scene, or nothing, and what is wrong in the problem's message and hint.
std::optional<Slot> find_slot(Scene& scene, std::string_view canonical, Diagnostic& problem);

/// A value as a number: a whole number, a quantity in base units, a truth (0 or 1), the position of
/// a name; of text, 0.
double number_of(const Target& target);
/// Sets a field to what number_of() and text_of() have said of another of its type.
void assign(const Target& target, double number, const std::string& text);

}  // namespace sextant::sweep
