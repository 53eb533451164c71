// SPDX-License-Identifier: Apache-2.0
// Any bytes as the plan of a sweep: a plan whose points can be answered, or an InputError.
#include <cstdint>
#include <string>

#include "sextant/spec/diagnostic.hpp"
#include "sextant/sweep/evaluator.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sextant;
  try {
    const sweep::Plan plan = sweep::read_plan(
        std::string(reinterpret_cast<const char*>(data), size), "plan.toml", Lookup::presets);
    sweep::Evaluator evaluator(plan, {});
    sweep::Chunk chunk;
    for (const std::uint64_t point : {std::uint64_t{0}, plan.count / 2, plan.count - 1}) {
      evaluator.answer(point, chunk);
    }
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}
