// SPDX-License-Identifier: Apache-2.0
#include "sextant/profile/attain.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "sextant/cost/mixer.hpp"
#include "sextant/profile/recording.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::profile {
namespace {

/// Elements of a chunk that one block of PyTorch's kernels over lists of tensors takes
/// (aten/src/ATen/native/cuda/MultiTensorApply.cuh, kChunkSize).
constexpr double list_chunk = 65536;
/// Elements a thread of Inductor's generated kernels: 256 a warp
/// (torch/_inductor/runtime/triton_heuristics.py, num_elements_per_warp).
constexpr double generated_elements = 8;

bool has_any(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::any_of(all.begin(), all.end(), [&](std::string_view w) { return has(text, w); });
}

/// "aten::mul_" to "mul_".
std::string_view own_name(std::string_view name) {
  const std::size_t at = name.rfind("::");
  return at == std::string_view::npos ? name : name.substr(at + 2);
}

bool among(std::string_view name, std::initializer_list<std::string_view> all) {
  return contains(all, name);
}

double bytes_of(const Tensor& t, double otherwise) {
  return t.elements() * element_bytes_of(t.type).value_or(otherwise);
}

// --- multiplies
// -----------------------------------------------------------------------------------

struct Operands {
  const Tensor* a = nullptr;
  const Tensor* b = nullptr;
};

/// The two matrices, which a bias, a result or both may stand before and behind.
Operands operands_of(std::string_view name, const Shape& s) {
  const bool added = among(name, {"addmm", "baddbmm", "addbmm", "addmv", "_addmm_activation"});
  return {s.at(added ? 1 : 0), s.at(added ? 2 : 1)};
}

Job job_of_multiply(std::string_view name, const Shape& s, const Launched& launched) {
  Job job{.kind = Kind::multiply};
  const auto [a, b] = operands_of(name, s);
  if (a == nullptr || b == nullptr || a->sizes.empty() || b->sizes.empty()) return job;
  Gemm g;
  g.type = precision_of(a->type).value_or(
      precision_of(type_in(launched.kernel)).value_or(Precision::bf16));
  g.k = a->sizes.back();
  const std::size_t rank = b->sizes.size();
  if (name == "linear") {
    g.n = b->sizes.front();
  } else {
    g.n = rank > 1 ? b->sizes.back() : 1;
  }
  const double rows = g.k > 0 ? a->elements() / g.k : 0;
  // Weights shared by all rows are one multiply; matrices one by one are as many.
  g.batch = name != "linear" && rank > 2 ? b->elements() / std::max(1.0, g.k * g.n) : 1;
  g.m = g.batch > 0 ? rows / g.batch : 0;
  if (!(g.m >= 1 && g.n >= 1 && g.k >= 1 && g.batch >= 1)) return job;
  g.result_bytes = activation_bytes(g.type);
  // The model looks at rows of n and of k, which is how operands usually lie. A product with a
  // vector, and an operand that lies along m, are the same product the other way round.
  const double step = 16 / element_bytes(g.type);
  const bool along_m = a->contiguous() != g.k && std::fmod(g.m, step) != 0;
  if (g.n == 1 || (along_m && std::fmod(g.n, step) == 0)) std::swap(g.m, g.n);
  job.type = g.type;
  job.work = g;
  return job;
}

/// Blocks of rows where nobody knows how many tokens each expert has: the last block of each is
/// half full on average.
void spread_rows(ExpertLoads& loads) {
  const double each = loads.tokens / std::max(1.0, loads.active);
  for (std::size_t i = 0; i < loads.row_tiles.size(); ++i) {
    loads.row_tiles[i] = loads.active * std::max(1.0, each / ExpertLoads::tile_rows[i] + 0.5);
  }
}

Job job_of_grouped(const Shape& s) {
  Job job{.kind = Kind::grouped_multiply};
  const Tensor* const a = s.at(0);
  const Tensor* const b = s.at(1);
  const Tensor* ends = s.at(2);
  for (const Tensor& t : s.tensors) {
    if (t.argument > 1 && t.sizes.size() == 1 && t.type == "int") ends = &t;
  }
  if (a == nullptr || b == nullptr || a->sizes.size() < 2 || b->sizes.size() < 2) return job;
  GroupedMultiply g;
  g.type = precision_of(a->type).value_or(Precision::bf16);
  double experts = b->sizes.size() > 2 ? b->sizes.front() : 1;
  if (b->sizes.size() == 2 && ends != nullptr) experts = ends->elements();
  if (!(experts >= 1 && experts <= 1e6)) return job;
  ExpertLayer layer{.topk = 1, .experts = static_cast<int>(experts)};
  if (b->sizes.size() > 2) {
    layer.tokens = std::max(1.0, a->elements() / std::max(1.0, a->sizes.back()));
    g.k = a->sizes.back();
    g.n = b->sizes.back();
    g.loads = expert_loads(layer);
    spread_rows(g.loads);
  } else {
    // Over the tokens of each expert: as many results as its weights have.
    const double rows = a->sizes.front();
    layer.tokens = std::max(1.0, a->sizes.back());
    g.loads = expert_loads(layer);
    g.n = b->sizes.back();
    g.k = g.loads.tokens / std::max(1.0, g.loads.active);
    g.loads.tokens = g.loads.active * rows;
    for (std::size_t i = 0; i < g.loads.row_tiles.size(); ++i) {
      g.loads.row_tiles[i] = g.loads.active * std::ceil(rows / ExpertLoads::tile_rows[i]);
    }
  }
  if (!(g.n >= 1 && g.k >= 1)) return job;
  job.type = g.type;
  job.work = g;
  return job;
}

// --- attention
// ------------------------------------------------------------------------------------

/// The first switch after the probability of dropout, in every signature of attention: is_causal,
/// or memory-efficient attention's kind of mask.
bool is_causal(const Shape& s) {
  const auto dropout = std::find_if(s.values.begin(), s.values.end(),
                                    [](std::string_view v) { return v.starts_with("0."); });
  const auto given = std::find_if(dropout, s.values.end(), [](std::string_view v) {
    return among(v, {"True", "False", "0", "1", "2"});
  });
  return given != s.values.end() && among(*given, {"True", "1", "2"});
}

Job job_of_attention(std::string_view name, const Shape& s) {
  const bool backward = has(name, "backward") || has(name, "bwd");
  Job job{.kind = backward ? Kind::attention_backward : Kind::attention};
  const std::size_t first = backward ? 1 : 0;  // after the gradient of the result
  const Tensor* const q = s.at(first);
  const Tensor* const k = s.at(first + 1);
  const Tensor* const v = s.at(first + 2);
  if (q == nullptr || k == nullptr || v == nullptr) return job;
  if (q->sizes.size() != k->sizes.size() || q->sizes.size() < 3 || q->sizes.size() > 4) return job;
  // Tokens before heads in FlashAttention's own operators, heads before tokens in the others.
  const bool tokens_first =
      q->sizes.size() == 3 ||
      has_any(name, {"_flash_attention_", "_efficient_attention_", "flash_attn"});
  const auto sizes = [&](const Tensor& t) {
    struct Sizes {
      double batch, heads, tokens, dim;
    };
    const std::vector<double>& z = t.sizes;
    if (z.size() == 3) return Sizes{1, z[1], z[0], z[2]};
    return tokens_first ? Sizes{z[0], z[2], z[1], z[3]} : Sizes{z[0], z[1], z[2], z[3]};
  };
  if (v->sizes.size() != q->sizes.size()) return job;
  const auto of_q = sizes(*q);
  const auto of_k = sizes(*k);
  AttentionWork w{.backward = backward};
  // A mask has as many columns as there are keys.
  w.masked = std::any_of(s.tensors.begin(), s.tensors.end(), [&](const Tensor& t) {
    return t.argument > first + 2 && t.sizes.size() == 4 && t.sizes.back() == of_k.tokens &&
           t.sizes[2] == of_q.tokens && of_q.tokens > 1 && t.sizes.back() != of_q.dim;
  });
  w.shape = {.batch = of_q.batch,
             .heads = of_q.heads,
             .kv_heads = of_k.heads,
             .head_dim = of_q.dim,
             .value_dim = sizes(*v).dim,
             .queries = of_q.tokens,
             .context = of_k.tokens,
             .causal = is_causal(s) && !w.masked,
             .type = precision_of(q->type).value_or(Precision::bf16)};
  w.shape.cache_type = w.shape.type;
  const AttentionShape& a = w.shape;
  if (!(a.batch >= 1 && a.heads >= 1 && a.kv_heads >= 1 && a.head_dim >= 1 && a.value_dim >= 1 &&
        a.queries >= 1 && a.context >= 1)) {
    return job;
  }
  job.type = w.shape.type;
  job.work = w;
  return job;
}

// --- what streams
// ---------------------------------------------------------------------------------

struct Moved {
  double bytes = 0;
  double elements = 0;  ///< of the largest tensor
  double row = 1;       ///< its last dimension
};

/// Every input read once, and a result as large as what the inputs broadcast to.
Moved moved_by(std::string_view name, const Shape& s, double element) {
  Moved m;
  const bool generated = name.starts_with("triton_");
  const bool in_place = name.ends_with('_') && !name.ends_with("__");
  const bool reduces = among(
      name, {"sum", "mean", "max", "min", "argmax", "argmin", "any", "all", "norm",
             "linalg_vector_norm", "_local_scalar_dense", "nll_loss_forward", "amax", "prod"});
  double read = 0;
  double widest = 0;
  std::vector<double> result;
  for (const Tensor& t : s.tensors) {
    read += bytes_of(t, element);
    if (t.elements() > m.elements) {
      m.elements = t.elements();
      m.row = t.sizes.back();
    }
    if (precision_of(t.type)) widest = std::max(widest, element_bytes_of(t.type).value_or(element));
    if (t.sizes.size() > result.size())
      result.insert(result.begin(), t.sizes.size() - result.size(), 1.0);
    for (std::size_t i = 0; i < t.sizes.size(); ++i) {
      double& size = result[result.size() - 1 - i];
      size = std::max(size, t.sizes[t.sizes.size() - 1 - i]);
    }
  }
  if (widest == 0) widest = element;
  double written = widest;
  for (const double size : result) written *= size;
  const Tensor* const first = s.at(0);
  const Tensor* const second = s.at(1);
  if (among(name, {"fill_", "zero_", "zeros", "ones", "full", "normal_", "uniform_", "random_",
                   "arange"})) {
    m.bytes = first == nullptr ? 0 : bytes_of(*first, element);
  } else if (name == "copy_" && first != nullptr && second != nullptr) {
    m.bytes = bytes_of(*first, element) + bytes_of(*second, element);
  } else if (among(name, {"cat", "stack", "_cat"})) {
    m.bytes = 2 * read;
  } else if (generated || reduces) {
    m.bytes = read;
  } else if (among(name, {"embedding", "index_select", "gather"}) && first != nullptr &&
             second != nullptr) {
    // Rows of a table by number: what is chosen is read and written.
    const double rows =
        name == "gather" ? second->elements() : second->elements() * first->sizes.back();
    m.bytes =
        2 * rows * element_bytes_of(first->type).value_or(element) + bytes_of(*second, element);
    m.elements = rows;
    m.row = first->sizes.back();
  } else if (among(name, {"_index_put_impl_", "index_put_", "index_add_", "scatter_add_"})) {
    // Values are read, and added to as many places.
    const double values = s.tensors.empty() ? 0 : bytes_of(s.tensors.back(), element);
    m.bytes = 3 * values;
  } else if (in_place && first != nullptr) {
    m.bytes = read + bytes_of(*first, element);
  } else {
    m.bytes = read + written;
  }
  return m;
}

StreamOp stream_of(Kind kind, std::string_view name) {
  if (kind == Kind::softmax) return StreamOp::softmax;
  if (kind == Kind::norm) return has(name, "rms") ? StreamOp::rmsnorm : StreamOp::layernorm;
  return kind == Kind::optimizer ? StreamOp::adamw : StreamOp::copy;
}

Kind kind_of_stream(std::string_view name) {
  if (name.starts_with("triton_")) return Kind::streaming;
  if (has(name, "softmax")) return Kind::softmax;
  if (has_any(name, {"layer_norm", "rms_norm", "rmsnorm", "layernorm"})) return Kind::norm;
  if (has_any(name, {"_fused_adam", "_fused_sgd", "_foreach_", "_fused_adagrad"}))
    return Kind::optimizer;
  return Kind::streaming;
}

/// Lists of tensors: nothing of them is recorded, but how many chunks there were is.
Job job_of_lists(std::string_view name, const Launched& l) {
  Job job{.kind = Kind::optimizer};
  const double elements = l.blocks * list_chunk;
  if (elements < 1) return job;
  const double element = element_bytes_of(type_in(l.kernel)).value_or(2);
  StreamWork w{.launches = l.kernels};
  if (has(name, "_fused_")) {
    // Parameter, gradient and two states in, three of them out.
    w.op = StreamOp::adamw;
    w.shape = {elements, 1, Bytes(7 * element * elements)};
  } else {
    double lists = 1;
    if (const std::size_t at = l.kernel.find("TensorListMetadata<"); at != std::string_view::npos) {
      const char digit = at + 19 < l.kernel.size() ? l.kernel[at + 19] : '1';
      lists = digit >= '1' && digit <= '9' ? digit - '0' : 1;
    }
    const double moved = name.ends_with('_') ? lists + 1 : std::max(2.0, lists);
    w.shape = moving(StreamOp::copy, elements, 1, moved * element);
  }
  job.work = w;
  return job;
}

Job job_of_stream(std::string_view name, const Shape& s, const Launched& l) {
  Job job{.kind = kind_of_stream(name)};
  const double element = element_bytes_of(type_in(l.kernel)).value_or(2);
  Moved m = moved_by(name, s, element);
  if (has(l.kernel, "vectorized_gather_kernel") && l.launch.blocks > 0 && name == "index") {
    // A block copies 16 bytes a thread and walks a row by that; rows are the grid's first side.
    const Tensor* const table = s.at(0);
    const double row =
        table == nullptr ? 1 : table->elements() / std::max(1.0, table->sizes.front());
    m.elements = l.launch.grid_x * row;
    m.row = row;
    m.bytes =
        2 * m.elements * element_bytes_of(table == nullptr ? "" : table->type).value_or(element);
  }
  if (!(m.bytes > 0)) return {.kind = Kind::unknown};
  StreamWork w{.op = stream_of(job.kind, name), .launches = l.kernels};
  const double row = std::max(1.0, m.row);
  w.shape = {std::max(1.0, m.elements / row), row, Bytes(m.bytes)};
  // An element of the model's streams is read and written once, in two bytes.
  if (w.op == StreamOp::copy)
    w.shape = moving(StreamOp::copy, w.shape.rows, row, m.bytes / (w.shape.rows * row));
  job.work = w;
  return job;
}

/// A kernel that nothing but its launch is known of.
Job job_of_launch(const Launched& l) {
  const double elements = l.launch.blocks * l.launch.threads * generated_elements;
  if (!l.kernel.starts_with("triton_") || elements < 1) return {};
  return {.kind = Kind::streaming,
          .work = StreamWork{.shape = moving(StreamOp::copy, elements, 1, 4)}};
}

Job job_of_copy(const Launched& l) {
  if (!(l.launch.bytes.value > 0)) return {.kind = Kind::copy};
  if (has_any(l.kernel, {"HtoD", "DtoH", "Host"})) return {.kind = Kind::copy};
  const double bytes = (has(l.kernel, "Memset") ? 1 : 2) * l.launch.bytes.value;
  return {
      .kind = Kind::copy,
      .work = StreamWork{.shape = moving(StreamOp::copy, bytes / 4, 1, 4), .launches = l.kernels}};
}

}  // namespace

