// SPDX-License-Identifier: Apache-2.0
// `sextant ops collective`: one collective on one system, explained.
#include "sextant/cost/collective.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/figure.hpp"
#include "sextant/answer/kernel.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/options/settings.hpp"
#include "sextant/validate/evaluate.hpp"

namespace sextant::cli {
namespace {

void check_ranks(const CollectiveOptions& o, const System& system, Flags& flags) {
  if (o.gpus < 1 || o.gpus > system.max_devices) {
    flags.add("--gpus", fmt::format("expected 1 to {}, which {} is meant for", system.max_devices,
                                    system.name));
  }
  if (o.gpus_per_node < 0 || o.gpus_per_node > system.devices_per_node) {
    flags.add("--gpus-per-node",
              fmt::format("a node of {} has {}", system.name, system.devices_per_node));
  }
}

CollectiveResult read(const CollectiveOptions& o, const Common& common) {
  CollectiveResult q;
  Flags flags;
  const std::vector<Setting> settings =
      settings_of(common, {"system", "device", "collective"}, flags.problems);
  q.what.op = flags.choice<Collective>("--collective", o.collective);
  q.what.bytes = flags.quantity<Bytes>("--bytes", o.bytes, {.zero = true, .most = 1e18});
  const bool known =
      flags.attempt("--system", [&] { q.system = load_system(o.system, settings, common.lookup); });
  if (known) {
    check_ranks(o, q.system, flags);
  } else if (o.gpus < 1) {
    flags.add("--gpus", "expected 1 at least");
  }
  flags.attempt("--library", [&] {
    q.library = load_collectives(o.library.empty() ? q.system.collectives : o.library, settings,
                                 common.lookup);
  });
  throw_if_any(std::move(flags.problems));
  const int node = o.gpus_per_node > 0 ? o.gpus_per_node : q.system.devices_per_node;
  q.what.group = {o.gpus, std::min(o.gpus, node)};
  return q;
}

}  // namespace

Answer run_collective(const CollectiveOptions& o, const Common& common) {
  check_figure_path(o.plot);
  CollectiveResult q = read(o, common);
  q.cost = evaluate_collective(q.what, lower(q.system), q.library);
  return with_figure(answer_of(q), o.plot);
}

}  // namespace sextant::cli
