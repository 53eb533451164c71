// SPDX-License-Identifier: Apache-2.0
// Work that a CUDA graph launched: its operators ran once, when the graph was captured, and no
// launch of the graph names them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include "sextant/profile/attain.hpp"
#include "sextant/profile/attribute.hpp"

namespace sextant::profile {
namespace {

/// Work that is an operator's own beside its main kernel: joining the parts of a split multiply.
bool joins_previous(std::string_view kernel) {
  return kernel.find("splitKreduce") != std::string_view::npos ||
         kernel.find("split_k_reduce") != std::string_view::npos;
}

bool is_attention_kernel(std::string_view kernel) {
  return !kernel.starts_with("triton_") && (kernel.find("sdpa") != std::string_view::npos ||
                                            kernel.find("flash_fwd") != std::string_view::npos ||
                                            kernel.find("fmha") != std::string_view::npos);
}

struct Seen {
  std::uint32_t name = 0;
  std::uint32_t shape = 0;
};

/// Multiplies and attentions outside graphs, in the order of their calls.
struct Outside {
  std::vector<Seen> multiplies;
  std::vector<Seen> attentions;
  std::unordered_map<std::uint64_t, Seen> kernels;  ///< by name and launch
};

class GraphFinder {
 public:
  GraphFinder(Recording& r, std::vector<Owner>& owners) : r_(r), owners_(owners) {}

