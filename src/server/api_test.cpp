// SPDX-License-Identifier: Apache-2.0
#include "server/api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include "server/exchange.hpp"
#include "server/page.hpp"
#include "sextant/io/bytes.hpp"
#include "sextant/spec/patience.hpp"

namespace sextant::server {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;

Request post(const std::string& path, const std::string& body) {
  return {.method = "POST",
          .path = "/api/v1/" + path,
          .body = body,
          .content_type = "application/json",
          .host = "localhost:8080"};
}
using Query = decltype(Request::query);
Request upload(const std::string& path, const Query& query, const std::string& body,
               const std::string& type = "application/gzip") {
  return {.method = "POST",
          .path = "/api/v1/" + path,
          .query = query,
          .body = body,
          .content_type = type,
          .host = "localhost"};
}
Request get(const std::string& path) {
  return {.method = "GET", .path = "/api/v1/" + path, .host = "127.0.0.1:8080"};
}

Node body_of(const Response& r) { return parse_json(r.body, "answer").root; }

const char* const small = R"({"model": "llama3.1-8b", "system": "dgx-h100", "gpus": 8, "tp": 2)";

TEST(Api, AnswersAsTheCommandLineDoes) {
  Api api({});
  const Response r = api.handle(post("train", std::string(small) + "}"));
  ASSERT_EQ(r.status, 200) << r.body;
  const std::unique_ptr<cli::Invocation> train = cli::find_command("train")->prepare();
  for (const Option& o : train->options()) {
    if (o.name == "model") std::get<PresetRef*>(o.value)->name = "llama3.1-8b";
    if (o.name == "system") std::get<PresetRef*>(o.value)->name = "dgx-h100";
    if (o.name == "gpus") std::get<GivenRef>(o.value).table->set("gpus", Node::of("8"));
    if (o.name == "tp") std::get<GivenRef>(o.value).table->set("tp", Node::of("2"));
  }
  train->common.format = Format::json;
  EXPECT_EQ(r.body, train->run());
}

struct AskedCase {
  const char* name;
  const char* path;
  std::string body;
  const char* holds;  ///< a member of the answer
};
class Asked : public testing::TestWithParam<AskedCase> {};
TEST_P(Asked, IsAnswered) {
  Api api({});
  const Response r = api.handle(post(GetParam().path, GetParam().body));
  ASSERT_EQ(r.status, 200) << r.body;
  EXPECT_NE(body_of(r).find(GetParam().holds), nullptr) << r.body;
}
INSTANTIATE_TEST_SUITE_P(
    Api, Asked,
    testing::Values(
        AskedCase{"Timeline", "train", std::string(small) + R"(, "pp": 2, "timeline": true})",
                  "timeline"},
        AskedCase{"Profile", "profile",
                  R"({"device": "h200-sxm", "trace": {"traceEvents": [
                      {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0,
                       "dur": 9, "args": {"External id": 4, "Input Dims": [[8, 16], [16, 4]]}},
                      {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 50,
                       "dur": 30, "args": {"device": 0, "External id": 4}}]}})",
                  "losses"},
        AskedCase{"Choices", "train", std::string(small) + R"(, "choices": true})", "choices"},
        AskedCase{"Nearest", "train", std::string(small) + R"(, "nearest": true})",
                  "nearest_cases"},
        AskedCase{"Explain", "train", std::string(small) + R"(, "explain": true})", "operators"},
        AskedCase{"Infer", "infer", R"({"model": "llama2-13b", "system": "dgx-h100", "tp": 2,
                  "output": 50, "choices": true, "nearest": true})",
                  "tpot_seconds"},
        AskedCase{"Traffic", "traffic", R"({"model": "llama3.1-8b", "system": "dgx-h100",
                  "requests": 100, "series": true})",
                  "distribution"},
        AskedCase{"TrafficTrace", "traffic", R"({"model": "llama3.1-8b", "system": "dgx-h100",
                  "arrivals": "arrival,input,output\n0,100,10\n0.5,200,20\n"})",
                  "ttft_seconds"},
        AskedCase{"TrafficMooncake", "traffic", R"({"model": "llama3.1-8b", "system": "dgx-h100",
                  "arrivals": "{\"timestamp\": 0, \"input_length\": 100, \"output_length\": 9, \"hash_ids\": [1]}"})",
                  "ttft_seconds"},
        AskedCase{"Model", "model", R"({"model": "mixtral-8x7b", "seq": 1024})", "branches"},
        AskedCase{"Rl", "rl", R"({"model": "llama3.1-8b", "system": "dgx-h100", "gpus": 8,
                  "prompts": 8, "samples": 4, "output": 100, "rollout_tp": 2})",
                  "phases"},
        AskedCase{"ImportCommand", "import", R"({"what": ["vllm serve meta-llama/Llama-3.1-8B"],
                  "system": "dgx-h100"})",
                  "arguments"},
        AskedCase{"ImportYaml", "import", R"({"what":
                  ["base_model: meta-llama/Llama-3.1-8B\nsequence_len: 2048\nadapter: lora\n"],
                  "as": "axolotl", "system": "dgx-h100", "gpus": 8})",
                  "toml"},
        AskedCase{"ImportNamed", "import", R"({"what": ["{\"train_batch_size\": 64}"],
                  "name": "ds_config.json", "as": "deepspeed", "model": "llama3.1-8b",
                  "system": "dgx-h100", "gpus": 8})",
                  "scenario"},
        AskedCase{"Gemm", "ops", R"({"kernel": "gemm", "m": 128})", "seconds"},
        AskedCase{"OpsTrain", "ops", std::string(small) + R"(, "kernel": "train"})", "operators"},
        AskedCase{"Collective", "ops", R"({"kernel": "collective", "bytes": "1 MiB"})", "seconds"},
        AskedCase{"Tech", "tech", R"({"node": "n3", "dram": "hbm4", "area": "814 mm2"})",
                  "area_m2"},
        AskedCase{"Validate", "validate", "{}", "groups"},
        AskedCase{"System", "train", R"({"model": "llama3.1-8b", "gpus": 8, "tp": 2, "system":
                  {"extends": "dgx-h100", "device": {"extends": "h200-sxm"}}})",
                  "step_seconds"},
        AskedCase{"Config", "infer", R"({"system": "dgx-h100", "model": {"model_type": "llama",
                  "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
                  "intermediate_size": 11008, "vocab_size": 32000,
                  "max_position_embeddings": 4096}})",
                  "tpot_seconds"}),
    [](const auto& p) { return std::string(p.param.name); });

