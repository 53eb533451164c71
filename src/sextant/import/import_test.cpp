// SPDX-License-Identifier: Apache-2.0
// Tests of imports: what the tables may say, what is refused and how. The examples of every format
// are in tests/import.
#include "sextant/import/import.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sextant/io/checkpoints.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/settings.hpp"
#include "sextant/io/test_support.hpp"

namespace sextant {
namespace {
using test::error_of;
using test::expect_contains;

bool is_input(const std::string& name) {
  for (const Task task : {Task::train, Task::infer}) {
    for (const InputField& f : input_fields(task)) {
      if (f.slot.name == name) return true;
    }
  }
  return is_engine_field(name) || name == "model" || name == "system" || name == "runtime";
}

/// Whether a table's field is one: of the scenario, of a struct that may be set, or a fact.
bool is_known(const std::string& field) {
  Runtime runtime;
  Model model;
  Diagnostic problem;
  if (field.starts_with("_")) return true;
  if (field.starts_with("runtime.")) {
    return find_field(reflect(runtime), field.substr(8), "runtime", problem).has_value();
  }
  if (field.starts_with("model.")) {
    return find_field(reflect(model), field.substr(6), "model", problem).has_value();
  }
  return is_input(field);
}

TEST(ImportTables, NameFieldsThatThereAre) {
  std::vector<ImportFormat> all = import_formats();
  EXPECT_EQ(all.size(), 13U);
  all.push_back(launcher_format());
  for (const ImportFormat& f : all) {
    SCOPED_TRACE(f.name);
    EXPECT_FALSE(f.title.empty());
    for (const auto& [name, rule] : f.rules) {
      SCOPED_TRACE(name);
      EXPECT_TRUE(rule.disposition == Disposition::used || !rule.why.empty());
      EXPECT_TRUE(rule.field.empty() || is_known(rule.field)) << rule.field;
      for (const auto& [field, value] : rule.sets) EXPECT_TRUE(is_known(field)) << field;
      for (const auto& [text, value] : rule.values) {
        for (const auto& [other, meant] : meant_for_others(value)) {
          EXPECT_TRUE(is_known(other)) << value;
        }
      }
    }
    for (const auto& [field, value] : f.absent) EXPECT_TRUE(is_known(field)) << field;
    for (const std::string& s : f.switches) EXPECT_NE(f.find(s), nullptr) << s;
    for (const std::string& s : f.many) EXPECT_NE(f.find(s), nullptr) << s;
  }
}

TEST(ImportTables, NamePresetsThatThereAre) {
  const std::vector<std::string> models = preset_names(PresetKind::model);
  const std::set<std::string> known(models.begin(), models.end());
  for (const std::string& name : checkpoint_names()) {
    EXPECT_TRUE(known.contains(checkpoint_named(name).model)) << name;
  }
  for (const ImportFormat& f : import_formats()) {
    if (f.runtime.empty()) continue;
    EXPECT_NO_THROW(load_runtime(f.runtime)) << f.name;
  }
}

TEST(ImportTables, CheckpointsHaveEndings) {
  EXPECT_EQ(checkpoint_named("meta-llama/Llama-3.1-70B-Instruct").model, "llama3.1-70b");
  EXPECT_EQ(checkpoint_named("meta-llama/llama-3.1-70b").model, "llama3.1-70b");
  EXPECT_EQ(checkpoint_named("nvidia/Llama-3.1-70B-Instruct-FP8").precision, "fp8");
  EXPECT_EQ(checkpoint_named("deepseek-ai/DeepSeek-V3").precision, "fp8");
  EXPECT_EQ(checkpoint_named("nvidia/DeepSeek-R1-FP4").precision, "fp4");
  EXPECT_EQ(checkpoint_named("Qwen/Qwen2.5-72B-Instruct-AWQ").precision, "int4");
  EXPECT_EQ(checkpoint_named("someone/Llama-3.1-70B").model, "");
  // Who publishes others' shapes again.
  EXPECT_EQ(checkpoint_named("nvidia/Qwen3-235B-A22B-NVFP4").model, "qwen3-235b-a22b");
  EXPECT_EQ(checkpoint_named("nvidia/Kimi-K2.5-NVFP4").precision, "fp4");
  EXPECT_EQ(checkpoint_named("TheBloke/Llama-2-70B-Chat-GPTQ").precision, "int4");
  const Checkpoint both = checkpoint_named("RedHatAI/Meta-Llama-3.1-70B-Instruct-quantized.w8a8");
  EXPECT_EQ(both.model, "llama3.1-70b");
  EXPECT_EQ(both.precision, "int8");
  EXPECT_EQ(both.activations, "int8");
}

TEST(ImportTables, CheckpointsOfWhatPeopleServeAreKnown) {
  for (const char* name : {"zai-org/GLM-4.5-Air-FP8",
                           "zai-org/GLM-4.6-FP8",
                           "zai-org/GLM-5-FP8",
                           "moonshotai/Kimi-K2-Thinking",
                           "moonshotai/Kimi-K2.5",
                           "MiniMaxAI/MiniMax-M2",
                           "Qwen/Qwen3-Coder-30B-A3B-Instruct",
                           "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8",
                           "Qwen/Qwen3.5-397B-A17B",
                           "Qwen/Qwen1.5-110B-Chat",
                           "Qwen/Qwen-7B",
                           "openai/gpt-oss-120b",
                           "meta-llama/Llama-4-Scout-17B-16E-Instruct",
                           "google/gemma-3-27b-it",
                           "ibm-granite/granite-4.0-h-small",
                           "nvidia/Nemotron-H-8B-Base-8K",
                           "nvidia/NVIDIA-Nemotron-Nano-9B-v2",
                           "microsoft/phi-4",
                           "microsoft/Phi-3.5-MoE-instruct",
                           "mistralai/Mistral-Small-3.2-24B-Instruct-2506",
                           "mistralai/Mistral-Large-Instruct-2411",
                           "mistralai/Mistral-Large-3-675B-Instruct-2512",
                           "mistralai/Mixtral-8x22B-Instruct-v0.1",
                           "allenai/OLMoE-1B-7B-0924-Instruct",
                           "tiiuae/falcon-180B-chat",
                           "01-ai/Yi-9B",
                           "internlm/internlm2-7b",
                           "baichuan-inc/Baichuan2-13B-Chat",
                           "stabilityai/stablelm-3b-4e1t",
                           "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
                           "HuggingFaceTB/SmolLM2-1.7B-Instruct",
                           "codellama/CodeLlama-70b-Instruct-hf",
                           "bigcode/starcoder2-15b",
                           "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B",
                           "google-bert/bert-large-uncased"}) {
    EXPECT_NE(checkpoint_named(name).model, "") << name;
  }
}

std::string value_of(const Imported& i, const std::string& field) {
  const Node* node = i.scenario.find(field);
  return node == nullptr ? "" : to_json(*node, 0);
}

TEST(Import, OfACommandLine) {
  const Imported i =
      import_command({"vllm", "serve", "meta-llama/Llama-3.1-70B-Instruct",
                      "--tensor-parallel-size=4", "--max-num-batched-tokens", "8K",
                      "--no-enable-prefix-caching", "--port", "80", "--enable-lora"});
  EXPECT_EQ(i.format, "vllm");
  EXPECT_EQ(i.task, Task::infer);
  EXPECT_EQ(value_of(i, "model"), "\"llama3.1-70b\"");
  EXPECT_EQ(value_of(i, "tp"), "4");
  EXPECT_EQ(value_of(i, "token_budget"), "8192");
  EXPECT_EQ(value_of(i, "prefix_cache"), "false");
  ASSERT_EQ(i.arguments.size(), 6U);
  EXPECT_EQ(i.arguments[4].disposition, Disposition::irrelevant);
  EXPECT_EQ(i.arguments[5].disposition, Disposition::unmodelled);
  ASSERT_EQ(i.missing.size(), 1U);
  EXPECT_TRUE(i.missing[0].starts_with("system"));
}

TEST(Import, SaysWhatTheToolItselfPassesOver) {
  // With replicas of attention TensorRT-LLM waits by attention_dp_config alone, without by the
  // others alone.
  const std::string waits =
      "batch_wait_timeout_iters: 40\nattention_dp_config: {enable_balance: true, timeout_iters: "
      "60}\n";
  const auto passed_over = [&](const std::string& more) {
    std::string names;
    for (const ImportedArgument& a :
         import_text("model: meta-llama/Llama-3.1-8B\n" + more + waits, "a.yaml").arguments) {
      if (a.disposition != Disposition::irrelevant) continue;
      EXPECT_TRUE(a.field.empty() && !a.why.empty()) << a.name;
      names += a.name + " ";
    }
    return names;
  };
  EXPECT_EQ(passed_over("enable_attention_dp: true\n"), "batch_wait_timeout_iters ");
  EXPECT_EQ(passed_over("enable_attention_dp: false\n"),
            "attention_dp_config.enable_balance attention_dp_config.timeout_iters ");
}

TEST(Import, WhatIsGivenWins) {
  Node given = Node::table();
  given.set("model", Node::of("llama2-7b"));
  given.set("tp", Node::of(2));
  const Imported i = import_command({"vllm", "serve", "somebody/unknown", "-tp", "4"},
                                    {.format = {}, .task = {}, .given = given});
  EXPECT_EQ(value_of(i, "model"), "\"llama2-7b\"");
  EXPECT_EQ(value_of(i, "tp"), "2");
  expect_contains(i.arguments[1].why, "--tp says 2");
}

TEST(Import, TorchrunStartsOneNode) {
  const std::string rest =
      " pretrain_gpt.py --num-layers 48 --hidden-size 1024 --num-attention-heads 16 "
      "--vocab-size 50257 --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 2\n";
  EXPECT_EQ(value_of(import_text("torchrun --nproc_per_node=8" + rest, "run.sh"), "gpus"), "8");
  EXPECT_EQ(import_text("deepspeed --num_gpus 8" + rest, "run.sh").scenario.find("gpus"), nullptr);
}

TEST(Import, MegatronWorksOutWhatMegatronDoes) {
  const Imported i = import_text(
      "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 48 --hidden-size 1024 "
      "--num-attention-heads 16 --num-query-groups 4 --vocab-size 50257 --seq-length 2048 "
      "--micro-batch-size 2 --tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 "
      "--num-layers-per-virtual-pipeline-stage 3 --bf16 --fp8-format hybrid "
      "--recompute-granularity full --recompute-method block --recompute-num-layers 1\n",
      "run.sh");
  EXPECT_EQ(value_of(i, "gpus"), "16");
  EXPECT_EQ(value_of(i, "batch"), "4");  // a microbatch for each of two replicas
  EXPECT_EQ(value_of(i, "interleave"), "4");
  EXPECT_EQ(value_of(i, "recompute_layers"), "4");  // one of each chunk
  EXPECT_EQ(value_of(i, "precision"), "\"fp8\"");
  EXPECT_EQ(value_of(i, "zero"), "0");
  const Node& model = *i.scenario.find("model");
  EXPECT_EQ(model.find("vocab")->integer, 50432);  // a multiple of 128 for each of two ranks
  EXPECT_EQ(model.find("attention")->find("kv_heads"), nullptr);  // --group-query-attention is off
}

/// What becomes of a command line or a file: a field of the scenario, an argument's remark.
struct Meant {
  const char* name;
  const char* file;
  const char* text;
  const char* field;
  const char* value;
};
class ImportMeaning : public testing::TestWithParam<Meant> {};
TEST_P(ImportMeaning, IsTheTools) {
  const Meant& m = GetParam();
  EXPECT_EQ(value_of(import_text(m.text, m.file), m.field), m.value);
}

constexpr const char* sglang_dp =
    "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp-size 16 --dp-size 8 "
    "--enable-dp-attention --max-running-requests 1024 --chunked-prefill-size 16384";
constexpr const char* sglang_tp =
    "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp-size 16 "
    "--max-running-requests 1024 --chunked-prefill-size 16384 --speculative-num-steps 3 "
    "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4 --enable-quant-communications";
constexpr const char* megatron_moe =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 48 --hidden-size 1024 "
    "--num-attention-heads 16 --vocab-size 50257 --seq-length 2048 --micro-batch-size 2 "
    "--num-experts 8 --moe-layer-recompute --skip-train";
constexpr const char* megatron_layout =
    "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 61 --hidden-size 1024 "
    "--num-attention-heads 16 --vocab-size 50257 --seq-length 2048 --micro-batch-size 2 "
    "--pipeline-model-parallel-size 16 --pipeline-model-parallel-layout 'Et*3|(tt|)*29,m|L'";
constexpr const char* titan_every =
    "[model]\nname = \"llama3\"\nflavor = \"70B\"\n[training]\nseq_len = 8192\n"
    "dtype = \"bfloat16\"\n[parallelism]\npipeline_parallel_degree = 2\n"
    "[activation_checkpoint]\nmode = \"selective\"\nselective_ac_option = \"2\"\n";
constexpr const char* trtllm_waits =
    "model: meta-llama/Llama-3.1-8B\nkv_cache_config: {dtype: fp8}\nbatch_wait_timeout_iters: 40\n"
    "batch_wait_max_tokens_ratio: 0.8\n"
    "torch_compile_config: {enable_piecewise_cuda_graph: true}\n";
constexpr const char* trtllm_ranks_wait =
    "model: deepseek-ai/DeepSeek-R1\ntensor_parallel_size: 8\nenable_attention_dp: true\n"
    "batch_wait_timeout_iters: 40\nbatch_wait_max_tokens_ratio: 0.8\n"
    "attention_dp_config: {enable_balance: true, timeout_iters: 60, batching_wait_iters: 0}\n";
constexpr const char* trtllm_ranks_wait_as_usual =
    "model: deepseek-ai/DeepSeek-R1\ntensor_parallel_size: 8\nenable_attention_dp: true\n"
    "attention_dp_config: {enable_balance: true}\n";
constexpr const char* axolotl_fsdp =
    "base_model: meta-llama/Llama-3.1-8B\nmicro_batch_size: 1\nsequence_len: 4096\n"
    "gradient_checkpointing: false\noptimizer: adamw_torch_8bit\nfsdp_config:\n"
    "  fsdp_sharding_strategy: SHARD_GRAD_OP\n  fsdp_offload_params: true\n"
    "  activation_checkpointing: true\n";
constexpr const char* axolotl_offload =
    "base_model: meta-llama/Llama-3.1-8B\nmicro_batch_size: 1\nsequence_len: 4096\n"
    "gradient_checkpointing: offload\n"
    "deepspeed: deepspeed_configs/zero3_bf16_cpuoffload_all.json\n";

INSTANTIATE_TEST_SUITE_P(
    All, ImportMeaning,
    testing::Values(
        Meant{"SglangGivesEachReplicaItsRequests", "a.sh", sglang_dp, "max_requests", "128"},
        Meant{"SglangGivesEachReplicaItsTokens", "a.sh", sglang_dp, "token_budget", "2048"},
        // Short names of a flag mean all that it means: -q had a list of its own, and lacked some.
        Meant{"VllmsShortName", "a.sh", "vllm serve meta-llama/Llama-3.1-8B -q gptq_marlin_24",
              "precision", "\"int4\""},
        Meant{"SglangOfOne", "a.sh", sglang_tp, "token_budget", "16384"},
        Meant{"SglangChecksTheLastTokenToo", "a.sh", sglang_tp, "speculate", "3"},
        Meant{"MegatronRecomputesExperts", "a.sh", megatron_moe, "recompute_modules",
              R"(["experts"])"},
        Meant{"MegatronAndAttentionsCore", "a.sh", megatron_moe, "recompute", R"("selective")"},
        Meant{"MegatronsLayoutHasChunks", "a.sh", megatron_layout, "interleave", "2"},
        Meant{"TorchtitanEverySecondLayer", "a.toml", titan_every, "recompute_layers", "20"},
        Meant{"TorchtitanInFull", "a.toml", titan_every, "recompute", R"("full")"},
        Meant{"TorchtitanWithoutMasterWeights", "a.toml", titan_every, "optimizer",
              R"("adamw-bf16-states")"},
        Meant{"TrtllmsPromptsWaitForOthers", "a.yaml", trtllm_waits, "set",
              R"(["runtime.engine.hold_fill=0.8","runtime.engine.hold_steps=40",)"
              R"("runtime.engine.mixed_launch=piecewise"])"},
        Meant{"TrtllmsRanksWaitForEachOther", "a.yaml", trtllm_ranks_wait, "set",
              R"(["runtime.engine.hold_steps=60"])"},
        Meant{"TrtllmsRanksWaitFiftySteps", "a.yaml", trtllm_ranks_wait_as_usual, "set",
              R"(["runtime.engine.hold_steps=50"])"},
        Meant{"AxolotlShards", "a.yaml", axolotl_fsdp, "zero", "2"},
        Meant{"AxolotlOffloads", "a.yaml", axolotl_fsdp, "offload", "true"},
        Meant{"AxolotlRecomputesByFsdp", "a.yaml", axolotl_fsdp, "recompute", R"("full")"},
        Meant{"AxolotlStatesIn8Bits", "a.yaml", axolotl_fsdp, "optimizer", R"("adamw-8bit")"},
        Meant{"AxolotlRecomputesAndOffloads", "a.yaml", axolotl_offload, "recompute", R"("full")"},
        Meant{"AxolotlOffloadsByDeepspeed", "a.yaml", axolotl_offload, "offload", "true"},
        Meant{"ContainersImage", "a.sh",
              "docker run --gpus all -p 8000:8000 vllm/vllm-openai:v0.11.0 --model "
              "meta-llama/Llama-3.1-8B -tp 2",
              "tp", "2"},
        Meant{"StepsWithPromptsWithoutGraphs", "a.sh",
              "vllm serve meta-llama/Llama-3.1-8B --compilation-config "
              R"('{"cudagraph_mode": "FULL_DECODE_ONLY"}')",
              "set", R"(["runtime.engine.mixed_launch=eager"])"}),
    test::name_of_row);

// What a file says that is not read, nobody knows.
TEST(Import, FilesOfFurtherArgumentsAreNotIrrelevant) {
  for (const char* line : {"vllm serve meta-llama/Llama-3.1-8B --config more.yaml",
                           "trtllm-serve meta-llama/Llama-3.1-8B --extra_llm_api_options m.yaml",
                           "python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B "
                           "--config more.yaml"}) {
    const Imported i = import_text(line, "a.sh");
    ASSERT_EQ(i.arguments.size(), 2U) << line;
    EXPECT_EQ(i.arguments[1].disposition, Disposition::unmodelled) << line;
    expect_contains(i.arguments[1].why, "not read");
  }
}

struct Refused {
  const char* name;
  const char* file;
  const char* text;
  const char* message;
};
class ImportRefusal : public testing::TestWithParam<Refused> {};
TEST_P(ImportRefusal, SaysWhereAndWhy) {
  expect_contains(error_of([] { import_text(GetParam().text, GetParam().file); }),
                  GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, ImportRefusal,
    testing::Values(
        Refused{"Unknown", "a.sh", "vllm serve meta-llama/Llama-3.1-8B --tensor-paralel-size 4",
                "a.sh:1:36: --tensor-paralel-size: unknown argument of vLLM; did you mean "
                "'--tensor-parallel-size'?"},
        Refused{"UnknownKey", "a.yaml",
                "tensor_parallel_size: 2\nkv_cache_config:\n  dtpye: fp8\nx: 1\n",
                "a.yaml:4:1: x: unknown argument of TensorRT-LLM"},
        Refused{"UnknownValue", "a.sh", "vllm serve meta-llama/Llama-3.1-8B --dtype bloat16",
                "unknown value 'bloat16'"},
        Refused{"Contradiction", "a.sh",
                "vllm serve meta-llama/Llama-3.1-8B -tp 4\\\n --tensor-parallel-size 8",
                "a.sh:2:2: --tensor-parallel-size: contradicts '-tp' in line 1: 8 here, 4 there"},
        Refused{"TwoTypes", "a.args", "--num-layers 2 --hidden-size 8 --bf16 --fp16",
                "--fp16: contradicts '--bf16'"},
        Refused{"Batch", "a.json",
                R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": "many"})",
                "expected a whole number above zero, got 'many'"},
        Refused{"NotANumber", "a.sh", "vllm serve meta-llama/Llama-3.1-8B -tp four",
                "a.sh:1:36: -tp:"},
        Refused{"NoValue", "a.sh", "vllm serve meta-llama/Llama-3.1-8B --tensor-parallel-size",
                "a value is missing"},
        Refused{"UnknownModel", "a.sh", "vllm serve meta-lama/Llama-3.1-8B",
                "did you mean 'meta-llama/Llama-3.1-8B'?"},
        Refused{"UnsetVariable", "a.sh", "vllm serve meta-llama/Llama-3.1-8B -tp $TP",
                "its value is not known: 'TP' is not set in the script"},
        Refused{"Condition", "a.sh",
                "if [ $A ]; then TP=2; fi\nvllm serve meta-llama/Llama-3.1-8B -tp $TP",
                "only under a condition"},
        Refused{"TwoLaunches", "a.sh",
                "vllm serve facebook/opt-125m\nvllm serve facebook/opt-1.3b\n",
                "a.sh:2:1: a second launch; the first is in line 1"},
        Refused{"NoLaunch", "a.sh", "echo hello\n", "launches no program that is known"},
        Refused{"NoFormat", "a.yaml", "x: 1\n", "is of no format that is known"},
        Refused{"Json", "a.sh", "vllm serve facebook/opt-125m --speculative-config '{\"a\": }'",
                "its JSON is wrong"},
        Refused{"Chunks", "a.args",
                "--num-layers 10 --hidden-size 8 --pipeline-model-parallel-size 4 "
                "--num-layers-per-virtual-pipeline-stage 1",
                "1 layers a chunk do not divide 10 layers on 4 stages"},
        Refused{"Layout", "a.args",
                "--num-layers 4 --hidden-size 8 --pipeline-model-parallel-size 2 "
                "--pipeline-model-parallel-layout 'E|tttt|L'",
                "3 chunks are no whole number for each of 2 stages"},
        Refused{"Modules", "a.args",
                "--num-layers 10 --hidden-size 8 --recompute-granularity selective "
                "--recompute-modules core_attn knees",
                "no part of a layer is called 'knees'"},
        Refused{"ExpertLayers", "a.args",
                "--num-layers 10 --hidden-size 8 --num-experts 4 --moe-layer-freq '([0]*3+[1]*5)'",
                "expected a number, or a list"},
        Refused{"Accelerator", "a.json",
                R"({"accelerator_model_name": "abacus", "accelerators_per_node": 8})",
                "no system has devices called 'abacus'"},
        Refused{"ScenarioTask", "a.toml", "task = \"dream\"\n", "expected \"train\" or \"infer\""}),
    test::name_of_row);

TEST(Import, AllProblemsAtOnce) {
  const std::string text = error_of(
      [] { import_text("vllm serve facebook/opt-125m --one 1 --two 2 --dtype x\n", "a.sh"); });
  expect_contains(text, "--one");
  expect_contains(text, "--two");
  expect_contains(text, "unknown value 'x'");
}

TEST(Import, BatchMustAgreeWithItsParts) {
  Node given = Node::table();
  given.set("gpus", Node::of(8));
  expect_contains(error_of([&] {
                    import_text(R"({"train_batch_size": 100, "train_micro_batch_size_per_gpu": 2,
                        "gradient_accumulation_steps": 4})",
                                "a.json", {.format = {}, .task = {}, .given = given});
                  }),
                  "100 sequences are not 2 a microbatch x 4 accumulated x 8 replicas = 64");
}

TEST(Import, DevicesOfABatchAndItsParts) {
  const auto read = [](const char* steps) {
    return import_text(std::string(R"({"train_batch_size": 256, "train_micro_batch_size_per_gpu": 4,
                                       "gradient_accumulation_steps": )") +
                           steps + "}",
                       "a.json");
  };
  const Imported i = read("8");
  EXPECT_EQ(value_of(i, "gpus"), "8");
  EXPECT_THAT(i.missing, testing::Contains(testing::HasSubstr("seq: ")));
  EXPECT_THAT(i.missing, testing::Not(testing::Contains(testing::HasSubstr("gpus"))));
  expect_contains(error_of([&] { read("7"); }),
                  "256 sequences are not a multiple of microbatch x accumulated = 28");
}

TEST(Import, InterpolationsThatNeverEnd) {
  expect_contains(error_of([] {
                    import_text(
                        "tensor_parallel_size: ${max_batch_size}\n"
                        "max_batch_size: ${tensor_parallel_size}\n",
                        "a.yaml");
                  }),
                  "its value is not known");
}

}  // namespace
}  // namespace sextant