bool is_multiply(std::string_view name) {
  const std::string_view own = own_name(name);
  return among(own, {"mm", "addmm", "bmm", "baddbmm", "addbmm", "linear", "matmul", "mv", "addmv",
                     "_scaled_mm", "_addmm_activation", "_int_mm", "_weight_int4pack_mm"}) ||
         own.find("grouped_mm") != std::string_view::npos;
}

bool is_multiply_kernel(std::string_view kernel) {
  return has_any(kernel, {"nvjet", "gemm", "Gemm", "gemv", "cutlass::Kernel2", "Cijk_"}) &&
         !has(kernel, "splitKreduce");
}

bool is_attention(std::string_view name) {
  return has_any(name, {"attention", "flash_attn", "flash_fwd", "flash_bwd", "_sdpa_"}) &&
         !name.starts_with("triton_");
}

Job job_of(std::string_view name, const Shape& shape, const Launched& l) {
  const std::string_view own = own_name(name);
  if (!l.launch.collective.empty() || l.kernel.starts_with("nccl"))
    return {.kind = Kind::communication};
  if (l.kernel.starts_with("Mem")) return job_of_copy(l);
  if (has(own, "grouped_mm")) return job_of_grouped(shape);
  if (is_multiply(name)) return job_of_multiply(own, shape, l);
  if (is_attention(own)) {
    Job job = job_of_attention(own, shape);
    if (!std::holds_alternative<std::monostate>(job.work)) return job;
  }
  if (has(l.kernel, "multi_tensor_apply")) return job_of_lists(own, l);
  if (shape.tensors.empty()) return job_of_launch(l);
  return job_of_stream(own, shape, l);
}