  void run() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> launches;  // by call
    for (std::uint32_t i = 0; i < owners_.size(); ++i) {
      if (in_graph(i)) launches[owners_[i].call].push_back(i);
    }
    if (launches.empty()) return;
    look_outside();
    captured();
    for (auto& [call, nodes] : launches) {
      std::stable_sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
        return r_.activities[a].start < r_.activities[b].start;
      });
      if (!by_capture(nodes)) one_by_one(nodes);
    }
  }

 private:
  bool in_graph(std::uint32_t i) const {
    return owners_[i].call != nobody && launches_graph(r_.texts[r_.calls[owners_[i].call].name]);
  }
  static std::uint64_t key(const Activity& a) { return std::uint64_t{a.name} << 32 | a.launch; }

  void look_outside() {
    std::uint32_t last = nobody;
    for (std::uint32_t i = 0; i < owners_.size(); ++i) {
      const Owner& o = owners_[i];
      if (o.found != Found::recorded || in_graph(i)) continue;
      outside_.kernels.emplace(key(r_.activities[i]), Seen{o.name, o.shape});
      if (o.instance == last) continue;
      last = o.instance;
      const std::string_view name = r_.texts[o.name];
      if (is_multiply(name)) outside_.multiplies.push_back({o.name, o.shape});
      if (is_attention(name)) outside_.attentions.push_back({o.name, o.shape});
    }
  }

  /// Launches between the beginning and the end of a capture have no work of their own.
  void captured() {
    std::vector<const Call*> calls;
    for (const Call& c : r_.calls) calls.push_back(&c);
    std::sort(calls.begin(), calls.end(), [](const Call* a, const Call* b) {
      return a->thread != b->thread ? a->thread < b->thread : a->start < b->start;
    });
    HostTree tree(r_);
    bool capturing = false;
    std::vector<Seen> launches;
    for (const Call* c : calls) {
      const std::string_view name = r_.texts[c->name];
      if (name.find("BeginCapture") != std::string_view::npos) {
        capturing = true;
        launches.clear();
      } else if (name.find("EndCapture") != std::string_view::npos) {
        capturing = false;
        captures_.emplace(launches.size(), launches);
      } else if (capturing && name.find("LaunchKernel") != std::string_view::npos) {
        const std::uint32_t at = tree.with_sizes(tree.around(*c));
        launches.push_back(at == nobody ? Seen{}
                                        : Seen{r_.operators[at].name, r_.operators[at].shape});
      }
    }
  }

  /// A capture with as many launches as the graph has kernels, in their order.
  bool by_capture(const std::vector<std::uint32_t>& nodes) {
    std::vector<std::uint32_t> kernels;
    for (const std::uint32_t i : nodes) {
      if (r_.activities[i].work == Work::kernel) kernels.push_back(i);
    }
    const auto found = captures_.find(kernels.size());
    if (kernels.empty() || found == captures_.end()) return false;
    const std::vector<Seen>& capture = found->second;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      if (capture[k].shape != 0) {
        give(kernels[k], capture[k]);
      } else {
        by_launch(kernels[k]);
      }
      if (k > 0 && joins_previous(r_.texts[r_.activities[kernels[k]].name])) {
        owners_[kernels[k]].instance = owners_[kernels[k - 1]].instance;
      }
    }
    return true;
  }

  void one_by_one(const std::vector<std::uint32_t>& nodes) {
    std::size_t multiplies = 0;
    std::size_t attentions = 0;
    for (const std::uint32_t i : nodes) {
      const std::string_view kernel = r_.texts[r_.activities[i].name];
      multiplies += is_multiply_kernel(kernel) ? 1 : 0;
      attentions += is_attention_kernel(kernel) ? 1 : 0;
    }
    // The same model ran outside the graph where it has as many multiplies, or several times as
    // many.
    const bool same = multiplies > 0 && outside_.multiplies.size() % multiplies == 0 &&
                      !outside_.multiplies.empty();
    const bool same_attention = attentions > 0 && outside_.attentions.size() % attentions == 0 &&
                                !outside_.attentions.empty();
    const double rows = same ? rows_of_last(multiplies) : 0;
    std::size_t multiply = 0;
    std::size_t attention = 0;
    std::uint32_t previous = nobody;
    for (const std::uint32_t i : nodes) {
      const Activity& a = r_.activities[i];
      const std::string_view kernel = r_.texts[a.name];
      if (joins_previous(kernel) && previous != nobody) {
        const Owner& p = owners_[previous];
        owners_[i] = {p.name, p.shape, p.instance, owners_[i].call, p.found};
      } else if (is_multiply_kernel(kernel)) {
        if (same) {
          give(i, with_rows(outside_.multiplies[multiply], rows));
        } else {
          by_likeness(i);
        }
        ++multiply;
        previous = i;
      } else if (is_attention_kernel(kernel) && same_attention) {
        give(i, with_one_query(outside_.attentions[attention++]));
      } else {
        by_likeness(i);
      }
    }
  }

  void give(std::uint32_t i, const Seen& seen) {
    owners_[i].name = seen.name;
    owners_[i].shape = seen.shape;
    owners_[i].found = Found::graph;
  }

  void by_likeness(std::uint32_t i) {
    const auto at = outside_.kernels.find(key(r_.activities[i]));
    if (at != outside_.kernels.end()) return give(i, at->second);
    by_launch(i);
  }

  void by_launch(std::uint32_t i) {
    const std::string_view kernel = r_.texts[r_.activities[i].name];
    if (r_.activities[i].work != Work::kernel || kernel.starts_with("triton_"))
      owners_[i].found = Found::launch;
  }

  /// A graph of single tokens has a row a sequence, and so has the last multiply before it: the
  /// model's head looks at the last token of each alone.
  double rows_of_last(std::size_t multiplies) {
    double rows = 1e300;
    for (std::size_t i = 0; i < multiplies; ++i) {
      const Shape s = shape_of(r_.texts[outside_.multiplies[i].shape]);
      if (s.tensors.size() < 2) continue;
      const Tensor& a = s.tensors[s.tensors.size() > 2 && s.tensors[0].sizes.size() == 1 ? 1 : 0];
      rows = std::min(rows, a.elements() / std::max(1.0, a.sizes.back()));
    }
    return rows;
  }

  Seen with_rows(const Seen& seen, double rows) {
    const std::uint64_t known = std::uint64_t{seen.shape} << 32 | static_cast<std::uint32_t>(rows);
    if (const auto at = changed_.find(known); at != changed_.end()) return at->second;
    const Shape s = shape_of(r_.texts[seen.shape]);
    const std::size_t first = s.tensors.size() > 2 && s.tensors[0].sizes.size() == 1 ? 1 : 0;
    std::vector<Tensor> tensors = s.tensors;
    Tensor& own = tensors[first];
    if (own.elements() == rows * own.sizes.back()) return seen;
    own.sizes = {rows, own.sizes.back()};
    return changed_.emplace(known, with_tensors(seen, tensors)).first->second;
  }

  Seen with_one_query(const Seen& seen) {
    const std::uint64_t known = std::uint64_t{seen.shape} << 32 | 0xFFFFFFFF;
    if (const auto at = changed_.find(known); at != changed_.end()) return at->second;
    const Shape s = shape_of(r_.texts[seen.shape]);
    if (s.tensors.size() < 3 || s.tensors[0].sizes.size() != 4) return seen;
    const std::string_view name = r_.texts[seen.name];
    const std::size_t tokens = name.find("_flash_attention_") != std::string_view::npos ||
                                       name.find("_efficient_attention_") != std::string_view::npos
                                   ? 1
                                   : 2;
    std::vector<Tensor> tensors(s.tensors.begin(), s.tensors.begin() + 3);
    tensors[0].sizes[tokens] = 1;
    return changed_.emplace(known, with_tensors(seen, tensors)).first->second;
  }

  Seen with_tensors(const Seen& seen, const std::vector<Tensor>& tensors) {
    std::string sizes;
    std::string types;
    for (const Tensor& t : tensors) {
      std::string one;
      for (const double size : t.sizes)
        one += fmt::format("{}{:.0f}", one.empty() ? "" : ",", size);
      sizes += fmt::format("{}[{}]", sizes.empty() ? "" : ",", one);
      types += fmt::format("{}\"{}\"", types.empty() ? "" : ",", t.type);
    }
    return {seen.name, r_.texts.number_of(fmt::format("[{}]|[{}]", sizes, types))};
  }

  Recording& r_;
  std::vector<Owner>& owners_;
  Outside outside_;
  std::unordered_map<std::size_t, std::vector<Seen>> captures_;  ///< by the number of launches
  std::unordered_map<std::uint64_t, Seen> changed_;
};

}  // namespace

void find_in_graphs(Recording& recording, std::vector<Owner>& owners) {
  GraphFinder(recording, owners).run();
}

}  // namespace sextant::profile