// What the page does with a device made in Technology: the answer's system goes into other requests
// as it came, whatever fields devices have.
TEST(Api, AGeneratedSystemCanBeGivenBack) {
  Api api({});
  for (const char* more : {"", R"(, "tier": "hbf x2")", R"(, "tier": "lpddr5x x4")"}) {
    const Response made = api.handle(
        post("tech", std::string(R"({"node": "n3", "dram": "hbm4", "system": true)") + more + "}"));
    ASSERT_EQ(made.status, 200) << made.body;
    const Node root = body_of(made);
    const Node* system = root.find("system");
    ASSERT_NE(system, nullptr) << made.body;
    EXPECT_GT(root.find("network_bytes_per_second")->number, 0);
    const std::string given = R"({"system": )" + to_json(*system);
    const Response served = api.handle(post("infer", given + R"(, "model": "llama2-13b"})"));
    EXPECT_EQ(served.status, 200) << served.body;
    const Response trained = api.handle(
        post("train", given + R"(, "model": "gpt3-6.7b", "gpus": 8, "tp": 2, "batch": 8})"));
    EXPECT_EQ(trained.status, 200) << trained.body;
  }
}

// A trace as torch.profiler writes it is the body, packed or not; the rest is in the query.
TEST(Api, TakesATraceAsAFile) {
  const std::string trace = R"({"traceEvents": [
      {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0,
       "dur": 9, "args": {"External id": 4, "Input Dims": [[8, 16], [16, 4]]}},
      {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 50,
       "dur": 30, "args": {"device": 0, "External id": 4}}]})";
  Api api({});
  const Response inside = api.handle(
      post("profile", R"({"device": "h200-sxm", "pieces": true, "trace": )" + trace + "}"));
  ASSERT_EQ(inside.status, 200) << inside.body;
  for (const bool pack : {false, true}) {
    const Query query = {{"device", "h200-sxm"}, {"gpu", "0"}, {"pieces", "true"}};
    const Response r =
        api.handle(pack ? upload("profile", query, packed(trace))
                        : upload("profile", query, trace, "application/octet-stream"));
    EXPECT_EQ(r.body, inside.body);
  }
}

