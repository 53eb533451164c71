// SPDX-License-Identifier: Apache-2.0
#include "sextant/cost/experts.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/cost/crossing.hpp"
#include "sextant/cost/gemm.hpp"
#include "sextant/cost/roofline.hpp"

namespace sextant {
namespace {

constexpr int most_classes = 1024;

// The mean of ceil(x) over all x from `middle - reach` to `middle + reach`, from zero on.
double mean_ceil(double middle, double reach) {
  const auto up_to = [](double x) {
    const double whole = std::floor(x);
    return (whole + 1) * (x - whole / 2);
  };
  const double low = std::max(0.0, middle - reach);
  const double high = middle + reach;
  return high - low < 1e-6 ? std::ceil(middle) : (up_to(high) - up_to(low)) / (high - low);
}

// `reach`: how far the tokens of one lie from those of another, half of it on either side.
void add_expert(ExpertLoads& loads, double count, double tokens, double reach = 0) {
  if (count <= 0 || tokens <= 0) return;
  loads.active += count;
  loads.tokens += count * tokens;
  for (std::size_t i = 0; i < loads.row_tiles.size(); ++i) {
    const double rows = ExpertLoads::tile_rows[i];
    loads.row_tiles[i] += count * mean_ceil(tokens / rows, reach / rows);
  }
}

// The share of experts that none of T tokens chooses, of E with k choices each. Alike: (1 − m)^T
// with m = k/E. Where the chance of being chosen is spread over experts, a beta distribution of
// mean m: the mean of (1 − p)^T. One token reaches k.
double missed(const ExpertLayer& l) {
  const double mean = std::min(1.0, l.topk / l.experts);
  const double alike = std::pow(1 - mean, l.tokens);
  // Chances end at 1, and with them how far they can lie apart.
  const double variance = std::min(l.routing.skew * l.routing.skew, 0.9 * (1 - mean) / mean);
  if (variance <= 0) return alike;
  const double weight = (1 - mean) / (mean * variance) - 1;
  if (weight > 1e9) return alike;
  const double against = weight * (1 - mean);
  return std::exp(std::lgamma(against + l.tokens) - std::lgamma(against) + std::lgamma(weight) -
                  std::lgamma(weight + l.tokens));
}

ExpertLoads balanced_loads(const ExpertLayer& l) {
  ExpertLoads loads;
  const double local = std::max(1.0, static_cast<double>(l.experts) / l.ep);
  const double assigned = l.tokens * l.topk / l.ep;
  // One in a thousand is none: the others' tokens would just not fill their tiles any more.
  const double without = l.routing.independent ? missed(l) : 0;
  const double reached =
      l.routing.independent ? local * (without < 1e-3 ? 1 : 1 - without) : std::round(assigned);
  const double active = std::clamp(reached, 1.0, local);
  const double tokens = std::max(1.0, assigned / active);
  // Tokens that choose by themselves fill some experts' last tiles and begin others': spread evenly
  // over what has the variance of their number.
  const double skewed = l.routing.skew * tokens;
  const double reach = l.routing.independent ? std::sqrt(3 * (tokens + skewed * skewed)) : 0;
  add_expert(loads, active, tokens, reach);
  return loads;
}

// The expected sample of a power law p(x) ∝ x^-a on [low, high], largest first, by its quantiles.
double quantile(double u, double low, double high, double a) {
  const double b = 1 - a;
  if (std::abs(b) < 1e-9) return low * std::pow(high / low, u);
  return std::pow((std::pow(high, b) - std::pow(low, b)) * u + std::pow(low, b), 1 / b);
}

// Popularity by a power law between one token and 80 % of them, rounded to whole tokens, what is
// left over given to the most popular first; the busiest rank holds every ep-th expert from the
// top. This is how the aiconfigurator benchmark draws its routings.
ExpertLoads power_law_loads(const ExpertLayer& l) {
  const int n = std::min(l.experts, most_classes);
  const double weight = static_cast<double>(l.experts) / n;
  const double total = l.tokens * l.topk;
  const bool crowded = total > l.experts;
  const double low = crowded ? 1 : 0.01;
  const double high = std::max(crowded ? 0.8 * l.tokens : 2.0, low * 1.0001);
  std::array<double, most_classes> tokens;
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    tokens[at] = quantile((n - i - 0.5) / n, low, high, l.routing.exponent);
    sum += weight * tokens[at];
  }
  double given = 0;
  for (int i = 0; i < n; ++i) {
    double& t = tokens[static_cast<std::size_t>(i)];
    t = std::min(l.tokens, std::round(t / sum * total));
    given += weight * t;
  }
  const double left = (total - given) / weight;
  const double rounds = std::trunc(left / n);
  const double rest = std::abs(left - rounds * n);
  ExpertLoads loads;
  for (int i = 0; i < n; i += l.ep) {
    const double extra = rounds + (i < rest ? (left > 0 ? 1 : -1) : 0);
    add_expert(loads, weight, tokens[static_cast<std::size_t>(i)] + extra);
  }
  if (loads.active <= 0) add_expert(loads, 1, 1);
  return loads;
}

/// Of an element between the kernels of a layer, or that one of its multiplies writes.
template <class Shape>
double result_bytes(const Shape& l) {
  return l.result_bytes > 0 ? l.result_bytes : activation_bytes(l.type);
}

}  // namespace

