// SPDX-License-Identifier: Apache-2.0
#include "sextant/scenario/choices.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "sextant/predict/rules.hpp"

namespace sextant {
namespace {

/// No slider has more steps.
constexpr int most_values = 4096;
/// Of a microbatch, where the batch follows it.
constexpr int most_in_microbatch = 64;
/// Of a replica's share of the batch, and of replicas where the batch follows them.
constexpr int most_times = 2048;
/// Of a prompt or a sequence.
constexpr int most_images = 64;

/// Steps that a hand on a slider can tell apart: 1, 2, 3, 4, 6, 8, 12, 16, 24, …
std::vector<int> round_numbers(int most) {
  std::vector<int> list;
  for (int n = 1; n <= most; n *= 2) {
    list.push_back(n);
    if (n > 1 && n + n / 2 <= most) list.push_back(n + n / 2);
  }
  return list;
}

class Chooser {
 public:
  explicit Chooser(const Scenario& x) : x_(x), p_(x.problem), in_(x.inputs) {}

  Node run() {
    Node all = Node::table();
    const bool serves = x_.task == Task::infer;
    for (const Slot& axis : reflect(in_.strategy).fields) {
      int* const* value = std::get_if<int*>(&axis.target);
      if (value == nullptr || (serves && !axis.field.axis.serves)) continue;
      all.set(std::string(axis.name), values(axis, **value));
    }
    if (!serves) all.set("gpus", devices());
    all.set("batch", serves ? requests() : sequences());
    if (p_.model.vision.layers > 0) all.set("images", images());
    if (!serves && (p_.model.prediction_layers > 0 || p_.ahead > 0)) {
      all.set("predict_ahead", tried(in_.training.predict_ahead, {0, 1, 2, 3, 4}, 0));
    }
    return all;
  }

 private:
  Node values(const Slot& axis, int& value) {
    const int before = value;
    const int least = static_cast<int>(axis.field.min);
    const bool used = has_use(in_.strategy, axis.name);
    const int most =
        used ? static_cast<int>(std::min<double>(axis.field.max, most_of(axis.name))) : least;
    if (axis.name == "dp" && in_.gpus == 0) {  // as many devices as it takes: any number divides
      const std::vector<int> counts = round_numbers(most);
      return tried(value, {counts.begin(), counts.end()});
    }
    Node list = Node::array();
    const int whole = whole_of(axis.name);
    for (value = least; value <= most; ++value) {
      const bool divides = whole <= 0 || value <= 0 || whole % value == 0;
      if (divides && possible()) list.push(Node::of(value));
    }
    value = before;
    return list;
  }

  /// Degrees multiply to the devices there are, groups divide replicas, microbatches the batch: no
  /// other value is worth a look.
  int whole_of(std::string_view axis) const {
    if (axis == "microbatch") return in_.training.batch;
    const bool degree =
        axis == "tp" || axis == "pp" || axis == "cp" || axis == "dp" || axis == "shard";
    return degree ? in_.gpus : 0;
  }

  /// Whole replicas; as many of them as the batch can be shared among.
  Node devices() {
    Strategy s;
    derive(x_.task, in_, p_, s);
    const double replica = static_cast<double>(s.tp) * s.pp * s.cp;
    const double room = p_.max_devices / replica;
    std::vector<int> replicas;
    if (in_.training.batch == 0) {
      replicas = round_numbers(static_cast<int>(std::min<double>(room, most_times)));
    } else {
      const double most = std::min<double>({room, 1.0 * in_.training.batch, most_values});
      for (int d = 1; d <= most; ++d) {
        if (in_.training.batch % d == 0) replicas.push_back(d);
      }
    }
    std::vector<double> counts;
    for (const int d : replicas) counts.push_back(replica * d);
    return tried(in_.gpus, std::move(counts));
  }

  /// The share of all replicas, so many times, and where that must fill a pipeline, its stages as
  /// often.
  Node sequences() {
    Strategy s;
    derive(x_.task, in_, p_, s);
    const double share = static_cast<double>(s.dp) * s.microbatch;
    std::vector<double> counts;
    for (const int k : round_numbers(most_times)) {
      counts.push_back(share * k);
      if (k * s.pp <= most_times) counts.push_back(share * s.pp * k);
    }
    return tried(in_.training.batch, std::move(counts));
  }

  Node requests() {
    std::vector<double> counts;
    for (const int k : round_numbers(most_times))
      counts.push_back(1.0 * std::max(1, in_.strategy.dp) * k);
    return tried(in_.serving.batch, std::move(counts));
  }

  /// None, or as many as there is room for.
  Node images() {
    std::vector<double> counts{0};
    for (const int k : round_numbers(most_images)) counts.push_back(k);
    const bool serves = x_.task == Task::infer;
    return tried(serves ? in_.serving.images : in_.training.images, std::move(counts), 0);
  }

  /// Those of the counts that may run, and the one that does.
  Node tried(int& value, std::vector<double> counts, int least = 1) {
    const int before = value;
    if (before > 0) counts.push_back(before);
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    Node list = Node::array();
    list.items.reserve(counts.size());
    for (const double n : counts) {
      if (n < least || n > std::numeric_limits<int>::max()) continue;
      value = static_cast<int>(n);
      if (possible()) list.push(Node::of(value));
    }
    value = before;
    return list;
  }

  /// Beyond this no value of an axis is legal: trying all of them is most of what an answer costs.
  int most_of(std::string_view axis) const {
    const Model& m = p_.model;
    if (axis == "zero") return most_values;  // a stage, no number of devices
    if (axis == "recompute_layers") return std::min(m.layers, most_values);
    // A chunk of a pipeline holds a layer, the embedding or the head.
    if (axis == "pp" || axis == "interleave") return std::min(m.layers + 2, most_values);
    if ((axis == "ep" || axis == "etp") && m.experts.count == 0) return 1;
    if (axis == "microbatch") {
      const int batch = in_.training.batch;
      return batch == 0 ? most_in_microbatch : std::min(batch, most_values);
    }
    return std::min(in_.gpus > 0 ? in_.gpus : p_.max_devices, most_values);
  }

  bool possible() {
    Strategy s;
    if (derive(x_.task, in_, p_, s)) return false;
    if (s.tp == 1) s.sp = false;
    const Verdict verdict = x_.task == Task::train ? legal(p_, s) : legal_serving(p_, s);
    return verdict == Verdict::fits;
  }

  const Scenario& x_;
  Problem p_;  ///< with the work of the strategy at hand
  Inputs in_;
};

}  // namespace

Node choices_of(const Scenario& scenario) { return Chooser(scenario).run(); }

}  // namespace sextant