TEST(Api, ComparisonsAreProductsOfFactors) {
  Api api({});
  const Response r = api.handle(post("compare", R"({"kind": "infer", "scenarios": [
    {"model": "llama2-13b", "system": "dgx-a100"}, {"model": "llama2-13b", "system": "dgx-h100"},
    {"model": "llama2-13b", "system": "dgx-h100", "batch": 8}]})"));
  ASSERT_EQ(r.status, 200) << r.body;
  const Node root = body_of(r);
  EXPECT_EQ(root.find("answers")->items.size(), 3U);
  for (const Node& d : root.find("differences")->items) {
    double product = 1;
    for (const Node& f : d.find("factors")->items) product *= f.find("ratio")->number;
    EXPECT_NEAR(product, d.find("ratio")->number, 1e-9);
  }
  // Decoding is bound by memory, and so is what a new device brings.
  EXPECT_EQ(root.find("differences")->items[0].find("factors")->items[0].find("name")->string,
            "memory");
}

/// "tp, pp": fields of the errors, in their order.
std::string wrong_fields(const Response& r) {
  std::string fields;
  const Node body = body_of(r);
  for (const Node& e : body.find("errors")->items) {
    fields += (fields.empty() ? "" : ", ") + e.find("field")->string;
  }
  return fields;
}

// What cannot be read hides nothing of what can, and nothing is held against the rest for it.
TEST(Api, ProblemsAreSaidAllAtOnce) {
  struct Wrong {
    const char* command;
    const char* request;
    const char* fields;
  };
  const Wrong all[] = {
      {"train", R"({"model": "nothing", "system": "dgx-h100", "tp": "x"})", "tp, model"},
      {"train", R"({"model": "llama3.1-8b", "system": "dgx-h100", "tp": "x", "pp": 70})", "tp, pp"},
      {"train", R"({"model": "llama3.1-8b", "system": "dgx-h100", "tp": "x", "sp": true})", "tp"},
      {"train", R"({"model": "mixtral-8x7b", "system": "dgx-h100", "gpus": "x", "ep": 8})", "gpus"},
      {"train", R"({"model": "llama3.1-8b", "system": "dgx-h100", "seq": "x", "cp": 3})", "seq"},
      {"train",
       R"({"model": "llama3.1-8b", "system": "dgx-h100", "gpus": 10, "tp": 3, "recompute": "ful"})",
       "recompute, gpus, tp, tp, seq"},
      {"train", R"({"system": "dgx-h100", "tp": "x"})", "tp, model"},
      {"infer", R"({"model": "llama3.1-8b", "system": "dgx-h200x", "batch": 0.5})",
       "batch, system"},
      {"infer", R"({"model": "llama3-8b", "system": "dgx-h100", "tp": 3, "output": 10000})",
       "output, tp, tp"},
      {"traffic", R"({"model": "nothing", "system": "dgx-h100", "tp": "x", "rate": -1})",
       "tp, rate, model"},
      {"best", R"({"model": "nothing", "system": "dgx-h100", "gpus": "x"})", "gpus, model, batch"},
      {"compare", R"({"kind": "infer", "scenarios": [{"model": "nothing", "system": "dgx-h100",
                      "tp": "x"}, {"model": "llama3.1-8b", "system": "nowhere"}]})",
       "scenarios[0].tp, scenarios[0].model, scenarios[1].system"},
  };
  Api api({});
  for (const Wrong& a : all) {
    const Response r = api.handle(post(a.command, a.request));
    EXPECT_EQ(r.status, 400) << a.request;
    EXPECT_EQ(wrong_fields(r), a.fields) << a.request << r.body;
  }
}

