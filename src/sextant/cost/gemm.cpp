// SPDX-License-Identifier: Apache-2.0
#include "sextant/cost/gemm.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "sextant/cost/crossing.hpp"
#include "sextant/cost/roofline.hpp"

namespace sextant {
namespace {

struct TileShape {
  int m;
  int n;
};

// Asynchronous matrix units (wgmma, tcgen05) take any multiple of 8 columns; libraries ship these.
// A tile holds at most 32768 results: the accumulators of one core.
constexpr TileShape fine_tiles[] = {
    {256, 128}, {128, 256}, {128, 192}, {192, 128}, {128, 160}, {160, 128}, {128, 128},
    {256, 96},  {96, 256},  {256, 64},  {64, 256},  {128, 96},  {96, 128},  {64, 192},
    {192, 64},  {64, 160},  {160, 64},  {128, 64},  {64, 128},  {64, 96},   {96, 64},
    {256, 32},  {32, 256},  {64, 64},   {128, 32},  {32, 128},  {256, 16},  {16, 256},
    {64, 32},   {32, 64},   {128, 16},  {16, 128},  {64, 16},   {16, 64}};
// Warp-level units (mma.sync, MFMA) come in powers of two; the largest where registers hold it.
constexpr TileShape coarse_tiles[] = {{256, 256}, {256, 128}, {128, 256}, {128, 128}, {256, 64},
                                      {64, 256},  {128, 64},  {64, 128},  {64, 64},   {128, 32},
                                      {32, 128},  {64, 32},   {32, 64},   {128, 16},  {16, 128},
                                      {64, 16},   {16, 64}};
// Multiplies on the vector units keep their results in registers: 64 a thread.
constexpr TileShape vector_tiles[] = {{128, 128}, {128, 64}, {64, 128}, {64, 64}, {128, 32},
                                      {32, 128},  {64, 32},  {32, 64},  {32, 32}};
// They take operands through registers into shared memory, so many bytes a clock and core: kernels
// that cuBLAS names after their tiles reach 11, 13.5, 15 and 18 TFLOP/s on A100 with 32x32, 64x32,
// 128x32 and 128x64 once whole waves are counted; V100's and H200's give 11, too. Cores of more
// lanes than H200's are taken to load for all of them.
constexpr double vector_feed = 11;
constexpr double vector_feed_per_flop = vector_feed / 256;
// Rows of the smallest of these tiles.
constexpr double least_vector_rows = 32;
// The shortest piece of an inner dimension that is split. Of cuBLAS 13's products on lanes, hardly
// any below 32768 are (H200).
constexpr double least_piece = 256;
constexpr double least_vector_piece = 16384;

// The tile vLLM's row-scaled CUTLASS kernels use, by size (scaled_mm_sm90_fp8_dispatch.cuh).
TileShape scaled_tile(double m, double n) {
  if (m <= 16 || (m <= 64 && n <= 1280)) return {16, 64};
  if (m <= 64) return {64, 64};
  if (m <= 128) return {64, 128};
  return {128, 128};
}

// Where the instruction takes 128 rows, pairs of cores work on one tile (CUTLASS for sm_100). In 8
// bits a core's half of what vLLM takes by size (scaled_mm_sm100_fp8_dispatch.cuh); in 4 the best
// of what FlashInfer tries.
TileShape wide_scaled_tile(double m) {
  if (m <= 16) return {32, 64};
  if (m <= 64) return {64, 64};
  if (m <= 256) return {64, 128};
  return {128, 128};
}
constexpr TileShape wide_tuned_tiles[] = {{128, 256}, {256, 128}, {128, 128},
                                          {64, 128},  {32, 128},  {16, 128}};

// Results of the largest tile that asynchronous units take: 128x304, 192x208, 256x160 (try_fitted).
constexpr double most_fitted_results = 40960;

// Of L2, the share of an operand's lines that survive until the next wave reads them again.
constexpr double l2_share = 0.3;
// How wide a strip of the result the tiles of one wave cover. Both from DRAM counters of cuBLAS on
// H200: 8192³ reads 1.35 GB where its operands are 0.27 GB, 16384x8192x8192 2.81 GB,
// 2048x8192x28672 1.52 GB, 512x8192x8192 its operands once; the rule below gives 1.5, 3.1, 0.9 and
// 0.14 GB. The largest are underestimated: 16384³ reads 18.8 GB, predicted 12.7.
constexpr double tuned_strip = 768;
constexpr double scaled_strip = 192;
// Bytes a clock a core of the second pass that adds the pieces of a split multiply, fp32 in and
// out.
constexpr double reduce_bytes = 64;
constexpr double deepest_split = 32;
// Clusters of cores take copies meant for all of them at once, so that more arrives than leaves L2:
// 85 B a clock and core on H100, whose L2 gives 27.
constexpr double multicast = 4;
// Seconds that scaled kernels for pairs of cores take longer to start (B200 against H200, fp8).
constexpr double tensor_memory = 1e-6;
// Cycles that kernels for pairs of cores take at least for a value of k in 4 bits, whose scales are
// copied beside them: products of few rows and columns take 0.55 to 0.6 ns on B200.
constexpr double least_4bit_step = 1.1;
// What a block of a kernel that makes outputs whole takes in of its rows in a clock, out of L2; and
// how many outputs it makes where one each would take every core so many turns.
constexpr double rows_per_clock = 64;
constexpr double most_turns = 8;
constexpr double outputs_together = 16;
// Bytes a clock that any core takes in, however slow its matrix unit.
constexpr double narrowest_port = 32;
// Bytes a clock of rows that Hopper's copies of whole tiles ask for and that are not there, all
// cores together: 680 to 940 by how many they are (tiles of 64x64 in 8 bits out of L2 on an H200:
// 352 ns for 256 steps with all 64 rows, 559 with 48, 806 with 32, 1142 with one; of 8 cores alone
// 330 with any). Blackwell's rows show no such thing.
constexpr double absent_per_clock = 850;
// Weights of 4 or 8 bits that one core widens to 16 in a clock, beside the matrix unit.
constexpr double widened_per_clock = 64;

// Copy engines and wide loads move 16 bytes at a time; rows that start elsewhere take narrower
// loads, and libraries fall back to old kernels. Measured on H200 (bf16, 1024x4096x4096 and 8192³):
// 766 and 786 TFLOP/s aligned, 246 to 268 with rows at 4 or 8 bytes, 127 and 135 with k odd, 101
// and 97 with n odd; a matrix-vector product takes twice as long.
struct Alignment {
  double issue = 1;   // share of the issue rate and of the feed
  double stream = 1;  // share of the bandwidth
};
Alignment alignment_of(double n, double k, double element) {
  const auto aligned = [&](double bytes) {
    return std::fmod(n * element, bytes) == 0 && std::fmod(k * element, bytes) == 0;
  };
  if (aligned(16)) return {};
  if (element >= 4) return {};  // loads of whole elements: on MI100 n = 30522 costs nothing
  if (aligned(4)) return {0.33, 0.5};
  return {0.14, 0.5};
}

double issue_efficiency(const Chip& chip, Precision type, GemmLibrary provider) {
  const Mechanism& m = chip.mechanism;
  const double bytes = element_bytes(type);
  if (chip.on_vector(type)) return m.vector_efficiency;
  const bool vendors = type == Precision::int8 && provider == GemmLibrary::tuned;
  if (vendors && m.matrix_efficiency_int8 > 0) return reached(chip, type, m.matrix_efficiency_int8);
  return reached(chip, type,
                 bytes >= 2      ? m.matrix_efficiency
                 : bytes >= 0.75 ? m.matrix_efficiency_8bit
                                 : m.matrix_efficiency_4bit);
}

// What does not depend on the tile.
struct Problem {
  double m, n, k, batch;
  double x_element, w_element;  // bytes as they cross L2 and shared memory
  double rows;                  // of the matrix instruction: the longer side of a tile at least
  double results;               // of a tile at most
  double per_clock;             // FLOPs a clock a core, after issue efficiency
  double feed;                  // bytes a clock into a core
  double shared;                // bytes a clock a core
  double cores;
  double cycles_per_s;
  double tile_cycles;
  double drain_cycles;
  double tail;
  double start, latency, split;  // seconds
  double least_piece;            // of k
  double x_bytes, w_bytes, w_cold, y_bytes;
  double l2_rate;    // B/s of operands that L2 feeds to all cores
  double hot;        // seconds to read what L2 holds of W
  double epilogue;   // seconds of writing results that nothing hides
  double widen;      // weights a clock a core that are widened in registers
  double unpack;     // cycles a weight, of the units that multiply
  double bandwidth;  // B/s a stream reaches
  Crossing crossing;
  // s/B: what a byte's energy takes at the power limit. Libraries choose tiles by runs on a hot
  // chip, where it shows; without it, memory that is faster invites tiles that read more, draw more
  // and are slower.
  double toll;
  double x_missed, w_missed;  // bytes that each reading again takes from memory
  double page_reach;          // bytes that the cores of a wave reach without translating anew
  double walk;                // cycles a core for a byte of k of each row beyond
  double absent_rate;         // bytes a second of what of a tile is not there; 0: not asked for
  double least_step;          // cycles of a value of k, however small the tile
};

// Rows of both operands that the matrix units read from shared memory for each step: the longer
// side is read 64 rows at least (wgmma). Filling is counted in the feed; that it does not compete
// shows in skinny 8-bit multiplies on H100, which take in 200 B a clock, filled and read.
constexpr double rows_read(TileShape t) { return t.m >= t.n ? std::max(64, t.m) : t.m; }
constexpr double columns_read(TileShape t) { return t.n > t.m ? std::max(64, t.n) : t.n; }
double operand_bytes(const Problem& p, TileShape t) {
  return rows_read(t) * p.x_element + columns_read(t) * p.w_element;
}
double tile_bytes(const Problem& p, TileShape t) { return t.m * p.x_element + t.n * p.w_element; }

// Cycles that a step of the inner dimension waits for pages. All rows of a wave's tiles are read
// side by side, 32 bytes of each at a time, and lie as far apart as k is long: fp32 on P100 runs at
// its usual 7 TFLOP/s while rows of a wave span 130 MB, at 4 from 0.3 GB and 2.1 from 1.5 GB,
// whatever m, n and k make them up; P4, V100 and A100 alike, later and less.
double page_walks(const Problem& p, TileShape t) {
  const auto rows = [&](double along, double across, double side, double other) {
    const double tiles = std::min(std::ceil(along / side), p.cores);
    return std::min(along, tiles * side) + std::min(across, p.cores / tiles * other);
  };
  const double fewest = std::min(rows(p.m, p.n, t.m, t.n), rows(p.n, p.m, t.n, t.m));
  const double span = fewest * p.k * p.x_element;
  return span > p.page_reach ? (t.m + t.n) * p.walk * (1 - p.page_reach / span) : 0;
}

// Bytes of a step of the inner dimension that a tile's rows would have if they were there. Copies
// of whole tiles ask for them all the same.
double absent_bytes(const Problem& p, TileShape t) {
  const auto absent = [](double rows, double side) {
    const double tiles = std::ceil(rows / side);
    return (tiles * side - rows) / tiles;
  };
  return absent(p.m, t.m) * p.x_element + absent(p.n, t.n) * p.w_element;
}

// Seconds that what crosses L2 takes.
double crossing_time(const Problem& p, TileShape t, double tiles, double inner) {
  const double steps = tiles * inner;
  const double there = steps * tile_bytes(p, t) / p.l2_rate;
  return p.absent_rate > 0 ? std::max(there, steps * absent_bytes(p, t) / p.absent_rate) : there;
}

struct Candidate {
  double score = 1e300;  // the time, and a toll on every byte from memory
  double time = 0;
  double tiles = 0;
  double waves = 1;
  double inner = 0;  // k of one piece, padded to the pipeline's step
  double dram = 0;   // bytes
  TileShape tile{0, 0};
  int split = 1;
};

// DRAM bytes beyond reading each operand once. The tiles of one wave walk the inner dimension
// together and read their rows and columns once; the next wave reads its own, and finds in L2 what
// stayed.
double rereads(const Problem& p, double wave_area, double strip, bool wide) {
  // A strip along n is `strip` rows high; as wide as the wave fills, or higher where n is short.
  const double along = wide ? p.n : p.m;
  const double across = wide ? p.m : p.n;
  const double height = std::min(across, std::max(strip, wave_area / along));
  const double width = std::min(along, std::max(1.0, wave_area / height));
  const double rows = wide ? height : width;
  const double cols = wide ? width : height;
  return p.x_missed * (p.n / cols - 1) + p.w_missed * (p.m / rows - 1);
}

// A tuned library takes the better order; CUTLASS walks the side with fewer tiles.
double extra_reads(const Problem& p, TileShape t, bool tuned) {
  const double wave_area = p.cores * t.m * t.n;
  if (tuned) {
    return std::min(rereads(p, wave_area, tuned_strip, true),
                    rereads(p, wave_area, tuned_strip, false));
  }
  const bool wide = std::ceil(p.n / t.n) <= std::ceil(p.m / t.m);
  return rereads(p, wave_area, scaled_strip, wide);
}

// What memory asks for of a tile.
struct Traffic {
  double area = 0;  // of the tile
  double dram = 0;  // bytes
  double memory = 0;
  double toll = 0;
};
Traffic traffic_of(const Problem& p, TileShape t, bool tuned) {
  Traffic x;
  x.area = static_cast<double>(t.m) * t.n;
  x.dram = p.batch * (p.x_bytes + p.w_cold + p.y_bytes + extra_reads(p, t, tuned));
  x.memory = x.dram / p.bandwidth - p.epilogue + p.latency + p.hot;
  x.toll = p.toll * x.dram;
  return x;
}

// Cycles that a core takes to be fed a step of the inner dimension from L2, past its page walks.
double feed_cycles(const Problem& p, TileShape t) {
  const double walks = p.walk > 0 ? page_walks(p, t) : 0;
  return std::max(tile_bytes(p, t) / p.feed, walks);
}

// Cycles of a tile beside its steps: it starts and drains.
double overhead_cycles(const Problem& p, double area) {
  return p.drain_cycles * area / 32768 + p.tile_cycles;
}

// The best split of one tile shape, if it beats `best`.
void try_tile(const Problem& p, TileShape t, bool tuned, const Traffic& x, Candidate& best) {
  const auto [area, dram, memory, toll] = x;
  if (p.start + memory + p.epilogue + toll >= best.score) return;
  const double tiles_m = std::ceil(p.m / t.m);
  const double tiles_n = std::ceil(p.n / t.n);
  // Cycles a step of the inner dimension: issue, operand reads from shared memory, feed from L2.
  const double issue = 2 * area / p.per_clock + t.n * p.unpack;
  const double shared = operand_bytes(p, t) / p.shared;
  const double inside = std::max({issue, shared, t.n / p.widen, p.least_step});
  const double overhead = overhead_cycles(p, area);
  const double step = smooth_max(inside, feed_cycles(p, t));
  for (double s = 1; s <= deepest_split; s *= 2) {
    const double tiles = p.batch * tiles_m * tiles_n * s;
    if (s > 1 && (!tuned || p.k < p.least_piece * s || tiles > 2 * p.cores)) break;
    const double inner = 64 * std::ceil(p.k / (64 * s));
    const double even = std::max(1.0, tiles / p.cores);
    const double waves = even + p.tail * (std::ceil(even) - even);
    const double compute = waves * (inner * step + overhead) / p.cycles_per_s;
    const double extra =
        s > 1 ? p.split + s * p.batch * p.m * p.n * 8 / (reduce_bytes * p.cores * p.cycles_per_s)
              : 0;
    const double serial = p.start + p.epilogue + extra;
    const double traffic = std::max(memory, crossing_time(p, t, tiles, inner));
    if (serial + std::max(compute, traffic) + toll >= best.score) continue;
    const double time = serial + smooth_max(compute, traffic);
    if (time + toll < best.score) {
      best = {time + toll, time, tiles, waves, inner, dram, t, static_cast<int>(s)};
    }
  }
}
void try_tile(const Problem& p, TileShape t, bool tuned, Candidate& best) {
  try_tile(p, t, tuned, traffic_of(p, t, tuned), best);
}

/// Of few rows, blocks that each make one output (TensorRT-LLM's kernel for routers) or sixteen
/// (its kernel for the ways into a latent space) of all of k: they read all rows, and nothing is
/// added up behind them. Routers of 7168 x 256 and 7168 x 384 take a B200 0.27 and 0.34 us for each
/// row, 1.7 us without one (vLLM, pull request 44217, read November 2026); 6144 x 2624 takes 0.82
/// of what a split multiply takes (SGLang, pull request 31241).
void try_whole_outputs(const Problem& p, Candidate& best) {
  const double width = p.n > most_turns * p.cores ? outputs_together : 1;
  const double blocks = std::ceil(p.n / width);
  const double turns = std::ceil(blocks / p.cores);
  const double dram = p.x_bytes + p.w_cold + p.y_bytes;
  const double streamed = dram / p.bandwidth * (turns * p.cores / blocks);
  const double rows = turns * p.x_bytes / rows_per_clock / p.cycles_per_s;
  const double time = p.start + p.latency + p.hot + smooth_max(streamed, rows);
  const TileShape tile{static_cast<int>(p.m), static_cast<int>(width)};
  if (time < best.time) best = {time, time, blocks, turns, p.k, dram, tile, 1};
}

// CUTLASS is for cores that run threads; matrix engines have a compiler of their own, which chooses
// tiles of 8 bits as those of 16.
bool by_cutlass(const Chip& chip, const Gemm& g) {
  return g.provider == GemmLibrary::scaled && !chip.copied_in;
}

Problem make_problem(const Chip& chip, const Gemm& g, Hertz clock) {
  const Mechanism& mech = chip.mechanism;
  Problem p{};
  p.m = g.m;
  p.n = g.n;
  p.k = g.k;
  p.batch = g.batch;
  // A type that the chip lacks runs in a wider one; weights keep their stored width on the way.
  const Precision type = chip.runs[g.type];
  const double element = element_bytes(type);
  p.x_element = stored_bits(type) / 8;
  p.w_element =
      (g.weight_bits > 0 ? g.weight_bits : std::min(stored_bits(type), stored_bits(g.type))) / 8;
  const bool vector = chip.on_vector(type);
  p.widen = p.w_element < element ? widened_per_clock : 1e9;
  p.unpack = p.w_element < 2 && vector ? 2 * g.widening / chip.vector_per_clock.value : 0;
  p.rows = vector ? 16 : chip.matrix_rows;
  p.results = mech.asynchronous ? most_fitted_results : mech.tile_results;
  const Alignment rows = vector ? Alignment{} : alignment_of(g.n, g.k, element);
  const double issue = g.issue > 0 ? g.issue : issue_efficiency(chip, type, g.provider);
  p.per_clock =
      rate_of_blocks(chip, chip.per_clock[g.type].value * rows.issue * issue, g.scale_block);
  // Matrix units pad a product of few rows to a tile; lanes (cuBLAS's gemv, MLX's qmv) do no row
  // that is not there.
  const double least_rows = vector ? least_vector_rows : 16;
  const double lanes = std::min(chip.per_clock[type].value, chip.vector_per_clock.value);
  p.per_clock = std::max(p.per_clock, mech.vector_efficiency * lanes * least_rows / g.m);
  // Nor do few rows pass through shared memory.
  p.feed = vector ? lanes_feed(chip, type, g.m)
                  : std::max(mech.feed * chip.width.value, narrowest_port) * rows.issue;
  p.l2_rate = (mech.asynchronous ? multicast : 1) * chip.l2_per_clock.value * clock.value;
  p.shared = chip.shared_per_clock.value;
  p.cores = chip.cores;
  p.cycles_per_s = clock.value;
  // Persistent kernels with asynchronous copies load the next tile while one drains; others wait
  // for memory at the start of each.
  p.tile_cycles =
      mech.tile_cycles + (mech.asynchronous ? 0 : mech.memory_latency.value * clock.value);
  // Ping-pong schedules of the scaled kernels drain one tile while the next computes; those for
  // pairs of cores apply scales on the way out of tensor memory, which takes long to set up.
  const bool scaled = by_cutlass(chip, g);
  const bool paired = scaled && p.rows > 64;
  p.absent_rate = scaled && !paired && mech.asynchronous ? absent_per_clock * clock.value : 0;
  p.drain_cycles = mech.drain_cycles * (paired ? 2.0 : scaled ? 0.6 : 1.0);
  p.least_step = paired && element < 1 ? least_4bit_step : 0;
  p.tail = vector ? 1 : mech.tail;
  p.start = mech.start_cycles / clock.value + (paired ? tensor_memory : 0);
  p.least_piece = vector && g.m > least_rows ? least_vector_piece : least_piece;
  p.split = mech.split_cycles / clock.value;
  p.latency = mech.memory_latency.value * (1 - g.weight_hit);
  p.x_bytes = g.m * g.k * p.x_element;
  p.w_bytes = g.n * g.k * p.w_element;
  p.w_cold = p.w_bytes * (1 - g.weight_hit);
  p.y_bytes = g.m * g.n * g.result_bytes;
  // A core finds half of them in the cache of the other die.
  const double cache = chip.l2_per_clock.value * clock.value;
  p.hot = g.batch * (p.w_bytes - p.w_cold) /
          (chip.between.value > 0 ? std::min(cache, chip.between.value) : cache);
  // What comes from memory crosses L2.
  const double streamed = element < 1
                              ? std::min(mech.memory_efficiency, mech.memory_efficiency_4bit)
                              : mech.memory_efficiency;
  p.crossing = {std::min(streamed * chip.bandwidth.value * rows.stream,
                         chip.cores * g.core_bytes.value * clock.value),
                chip.l2_per_clock.value * clock.value};
  p.bandwidth = p.crossing.rate();
  const double spilled = std::max(0.0, g.batch * p.y_bytes - 0.5 * chip.l2_shared.value);
  p.toll = chip.memory_energy.value / chip.power_limit.value;
  p.epilogue = mech.asynchronous ? 0 : mech.epilogue * spilled / p.bandwidth;
  const auto missed = [&](double bytes) {
    return bytes * (1 - std::min(1.0, l2_share * chip.l2_shared.value / std::max(bytes, 1.0)));
  };
  // Kernels on lanes take short pieces of many rows; matrix units take long ones, ahead of time,
  // and products of few rows each row in one go.
  p.page_reach = mech.page_reach.value * chip.cores;
  const bool pieces = vector && g.m > least_rows;
  p.walk = pieces && p.page_reach > 0 ? mech.walk_cycles * p.x_element / 32 : 0;
  p.x_missed = missed(p.x_bytes);
  p.w_missed = missed(p.w_bytes);
  return p;
}

/// What a bound for every tile of a list takes, side by side so that it takes no division and
/// compilers can do several at a time.
template <std::size_t N>
struct TileTable {
  std::array<TileShape, N> shapes;
  std::array<double, N> m{}, n{}, by_m{}, by_n{}, area{};
  std::array<double, N> read_m{}, read_n{};  ///< of operand_bytes()
  std::array<double, N> longest{};
  explicit constexpr TileTable(const std::array<TileShape, N>& tiles) : shapes(tiles) {
    for (std::size_t i = 0; i < N; ++i) {
      const TileShape t = tiles[i];
      m[i] = t.m;
      n[i] = t.n;
      by_m[i] = 1.0 / t.m;
      by_n[i] = 1.0 / t.n;
      area[i] = static_cast<double>(t.m) * t.n;
      read_m[i] = rows_read(t);
      read_n[i] = columns_read(t);
      longest[i] = std::max(t.m, t.n);
    }
  }
};

// A bound may round up where the time itself does not.
constexpr double surely = 1 - 1e-12;

double fourth(double x) { return x * x * (x * x); }

// Without branches or calls, for compilers to do several at a time. No bound needs the last digit.
double larger(double a, double b) { return 0.5 * (a + b + std::abs(a - b)); }
/// One where a whole number is above zero, or hardly less.
double one_above(double x) {
  const double above = x + std::abs(x);
  return above / (above + 1e-14);
}
/// Rounded up but where it is less than a millionth above: doubles of this size have no fraction.
double least_whole(double x) {
  constexpr double whole = 0x1p52;
  return (x + (0.5 - 1e-6)) + whole - whole;
}

/// What the cores take at least for each tile, however it is split, as its fourth power; and what
/// no score goes below beside it, where every operand is read once.
template <std::size_t N>
struct LeastScores {
  double fixed = 0;
  double memory = 0;  ///< as fourth power
  std::array<double, N> cores{};
};
/// A smooth maximum of two is no less than this of their sum: 2^(1/4) / 2.
constexpr double near_ridge = 0.5946;
template <std::size_t N>
LeastScores<N> least_scores(const Problem& p, const TileTable<N>& t) {
  const double by_per_clock = 2 / p.per_clock;
  const double by_shared = 1 / p.shared;
  const double by_feed = 1 / p.feed;
  const double by_widen = 1 / p.widen;
  const double by_cores = 1 / p.cores;
  const double by_clock = 1 / p.cycles_per_s;
  const double padded = 64 * std::ceil(p.k / 64);
  const double bytes = p.batch * (p.x_bytes + p.w_cold + p.y_bytes);
  LeastScores<N> least;
  least.fixed = p.start + p.epilogue + p.toll * bytes;
  least.memory = fourth(std::max(0.0, bytes / p.bandwidth - p.epilogue + p.latency + p.hot));
  for (std::size_t i = 0; i < N; ++i) {
    const double read = t.read_m[i] * p.x_element + t.read_n[i] * p.w_element;
    const double taken = t.m[i] * p.x_element + t.n[i] * p.w_element;
    const double inside = larger(
        larger(t.area[i] * by_per_clock + t.n[i] * p.unpack, read * by_shared), t.n[i] * by_widen);
    const double feed = taken * by_feed;
    const double step = larger(larger(inside, feed), near_ridge * (inside + feed));
    const double overhead = p.drain_cycles * t.area[i] * (1.0 / 32768) + p.tile_cycles;
    // Never more than ceil(length / side), whatever the product rounds to.
    const double tiles = p.batch * least_whole(p.m * t.by_m[i]) * least_whole(p.n * t.by_n[i]);
    // Of more tiles than cores none is split, and the last wave takes as long as any.
    const double even = tiles * by_cores;
    const double last = larger(least_whole(even) - even, 0);
    const double unsplit = one_above(tiles - p.cores);
    const double waves = even + unsplit * p.tail * last;
    const double inner = p.k + unsplit * (padded - p.k);
    const double cores = waves * (inner * step + overhead) * by_clock;
    const double unfit = one_above(p.rows - t.longest[i]) + one_above(t.area[i] - p.results);
    least.cores[i] = fourth(cores) + 2e300 * unfit;
  }
  return least;
}

/// Tries the tiles that may still beat the best, by what their cores take and then with what their
/// rereading takes.
class Contest {
 public:
  explicit Contest(const Problem& p) : p_(p) {}

