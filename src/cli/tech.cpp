// SPDX-License-Identifier: Apache-2.0
// `sextant tech`: a device from technology and budgets, where its area and power go, and the best
// split of them for a workload.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/figure.hpp"
#include "sextant/answer/device.hpp"
#include "sextant/io/write.hpp"
#include "sextant/options/settings.hpp"
#include "sextant/study/problems.hpp"
#include "sextant/tech/usual.hpp"

namespace sextant::cli {

using study::load_technology;
using study::Workload;

namespace {

int whole(Flags& flags, const char* flag, const std::optional<int>& value, int otherwise, int least,
          int most) {
  const int v = value.value_or(otherwise);
  if (v >= least && v <= most) return v;
  flags.add(flag, fmt::format("expected a whole number from {} to {}, got {}", least, most, v));
  return otherwise;
}

/// "base n7 370mm2 x4 hybrid": role, node, area of one, and what may be left out.
Chiplet read_chiplet(Flags& flags, const std::string& text, Lookup lookup) {
  constexpr const char* flag = "--chiplet";
  Chiplet c;
  std::istringstream words(text);
  std::string role;
  std::string node;
  std::string area;
  std::string word;
  words >> role >> node >> area;
  if (area.empty()) {
    flags.add(flag, "expected a role, a node and an area, got '" + text + "'",
              "such as 'base n7 370mm2 x4 hybrid'");
    return c;
  }
  c.role = flags.choice<DieRole>(flag, role);
  c.node = load_node(node, {}, lookup);
  c.area = flags.quantity<SquareMeters>(flag, area, {.most = 1});
  while (words >> word) {
    if (word.starts_with('x')) {
      int count = 0;
      const char* end = word.data() + word.size();
      const auto parsed = std::from_chars(word.data() + 1, end, count);
      if (parsed.ec != std::errc() || parsed.ptr != end || count < 1 || count > 64) {
        flags.add(flag, "expected a count from x1 to x64, got '" + word + "'");
      }
      c.count = std::clamp(count, 1, 64);
    } else {
      c.bond = flags.choice<Bonding>(flag, word);
    }
  }
  return c;
}

DeviceResult read(const TechOptions& o, const Common& common) {
  const std::vector<Setting> settings = settings_of(common, {"node", "dram", "link", "core"});
  DeviceResult a;
  Flags flags;
  a.technology = load_technology({o.node, o.dram, o.link_gen, o.core}, settings, common.lookup);
  Budget& b = a.budget;
  const UsualParts usual = usual_parts(a.technology.node);
  // A square metre is more than any wafer; a megawatt more than any cooling.
  b.area = flags.quantity("--area", o.area, {.most = 1}, b.area);
  b.power = flags.quantity<Watts>("--power", o.power, {.most = 1e6});
  b.l2 = flags.quantity<Bytes>("--l2", o.l2, {.most = 1e15});
  b.dies = whole(flags, "--dies", o.dies, 1, 1, 16);
  b.stacks = whole(flags, "--stacks", o.stacks, 0, 0, 1000);
  b.spare_stacks = whole(flags, "--spare-stacks", o.spare_stacks, 0, 0, 1000);
  b.links = whole(flags, "--links", o.links, usual.links, 0, 10000);
  b.kept = o.kept.value_or(0);
  MemoryPart& memory = a.technology.memory;
  if (o.memory_rate == "standard" && memory.standard.value > 0) memory.bandwidth = memory.standard;
  for (const std::string& text : o.chiplet) {
    a.technology.chiplets.push_back(read_chiplet(flags, text, common.lookup));
  }
  throw_if_any(std::move(flags.problems));
  const auto assume = [&](std::string text) { a.assumptions.push_back(std::move(text)); };
  if (o.area.empty()) assume("area " + format(b.area) + ", as H100");
  if (o.core.empty())
    assume("core " + a.technology.core.name + ", as H100; --core own: of the node's time");
  if (o.link_gen.empty()) assume("link " + a.technology.link.name);
  if (!o.links) assume(fmt::format("links {}", b.links));
  if (!o.stacks) assume("stacks: as many as the die's sides hold");
  if (o.l2.empty()) assume("l2: 14.5 % of the area, as A100 and H100");
  if (o.power.empty()) assume("power: what a full load at the rated clock needs");
  for (const auto& [what, confidence] :
       {std::pair{a.technology.node.name, a.technology.node.confidence},
        std::pair{a.technology.memory.name, a.technology.memory.confidence},
        std::pair{a.technology.core.name, a.technology.core.confidence}}) {
    if (confidence <= Confidence::low) {
      assume(fmt::format("{}: confidence {}", what, name_of(confidence)));
    }
  }
  return a;
}

Workload workload_of(const TechOptions& o, Lookup lookup) {
  Flags flags;
  Workload w;
  if (o.optimise != "train" && o.optimise != "infer") {
    flags.add("--optimise", "expected train or infer, got '" + o.optimise + "'");
  }
  w.goal = flags.choice<study::Goal>("--objective", o.objective);
  w.trains = o.optimise == "train";
  const PresetRef usual = {w.trains ? "gpt3-6.7b" : "llama2-13b"};
  w.model = load_model(o.model.empty() ? usual : o.model, {}, lookup);
  Strategy& s = w.strategy;
  s.tp = whole(flags, "--tp", o.tp, w.trains ? 4 : 1, 1, 100000);
  s.pp = whole(flags, "--pp", o.pp, w.trains ? 4 : 1, 1, 100000);
  const int gpus = whole(flags, "--gpus", o.gpus, w.trains ? 1024 : s.tp * s.pp, 1, 10000000);
  s.dp = std::max(1, gpus / (s.tp * s.pp));
  s.sp = w.trains && s.tp > 1;
  s.zero = w.trains ? 1 : 0;
  s.precision =
      o.precision.empty() ? Precision::bf16 : flags.choice<Precision>("--precision", o.precision);
  w.training.batch = whole(flags, "--batch", o.batch, w.trains ? 512 : 1, 1, 100000000);
  w.training.seq = whole(flags, "--seq", o.seq, 2048, 1, 100000000);
  w.serving = {.batch = w.training.batch,
               .input = whole(flags, "--input", o.input, 200, 1, 100000000),
               .output = whole(flags, "--output", o.output_tokens, 200, 1, 100000000)};
  w.price = flags.quantity<Dollars>("--price", o.price, {.most = 1e9});
  w.around.network = load_link(o.network, {}, lookup);
  w.around.max_devices = std::max(32768, gpus);
  throw_if_any(std::move(flags.problems));
  return w;
}

void optimise(const TechOptions& o, DeviceResult& a, Lookup lookup) {
  const Workload w = workload_of(o, lookup);
  const AllocationSpace space{.l2 = o.l2.empty(),
                              .stacks = !o.stacks,
                              .links = !o.links,
                              .clock = w.goal != study::Goal::time};
  a.split = study::best_split(w, a.technology, a.budget, a.blueprint, space);
  a.budget = a.split->allocation.budget;
  a.blueprint = a.split->allocation.blueprint;
}

}  // namespace

Answer run_tech(const TechOptions& options, const Common& common) {
  check_figure_path(options.plot);
  DeviceResult a = read(options, common);
  const LinkPart network = load_link(options.network, {}, common.lookup);
  a.blueprint = generate(a.technology, a.budget);
  if (!options.optimise.empty()) optimise(options, a, common.lookup);
  Answer answer = with_figure(answer_of(a), options.plot);
  if (!common.output.ends_with(".toml")) return answer;
  const System system = system_of(a.blueprint, a.technology, {.network = network});
  const std::string head =
      "# SPDX-License-Identifier: Apache-2.0\n# Generated by sextant tech; "
      "edit it, or give it to any command.\n\n";
  return Answer::verbatim(head +
                          to_toml(options.system ? write(system) : write(a.blueprint.device)));
}

}  // namespace sextant::cli