struct RefusedCase {
  const char* name;
  Request request;
  int status;
  const char* says;
};
class Refused : public testing::TestWithParam<RefusedCase> {};
TEST_P(Refused, WithStatusAndReason) {
  Api api({});
  const Response r = api.handle(GetParam().request);
  EXPECT_EQ(r.status, GetParam().status) << r.body;
  EXPECT_THAT(r.body, HasSubstr(GetParam().says));
  EXPECT_NE(body_of(r).find("errors"), nullptr);
}
Request with(Request r, std::string Request::*member, const char* value) {
  r.*member = value;
  return r;
}
INSTANTIATE_TEST_SUITE_P(
    Api, Refused,
    testing::Values(
        RefusedCase{"Path", get("nothing"), 404, "nothing at this path"},
        RefusedCase{"Method", get("train"), 405, "POST"},
        RefusedCase{"Put", with(get("presets"), &Request::method, "PUT"), 405, "GET, HEAD"},
        RefusedCase{"Type", with(post("train", "{}"), &Request::content_type, "text/plain"), 415,
                    "application/json"},
        RefusedCase{"Rebinding", with(get("presets"), &Request::host, "evil.example"), 421, "evil"},
        RefusedCase{"NoHost", with(get("presets"), &Request::host, ""), 421, "host"},
        RefusedCase{"Origin", with(post("train", "{}"), &Request::origin, "https://evil.example"),
                    403, "other sites"},
        RefusedCase{"Syntax", post("train", "{\"model\": }"), 400, "expected a value"},
        RefusedCase{"Number", post("train", R"({"gpus": 1e400})"), 400,
                    "too large (line 1, column 15)"},
        RefusedCase{"Contradiction",
                    post("compare", R"({"kind": "train", "scenarios": [{"model": "llama3.1-8b",
                    "system": "dgx-h100", "tp": 4, "set": ["strategy.tp=2"]}, {}]})"),
                    400, "strategy.tp: 2 contradicts tp 4"},
        RefusedCase{"Empty", post("train", ""), 400, "errors"},
        RefusedCase{"Utf8", post("train", "{\"model\": \"\xff\"}"), 400, "UTF-8"},
        RefusedCase{"Deep", post("train", std::string(5000, '[')), 400, "nested"},
        RefusedCase{"Missing", post("train", "{}"), 400, "\"field\": \"system\""},
        RefusedCase{"Unknown", post("infer", R"({"model": "llama2-13b", "sistem": "dgx-h100"})"),
                    400, "did you mean 'system'"},
        RefusedCase{"File", post("train", R"({"model": "/etc/passwd", "system": "dgx-h100"})"), 400,
                    "no model is called"},
        RefusedCase{"Place", post("model", R"({"model": "t5"})"), 400, "\"field\": \"model\""},
        RefusedCase{"FileSet",
                    post("train", std::string(small) + R"(, "set": ["device=/x.toml"]})"), 400,
                    "no device is called"},
        RefusedCase{"FileInside", post("train", R"({"model": "llama3.1-8b", "gpus": 8, "system":
                    {"extends": "../secret.toml"}})"),
                    400, "no system is called"},
        RefusedCase{"FileTraffic", post("traffic", R"({"model": "llama3.1-8b",
                    "system": "dgx-h100", "arrivals": "/etc/passwd"})"),
                    400, "a file of this machine"},
        RefusedCase{"FilePlan", post("best", R"({"model": "llama3.1-8b", "system": "dgx-h100",
                    "gpus": 4, "rate": 1, "traffic": "/etc/passwd"})"),
                    400, "a file of this machine"},
        RefusedCase{"FileImport", post("import", R"({"what": ["/etc/passwd"]})"), 400,
                    "command line"},
        RefusedCase{"FileImportNamed",
                    post("import", R"({"what": ["/etc/passwd"], "name": "/etc/hostname"})"), 400,
                    "/etc/hostname"},
        RefusedCase{"ImportNothing", post("import", R"({"what": []})"), 400, "nothing to import"},
        RefusedCase{"ImportShell", post("import", R"({"what": ["$(cat /etc/passwd) --x"]})"), 400,
                    "command line"},
        RefusedCase{"ImportObject", post("import", R"({"what": ["vllm serve x y"],
                    "model": {"model_type": "llama"}})"),
                    400, "names here"},
        RefusedCase{"RlEngines", post("rl", R"({"model": "llama3.1-8b", "system": "dgx-h100",
                    "gpus": 8, "rollout_tp": 3})"),
                    400, "no whole number of engines"},
        RefusedCase{"RlMany", post("rl", R"({"model": "llama3.1-8b", "system": "dgx-h100",
                    "prompts": 1000000})"),
                    400, "prompts"},
        RefusedCase{"Writes", post("train", std::string(small) + R"(, "trace": "/tmp/x"})"), 400,
                    "not for requests"},
        RefusedCase{"Rule", post("train", std::string(small) + R"(, "pp": 3})"), 400,
                    "\"field\": \"gpus\""},
        RefusedCase{"List", post("train", R"({"model": "zzz", "system": "dgx-h100"})"), 400,
                    "/api/v1/presets lists all"},
        RefusedCase{"Flag", post("infer", R"({"model": "llama3-8b", "system": "dgx-h100",
                    "output": 10000})"),
                    400, "\"allow_long goes on"},
        RefusedCase{"Kernel", post("ops", R"({"kernel": "gem"})"), 400, "did you mean 'gemm'"},
        RefusedCase{"Compare", post("compare", R"({"kind": "train", "scenarios": [1]})"), 400,
                    "two to six"},
        RefusedCase{"TraceFile",
                    post("profile", R"({"device": "h200-sxm", "trace": "/etc/passwd"})"), 400,
                    "says nothing over a network"},
        RefusedCase{"TraceBody", upload("profile", {{"device", "h200-sxm"}}, "what is this"), 400,
                    "trace"},
        RefusedCase{"TraceNoBody", upload("profile", {{"device", "h200-sxm"}}, ""), 400,
                    "the body is empty"},
        RefusedCase{"TraceOption",
                    upload("profile", {{"device", "h200-sxm"}, {"output", "/tmp/x"}}, "{}"), 400,
                    "output"},
        RefusedCase{"FileElsewhere", upload("train", {}, "{}"), 415, "application/json"},
        RefusedCase{"TrafficFile", post("traffic", R"({"model": "llama3.1-8b",
                    "system": "dgx-h100", "arrivals": "/etc/passwd"})"),
                    400, "file of this machine"},
        RefusedCase{"TraceEmpty", post("profile", R"({"device": "h200-sxm", "trace": {}})"), 400,
                    "no traceEvents"},
        RefusedCase{"Preset", get("presets/devices/h100"), 404, "did you mean"},
        RefusedCase{"Kind", get("presets/gadgets/x"), 404, "gadgets"},
        RefusedCase{"Traversal", get("presets/devices/..%2f..%2fetc"), 404, "no device"},
        RefusedCase{"Job", get("jobs/0123"), 404, "no such job"}),
    [](const auto& p) { return std::string(p.param.name); });