// y = x·Wᵀ for every expert at once: tiles of all experts share the waves.
KernelCost grouped_multiply(const Chip& chip, const ExpertKernel& k, const ExpertLoads& loads,
                            const GroupedShape& l, Hertz clock) {
  const double n = l.n;
  const double inner = l.k;
  const double hz = clock.value;
  // A type that the chip lacks runs in a wider one; weights keep their stored width on the way.
  const double element = element_bytes(chip.runs[l.type]);
  const double stored = l.weight_bits > 0 ? l.weight_bits / 8 : element_bytes(l.type);
  const double weight = std::min(element, stored);
  const double per_clock = rate_of_blocks(
      chip, chip.per_clock[l.type].value * reached(chip, l.type, k.efficiency), l.scale_block);
  // As of a Gemm: lanes do no row that is not there, and widen packed weights themselves.
  const bool lanes = chip.on_vector(chip.runs[l.type]);
  const double unpack = lanes && weight < 2 ? 2 * l.widening / chip.vector_per_clock.value : 0;
  const double l2_rate = (chip.mechanism.asynchronous ? 4 : 1) * chip.l2_per_clock.value * hz;
  const double bytes =
      loads.active * n * inner * weight + loads.tokens * (inner * element + n * result_bytes(l));
  if (chip.roofline > 0) {
    return on_roofline(chip, Flops(2 * loads.tokens * n * inner), Bytes(bytes), l.type);
  }
  const Crossing crossing = crossing_of(chip, k.memory_efficiency, hz);
  const double memory = bytes / crossing.rate();
  KernelCost best;
  best.time = Seconds(1e300);
  for (std::size_t i = 0; i < ExpertLoads::tile_rows.size(); ++i) {
    const int rows = ExpertLoads::tile_rows[i];
    const double held = lanes ? loads.tokens / loads.row_tiles[i] : rows;
    const double feed_rate =
        lanes ? lanes_feed(chip, chip.runs[l.type], held) : k.feed * chip.width.value;
    for (const int cols : {64, 128, 256}) {
      if (rows * cols > 32768 || (rows == 256 && cols == 64)) continue;
      const double area = held * cols;
      const double waves = std::ceil(loads.row_tiles[i] * std::ceil(n / cols) / chip.cores);
      const double issue = (2 * area / per_clock + cols * unpack) * inner;
      const double edge = (held * element + cols * weight) * inner;
      const double feed = edge / feed_rate;
      const double overhead = k.drain_cycles * area / 32768 + k.tile_cycles;
      const double compute = waves * (smooth_max(issue, feed) + overhead) / hz;
      const double tiles = loads.row_tiles[i] * std::ceil(n / cols);
      const double time = smooth_max(compute, std::max(memory, tiles * edge / l2_rate));
      if (time >= best.time.value) continue;
      best.time = Seconds(time);
      best.tiling = {rows, cols, 1, waves};
      best.busy[Bound::compute] = Seconds(waves * issue / hz);
      best.busy[Bound::l2] = Seconds(waves * feed / hz);
      best.busy[Bound::latency] = Seconds(waves * overhead / hz);
      best.l2 = Bytes(tiles * edge);
    }
  }
  cross(best, bytes, crossing);
  best.flops = Flops(2 * loads.tokens * n * inner);
  best.dram = Bytes(bytes);
  best.clock = clock;
  return best;
}

