// SPDX-License-Identifier: Apache-2.0
// A device lowered to what kernel models need: everything derived once, nothing looked up again.
#pragma once

#include "sextant/spec/device.hpp"
#include "sextant/units/units.hpp"

namespace sextant {

/// Trivially copyable; made by lower(), used by every kernel model.
struct Chip {
  double cores = 1;
  /// Engines of their own bring data to cores that are matrix engines (TPU, Gaudi, Trainium): how
  /// much a block of threads has under way limits nothing.
  bool copied_in = false;
  Hertz clock;                        ///< with the matrix units busy, before the power limit acts
  Hertz light_clock;                  ///< with little to do
  Table<Flops, Precision> per_clock;  ///< FLOPs a clock a core by type; always positive
  Table<Precision, Precision> runs;   ///< the type a multiply of each really runs in
  Flops width;  ///< 16-bit FLOPs a clock a core that kernels are made for: their ways in follow it
  Table<double, Precision> matrix_share;  ///< a type's rate, of the one kernels are made for
  Flops vector_per_clock;                 ///< FLOPs a clock a core in fp32, on the vector units
  double matrix_rows =
      16;  ///< of the matrix instruction: tiles are no shorter on their longer side
  double special_per_clock = 16;
  Bytes shared_capacity;     ///< a core
  Bytes shared_per_clock;    ///< a core
  Bytes l2_per_clock;        ///< the whole chip
  Bytes l2_whole;            ///< of all dies together
  BytesPerSecond between;    ///< dies, where that is slower than the cache
  Bytes l2_shared;           ///< what all cores can share: each die keeps its own copy
  BytesPerSecond bandwidth;  ///< peak of the datasheet
  Mechanism mechanism;
  // Power (cost/power.hpp).
  Watts power_limit;
  Watts idle;
  Table<JoulesPerFlop, Precision> matrix_energy;  ///< a FLOP at `clock`, in the type that runs
  JoulesPerByte memory_energy;  ///< a byte of device memory, the way to the cores included
  Watts vector_power;           ///< ordinary units at full issue
  double roofline = 0;          ///< share of peak that is assumed of every kernel; 0: none is

  /// Of a type that runs: it has no matrix path of its own. At the vector units' rate fp32 takes
  /// their lanes, and other types where the chip has no matrix unit at all (GeForce's tf32 is
  /// one's, at half its rate). What is built so stays so, whatever a tenth more of its rate would
  /// be.
  Table<bool, Precision> takes_lanes;
  bool on_vector(Precision running) const { return takes_lanes[running]; }
};

/// Of the matrix rate, what a kernel reaches that reaches `share` on the chip it was made for: the
/// cycles it loses are as many where the units have another `rate` than there, as H20's, whose
/// prompts run at 0.85 of the peak (DeepSeek-R1, SGLang with Ant Group, September 2025).
inline double reached(double share, double rate) { return 1 / (1 + (1 / share - 1) * rate); }
inline double reached(const Chip& chip, Precision type, double share) {
  return reached(share, chip.matrix_share[type]);
}
/// Rates by which types compare: matrix units take twice as many values of half the width, six bits
/// in the room of eight.
inline Flops as_16_bit(Flops per_clock, Precision running) {
  const double bytes = element_bytes(running);
  return per_clock * ((bytes == 0.75 ? 1 : bytes) / 2);
}

Chip lower(const Device& device);

/// FLOPs a clock a core of a multiply at `per_clock` whose sums are scaled every `block` values of
/// the inner dimension, by the vector units: matrix units know no scales but their own. 0: none.
double rate_of_blocks(const Chip& chip, double per_clock, double block);

/// A device on which every kernel is assumed to reach that share of the peak, at the rated clock
/// whatever it draws.
Chip lower_to_roofline(const Device& device, double share);

/// The type a multiply of `p` really runs in: the next wider one the device has.
Precision runs_as(const Device& device, Precision p);
/// What a served model multiplies in, by the type of its weights and what its checkpoint multiplies
/// them with. Whole numbers are the weights' type alone unless that says int8 or fp8, and so are
/// 4-bit floats where the chip lacks them: they are widened to 16 bits in registers (on Hopper too,
/// which has 8).
Precision multiplied_in(Precision weights, Activations activations, const Chip& chip) noexcept;

/// Peak of a type that the device has; fp32 without a matrix path is the vector units'.
FlopsPerSecond peak_of(const Device& device, Precision p);

}  // namespace sextant
