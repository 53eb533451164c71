// SPDX-License-Identifier: Apache-2.0
#include "server/jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/spec/diagnostic.hpp"

namespace sextant::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

// Counts to a hundred, slowly enough to be watched.
std::string slow(const Node& request, Progress& progress) {
  int i = 0;
  for (; i < 100 && !progress.cancelled(); ++i) {
    progress.report(i, 100);
    std::this_thread::sleep_for(5ms);
  }
  return "{\"asked\": " + std::to_string(request.integer) + ", \"counted\": " + std::to_string(i) +
         "}";
}

std::string wait(const Jobs& jobs, const std::string& id) {
  for (int i = 0; i < 2000; ++i) {
    const std::string status = jobs.status(id).value();
    if (status.find("\"running\"") == std::string::npos) return status;
    std::this_thread::sleep_for(5ms);
  }
  return "never ended";
}

TEST(Jobs, RunToTheEndWithTheirResult) {
  Jobs jobs;
  const std::string id = jobs.start(slow, Node::of(7)).value();
  EXPECT_THAT(jobs.status(id).value(), HasSubstr("\"state\": \"running\""));
  const std::string status = wait(jobs, id);
  EXPECT_THAT(status, HasSubstr("\"state\": \"done\""));
  EXPECT_THAT(status, HasSubstr("\"asked\": 7, \"counted\": 100"));
  EXPECT_NO_THROW(parse_json(status, "status"));
}

TEST(Jobs, CancelledOnesKeepTheBestSoFar) {
  Jobs jobs;
  const std::string id = jobs.start(slow, Node::of(1)).value();
  EXPECT_TRUE(jobs.cancel(id));
  const std::string status = wait(jobs, id);
  EXPECT_THAT(status, HasSubstr("\"state\": \"cancelled\""));
  EXPECT_THAT(status, HasSubstr("\"counted\""));
  EXPECT_FALSE(jobs.cancel("no such"));
  EXPECT_FALSE(jobs.status("no such"));
}

TEST(Jobs, AreLimitedInNumberSizeAndMemory) {
  Jobs jobs({.running = 2, .kept = 3, .result_bytes = 10});
  const Job at_once = [](const Node&, Progress&) { return std::string("1"); };
  const Job large = [](const Node&, Progress&) { return std::string(11, '1'); };
  const std::string first = jobs.start(slow, {}).value();
  const std::string second = jobs.start(slow, {}).value();
  EXPECT_FALSE(jobs.start(slow, {}));
  jobs.cancel(first);
  jobs.cancel(second);
  wait(jobs, first);
  wait(jobs, second);
  const std::string third = jobs.start(large, {}).value();
  EXPECT_THAT(wait(jobs, third), HasSubstr("\"state\": \"failed\""));
  const std::string fourth = jobs.start(at_once, {}).value();
  EXPECT_THAT(wait(jobs, fourth), HasSubstr("\"result\": 1"));
  EXPECT_FALSE(jobs.status(first));  // forgotten
}

// A page that is closed says nothing; its connection goes.
TEST(Jobs, ThoseLeftBehindMakeRoom) {
  Jobs jobs({.running = 1, .patience = 20ms});
  const std::string first = jobs.start(slow, {}).value();
  {
    const EventSource watched = jobs.events(first).value();
    EXPECT_FALSE(jobs.start(slow, {}));
  }
  EXPECT_FALSE(jobs.start(slow, {})) << "a page that is loaded anew comes back at once";
  std::this_thread::sleep_for(40ms);
  jobs.status(first);
  EXPECT_FALSE(jobs.start(slow, {})) << "somebody still asks";
  std::this_thread::sleep_for(40ms);
  const std::optional<std::string> second = jobs.start(slow, {});
  ASSERT_TRUE(second);
  EXPECT_THAT(wait(jobs, first), HasSubstr("\"state\": \"cancelled\""));
  EXPECT_FALSE(jobs.start(slow, {})) << "a program may ask later";
  std::this_thread::sleep_for(250ms);
  const std::optional<std::string> third = jobs.start(slow, {});
  ASSERT_TRUE(third) << "but not for ever";
  jobs.cancel(*third);
  wait(jobs, *third);
}

TEST(Jobs, FailuresAreDiagnostics) {
  Jobs jobs;
  const Job wrong = [](const Node&, Progress&) -> std::string {
    throw InputError("--tp: does not divide the heads", "use 8");
  };
  const std::string status = wait(jobs, jobs.start(wrong, {}).value());
  EXPECT_THAT(status, HasSubstr("\"field\": \"tp\""));
  EXPECT_THAT(status, HasSubstr("\"hint\": \"use 8\""));
}

TEST(Jobs, TellWatchersWhatChangesAndThatItIsOver) {
  Jobs jobs;
  const std::string id = jobs.start(slow, Node::of(1)).value();
  const EventSource source = jobs.events(id).value();
  int progress = 0;
  int done = 0;
  for (std::optional<std::string> text = source(); text; text = source()) {
    if (text->starts_with("event: progress\ndata: {")) ++progress;
    if (text->starts_with("event: done\ndata: {")) ++done;
    if (!text->empty()) {
      EXPECT_TRUE(text->ends_with("}\n\n")) << *text;
    }
    std::this_thread::sleep_for(2ms);
  }
  EXPECT_GT(progress, 5);
  EXPECT_EQ(done, 1);
  EXPECT_FALSE(jobs.events("no such"));
}

TEST(Jobs, TellWatchersTheBestSoFarWhileItRuns) {
  Jobs jobs;
  const Job job = [](const Node&, Progress& progress) -> std::string {
    progress.report(1, 2);
    progress.report_best(R"({"gap": 0.5})");
    while (!progress.cancelled()) std::this_thread::sleep_for(1ms);
    return "{}";
  };
  const std::string id = jobs.start(job, {}).value();
  const EventSource source = jobs.events(id).value();
  std::string last;
  while (last.find("\"best\": {\"gap\": 0.5}}") == std::string::npos) {
    last = source().value();
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(last.starts_with("event: progress\ndata: {"));
  jobs.cancel(id);
  EXPECT_THAT(wait(jobs, id), testing::Not(HasSubstr("\"best\"")));
}

}  // namespace
}  // namespace sextant::server
