// SPDX-License-Identifier: Apache-2.0
#include "cli/command_table.hpp"

#include <algorithm>
#include <cmath>

#include "cli/commands.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::cli {
namespace {

std::string default_text(const OptionValue& value) {
  if (const auto* const* s = std::get_if<std::string*>(&value)) return **s;
  if (const auto* const* p = std::get_if<PresetRef*>(&value)) return (*p)->name;
  if (const auto* const* i = std::get_if<int*>(&value)) return std::to_string(**i);
  if (const auto* const* d = std::get_if<double*>(&value)) return write_number(**d);
  if (const auto* e = std::get_if<EnumRef>(&value)) return std::string(e->names[e->get(e->value)]);
  return "";
}

struct JsonType {
  std::string operator()(const std::string*) const { return "string"; }
  std::string operator()(const PresetRef*) const { return "string"; }
  std::string operator()(const EnumRef&) const { return "string"; }
  std::string operator()(const bool*) const { return "boolean"; }
  std::string operator()(const std::optional<bool>*) const { return "boolean"; }
  std::string operator()(const int*) const { return "integer"; }
  std::string operator()(const std::optional<int>*) const { return "integer"; }
  std::string operator()(const double*) const { return "number"; }
  std::string operator()(const std::optional<double>*) const { return "number"; }
  std::string operator()(const std::vector<std::string>*) const { return "array"; }
  std::string operator()(const GivenRef& v) const {
    const Target& target = v.field->target;
    if (std::holds_alternative<bool*>(target)) return "boolean";
    if (std::holds_alternative<int*>(target)) return "integer";
    if (std::holds_alternative<double*>(target)) return "number";
    return std::holds_alternative<StructRef>(target) ? "array" : "string";
  }
};

}  // namespace

std::string Invocation::run() const {
  const Answer a = answer();
  switch (common.format) {
    case Format::json:
      return a.json();
    case Format::csv:
      return a.csv();
    case Format::html:
      return a.html();
    case Format::text:
      break;
  }
  return a.text();
}

void Invocation::fill(const Document& document, const Node& request, const RequestRules& rules) {
  std::vector<Diagnostic> problems;
  read_request(document, request, all_options(), problems, rules);
  if (!problems.empty()) refuse(std::move(problems));
}

void Invocation::refuse(std::vector<Diagnostic> problems) {
  sextant::refuse(std::move(problems), common, [&](const Common& c) { check(c); });
}

