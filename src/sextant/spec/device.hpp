// SPDX-License-Identifier: Apache-2.0
// One accelerator: what its datasheet says, and the few constants of its mechanisms.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/spec/describe.hpp"
#include "sextant/spec/diagnostic.hpp"
#include "sextant/units/units.hpp"

namespace sextant {

enum class Precision : std::uint8_t { fp32, tf32, fp16, bf16, fp8, int8, fp6, fp4, int4, count };
constexpr auto names_of(Precision) {
  return std::array<std::string_view, 9>{"fp32", "tf32", "fp16", "bf16", "fp8",
                                         "int8", "fp6",  "fp4",  "int4"};
}
/// Bytes one element takes in memory (tf32 is stored as fp32).
constexpr double element_bytes(Precision p) {
  constexpr std::array<double, 9> bytes{4, 4, 2, 2, 1, 1, 0.75, 0.5, 0.5};
  return bytes[static_cast<std::size_t>(p)];
}
/// Bytes of one number between the multiplies of a step in `p`, and of their results: 16 bits at
/// least, 32 where everything is that wide.
constexpr double activation_bytes(Precision p) { return std::max(2.0, element_bytes(p)); }
/// Bits a weight takes where it is stored, its scales included: NVFP4 has an 8-bit scale for 16
/// values (of models that say so, MXFP4's for 32), AWQ and GPTQ one of 16 bits and a zero point for
/// 128.
constexpr double stored_bits(Precision p) {
  return p == Precision::fp4 ? 4.5 : p == Precision::int4 ? 4.25 : 8 * element_bytes(p);
}
/// Eight bits or fewer.
constexpr bool narrow(Precision p) { return element_bytes(p) <= 1; }
/// Types of weights that do not change: nothing trains in whole numbers.
constexpr bool whole_numbers(Precision p) { return p == Precision::int8 || p == Precision::int4; }

/// What narrow weights are multiplied with, where their checkpoint says more than its own type.
enum class Activations : std::uint8_t {
  usual,  ///< floats with their own type, whole numbers with 16 bits (AWQ, GPTQ)
  wide,   ///< 16 bits: the weights alone are narrow (W8A16 of floats, NVFP4A16)
  fp8,    ///< made fp8 on the way (W4A8, W4AFP8, MXFP4 with MXFP8)
  int8,   ///< made int8 on the way (W8A8 of SmoothQuant and compressed-tensors, QServe's W4A8)
};
constexpr auto names_of(Activations) {
  return std::array<std::string_view, 4>{"usual", "wide", "fp8", "int8"};
}

/// Peak rates of the matrix units, dense, at Device::clock; zero where the unit lacks the type.
using MatrixRates = Table<FlopsPerSecond, Precision>;

/// The vector and special-function units.
struct VectorUnits {
  FlopsPerSecond fp32;            ///< peak of the ordinary units at Device::clock
  double special_per_clock = 16;  ///< exponentials a clock a core (MUFU: 4 a quadrant since Volta)
};
template <class V>
void describe(V& v, VectorUnits& u) {
  v("fp32", u.fp32, {.help = "peak fp32 rate of the vector units", .required = true});
  v("special_per_clock", u.special_per_clock,
    {.help = "exponentials a clock a core", .min = 0.01, .max = 1e5});
}

/// Shared memory (or scratchpad) of one core.
struct SharedMemory {
  Bytes capacity{228 * 1024.0};
  Bytes per_clock{128};  ///< bytes a clock a core
};
template <class V>
void describe(V& v, SharedMemory& m) {
  v("capacity", m.capacity, {.help = "shared memory of one core", .min = 1024, .max = 1e12});
  v("per_clock", m.per_clock, {.help = "bytes a clock a core", .min = 1, .max = 1e9});
}

/// The last-level cache on the chip.
struct Cache {
  Bytes capacity;
  Bytes per_clock;  ///< bytes a clock over the whole chip; zero derives 64 B a core
  int dies = 1;     ///< that each keep a copy of what their cores use
  BytesPerSecond
      between;  ///< of the link that joins two dies, both ways; zero: as fast as the cache
};
template <class V>
void describe(V& v, Cache& c) {
  v("capacity", c.capacity, {.help = "last-level cache", .required = true, .max = 1e12});
  v("per_clock", c.per_clock,
    {.help = "bytes a clock over the whole chip; 0 derives 64 B a core", .max = 1e9});
  v("dies", c.dies, {.help = "dies that each keep a copy", .min = 1, .max = 64});
  v("between", c.between,
    {.help = "of the link that joins its dies, both ways; 0: as fast as it",
     .inert = "benchmarks find weights in the cache, steps do not"});
}

/// Device memory.
struct Memory {
  std::string kind;  ///< "HBM3", for people
  Bytes capacity;
  BytesPerSecond bandwidth;
  /// Its capacity before anybody set another: engines know devices as they are sold, and keep the
  /// limits that they set by it. Zero: as `capacity`.
  Bytes nominal{0};
};
template <class V>
void describe(V& v, Memory& m) {
  v("kind", m.kind, {.help = "technology, for people", .inert = "for people"});
  v("capacity", m.capacity, {.help = "memory on the device", .required = true, .min = above_zero});
  v("bandwidth", m.bandwidth,
    {.help = "peak streaming rate of the datasheet", .required = true, .min = above_zero});
}

/// A larger, slower memory beside it, for what serving reads: LPDDR, DRAM behind CXL, flash.
struct Tier {
  std::string kind;  ///< "HBF", for people
  Bytes capacity;    ///< zero: there is none
  BytesPerSecond bandwidth;
  JoulesPerByte energy;    ///< of a byte, the way to the cores included; zero: as device memory's
  Seconds latency;         ///< first bytes of a cold stream, where longer than device memory's
  bool read_only = false;  ///< too slow or too short-lived to be written in a step: flash
};
template <class V>
void describe(V& v, Tier& t) {
  v("kind", t.kind, {.help = "technology, for people", .inert = "for people"});
  v("capacity", t.capacity, {.help = "of the memory beside device memory; 0: there is none"});
  v("bandwidth", t.bandwidth, {.help = "its peak reading rate"});
  v("energy", t.energy,
    {.help = "energy of a byte, the way to the cores included; 0: as device memory's"});
  v("latency", t.latency,
    {.help = "first bytes of a cold stream; counts where longer than device memory's", .max = 1});
  v("read_only", t.read_only, {.help = "holds weights, no cache: flash"});
}

/// What the device draws, and what makes it slow down (cost/power.hpp).
struct Power {
  Watts limit;  ///< board limit (TDP)
  Watts idle;   ///< at full clock with nothing running; zero derives it
  JoulesPerFlop
      matrix_fp16;           ///< dynamic energy of a 16-bit matrix FLOP at `clock`; zero derives it
  JoulesPerFlop matrix_fp8;  ///< the same in 8 bits; zero derives it from 16
  JoulesPerFlop matrix_fp4;  ///< the same in 4 bits; zero derives it from 8
  JoulesPerByte memory;      ///< a byte moved to or from device memory; zero derives it
};
template <class V>
void describe(V& v, Power& p) {
  v("limit", p.limit, {.help = "board power limit (TDP)", .required = true, .min = above_zero});
  v("idle", p.idle, {.help = "draw at full clock with nothing running; 0 derives it"});
  v("matrix_fp16", p.matrix_fp16,
    {.help = "dynamic energy of a 16-bit matrix FLOP at the rated clock; 0 derives it"});
  v("matrix_fp8", p.matrix_fp8, {.help = "the same in 8 bits; 0 derives it from 16"});
  v("matrix_fp4", p.matrix_fp4, {.help = "the same in 4 bits; 0 derives it from 8"});
  v("memory", p.memory, {.help = "energy of a byte to or from device memory; 0 derives it"});
}

/// Physical facts that only the technology studies use.
struct Die {
  std::string process;
  SquareMeters area;
  double transistors = 0;
};
template <class V>
void describe(V& v, Die& d) {
  v("process", d.process, {.help = "process node, for people", .inert = "for people"});
  v("area", d.area, {.help = "die area, all dies together"});
  v("transistors", d.transistors, {.help = "transistor count", .max = 1e15});
}

/// Constants of the mechanisms inside kernels (cost/). The defaults are the joint fit to all
/// measured devices (docs/accuracy.md says to which, and how well they carry to one left out);
/// times of the pipeline are in clock cycles, so that they follow the clock of an unknown device.
struct Mechanism {
  bool asynchronous = true;  ///< matrix units and copies run beside the threads (TMA, wgmma)
  double width = 0;  ///< 16-bit FLOP a clock a core that kernels are made for; 0: of `matrix`
  double start_cycles = 4200;         ///< launch, set-up and drain of any kernel
  Seconds dispatch;                   ///< between dependent kernels: the command processor's own
  Seconds memory_latency{1.05e-6};    ///< first bytes of a cold stream
  double memory_efficiency = 0.865;   ///< share of peak bandwidth a long stream of weights reaches
  double memory_efficiency_4bit = 1;  ///< the same of 4-bit weights and their scales, where lower
  double matrix_efficiency = 0.91;    ///< share of the 16-bit issue rate inside a tile
  double matrix_efficiency_8bit = 0.96;
  /// The same of int8 where the vendor's library has no kernels for the chip's asynchronous
  /// multiplies and takes the synchronous ones of the generation before; 0: as other 8 bits.
  double matrix_efficiency_int8 = 0;
  double matrix_efficiency_4bit = 0.8;
  double vector_efficiency = 0.85;  ///< of fp32 multiplies on the vector units
  double tile_cycles = 720;         ///< starting one tile: descriptors, first loads
  double drain_cycles = 2400;       ///< draining a full tile of 32768 results
  double feed = 0.0199;             ///< bytes a clock into a core for each 16-bit FLOP a clock
  double split_cycles = 4070;       ///< second pass of a split-K multiply
  double tail = 0.91;               ///< share of a last, partly filled wave that shows
  double epilogue = 1;  ///< share of writing results that shows where copies are synchronous
  /// Vector operations for each sum and block of scales that nothing hides: 1.1 by DeepGEMM's rates
  /// on H100 (1204 TFLOP/s where one scale gives 1443), 1.75 by cuBLAS on H200 (device_laws_test).
  double promotion = 1.4;
  double tile_results = 32768;  ///< of one tile at most: half of what a core's registers hold
  /// Operands of long rows lie on many pages, and the cores of a wave walk all of them side by
  /// side: what is beyond this for each core is translated anew for every piece of a row. 0:
  /// nothing is.
  Bytes page_reach{0};
  double walk_cycles = 10;  ///< of a core for each such piece
};
template <class V>
void describe(V& v, Mechanism& m) {
  v("asynchronous", m.asynchronous,
    {.help = "matrix units and copies run beside the threads (TMA and wgmma, tcgen05, DMA)"});
  v("width", m.width,
    {.help = "16-bit FLOP a clock a core that kernels are made for; 0: as matrix says",
     .max = 1e7});
  v("start_cycles", m.start_cycles, {.help = "start and drain of any kernel", .max = 1e7});
  v("dispatch", m.dispatch,
    {.help = "idle time between two dependent kernels; counts where longer than the runtime's gap",
     .max = 1e-3});
  v("memory_latency", m.memory_latency, {.help = "first bytes of a cold stream", .max = 1e-3});
  v("memory_efficiency", m.memory_efficiency,
    {.help = "share of peak bandwidth of a long stream", .min = 0.05, .max = 1});
  v("memory_efficiency_4bit", m.memory_efficiency_4bit,
    {.help = "the same of 4-bit weights and their scales, where lower", .min = 0.05, .max = 1});
  v("matrix_efficiency", m.matrix_efficiency,
    {.help = "share of the 16-bit issue rate inside a tile", .min = 0.05, .max = 1});
  v("matrix_efficiency_8bit", m.matrix_efficiency_8bit,
    {.help = "the same for 8 bits", .min = 0.05, .max = 1});
  v("matrix_efficiency_int8", m.matrix_efficiency_int8,
    {.help = "the same for int8 in the vendor's library; 0: as other 8 bits", .max = 1});
  v("matrix_efficiency_4bit", m.matrix_efficiency_4bit,
    {.help = "the same for fewer", .min = 0.05, .max = 1});
  v("vector_efficiency", m.vector_efficiency,
    {.help = "the same of fp32 on the vector units", .min = 0.05, .max = 1});
  v("tile_cycles", m.tile_cycles, {.help = "starting one tile", .max = 1e6});
  v("drain_cycles", m.drain_cycles, {.help = "draining a tile of 32768 results", .max = 1e6});
  v("feed", m.feed,
    {.help = "bytes a clock into a core for each 16-bit FLOP a clock", .min = 1e-4, .max = 10});
  v("split_cycles", m.split_cycles, {.help = "second pass of a split-K multiply", .max = 1e7});
  v("tail", m.tail, {.help = "share of a last, partly filled wave that shows", .max = 1});
  v("epilogue", m.epilogue,
    {.help = "share of writing results that shows where copies are synchronous", .max = 1});
  v("promotion", m.promotion,
    {.help = "vector operations a sum and block of scales that nothing hides", .max = 1e3});
  v("tile_results", m.tile_results,
    {.help = "results of one tile at most: half of a core's registers", .min = 1024, .max = 1e6});
  v("page_reach", m.page_reach,
    {.help = "operands whose pages stay translated for each core, in multiplies on lanes; 0: all",
     .max = 1e15});
  v("walk_cycles", m.walk_cycles,
    {.help = "of a core for 32 bytes of a row on a page beyond that", .max = 1e6});
}

/// Where fitted constants come from; written by `sextant calibrate`.
struct Provenance {
  std::string method;
  std::string data;
  int cases = 0;
  double fit_error = 0;
  double left_out_error = 0;
};
template <class V>
void describe(V& v, Provenance& p) {
  v("method", p.method, {.help = "how the constants were found"});
  v("data", p.data, {.help = "the measurements"});
  v("cases", p.cases, {.help = "how many", .max = count_limit});
  v("fit_error", p.fit_error, {.help = "mean absolute relative error on them", .max = 1e6});
  v("left_out_error", p.left_out_error, {.help = "the same, k-fold by shape family", .max = 1e6});
}

struct Device {
  std::string name;
  std::string vendor;
  std::string architecture;
  std::string notes;
  int cores = 1;       ///< streaming multiprocessors, compute units, matrix engines
  Hertz clock;         ///< the clock at which the peak rates hold
  Hertz max_clock;     ///< the highest it runs at under a light load; zero: as `clock`
  Hertz matrix_clock;  ///< the highest with all matrix units busy; zero: the rated one times `sag`
  double sag = 1;      ///< of `clock` that they hold, who boost above it under a light load
  MatrixRates matrix;
  VectorUnits vector;
  SharedMemory shared;
  Cache l2;
  Memory memory;
  Tier tier;
  Power power;
  Die die;
  Mechanism mechanism;
  Provenance provenance;
};
template <class V>
void describe(V& v, Device& d) {
  v("name", d.name, {.help = "preset name", .inert = "a name"});
  v("vendor", d.vendor, {.help = "for people", .inert = "for people"});
  v("architecture", d.architecture, {.help = "for people", .inert = "for people"});
  v("notes", d.notes, {.help = "remarks", .inert = "a remark"});
  v("cores", d.cores, {.help = "SMs, compute units", .required = true, .min = 1, .max = 1e6});
  v("clock", d.clock,
    {.help = "clock of the peak rates", .required = true, .min = 1e6, .max = 1e12});
  v("max_clock", d.max_clock, {.help = "highest clock; 0: as clock", .max = 1e12});
  v("matrix_clock", d.matrix_clock,
    {.help = "highest clock with all matrix units busy; 0 derives it", .max = 1e12});
  v("sag", d.sag,
    {.help = "share of clock held with all matrix units busy, where matrix_clock is 0",
     .min = 0.1,
     .max = 1});
  v("matrix", d.matrix, {.help = "dense peak of the matrix units by type", .required = true});
  v("vector", d.vector, {.help = "vector and special-function units", .required = true});
  v("shared", d.shared, {.help = "shared memory of one core"});
  v("l2", d.l2, {.help = "last-level cache", .required = true});
  v("memory", d.memory, {.help = "device memory", .required = true});
  v("tier", d.tier, {.help = "a second memory beside it, for serving"});
  v("power", d.power, {.help = "power and energy", .required = true});
  v("die", d.die,
    {.help = "silicon", .inert = "for people: rates and capacities say what it does"});
  v("mechanism", d.mechanism, {.help = "kernel constants; defaults hold for any device"});
  v("provenance", d.provenance,
    {.help = "where fitted constants come from", .inert = "says where constants come from"});
}

/// 16-bit FLOP a clock a core that a device's kernels are made for: they keep their tiles and
/// instructions where somebody asks what faster matrix units would change.
double kernel_width(const Device& device);

/// What libraries append to the name of their kernels for devices of this kind, where they have
/// such: "-sync" for matrix units fed by threads, "-wide" for pairs of cores with their own tensor
/// memory (8192 FLOP a clock a core and more).
std::string_view kernel_variant(const Device& device);

/// Everything wrong with a device beyond what field bounds catch.
std::vector<Diagnostic> check(const Device& device);

}  // namespace sextant
