// SPDX-License-Identifier: Apache-2.0
// A search of every point of a fixed space on one thread, for bench/instructions.sh to count
// instructions of: GPT-3 175B on 64 A100, batch 64. Prints how many strategies it evaluated.
#include <cstdio>

#include "sextant/io/presets.hpp"
#include "sextant/search/search.hpp"

int main() {
  using namespace sextant;
  const Runtime runtime = load_runtime("megatron-core");
  const Problem p =
      prepare(load_system("dgx-a100"), runtime, load_libraries(load_system("dgx-a100"), runtime),
              load_model("gpt3-175b"), Training{.batch = 64, .seq = 2048});
  SearchSpace space{.devices = {64}};
  space.cp.most = 1;
  const SearchPlan plan = lay_out(p, space);
  SearchProgress progress;
  const SearchResult r = search(p, space, plan, {.exhaustive = true}, progress);
  std::printf("%llu\n", static_cast<unsigned long long>(r.evaluated));
}