/// What this clock of a thread's processor time shows: how busy the machine is does not count.
double seconds_on(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Long loops of the core look whether somebody waits.
TEST(Api, AnAnswerThatNobodyWaitsForIsGivenUp) {
  Api api({});
  const std::string long_ones[] = {
      R"({"model": "llama3.1-8b", "system": "dgx-h100", "requests": 1000000, "rate": 100000})",
      R"({"model": "llama3.1-8b", "system": "dgx-h100", "requests": 1000000, "arrivals": "closed",
          "concurrency": 1000, "replicas": 4, "router": "least-tokens"})",
  };
  for (const std::string& request : long_ones) {
    std::atomic<bool> over = false;
    clockid_t own{};
    ASSERT_EQ(pthread_getcpuclockid(pthread_self(), &own), 0);
    double given_up = 0;
    std::thread timer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      over = true;
      given_up = seconds_on(own);
    });
    const Patience patience(over);
    const Response r = api.handle(post("traffic", request));
    const double ended = seconds_on(own);
    timer.join();
    EXPECT_EQ(r.status, 503) << r.body.substr(0, 300);
    EXPECT_LT(ended - given_up, 1.0);
  }
  const std::atomic<bool> over = true;
  const Patience patience(over);
  EXPECT_EQ(api.handle(post("validate", "{}")).status, 503);
  EXPECT_EQ(api.handle(post("infer", R"({"model": "llama2-13b", "system": "dgx-h100"})")).status,
            503);
}

// What a slider offers must run: interleaved pipelines want a multiple of their stages.
TEST(Api, ChoicesAreAccepted) {
  Api api({});
  const auto all_accepted = [&](const char* command, const std::string& request) {
    const Node root = body_of(api.handle(post(command, request + R"(, "choices": true})")));
    ASSERT_NE(root.find("choices"), nullptr) << request;
    int more = 0;
    for (const char* field : {"gpus", "batch"}) {
      const Node* values = root.find("choices")->find(field);
      if (values == nullptr) continue;
      for (const Node& v : values->items) {
        const std::string number = std::to_string(static_cast<int>(v.number));
        const std::string changed = request + ", \"" + field + "\": " + number + "}";
        EXPECT_EQ(api.handle(post(command, changed)).status, 200) << changed;
        ++more;
      }
    }
    EXPECT_GT(more, 8) << request;
  };
  const std::string gpt = R"({"model": "gpt3-175b", "system": "dgx-a100", "tp": 8, "pp": 6)";
  all_accepted("train", gpt + R"(, "interleave": 4)");
  all_accepted("infer", R"({"model": "deepseek-v3", "system": "dgx-h100", "tp": 8, "dp": 2)");
}

