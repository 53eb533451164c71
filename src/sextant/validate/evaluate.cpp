// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/evaluate.hpp"

#include <algorithm>

namespace sextant {
namespace {

/// What a module does before the kernel of attention where that does not do it itself: it rotates
/// queries and keys, and puts keys and values into the cache.
KernelCost with_module(const KernelCost& attention, const Chip& chip, const Kernels& kernels,
                       double tokens, double rotated, double cached, double cache_bytes) {
  const auto stream_of = [&](StreamOp op, double cols, double bytes) {
    return stream(chip, kernels.stream[op], moving(op, tokens, cols, bytes));
  };
  return then(then(stream_of(StreamOp::add, rotated, 4),
                   stream_of(StreamOp::copy, cached, 2 + cache_bytes)),
              attention);
}

bool adds_module(std::optional<Timed> scope, const Kernels& kernels) {
  return scope == Timed::module && !kernels.whole_module;
}

}  // namespace

KernelCost evaluate_kernel(const GemmCase& c, const Chip& chip, const Kernels& kernels, Load load) {
  const KernelCost multiply =
      at_power(chip, c.shape.type, load, [&](Hertz clock) { return gemm(chip, c.shape, clock); });
  if (!c.quantize) return multiply;
  return then(multiply, quantize_rows(chip, kernels, c.shape.type, c.shape.m, c.shape.k));
}

KernelCost evaluate_kernel(const AttentionCase& c, const Chip& chip, const Kernels& kernels,
                           Load load) {
  const AttentionShape& s = c.shape;
  const Precision type = narrow(s.cache_type) ? Precision::fp8 : s.type;
  return at_power(chip, type, load, [&](Hertz clock) {
    if (c.phase == Phase::decode) return attention_decode(chip, kernels, s, clock);
    if (c.phase == Phase::backward) {
      return attention_prefill(chip, kernels.backward, s, true, clock);
    }
    const PrefillKernel& kernel = narrow(s.cache_type) ? kernels.prefill_8bit : kernels.prefill;
    if (c.phase == Phase::mixed) {
      return attention_mixed(chip, kernel, s, c.decoding, c.decode_context, clock);
    }
    return attention_prefill(chip, kernel, s, false, clock);
  });
}

KernelCost evaluate_kernel(const LatentCase& c, const Chip& chip, const Kernels& kernels,
                           Load load) {
  return at_power(chip, Precision::bf16, load, [&](Hertz clock) {
    return c.phase == Phase::decode ? latent_decode(chip, kernels, c.shape, clock)
                                    : latent_prefill(chip, kernels, c.shape, clock);
  });
}

KernelCost evaluate_kernel(const ExpertsCase& c, const Chip& chip, const Kernels& kernels,
                           Load load) {
  const ExpertKernel& kernel = c.unfused              ? kernels.experts_unfused
                               : narrow(c.layer.type) ? kernels.experts_8bit
                                                      : kernels.experts;
  return at_power(chip, c.layer.type, load,
                  [&](Hertz clock) { return expert_layer(chip, kernel, c.layer, clock); });
}

KernelCost evaluate_kernel(const StreamCase& c, const Chip& chip, const Kernels& kernels, Load) {
  return stream(chip, kernels.stream[c.op], c.shape);
}

CollectiveCost evaluate_collective(const CollectiveCase& c, const Network& network,
                                   const CollectiveLibrary& library, const Adapters& a) {
  if (a.count == 0) return collective(network, library, c.op, c.group, c.bytes);
  Network own = network;
  const double users = std::max(1, std::min(c.group.per_node, network.devices_per_node));
  // Ranks of a node share its adapters; a rank alone has one to itself.
  BytesPerSecond rate = a.rate * std::min(1.0, a.count / users);
  if (c.op != Collective::send_recv) rate *= a.both_ways;
  for (int i = 0; i < own.count; ++i) {
    NetworkLevel& level = own.levels[static_cast<std::size_t>(i)];
    if (!level.network) continue;
    level.rate *= rate / level.peak;
    level.peak = rate;
  }
  return collective(own, library, c.op, c.group, c.bytes);
}

KernelCost evaluate_case(const Case& c, const Network& network, const CollectiveLibrary& library) {
  KernelCost cost;
  const auto* k = std::get_if<CollectiveCase>(&c.kernel);
  if (k == nullptr) return cost;
  const CollectiveCost result = evaluate_collective(*k, network, library, c.adapters);
  cost.busy[Bound::launch] = result.start + c.protocol.eager;
  cost.busy[Bound::latency] = result.latency;
  cost.busy[Bound::network] = result.transfer;
  cost.time = result.time + c.protocol.eager;
  find_bound(cost);
  return cost;
}

KernelCost evaluate_case(const Case& c, const Chip& chip, const Kernels& kernels) {
  const Load load{.repeats = c.protocol.runs, .seconds = c.protocol.busy};
  return std::visit(
      [&](const auto& kernel) -> KernelCost {
        using T = std::decay_t<decltype(kernel)>;
        if constexpr (std::is_same_v<T, std::monostate> || std::is_same_v<T, CollectiveCase> ||
                      std::is_same_v<T, TrainCase> || std::is_same_v<T, InferCase> ||
                      std::is_same_v<T, ServingCase>) {
          return {};
        } else if constexpr (std::is_same_v<T, GemmCase>) {
          GemmCase g = kernel;
          const double element = stored_bits(g.shape.type) / 8;
          const Bytes weights(g.shape.n * g.shape.k * element);
          const Bytes others(g.shape.m * (g.shape.k * element + g.shape.n * g.shape.result_bytes));
          g.shape.activity = activity_of(c.protocol, weights);
          g.shape.weight_hit = weight_residency(c.protocol, weights, others, chip.l2_whole);
          KernelCost cost = evaluate_kernel(g, chip, kernels, load);
          cost.busy[Bound::launch] += c.protocol.eager;
          cost.time += c.protocol.eager;
          return cost;
        } else if constexpr (std::is_same_v<T, LatentCase>) {
          LatentCase l = kernel;
          const double token = (l.shape.latent + l.shape.rope) * element_bytes(l.shape.cache_type);
          l.shape.cache_hit = weight_residency(
              c.protocol, Bytes(l.shape.batch * l.shape.context * token), Bytes(0), chip.l2_shared);
          const KernelCost cost = evaluate_kernel(l, chip, kernels, load);
          if (!adds_module(l.scope, kernels)) return cost;
          return with_module(cost, chip, kernels, l.shape.batch * l.shape.queries,
                             (l.shape.heads + 1) * l.shape.rope, l.shape.latent + l.shape.rope,
                             element_bytes(l.shape.cache_type));
        } else if constexpr (std::is_same_v<T, AttentionCase>) {
          AttentionCase a = kernel;
          const AttentionShape& s = a.shape;
          const double token = (s.head_dim + s.value_dim) * element_bytes(s.cache_type);
          a.shape.cache_hit =
              weight_residency(c.protocol, Bytes(s.batch * s.kv_heads * s.context * token),
                               Bytes(0), chip.l2_shared);
          KernelCost cost = evaluate_kernel(a, chip, kernels, load);
          // The device and the host work side by side; the slower one shows.
          if (a.phase == Phase::backward) {
            cost.time = Seconds(smooth_max(cost.time.value, c.protocol.host_backward.value));
          }
          if (!adds_module(a.scope, kernels)) return cost;
          return with_module(cost, chip, kernels, s.batch * s.queries + a.decoding,
                             (s.heads + s.kv_heads) * s.head_dim,
                             s.kv_heads * (s.head_dim + s.value_dim), element_bytes(s.cache_type));
        } else if constexpr (std::is_same_v<T, ExpertsCase>) {
          Chip quiet = chip;
          quieten(quiet, activity_of(c.protocol, Bytes(0)));
          return evaluate_kernel(kernel, quiet, kernels, load);
        } else {
          return evaluate_kernel(kernel, chip, kernels, load);
        }
      },
      c.kernel);
}

namespace {

Asked attention_in(Phase phase) {
  if (phase == Phase::mixed) return Asked::attention_mixed;
  return phase == Phase::decode ? Asked::attention_decode : Asked::attention;
}

}  // namespace

Asked asked_by(const GemmCase& c, const KernelCost&) { return product_in(c.shape.type); }
Asked asked_by(const AttentionCase& c, const KernelCost&) { return attention_in(c.phase); }
Asked asked_by(const LatentCase& c, const KernelCost& k) {
  const bool on_chip = k.bound == Bound::l2 || k.bound == Bound::compute;
  return c.phase == Phase::decode && on_chip ? Asked::latent_on_chip : attention_in(c.phase);
}
Asked asked_by(const ExpertsCase&, const KernelCost&) { return Asked::experts; }
Asked asked_by(const StreamCase&, const KernelCost&) { return Asked::stream; }

}  // namespace sextant
