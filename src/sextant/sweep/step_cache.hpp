// SPDX-License-Identifier: Apache-2.0
// Training steps of one problem after another, with the expensive parts kept: points of a sweep
// come back to the same layers and the same lay-out of stages again and again.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/predict/block.hpp"
#include "sextant/predict/mapping.hpp"
#include "sextant/predict/train.hpp"

namespace sextant::sweep {

class StepCache {
 public:
  /// To be called when anything of the problem has changed but its workload.
  void forget() { ++generation_; }

  /// As evaluate() says, to the bit.
  Estimate evaluate(const Problem& problem, const Strategy& strategy);

 private:
  template <class T>
  struct Entry {
    std::uint64_t generation = 0;
    Strategy strategy;
    Training work;
    T value;
  };

  std::uint64_t generation_ = 1;
  std::vector<Entry<Block>> blocks_;
  std::vector<Entry<Mapping>> mappings_;
};

}  // namespace sextant::sweep