namespace {

KernelCost attention(const Attainable& d, const AttentionWork& w, Hertz clock) {
  KernelCost best;
  best.time = Seconds(1e300);
  for (const Kernels& k : d.libraries) {
    KernelCost c;
    if (w.backward) {
      c = attention_prefill(d.chip, k.backward, w.shape, true, clock);
    } else if (w.shape.queries <= most_decoded) {
      c = attention_decode(d.chip, k, w.shape, clock);
    } else {
      c = attention_prefill(d.chip, k.prefill, w.shape, false, clock);
    }
    if (c.time < best.time) best = c;
  }
  return best;
}

KernelCost grouped(const Attainable& d, const GroupedMultiply& w, Hertz clock) {
  KernelCost c =
      grouped_multiply(d.chip, d.grouped, w.loads, {.n = w.n, .k = w.k, .type = w.type}, clock);
  c.busy[Bound::launch] = Seconds(d.chip.mechanism.start_cycles / clock.value);
  c.time += c.busy[Bound::launch];
  find_bound(c);
  return c;
}

KernelCost streamed(const Attainable& d, const StreamWork& w, Hertz clock) {
  const StreamKernel& kernel = d.libraries.front().stream[w.op];
  KernelCost c = stream(d.chip, kernel, w.shape, clock);
  const Seconds again =
      std::max(0.0, w.launches - 1) *
      Seconds(d.libraries.front().stream[StreamOp::copy].start_cycles / clock.value);
  c.busy[Bound::launch] += again;
  c.time += again;
  return c;
}

}  // namespace

KernelCost cost_of(const Attainable& device, const Job& job, Hertz clock) {
  // Kernel constants are counted in cycles of the matrix units' clock (cost/power.hpp).
  const Hertz matrix = min(clock, device.chip.clock);
  KernelCost c;
  if (const auto* g = std::get_if<Gemm>(&job.work)) c = gemm(device.chip, *g, matrix);
  if (const auto* g = std::get_if<GroupedMultiply>(&job.work)) c = grouped(device, *g, matrix);
  if (const auto* a = std::get_if<AttentionWork>(&job.work)) c = attention(device, *a, matrix);
  if (const auto* s = std::get_if<StreamWork>(&job.work)) c = streamed(device, *s, clock);
  c.clock = clock;
  return c;
}

}  // namespace sextant::profile
