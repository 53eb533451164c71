// SPDX-License-Identifier: Apache-2.0
// A device lowered to what kernel models need: everything derived once, nothing looked up again.
#pragma once

#include "sextant/spec/device.hpp"
#include "sextant/units/units.hpp"

namespace sextant {

/// Trivially copyable; made by lower(), used by every kernel model.
struct Chip {
  double cores = 1;
  Hertz clock;                        ///< with the matrix units busy, before the power limit acts
  Hertz light_clock;                  ///< with little to do
  Table<Flops, Precision> per_clock;  ///< FLOPs a clock a core by type; always positive
  Flops per_clock_16bit;
  double special_per_clock = 16;
  Bytes shared_per_clock;  ///< a core
  Bytes l2_per_clock;      ///< the whole chip
  Bytes l2_capacity;
  BytesPerSecond bandwidth;  ///< peak of the datasheet
  Mechanism mechanism;
  // Power (cost/power.hpp).
  Watts power_limit;
  Watts idle;
  JoulesPerFlop matrix_energy;  ///< a 16-bit FLOP at `clock`
  JoulesPerByte memory_energy;  ///< a byte of device memory, the way to the cores included
  Watts vector_power;           ///< ordinary units at full issue
};

Chip lower(const Device& device);

/// The type a multiply of `p` really runs in: the next wider one the device has.
Precision runs_as(const Device& device, Precision p);

}  // namespace sextant
