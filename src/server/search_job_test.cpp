// SPDX-License-Identifier: Apache-2.0
#include "server/search_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "sextant/io/node.hpp"
#include "sextant/io/test_support.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Document request(std::string text) { return parse_json(std::move(text), "request"); }

constexpr const char* small =
    R"({"model": "gpt3-6.7b", "system": "dgx-a100", "gpus": 8, "batch": 16, "fix": ["cp=1"]})";

TEST(SearchJob, GivesWhatTheCommandGives) {
  const Document asked = request(small);
  const JobRoute route = search_job();
  route.check(asked);
  Progress progress;
  const std::string answer = route.run(asked.root, progress);
  EXPECT_THAT(answer, HasSubstr("\"best\": ["));
  EXPECT_THAT(answer, HasSubstr("\"stopped\": false"));
  EXPECT_GT(progress.total(), 1000);
  EXPECT_EQ(progress.done(), progress.total());
}

TEST(SearchJob, SaysTheBestSoFarAndItsGap) {
  const Document asked = request(small);
  Progress progress;
  const Node answer = parse_json(search_job().run(asked.root, progress), "answer").root;
  EXPECT_GT(progress.better(), 0);
  const Node best = parse_json(progress.best(), "best").root;
  // At the end it is the best there is.
  const Node& found = *answer.find("best")->items.front().find("prediction");
  EXPECT_EQ(best.find("step_seconds")->number, found.find("step_seconds")->number);
  EXPECT_EQ(best.find("gpus")->number, 8);
  EXPECT_FALSE(best.find("summary")->string.empty());
  EXPECT_GE(best.find("gap")->number, 0);
  EXPECT_LT(best.find("gap")->number, 1);
}

TEST(SearchJob, EndsWhenCancelledWithTheBestSoFar) {
  // Half a billion points: minutes, were it not stopped.
  const Document asked = request(
      R"({"model": "gpt3-175b", "system": "dgx-a100", "gpus": 64, "max_gpus": 4096, "batch": 30240,
          "explore": ["modules", "offload", "shard"]})");
  Progress progress;
  const std::jthread canceller([&] {
    std::this_thread::sleep_for(100ms);
    progress.cancel();
  });
  EXPECT_THAT(search_job().run(asked.root, progress), HasSubstr("\"stopped\": true"));
  EXPECT_LT(progress.done(), progress.total());
}

TEST(SearchJob, RefusesBeforeItStarts) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"model": "gpt3-175b", "system": "dgx-a100", "gpus": 8})", "batch"},
      {R"({"model": "/etc/passwd", "system": "dgx-a100", "gpus": 8, "batch": 8})", "/etc/passwd"},
      {R"({"model": "gpt3-175b", "system": "dgx-a100", "gpus": 8, "batch": 8, "fix": ["tq=1"]})",
       "did you mean 'tp'"},
      {R"({"model": "gpt3-175b", "system": "dgx-a100", "gpus": 8, "batch": 8, "threads": 99})",
       "not for requests over a network"},
  };
  for (const auto& [text, said] : cases) {
    EXPECT_THAT(test::error_of([&body = text] { search_job().check(request(body)); }),
                HasSubstr(said));
  }
}

TEST(SearchJob, RefusesASpaceWithoutStrategiesAsAJob) {
  const Document asked = request(
      R"({"model": "gpt3-175b", "system": "dgx-a100", "gpus": 7, "batch": 8, "fix": ["tp=2"]})");
  search_job().check(asked);
  Progress progress;
  EXPECT_THROW(search_job().run(asked.root, progress), InputError);
}

}  // namespace
}  // namespace sextant::server
