// SPDX-License-Identifier: Apache-2.0
#include "sextant/study/limits.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "sextant/predict/test_problem.hpp"

namespace sextant::study {
namespace {

// Of 64 prompts of 2000 tokens a pass takes four: all sixteen passes count.
TEST(Limits, OfServingAreOfAllPassesOverPrompts) {
  for (const int batch : {1, 64}) {
    const Serving work{.batch = batch, .input = 2000, .output = 20};
    const Problem p = test::problem_of("dgx-h100", "vllm", "llama3.1-8b", work);
    const ServingEstimate e = serve(p, {});
    const double steps = work.output - 1.0;
    const auto all = [&](Seconds prompts, Seconds decode) {
      return e.prompt_passes * prompts.value + steps * decode.value;
    };
    const Limits l = limits_of_serving(p, {}, 8);
    EXPECT_NEAR(std::accumulate(l.values.begin(), l.values.end(), 0.0), 1, 1e-9);
    EXPECT_NEAR(l[Limit::host],
                all(e.prefill.parts[Work::host], e.decode.parts[Work::host]) /
                    all(e.prefill.time, e.decode.time),
                1e-9)
        << batch;
  }
}

}  // namespace
}  // namespace sextant::study