// What a link to a measured run predicts is what `validate` predicts of it.
TEST(Api, CasesAreRequests) {
  Api api({});
  const Node cases = body_of(api.handle(get("cases")));
  const Node validation = body_of(api.handle(post("validate", "{}")));
  int compared = 0;
  for (const Node& c : cases.find("cases")->items) {
    const std::string kind = c.find("kind")->string;
    const std::string metric = c.find("metric")->string;
    const Response r = api.handle(post(kind.c_str(), to_json(*c.find("request"))));
    ASSERT_EQ(r.status, 200) << to_json(c) << r.body;
    const Node answer = body_of(r);
    const Node* predicted = answer.find(metric);
    for (const Node& row : validation.find("rows")->items) {
      if (row.find("id")->string != c.find("id")->string || predicted == nullptr) continue;
      EXPECT_NEAR(predicted->number / row.find("predicted")->number, 1, 1e-6) << to_json(c);
      ++compared;
    }
  }
  EXPECT_GT(compared, 20);
}

TEST(Api, WhatDoesNotChangeIsKeptAndLongAnswersArePacked) {
  Api api({});
  Request ask = get("presets");
  ask.accepts_gzip = true;
  const Response first = api.handle(ask);
  std::string tag;
  for (const auto& [name, value] : first.headers) {
    if (name == "ETag") tag = value;
  }
  ASSERT_FALSE(tag.empty());
  EXPECT_LT(first.body.size(), api.handle(get("presets")).body.size() / 3);
  EXPECT_EQ(unpacked(first.body, "answer"), api.handle(get("presets")).body);
  ask.if_none_match = tag;
  EXPECT_EQ(api.handle(ask).status, 304);
  for (const auto& [name, value] : api.handle(post("train", std::string(small) + "}")).headers) {
    EXPECT_NE(name, "ETag");
  }
}

TEST(Api, TheBestIsFoundAtOnce) {
  Api api({});
  const Response r = api.handle(post("best", R"({"model": "gpt3-6.7b", "system": "dgx-a100",
      "gpus": 8, "batch": 16, "fix": ["schedule=1f1b", "cp=1"]})"));
  ASSERT_EQ(r.status, 200) << r.body;
  EXPECT_FALSE(body_of(r).find("best")->items.empty());
  EXPECT_EQ(api.handle(post("best", R"({"model": "gpt3-6.7b"})")).status, 400);
  const Response plan = api.handle(post("best", R"({"model": "llama3.1-8b", "system": "dgx-h100",
      "gpus": 4, "traffic": "poisson", "rate": 10, "input": 300, "output": 30,
      "max_ttft_p99": "1 s", "max_tpot_p99": "40 ms"})"));
  ASSERT_EQ(plan.status, 200) << plan.body;
  EXPECT_NE(plan.body.find("replicas"), std::string::npos);
}

TEST(Api, ListsPresets) {
  Api api({});
  const Node root = body_of(api.handle(get("presets")));
  for (const char* kind :
       {"devices", "systems", "models", "runtimes", "nodes", "drams", "links", "cores"}) {
    ASSERT_NE(root.find(kind), nullptr) << kind;
    EXPECT_FALSE(root.find(kind)->items.empty()) << kind;
  }
  for (const Node& r : root.find("runtimes")->items) {
    if (r.find("name")->string == "vllm") {
      EXPECT_FALSE(r.find("trains")->boolean);
    }
    EXPECT_TRUE(r.find("trains")->boolean || r.find("serves")->boolean);
  }
  const Response one = api.handle(get("presets/devices/h100-sxm"));
  EXPECT_EQ(body_of(one).find("name")->string, "h100-sxm");
}

TEST(Api, WildcardHostsAnswerToAddressesNotToNames) {
  Api api({.host = "0.0.0.0"});
  EXPECT_EQ(api.handle(with(get("presets"), &Request::host, "192.168.1.7:80")).status, 200);
  EXPECT_EQ(api.handle(with(get("presets"), &Request::host, "evil.example")).status, 421);
}

