// SPDX-License-Identifier: Apache-2.0
// What is asked of the model: a training step, or requests to serve.
#pragma once

#include "sextant/spec/describe.hpp"

namespace sextant {

struct Training {
  int batch = 1;   ///< sequences a step, over all replicas
  int seq = 2048;  ///< tokens a sequence
};
template <class V>
void describe(V& v, Training& t) {
  v("batch", t.batch, {.help = "sequences a step, over all replicas", .min = 1, .max = 1e8});
  v("seq", t.seq, {.help = "tokens a sequence", .min = 1, .max = 1e8});
}

struct Serving {
  int batch = 1;     ///< requests at a time
  int input = 512;   ///< tokens of the prompt
  int output = 128;  ///< tokens generated
};
template <class V>
void describe(V& v, Serving& s) {
  v("batch", s.batch, {.help = "requests at a time", .min = 1, .max = 1e8});
  v("input", s.input, {.help = "tokens of the prompt", .min = 1, .max = 1e8});
  v("output", s.output, {.help = "tokens generated", .min = 1, .max = 1e8});
}

}  // namespace sextant
