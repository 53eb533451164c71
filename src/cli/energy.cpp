// SPDX-License-Identifier: Apache-2.0
#include "cli/energy.hpp"

#include <fmt/format.h>

#include "sextant/units/format.hpp"

namespace sextant::cli {
namespace {

Joules of_token(const EnergyAnswer& a) {
  return a.tokens > 0 ? a.devices / a.tokens * a.device.total() : Joules(0);
}

}  // namespace

void set_energy(Node& root, const EnergyAnswer& a) {
  Node& n = root.set("energy", Node::table());
  n.set("compute_joules", Node::of(a.device.compute.value));
  n.set("memory_joules", Node::of(a.device.memory.value));
  n.set("link_joules", Node::of(a.device.links.value));
  n.set("idle_joules", Node::of(a.device.idle.value));
  n.set("host_joules", Node::of(a.device.host.value));
  n.set("total_joules", Node::of(a.device.total().value));
  n.set("joules_per_token", Node::of(of_token(a).value));
}

std::string energy_text(const EnergyAnswer& a) {
  const Joules whole = a.device.total();
  const auto share = [&](Joules j) { return format_percent(whole.value > 0 ? j / whole : 0, 0); };
  return fmt::format(
      "energy {} a device, {} a token: compute {}, memory {}, links {}, idle {}, host {}\n",
      format(whole), format(of_token(a)), share(a.device.compute), share(a.device.memory),
      share(a.device.links), share(a.device.idle), share(a.device.host));
}

}  // namespace sextant::cli