std::vector<Option> Invocation::all_options() {
  std::vector<Option> own = options();
  bool file = true;
  bool long_name = true;
  for (const Option& o : own) {
    file = file && o.info.letter != 'o';
    long_name = long_name && o.name != "output";
  }
  std::vector<Option> all;
  for (Option& o : options_of(common)) {
    const bool replaced = std::any_of(own.begin(), own.end(), [&](const Option& other) {
      return o.name != "output" && other.name == o.name;
    });
    if (replaced) continue;
    if (o.name == "output") {
      if (!file) continue;
      if (!long_name) {
        o.name = "o";
        o.info.letter = 0;
      }
    }
    all.push_back(std::move(o));
  }
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

std::span<const CommandGroup> command_groups() {
  static constexpr CommandGroup groups[] = {
      {"ops", "kernels, one or all of a scenario: time, traffic, what bounds it"},
  };
  return groups;
}

namespace {

std::vector<Command> with_local(std::vector<Command> commands) {
  for (const Command& local : local_commands()) commands.push_back(local);
  return commands;
}

// One line a command: its options, its function, its name, what it is, an example.
std::vector<Command>& table() {
  static std::vector<Command> commands = with_local({
      command<ListOptions, run_list>("list", "the presets", "sextant list devices"),
      command<ShowOptions, run_show>("show", "one preset, or what may be set",
                                     "sextant show h100-sxm --toml > mine.toml"),
      command<ModelOptions, run_model>(
          "model", "a model layer by layer: parameters, FLOPs and cache of a token",
          "sextant model deepseek-v3 --seq 8192"),
      command<TrainOptions, run_train>(
          "train", "a training step: its time, its memory, and why",
          "sextant train --model gpt3-175b --system dgx-a100 --gpus 64 --tp 8 --pp 8 "
          "--interleave 3 --sp --recompute selective --batch 64 --seq 2048"),
      command<InferOptions, run_infer>(
          "infer", "requests served: latency, throughput, memory, and why",
          "sextant infer --model llama2-13b --system dgx-h100 --tp 2 --batch 1 "
          "--input 200 --output 200"),
      command<ImportOptions, run_import>(
          "import", "another tool's configuration as a scenario, every argument accounted for",
          "sextant import --system dgx-h100 -- vllm serve meta-llama/Llama-3.1-70B-Instruct "
          "--tensor-parallel-size 4"),
      command<TrafficOptions, run_traffic>(
          "traffic", "requests over time: latencies by percentile, goodput, cost, the limit",
          "sextant traffic --model llama3.1-70b --system dgx-h100 --tp 4 --rate 2 --input 2000 "
          "--output 500 --max-ttft-p99 '1 s' --max-tpot-p99 '40 ms'"),
      command<RlOptions, run_rl>(
          "rl", "a step of reinforcement learning: rollout, judging, updates, what dominates",
          "sextant rl --model qwen3-32b --system dgx-h100 --gpus 32 --tp 4 --pp 4 --sp --prompts "
          "64 "
          "--samples 32 --input 150 --output 3000 --batch 512 --rollout-tp 4"),
      command<CompareOptions, run_compare>(
          "compare", "scenarios side by side: the difference, factor by factor",
          "sextant compare a.toml b.toml"),
      command<ProfileOptions, run_profile>(
          "profile", "a profiler's trace beside the model: where a run loses time",
          "sextant profile trace.json.gz --device h200-sxm"),
      command<SearchOptions, run_search>(
          "search", "the best strategies, the Pareto front, and why the rest fail",
          "sextant search --model gpt3-175b --system dgx-a100 --gpus 512 --batch 512 "
          "--fix tp=8 --limit 'pp<=16'"),
      command<TechOptions, run_tech>(
          "tech", "a device from technology and budgets, and where they go",
          "sextant tech --node n3 --dram hbm4 --area '814 mm2' --power '1000 W' -o dev.toml"),
      command<GemmOptions, run_ops>(
          "ops gemm", "a matrix multiply y[m,n] = x[m,k] W^T",
          "sextant ops gemm --device h100-sxm --dtype bf16 -m 4096 -n 4096 -k 4096"),
      command<AttentionOptions, run_ops>(
          "ops attention", "an attention kernel",
          "sextant ops attention --device h100-sxm --backend trtllm --phase decode "
          "--batch 64 --heads 64 --kv-heads 8 --q-len 1 --kv-len 4096"),
      command<ExpertsOptions, run_ops>(
          "ops experts", "a mixture-of-experts layer of one rank",
          "sextant ops experts --device h200-sxm --dtype fp8 --tokens 4096 --hidden 7168 "
          "--ffn 2048 --experts 256 --topk 8 --ep 8"),
      command<StreamOptions, run_ops>(
          "ops stream", "an operator that only streams",
          "sextant ops stream --device h200-sxm --op rmsnorm --rows 8192 --cols 8192"),
      command<CollectiveOptions, run_collective>(
          "ops collective", "communication between devices",
          "sextant ops collective --system dgx-h100 --collective all_reduce "
          "--gpus 8 --bytes '64 MiB'"),
      command<OpsInferOptions, run_ops_infer>(
          "ops infer", "every operator of one pass of serving, and its roofline",
          "sextant ops infer --model llama2-13b --system dgx-h100 --tp 2 "
          "--phase decode --plot roofline.svg"),
      command<OpsTrainOptions, run_ops_train>(
          "ops train", "every operator of a training step, and its roofline",
          "sextant ops train --model llama3.1-8b --system dgx-h100 --gpus 8 --tp 2"),
      command<ValidateOptions, run_validate>(
          "validate", "predicted against measured, by source",
          "sextant validate --cases gemm.csv --plot accuracy.svg"),
  });
  return commands;
}

}  // namespace

std::span<const Command> commands() { return table(); }
void add_command(const Command& command) { table().push_back(command); }

const Command* find_command(std::string_view name) {
  const std::span<const Command> all = commands();
  return find_by(all, &Command::name, name);
}

std::string flag_of(std::string_view name) {
  std::string flag = (name.size() == 1 ? "-" : "--") + std::string(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

OptionDescription describe_option(const Option& option) {
  const OptionInfo& info = option.info;
  OptionDescription d;
  d.name = option.name;
  if (!info.positional) {
    if (info.letter != 0) d.flags.push_back(std::string("-") + info.letter);
    d.flags.push_back(info.doubled ? "--" + std::string(option.name) : flag_of(option.name));
    if (!info.alias.empty()) d.flags.push_back(flag_of(info.alias));
    if (!info.no.empty()) d.no_flag = flag_of(info.no);
  }
  d.help = info.help;
  d.type = std::visit(JsonType{}, option.value);
  d.placeholder = info.placeholder;
  d.default_text = default_text(option.value);
  d.choices.assign(info.choices.begin(), info.choices.end());
  if (info.preset) d.preset = name_of(*info.preset);
  d.number = info.number;
  d.object = std::holds_alternative<PresetRef*>(option.value);
  if (const double most = std::min(info.max, info.max_remote); std::isfinite(most))
    d.maximum = most;
  d.required = info.required;
  d.unless = info.unless;
  d.positional = info.positional;
  d.commas = info.commas;
  d.local = info.local;
  d.reads = info.reads;
  return d;
}

std::vector<CommandDescription> describe_commands() {
  std::vector<CommandDescription> all;
  for (const Command& c : commands()) {
    CommandDescription d{std::string(c.name), std::string(c.help), std::string(c.example), {}};
    const std::unique_ptr<Invocation> invocation = c.prepare();
    for (const Option& o : invocation->all_options()) d.options.push_back(describe_option(o));
    all.push_back(std::move(d));
  }
  return all;
}

}  // namespace sextant::cli