ExpertLoads expert_loads(const ExpertLayer& layer) {
  ExpertLoads loads = layer.routing.exponent > 0 ? power_law_loads(layer) : balanced_loads(layer);
  if (layer.block_rows <= 1) return loads;
  // Room for the worst case, all of which is gone through: nobody asks the device how many there
  // are.
  loads.empty = (layer.block_rows - 1.0) * layer.experts / layer.ep;
  loads.tokens += loads.empty;
  for (std::size_t i = 0; i < loads.row_tiles.size(); ++i) {
    loads.row_tiles[i] = std::max(loads.row_tiles[i], loads.tokens / ExpertLoads::tile_rows[i]);
  }
  return loads;
}

namespace {

KernelCost grouped(const Chip& chip, const ExpertKernel& k, const ExpertLoads& loads, double n,
                   double inner, const ExpertLayer& l, Hertz clock) {
  return grouped_multiply(
      chip, k, loads, {n, inner, l.type, l.weight_bits, l.scale_block, l.widening, l.result_bytes},
      clock);
}

// Permute, activation and combine stream; bookkeeping is per expert and per choice. Gradients read
// what the way forward read, and what came out of it.
KernelCost streamed(const Chip& chip, const ExpertKernel& k, const ExpertLayer& l,
                    const ExpertLoads& loads, bool backward, Hertz clock) {
  if (chip.roofline > 0) return on_roofline(chip);
  const double ffn = l.ffn / l.tp;
  const double halves = l.gated ? 2 : 1;
  const double own = l.own > 0 ? l.own : l.tokens;
  const double inside = backward ? 2 * halves + 1 : halves + 1;
  // Rows without a token are filled, in the type of the multiply, and added to nothing.
  const double filled = loads.empty * l.hidden;
  const double moved =
      (loads.tokens * (2 * l.hidden + inside * ffn) - 2 * filled + 2 * own * l.hidden) *
          result_bytes(l) +
      filled * element_bytes(chip.runs[l.type]);
  KernelCost c;
  c.dram = Bytes(moved);
  c.busy[Bound::dram] = Seconds(k.traffic * moved / chip.bandwidth.value);
  c.busy[Bound::latency] = loads.active * k.per_expert +
                           Seconds(k.route_cycles * own * l.topk / chip.cores / clock.value);
  c.busy[Bound::launch] = k.start;
  c.time = k.start + c.busy[Bound::dram] + c.busy[Bound::latency];
  return c;
}

}  // namespace

KernelCost expert_layer(const Chip& chip, const ExpertKernel& k, const ExpertLayer& l,
                        Hertz clock) {
  const ExpertLoads loads = expert_loads(l);
  const double ffn = l.ffn / l.tp;
  const double halves = l.gated ? 2 : 1;
  const KernelCost c = then(grouped(chip, k, loads, halves * ffn, l.hidden, l, clock),
                            grouped(chip, k, loads, l.hidden, ffn, l, clock));
  return then(c, streamed(chip, k, l, loads, false, clock));
}

ExpertGradients expert_gradients(const Chip& chip, const ExpertKernel& k, const ExpertLayer& l,
                                 double weight_bytes, Hertz clock) {
  const ExpertLoads loads = expert_loads(l);
  const double ffn = l.ffn / l.tp;
  const double halves = l.gated ? 2 : 1;
  // A weight's gradient multiplies over the tokens of its expert.
  const auto of_weight = [&](double out, double in) {
    ExpertLoads rows = loads;
    rows.tokens = loads.active * out;
    for (std::size_t i = 0; i < rows.row_tiles.size(); ++i) {
      rows.row_tiles[i] = loads.active * std::ceil(out / ExpertLoads::tile_rows[i]);
    }
    const double each = loads.tokens / std::max(1.0, loads.active);
    KernelCost c = grouped(chip, k, rows, in, each, l, clock);
    const Bytes written(loads.active * out * in * std::max(0.0, weight_bytes - 2));
    const Seconds more = written / (k.memory_efficiency * chip.bandwidth);
    c.dram += written;
    c.busy[Bound::dram] += more;
    c.time = Seconds(smooth_max(c.time.value, c.busy[Bound::dram].value));
    return c;
  };
  ExpertGradients g;
  g.inputs = then(then(grouped(chip, k, loads, ffn, l.hidden, l, clock),
                       grouped(chip, k, loads, l.hidden, halves * ffn, l, clock)),
                  streamed(chip, k, l, loads, true, clock));
  g.weights = then(of_weight(halves * ffn, l.hidden), of_weight(l.hidden, ffn));
  return g;
}

}  // namespace sextant
