// SPDX-License-Identifier: Apache-2.0
// What `sextant model` says: a model's graph, layer by layer, for one token before any strategy or
// device.
#pragma once

#include "sextant/answer/answer.hpp"
#include "sextant/graph/graph.hpp"
#include "sextant/spec/device.hpp"

namespace sextant {

struct ModelQuestion {
  double seq = 4096;                  ///< tokens that the last one looks back at
  Precision cache = Precision::bf16;  ///< of keys and values
};

Answer answer_of(const Model& model, const ModelQuestion& question);

}  // namespace sextant
