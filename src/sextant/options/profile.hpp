// SPDX-License-Identifier: Apache-2.0
// Options of `profile`.
#pragma once

#include "sextant/options/option.hpp"

namespace sextant {

struct ProfileOptions {
  PresetRef trace;  ///< a file; in a request the trace itself
  PresetRef device;
  int gpu = -1;
  bool pieces = false;
};

template <class V>
void describe(V& v, ProfileOptions& o) {
  v("trace", o.trace,
    {.help = "a trace of torch.profiler, .json or .json.gz; in a request the trace itself",
     .required = true,
     .positional = true,
     .placeholder = "TRACE"});
  v("device", o.device,
    {.help = "device preset or file that it ran on, or that it might run on",
     .required = true,
     .preset = PresetKind::device});
  v("gpu", o.gpu, {.help = "which device of the trace; -1: the busiest", .min = -1, .max = 65535});
  v("pieces", o.pieces, {.help = "in JSON: what ran when, at most some thousand pieces"});
}

}  // namespace sextant
