// SPDX-License-Identifier: Apache-2.0
// One training step by the library: how long it takes and whether it fits.
#include <cstdio>

#include "sextant/io/presets.hpp"
#include "sextant/predict/train.hpp"

int main() {
  using namespace sextant;
  const System system = load_system("dgx-a100");
  const Runtime runtime = load_runtime("megatron-lm");
  const Problem problem = prepare(system, runtime, load_libraries(system, runtime),
                                  load_model("gpt3-175b"), Training{.batch = 64, .seq = 2048});
  const Estimate e = evaluate(problem, {.tp = 8, .pp = 8, .recompute = Recompute::full});
  std::printf("%.1f s a step, %.1f GB a device\n", e.step.value, e.memory.total().value / 1e9);
  return e.step.value > 0 ? 0 : 1;
}