  /// Two fourth powers as of one smooth maximum.
  static bool beaten(double cores, double memory, double left) {
    return left <= 0 || (cores + memory) * surely >= fourth(left);
  }
  template <std::size_t N>
  void attempt(TileShape t, const LeastScores<N>& least, std::size_t i, Candidate& best) {
    if (beaten(least.cores[i], least.memory, best.score - least.fixed * surely)) return;
    // Tiles of one area read as much.
    if (const double area = static_cast<double>(t.m) * t.n; area != x_.area) {
      x_ = traffic_of(p_, t, true);
    }
    const double fixed = (p_.start + p_.epilogue + x_.toll) * surely;
    if (beaten(least.cores[i], fourth(std::max(0.0, x_.memory)), best.score - fixed)) return;
    try_tile(p_, t, true, x_, best);
  }

 private:
  const Problem& p_;
  Traffic x_;
};

/// What a tuned library takes: the first of the best. The shape with the least bound is tried
/// before the others, and leaves few of them.
template <std::size_t N>
Candidate best_tile(const Problem& p, const TileTable<N>& table) {
  const LeastScores<N> least = least_scores(p, table);
  std::size_t likely = 0;
  for (std::size_t i = 0; i < N; ++i) {
    if (least.cores[i] < least.cores[likely]) likely = i;
  }
  Candidate first;
  if (!(least.cores[likely] < 1e300)) return first;
  try_tile(p, table.shapes.at(likely), true, first);
  // One before it may be as good, one after it has to be better.
  Candidate best{.score = std::nextafter(first.score, 1e301)};
  Contest contest(p);
  for (std::size_t i = 0; i < N; ++i) {
    if (i == likely && first.score < best.score) best = first;
    if (i != likely) contest.attempt(table.shapes.at(i), least, i, best);
  }
  return best;
}

// Columns of asynchronous units come in eights, and libraries use it where a batch would waste part
// of a round tile: the tokens are divided evenly, over as few tiles as hold them or one or two
// more. Names of cuBLAS 13.0's kernels on H200 (312 shapes of 137 to 2040 tokens) have 72, 88, 104
// … 304 columns, and up to 40960 results: 128x304, 192x208, 256x160.
constexpr double most_fitted_rows = 304;
constexpr double most_fitted_tokens = 2048;  // beyond, round tiles waste little
void try_fitted(const Problem& p, Candidate& best) {
  if (p.m <= 64 || p.m > most_fitted_tokens) return;
  std::array<TileShape, 12> shapes{};
  std::size_t count = 0;
  for (const int side : {64, 128, 192, 256}) {
    const double most = 8 * std::floor(std::min(most_fitted_results / side, most_fitted_rows) / 8);
    const double fewest = std::ceil(p.m / most);
    for (double tiles = fewest; tiles <= fewest + 2; ++tiles) {
      shapes.at(count++) = {static_cast<int>(8 * std::ceil(p.m / (8 * tiles))), side};
    }
  }
  const LeastScores<12> least = least_scores(p, TileTable<12>(shapes));
  Contest contest(p);
  for (std::size_t i = 0; i < count; ++i) {
    if (shapes.at(i).m >= 64) contest.attempt(shapes.at(i), least, i, best);
  }
}

Candidate best_tile(const Problem& p, const Chip& chip, Precision type) {
  static constexpr TileTable fine(std::to_array(fine_tiles));
  static constexpr TileTable coarse(std::to_array(coarse_tiles));
  static constexpr TileTable vector(std::to_array(vector_tiles));
  if (chip.on_vector(type)) return best_tile(p, vector);
  if (chip.mechanism.asynchronous) {
    Candidate best = best_tile(p, fine);
    try_fitted(p, best);
    return best;
  }
  return best_tile(p, coarse);
}

}  // namespace

double lanes_feed(const Chip& chip, Precision type, double rows) {
  const double lanes = std::min(chip.per_clock[type].value, chip.vector_per_clock.value);
  const double loads = std::max(vector_feed, vector_feed_per_flop * lanes);
  return std::max(loads, std::min(narrowest_port, loads * least_vector_rows / rows));
}

KernelCost gemm(const Chip& chip, const Gemm& g, Hertz clock) {
  if (chip.roofline > 0) {
    const double element = element_bytes(chip.runs[g.type]);
    const double weight = g.weight_bits > 0 ? g.weight_bits / 8 : element_bytes(g.type);
    const double bytes = g.batch * (g.m * g.k * element + g.n * g.k * std::min(element, weight) +
                                    g.m * g.n * g.result_bytes);
    return on_roofline(chip, Flops(2 * g.batch * g.m * g.n * g.k), Bytes(bytes), g.type);
  }
  const Problem p = make_problem(chip, g, clock);
  Candidate best;
  if (!by_cutlass(chip, g)) {
    best = best_tile(p, chip, chip.runs[g.type]);
    if (g.whole_outputs && chip.mechanism.asynchronous && !chip.copied_in) {
      try_whole_outputs(p, best);
    }
  } else if (p.rows <= 64) {
    try_tile(p, scaled_tile(g.m, g.n), false, best);
  } else if (p.x_element >= 1) {
    try_tile(p, wide_scaled_tile(g.m), false, best);
  } else {
    for (const TileShape t : wide_tuned_tiles) try_tile(p, t, false, best);
  }
  const double area = static_cast<double>(best.tile.m) * best.tile.n;
  const double edge = tile_bytes(p, best.tile);
  const double passes = best.waves * best.inner / p.cycles_per_s;
  KernelCost c;
  c.flops = Flops(2 * g.batch * g.m * g.n * g.k);
  const Seconds limit(c.flops.value / (chip.cores * g.core_operations * clock.value));
  c.time = max(Seconds(best.time), limit);
  c.dram = Bytes(best.dram);
  c.l2 = Bytes(best.tiles * (edge * best.inner + area * g.result_bytes));
  const double reads = operand_bytes(p, best.tile);
  c.shared = Bytes(best.tiles * ((edge + reads) * best.inner + area * g.result_bytes));
  c.busy[Bound::compute] = max(Seconds(passes * 2 * area / p.per_clock), limit);
  c.busy[Bound::shared] = Seconds(passes * reads / p.shared);
  c.busy[Bound::l2] = Seconds(std::max(passes * feed_cycles(p, best.tile),
                                       crossing_time(p, best.tile, best.tiles, best.inner)));
  cross(c, best.dram, p.crossing);
  c.busy[Bound::latency] = Seconds(p.latency + (best.split > 1 ? p.split : 0) +
                                   best.waves * overhead_cycles(p, area) / p.cycles_per_s);
  c.busy[Bound::launch] = Seconds(p.start);
  c.tiling = {best.tile.m, best.tile.n, best.split, best.waves};
  c.clock = clock;
  c.activity = g.activity;
  find_bound(c);
  return c;
}

KernelCost GemmMemo::operator()(const Chip& chip, const Gemm& g, Hertz clock) {
  std::uint64_t hash = static_cast<std::uint64_t>(g.type);
  for (const double x : {g.m, g.n, g.k, g.batch, g.result_bytes, clock.value}) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(x)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  }
  Entry& e = entries_[hash % size];
  const Gemm& k = e.shape;
  const bool known = e.clock == clock && k.m == g.m && k.n == g.n && k.k == g.k &&
                     k.batch == g.batch && k.type == g.type && k.result_bytes == g.result_bytes &&
                     k.scale_block == g.scale_block;
  if (!known) e = {g, clock, gemm(chip, g, clock)};
  return e.cost;
}

}  // namespace sextant
