// SPDX-License-Identifier: Apache-2.0
#include "sextant/profile/attribute.hpp"

#include <algorithm>

namespace sextant::profile {
namespace {

void arrange(Recording& r) {
  std::sort(r.operators.begin(), r.operators.end(),
            [](const OperatorCall& a, const OperatorCall& b) {
              if (a.thread != b.thread) return a.thread < b.thread;
              return a.start != b.start ? a.start < b.start : a.end > b.end;
            });
  std::sort(r.calls.begin(), r.calls.end(), [](const Call& a, const Call& b) {
    return a.correlation != b.correlation ? a.correlation < b.correlation : a.start < b.start;
  });
  std::sort(r.activities.begin(), r.activities.end(), [](const Activity& a, const Activity& b) {
    return a.start != b.start ? a.start < b.start : a.correlation < b.correlation;
  });
}

class Attributor {
 public:
  explicit Attributor(Recording& r) : r_(r), tree_(r) {
    for (std::uint32_t i = 0; i < r.operators.size(); ++i) {
      if (r.operators[i].external != 0) by_external_.push_back(i);
    }
    std::sort(by_external_.begin(), by_external_.end(), [&](std::uint32_t a, std::uint32_t b) {
      const OperatorCall& x = r.operators[a];
      const OperatorCall& y = r.operators[b];
      return x.external != y.external ? x.external < y.external : x.start < y.start;
    });
  }

  Owner owner_of(const Activity& a, std::uint32_t number) {
    Owner o;
    o.instance = static_cast<std::uint32_t>(r_.operators.size()) + number;
    o.call = call_of(a);
    const std::string_view kernel = r_.texts[a.name];
    if (o.call != nobody && launches_graph(r_.texts[r_.calls[o.call].name])) {
      o.name = a.name;
      return o;
    }
    const std::uint32_t inner = operator_of(a, o.call);
    o.name = inner == nobody ? a.name : r_.operators[inner].name;
    if (inner != nobody) o.instance = inner;
    // Of lists of tensors nothing is recorded; their kernels' grids tell.
    if (has(kernel, "multi_tensor_apply") && inner != nobody) {
      o.found = Found::launch;
      return o;
    }
    if (const std::uint32_t at = tree_.with_sizes(inner); at != nobody) {
      o.name = r_.operators[at].name;
      o.shape = r_.operators[at].shape;
      o.instance = at;
      o.found = Found::recorded;
      return o;
    }
    if (a.work != Work::kernel || has(r_.texts[a.launch], "|\"")) o.found = Found::launch;
    if (kernel.starts_with("triton_")) {
      o.name = a.name;
      o.found = Found::launch;
    }
    return o;
  }

 private:
  // Traces put together use a number more than once: the last call before the work is its own.
  std::uint32_t call_of(const Activity& a) const {
    if (a.correlation == 0) return nobody;
    const auto later =
        std::upper_bound(r_.calls.begin(), r_.calls.end(), a, [](const Activity& x, const Call& c) {
          return x.correlation != c.correlation ? x.correlation < c.correlation : x.start < c.start;
        });
    const auto at = static_cast<std::uint32_t>(later - r_.calls.begin());
    if (at > 0 && r_.calls[at - 1].correlation == a.correlation) return at - 1;
    return later != r_.calls.end() && later->correlation == a.correlation ? at : nobody;
  }

  std::uint32_t operator_of(const Activity& a, std::uint32_t call) const {
    if (call != nobody) {
      const std::uint32_t around = tree_.around(r_.calls[call]);
      if (around != nobody) return around;
    }
    if (a.external == 0) return nobody;
    const auto later = std::upper_bound(
        by_external_.begin(), by_external_.end(), a, [&](const Activity& x, std::uint32_t i) {
          const OperatorCall& o = r_.operators[i];
          return x.external != o.external ? x.external < o.external : x.start < o.start;
        });
    const auto is_own = [&](std::uint32_t i) { return r_.operators[i].external == a.external; };
    if (later != by_external_.begin() && is_own(*(later - 1))) return *(later - 1);
    return later != by_external_.end() && is_own(*later) ? *later : nobody;
  }

  Recording& r_;
  HostTree tree_;
  std::vector<std::uint32_t> by_external_;
};

}  // namespace

bool launches_graph(std::string_view call) { return has(call, "GraphLaunch"); }

bool synchronises(std::string_view call) {
  return has(call, "Synchronize") || call == "cudaMemcpy" || call == "hipMemcpy" ||
         call == "hipMemcpyWithStream";
}

std::vector<Owner> attribute(Recording& r) {
  arrange(r);
  std::vector<Owner> owners;
  owners.reserve(r.activities.size());
  Attributor attributor(r);
  for (std::uint32_t i = 0; i < r.activities.size(); ++i)
    owners.push_back(attributor.owner_of(r.activities[i], i));
  find_in_graphs(r, owners);
  return owners;
}

}  // namespace sextant::profile
