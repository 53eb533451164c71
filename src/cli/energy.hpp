// SPDX-License-Identifier: Apache-2.0
// The energy of an answer, as text and JSON.
#pragma once

#include <string>

#include "sextant/io/node.hpp"
#include "sextant/predict/energy.hpp"

namespace sextant::cli {

/// Of one device, for so many devices that make so many tokens together.
struct EnergyAnswer {
  Energy device;
  double devices = 1;
  double tokens = 1;
};

/// "energy": joules of one device by what draws them, and of a token on all devices.
void set_energy(Node& root, const EnergyAnswer& answer);

/// "energy 401 J a device, 24.5 mJ a token: compute 60 %, memory 10 %, links 2 %, idle 18 %, host
/// 10 %".
std::string energy_text(const EnergyAnswer& answer);

}  // namespace sextant::cli