TEST(Api, DescribesItself) {
  Api api({});
  const Node root = body_of(api.handle(get("openapi.json")));
  EXPECT_EQ(root.find("openapi")->string, "3.0.3");
  const Node* train = root.find("components")->find("schemas")->find("train");
  ASSERT_NE(train, nullptr);
  EXPECT_NE(train->find("properties")->find("recompute_modules"), nullptr);
  EXPECT_EQ(train->find("properties")->find("trace"), nullptr);  // writes a file
  const auto answered = [&](const char* path, const char* method, const char* status) {
    const Node* content = root.find("paths")->find(path)->find(method)->find("responses");
    return to_json(*content->find(status)->find("content")->find("application/json"), 0);
  };
  EXPECT_THAT(answered("/train", "post", "200"), HasSubstr("schemas/TrainAnswer"));
  EXPECT_THAT(answered("/ops", "post", "200"), HasSubstr("schemas/KernelAnswer"));
  EXPECT_THAT(answered("/presets", "get", "200"), HasSubstr("schemas/Presets"));
  const Node* schemas = root.find("components")->find("schemas");
  const Node* answer = schemas->find("TrainAnswer");
  EXPECT_EQ(answer->find("properties")->find("step_seconds")->find("type")->string, "number");
  EXPECT_EQ(answer->find("properties")->find("breakdown")->find("$ref")->string,
            "#/components/schemas/Part");
  // Every type that is referred to is there.
  const std::string text = to_json(root, 0);
  constexpr std::string_view mark = "#/components/schemas/";
  for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) {
    const std::size_t start = at + mark.size();
    const std::string name = text.substr(start, text.find('"', start) - start);
    EXPECT_NE(schemas->find(name), nullptr) << name;
  }
}

/// What of a value a schema of OpenAPI does not allow: types, what is required, what is not named.
class Checker {
 public:
  explicit Checker(const Node& root) : root_(root) {}

  std::string wrong(const Node& value, const Node& schema, const std::string& path) const {
    if (const Node* name = schema.find("$ref")) {
      constexpr std::string_view mark = "#/components/schemas/";
      const Node* all = root_.find("components")->find("schemas");
      return wrong(value, *all->find(name->string.substr(mark.size())), path);
    }
    for (const char* kind : {"anyOf", "oneOf"}) {
      const Node* either = schema.find(kind);
      if (either == nullptr) continue;
      std::string first;
      for (const Node& one : either->items) {
        const std::string here = wrong(value, one, path);
        if (here.empty()) return "";
        if (first.empty()) first = here;
      }
      return first;
    }
    const Node* type = schema.find("type");
    if (type != nullptr && !is(value, type->string)) return path + " is no " + type->string;
    return value.kind == Node::Kind::table   ? wrong_members(value, schema, path)
           : value.kind == Node::Kind::array ? wrong_items(value, schema, path)
                                             : "";
  }

 private:
  static bool is(const Node& value, const std::string& type) {
    using enum Node::Kind;
    if (type == "object") return value.kind == table;
    if (type == "array") return value.kind == array;
    if (type == "string") return value.kind == string;
    if (type == "boolean") return value.kind == boolean;
    return value.kind == integer || value.kind == number;
  }
  std::string wrong_members(const Node& value, const Node& schema, const std::string& path) const {
    if (const Node* required = schema.find("required")) {
      for (const Node& name : required->items) {
        if (value.find(name.string) == nullptr) return path + " has no " + name.string;
      }
    }
    const Node* named = schema.find("properties");
    if (named == nullptr) return "";
    for (const Node::Member& m : value.members) {
      const Node* field = named->find(m.key);
      if (field == nullptr && !named->members.empty()) return path + " holds " + m.key;
      if (field == nullptr) continue;
      if (std::string here = wrong(m.value, *field, path + "." + m.key); !here.empty()) return here;
    }
    return "";
  }
  std::string wrong_items(const Node& value, const Node& schema, const std::string& path) const {
    const Node* items = schema.find("items");
    if (items == nullptr) return "";
    for (const Node& item : value.items) {
      if (std::string here = wrong(item, *items, path + "[]"); !here.empty()) return here;
    }
    return "";
  }
  const Node& root_;
};

