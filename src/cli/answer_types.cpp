// SPDX-License-Identifier: Apache-2.0
#include "cli/answer_types.hpp"

#include "cli/command_table.hpp"
#include "cli/compare.hpp"
#include "sextant/answer/accuracy.hpp"
#include "sextant/answer/measured.hpp"
#include "sextant/answer/presets.hpp"
#include "sextant/answer/search.hpp"

namespace sextant::cli {
namespace {

/// A question that shows what an answer may hold. What another of the same type does not hold is
/// optional.
struct Sample {
  const char* type;
  const char* command;
  const char* request;
};
constexpr Sample samples[] = {
    {"TrainAnswer", "train",
     R"({"model": "gpt3-6.7b", "system": "dgx-a100", "gpus": 4, "pp": 2, "explain": true,
         "sensitivity": true, "choices": true, "timeline": true, "tokens": "1T"})"},
    {"TrainAnswer", "train", R"({"model": "gpt3-175b", "system": "dgx-a100", "pp": 8})"},
    {"TrainAnswer", "train", R"({"model": "gpt2", "system": "mi300x-node", "tokens": "1T"})"},
    {"InferAnswer", "infer",
     R"({"model": "llama2-13b", "system": "dgx-h100", "explain": true, "sensitivity": true,
         "choices": true, "curve": true})"},
    {"InferAnswer", "infer", R"({"model": "llama3.1-70b", "system": "dgx-h100"})"},
    {"InferAnswer", "infer",
     R"({"model": "llama2-13b", "system": "dgx-h100",
         "set": ["device.tier.capacity=480 GB", "device.tier.bandwidth=0.5 TB/s"]})"},
    {"TrafficAnswer", "traffic",
     R"({"model": "llama3.1-8b", "system": "dgx-h100", "requests": 50, "curve": true,
         "series": true, "prefill_workers": 1, "decode_workers": 1, "sweep_ratio": true})"},
    {"TrafficAnswer", "traffic",
     R"({"model": "llama3.1-8b", "system": "mi300x-node", "requests": 50})"},
    {"RlAnswer", "rl",
     R"({"model": "llama3.1-8b", "system": "dgx-h100", "gpus": 8, "prompts": 8, "samples": 2,
         "output": 32})"},
    {"SearchAnswer", "search",
     R"({"model": "gpt3-6.7b", "system": "dgx-a100", "gpus": 4, "batch": 8, "threads": 1,
         "fix": ["tp=2", "recompute=selective"], "loosen": true})"},
    {"SearchAnswer", "search",
     R"({"model": "llama2-13b", "system": "dgx-h100", "gpus": 1, "threads": 1, "infer": true})"},
    {"SearchAnswer", "search",
     R"({"model": "gpt3-6.7b", "system": "dgx-a100", "gpus": 1, "batch": 1})"},
    {"SearchAnswer", "search",
     R"({"model": "llama2-70b", "system": "dgx-a100", "gpus": 1, "infer": true})"},
    {"CapacityAnswer", "search",
     R"({"model": "llama3.1-8b", "system": "dgx-h100", "gpus": 1, "threads": 1,
         "traffic": "poisson", "rate": 1})"},
    {"SystemsAnswer", "search",
     R"({"model": "gpt3-6.7b", "systems": ["dgx-a100", "mi300x-node"], "budget": "4 gpus",
         "batch": 8, "threads": 1, "tokens": "1T", "fix": ["tp=2", "recompute=selective"]})"},
    {"SystemsAnswer", "search",
     R"({"model": "llama2-13b", "systems": ["dgx-h100"], "budget": "10 W", "batch": 8,
         "threads": 1, "infer": true})"},
    {"SystemsAnswer", "search",
     R"({"model": "llama2-13b", "systems": ["dgx-h100"], "gpus": 1, "threads": 1, "infer": true})"},
    {"SystemsAnswer", "search",
     R"({"model": "llama3.1-8b", "systems": ["dgx-h100"], "gpus": 1, "threads": 1,
         "traffic": "poisson", "rate": 1})"},
    {"PlanAnswer", "search",
     R"({"threads": 1, "plan": "model = 'gpt3-6.7b'\nsystem = 'dgx-a100'\n)"
     R"([train]\ngpus = 4\nbatch = 8\nfix = ['tp=2', 'recompute=selective']\ntokens = '1T'\n)"
     R"([[serve]]\ngpus = 2\ninput = 200\noutput = 20\ndays = 30\n"})"},
    {"PlanAnswer", "search",
     R"({"threads": 1, "plan": "model = 'gpt3-6.7b'\nsystem = 'mi300x-node'\nbudget = '4 gpus'\n)"
     R"([train]\nbatch = 8\nfix = ['tp=2', 'recompute=selective']\n)"
     R"([[serve]]\nobjective = 'gpus'\ninput = 200\noutput = 20\n"})"},
    {"OpsAnswer", "ops infer", R"({"model": "llama2-13b", "system": "dgx-h100"})"},
    {"OpsAnswer", "ops train", R"({"model": "gpt3-6.7b", "system": "dgx-a100"})"},
    {"KernelAnswer", "ops gemm", R"({"device": "h100-sxm"})"},
    {"KernelAnswer", "ops stream", R"({"device": "h100-sxm"})"},
    {"CollectiveAnswer", "ops collective", R"({"system": "dgx-h100"})"},
    {"ProfileAnswer", "profile",
     R"({"device": "h200-sxm", "pieces": true, "trace": {"traceEvents": [
         {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 9,
          "args": {"Input Dims": [[8, 16], [16, 4]], "Input type": ["float", "float"]}},
         {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
          "ts": 1, "dur": 2, "args": {"correlation": 3}},
         {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 50, "dur": 30,
          "args": {"device": 0, "correlation": 3}},
         {"ph": "X", "cat": "kernel", "name": "lost", "pid": 0, "tid": 7, "ts": 90, "dur": 1,
          "args": {"device": 0}},
         {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1,
          "ts": 0, "dur": 90}]}})"},
    {"ImportAnswer", "import",
     R"({"what": ["vllm serve meta-llama/Llama-3.1-8B-Instruct --dtype auto --seed 1"],
         "system": "dgx-h100"})"},
    {"ImportAnswer", "import",
     R"({"what": ["{\"train_micro_batch_size_per_gpu\": 2}"], "as": "deepspeed", "gpus": 8})"},
    {"ModelAnswer", "model", R"({"model": "mixtral-8x7b"})"},
    {"TechAnswer", "tech", R"({"node": "n3", "dram": "hbm4", "system": true})"},
    {"TechAnswer", "tech",
     R"({"node": "a14", "uncertainty": true, "samples": 10, "optimise": "infer", "l2": "60 MiB",
         "stacks": 6, "links": 18})"},
    {"TechAnswer", "tech",
     R"({"node": "n3", "dram": "hbm4", "pareto": ["time", "cost", "power"],
         "area": "814 mm2", "dies": 1, "power": "900 W", "stacks": 6, "links": 18,
         "l2": "60 MiB"})"},
    {"TechAnswer", "tech",
     R"({"node": "n4", "optimise": "infer", "strategy": "best", "l2": "60 MiB", "stacks": 5,
         "links": 18, "gpus": 2})"},
    {"TechAnswer", "tech",
     R"({"node": "n3", "dram": "hbm4", "pareto": ["energy", "area"], "area": "814 mm2", "dies": 1,
         "power": "900 W", "stacks": 6, "links": 18, "l2": "60 MiB"})"},
    {"TechAnswer", "tech",
     R"({"node": "n4", "solve": "budget.stacks", "until": "time<1 ms", "workload": "infer"})"},
};

Answer answer_to(const Sample& s) {
  const Document document = parse_json(s.request, "sample");
  const std::unique_ptr<Invocation> invocation = find_command(s.command)->prepare();
  invocation->common.format = Format::json;
  invocation->fill(document, document.root);
  return invocation->answer();
}

}  // namespace

const AnswerTypes& answer_types() {
  static const AnswerTypes all = [] {
    AnswerTypes types;
    for (const Sample& s : samples) types.add(s.type, answer_to(s));
    constexpr const char* pair =
        R"({"kind": "infer", "scenarios": [{"model": "llama2-13b", "system": "dgx-h100"},
                                           {"model": "llama2-13b", "system": "dgx-a100"}]})";
    types.add("CompareAnswer", compare(parse_json(pair, "sample"), Asker::network));
    types.add("ValidateAnswer", accuracy_answer({}));
    types.add("RankingAnswer", ranking_answer({}));
    types.add("BestSoFar", best_so_far({}, 0));
    types.add("Presets", presets_record());
    types.add("MeasuredCases", measured_record());
    return types;
  }();
  return all;
}

}  // namespace sextant::cli
