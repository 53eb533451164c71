// SPDX-License-Identifier: Apache-2.0
// Random problems and spaces, small enough to be searched point by point.
#pragma once

#include <random>
#include <vector>

#include "sextant/io/presets.hpp"
#include "sextant/search/search.hpp"

namespace sextant {

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  template <class T>
  T one_of(const std::vector<T>& all) {
    return all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random_)];
  }
  bool once_in(int n) { return std::uniform_int_distribution<int>(1, n)(random_) == 1; }

  Problem problem() {
    using Text = const char*;
    const Model model =
        load_model(one_of<Text>({"gpt3-6.7b", "llama3.1-8b", "mixtral-8x7b", "deepseek-v2-lite",
                                 "gemma2-9b", "nemotron-3-nano", "qwen3-30b-a3b", "gpt3-1.3b"}));
    const System system = load_system(one_of<Text>(
        {"dgx-a100", "dgx-h100", "h800-node", "mi300x-node", "dgx-b200", "a100-pcie-node"}));
    const Runtime runtime = load_runtime(one_of<Text>(
        {"megatron-core", "megatron-core", "nanotron", "megatron-lm", "pytorch", "deepspeed"}));
    Training work{.batch = one_of<int>({8, 12, 16, 32}), .seq = one_of<int>({1024, 4096})};
    work.optimizer = once_in(3) ? one_of<Optimizer>(all_of<Optimizer>()) : Optimizer::adamw;
    if (once_in(5)) work.tuning.rank = 16;
    Problem p = prepare(system, runtime, load_libraries(system, runtime), model, work);
    Overlap& o = p.runtime.overlap;
    for (bool* hidden : {&o.tensor, &o.weights, &o.gradients, &o.parameters, &o.pipeline}) {
      if (once_in(5)) *hidden = !*hidden;
    }
    if (once_in(3)) o.experts = !o.experts;
    return p;
  }

  SearchSpace space(const Problem& p) {
    SearchSpace s{.devices = {one_of<int>({4, 8, 16})}};
    if (once_in(4)) s.devices.push_back(2 * s.devices.front());
    s.cp.most = one_of<int>({1, 1, 2});
    s.microbatch.most = one_of<int>({1, 2, 4});
    s.recompute_layers.most = one_of<int>({2, 3, 9});
    if (p.model.experts.count > 0) {
      s.ep.only = {1, 4, 8};
      s.etp.most = one_of<int>({1, 2});
    }
    if (once_in(3)) s.tp.least = 2;
    if (once_in(3)) s.interleave.most = 2;
    if (once_in(4)) s.shard.only = {0, 2, 4};
    if (once_in(4)) s.offload = {false, true};
    if (once_in(5)) s.modules.push_back({.norms = true, .activation = true});
    if (once_in(5)) s.precision = {Precision::bf16, Precision::fp8};
    if (once_in(3)) s.schedule = {one_of<Schedule>(all_of<Schedule>())};
    if (once_in(4)) s.recompute = {Recompute::full};
    return s;
  }

  SearchAim aim() {
    SearchAim a;
    a.objective = one_of<TrainingObjective>(all_of<TrainingObjective>());
    a.top = one_of<int>({1, 10, 25});
    a.threads = one_of<int>({1, 1, 2});
    a.sample = 0;
    if (once_in(4)) a.max_memory = Bytes(one_of<double>({20e9, 40e9, 60e9}));
    return a;
  }

 private:
  std::mt19937 random_;
};

}  // namespace sextant