// Systems that nobody lends have no price, and what is compared or imported may be of any kind.
TEST(Api, QuestionsAndAnswersAreAsDescribed) {
  struct Row {
    const char* path;
    const char* request;
  };
  Api api({});
  const Node root = body_of(api.handle(get("openapi.json")));
  const Checker checker(root);
  for (const Row& row : {
           Row{"train", R"({"model": "gpt2", "system": "mi300x-node", "tokens": "1T"})"},
           Row{"infer", R"({"model": "gpt2", "system": "mi300x-node", "nearest": true})"},
           Row{"traffic", R"({"model": "gpt2", "system": "mi300x-node", "requests": 9,
                              "input": 100, "output": 9})"},
           Row{"rl", R"({"model": "gpt2", "system": "mi300x-node", "gpus": 1, "prompts": 4,
                         "samples": 2, "output": 9})"},
           Row{"ops", R"({"kernel": "gemm", "device": "h100-sxm"})"},
           Row{"ops", R"({"kernel": "collective", "system": "dgx-h100"})"},
           Row{"model", R"({"model": "mamba-2.8b"})"},
           Row{"import", R"({"what": ["vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2"]})"},
           Row{"import", R"({"what": ["torchrun pretrain_gpt.py --num-layers 24 --hidden-size 1024)"
                         R"( --num-attention-heads 16 --seq-length 1024"]})"},
           Row{"compare",
               R"({"kind": "infer", "scenarios": [{"model": "gpt2", "system": "dgx-h100"},
                              {"model": "gpt2", "system": "mi300x-node"}]})"},
           Row{"compare",
               R"({"kind": "train", "scenarios": [{"model": "gpt2", "system": "dgx-h100"},
                              {"model": "gpt3-175b", "system": "dgx-h100"}]})"},
           Row{"best", R"({"model": "gpt2", "system": "mi300x-node", "gpus": 1, "infer": true})"},
       }) {
    const Response r = api.handle(post(row.path, row.request));
    EXPECT_EQ(r.status, 200) << row.path << ": " << r.body.substr(0, 300);
    const Node& operation = *root.find("paths")->find("/" + std::string(row.path))->find("post");
    const auto schema = [](const Node& of) -> const Node& {
      return *of.find("content")->find("application/json")->find("schema");
    };
    const Node asked = parse_json(row.request, "request").root;
    EXPECT_EQ(checker.wrong(asked, schema(*operation.find("requestBody")), row.path), "");
    const Node& answered = schema(*operation.find("responses")->find("200"));
    EXPECT_EQ(checker.wrong(body_of(r), answered, row.path), "") << row.request;
  }
}

TEST(Api, JobsRunByTheirRoutes) {
  const JobRoute count{"count",
                       [](const Document& d) {
                         if (d.root.find("to") == nullptr) throw InputError("to: missing");
                       },
                       [](const Node&, Progress& p) {
                         while (!p.cancelled()) std::this_thread::yield();
                         return std::string("42");
                       }};
  Api api({.jobs = {count}, .limits = {.running = 1}});
  EXPECT_EQ(api.handle(post("count", "{}")).status, 400);
  const Response started = api.handle(post("count", R"({"to": 3})"));
  ASSERT_EQ(started.status, 202);
  EXPECT_EQ(api.handle(post("count", R"({"to": 3})")).status, 429);
  const std::string path = "jobs/" + body_of(started).find("id")->string;
  EXPECT_THAT(api.handle(get(path)).body, HasSubstr("running"));
  EXPECT_TRUE(api.handle(get(path + "/events")).events);
  Request cancel = get(path);
  cancel.method = "DELETE";
  EXPECT_EQ(api.handle(cancel).status, 200);
}

TEST(Api, ThePageIsPackedOnce) {
  Api api({});
  Request r = get("");
  r.path = "/";
  EXPECT_EQ(api.handle(r).constant, page_text());
  r.accepts_gzip = true;
  const Response packed = api.handle(r);
  EXPECT_TRUE(packed.constant.starts_with("\x1f\x8b"));
  r.if_none_match = the_page().etag;
  EXPECT_EQ(api.handle(r).status, 304);
}

TEST(Page, CarriesAnAnswerThatCannotEndTheScript) {
  const std::string page = page_with_answer("predict", R"({"a": 1})", R"({"b": "</script>"})");
  EXPECT_THAT(page, HasSubstr("id=\"sextant-answer\""));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>"));
}

TEST(Exchange, ReadsRequestsAndWritesAnswers) {
  Api api({});
  const Exchange exchange([&](const Request& r) { return api.handle(r); });
  const Answer ok = exchange.answer(
      "GET /api/v1/presets?x=1 HTTP/1.1\r\nHost: localhost\r\n"
      "Accept-Encoding: gzip, br\r\nRange: bytes=0-1,0-1,0-1\r\n\r\n");
  EXPECT_THAT(ok.bytes, testing::StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(ok.bytes, HasSubstr("Content-Encoding: gzip\r\n"));  // and never twice
  EXPECT_THAT(ok.bytes, testing::Not(HasSubstr("Content-Encoding: br")));
  EXPECT_FALSE(ok.close);
  const Answer bad = exchange.answer("BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(bad.bytes, testing::StartsWith("HTTP/1.1 400"));
  const Answer last =
      exchange.answer("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(last.close);
}

}  // namespace
}  // namespace sextant::server
