// SPDX-License-Identifier: Apache-2.0
// The same scenario, asked in every way there is, gets the same digits.
#include "sextant/options/scenario.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "sextant/io/test_support.hpp"
#include "sextant/options/request.hpp"
#include "sextant/options/search_space.hpp"
#include "sextant/sweep/best.hpp"
#include "sextant/sweep/evaluator.hpp"
#include "sextant/validate/validate.hpp"

namespace sextant::cli {
namespace {

/// What is given: names and fields, as texts.
struct Given {
  Task task = Task::train;
  std::string model, system, runtime;
  std::map<std::string, std::string> fields;
};

class Draw {
 public:
  Given operator()() {
    Given g;
    g.task = one_of({"train", "infer"}) == "train" ? Task::train : Task::infer;
    g.model = one_of({"llama3.1-8b", "gpt3-6.7b", "mixtral-8x7b", "llama2-70b"});
    g.system = one_of({"dgx-h100", "dgx-a100"});
    g.runtime = g.task == Task::train ? one_of({"megatron-core", "megatron-lm", "nanotron"})
                                      : one_of({"trtllm", "vllm"});
    const bool train = g.task == Task::train;
    maybe(g, 2, "tp", {"1", "2", "4", "8", "3"});
    maybe(g, 3, "pp", {"1", "2", "4"});
    maybe(g, 5, "dp", {"1", "2", "4"});
    maybe(g, 4, "gpus", {"8", "16", "64", "12"});
    if (g.model == "mixtral-8x7b") maybe(g, 2, "ep", {"1", "2", "4", "8"});
    maybe(g, 3, "precision", {"bf16", "fp8", "fp16"});
    if (train) {
      draw_training(g);
    } else {
      draw_serving(g);
    }
    return g;
  }

 private:
  void draw_training(Given& g) {
    g.fields["batch"] = one_of({"16", "64", "128", "96"});
    g.fields["seq"] = one_of({"1024", "2048", "4096"});
    maybe(g, 4, "cp", {"1", "2"});
    maybe(g, 2, "microbatch", {"1", "2"});
    maybe(g, 3, "zero", {"0", "1", "2", "3"});
    // Beside one rank or stage, without ZeRO or full recomputation, the command refuses them, and
    // rows of cases mean nothing by them.
    if (g.fields.contains("zero") && g.fields["zero"] != "0") maybe(g, 3, "shard", {"2"});
    if (g.fields.contains("pp") && g.fields["pp"] != "1") maybe(g, 3, "interleave", {"1", "2"});
    if (g.fields.contains("tp") && g.fields["tp"] != "1") maybe(g, 2, "sp", {"1", "0"});
    maybe(g, 3, "recompute", {"none", "selective", "full"});
    if (g.fields.contains("recompute") && g.fields["recompute"] == "full")
      maybe(g, 2, "recompute_layers", {"2"});
    maybe(g, 6, "recompute_modules", {"norms", "norms,mlp"});
    maybe(g, 4, "schedule", {"1f1b", "gpipe", "zero-bubble"});
    maybe(g, 6, "order", {"tp-cp-ep-pp-dp"});
    maybe(g, 6, "context", {"all-to-all"});
    maybe(g, 8, "offload", {"1"});
    maybe(g, 4, "optimizer", {"adamw", "adamw-bf16-states"});
  }
  void draw_serving(Given& g) {
    g.fields["batch"] = one_of({"1", "8", "64"});
    g.fields["input"] = one_of({"128", "1024"});
    g.fields["output"] = one_of({"16", "64"});
    maybe(g, 2, "batching", {"static", "closed-loop"});
    maybe(g, 4, "chunk", {"256"});
    maybe(g, 3, "kv_precision", {"bf16", "fp8"});
    maybe(g, 5, "speculate", {"3"});
  }
  std::string one_of(const std::vector<std::string>& values) {
    return values[random_() % values.size()];
  }
  void maybe(Given& g, unsigned one_in, const char* field, const std::vector<std::string>& values) {
    if (random_() % one_in == 0) g.fields[field] = one_of(values);
  }

  std::mt19937 random_{7};
};

Common plain() {
  Common c;
  c.lookup = Lookup::presets;
  return c;
}

/// Whether a field is written without quotes, and how.
std::string as_value(Task task, const std::string& name, const std::string& text) {
  for (const InputField& f : input_fields(task)) {
    if (f.slot.name != name) continue;
    if (std::holds_alternative<bool*>(f.slot.target)) return text == "1" ? "true" : "false";
    if (std::holds_alternative<int*>(f.slot.target)) return text;
  }
  return '"' + text + '"';
}

using Digits = std::optional<double>;  ///< nothing: it cannot run

template <class Options>
void fill(const Given& g, Options& o) {
  o.model.name = g.model;
  o.system.name = g.system;
  o.runtime.name = g.runtime;
}

Digits digits_of(const Scenario& x) {
  if (x.task == Task::infer) return serve(x.problem, x.strategy).latency.value;
  return evaluate(x.problem, x.strategy).step.value;
}

Question by_flags(const Given& g) {
  ScenarioOptions o;
  fill(g, o);
  for (const auto& [name, text] : g.fields) o.given.set(name, Node::of(text));
  return question_of(o, plain(), g.task);
}

template <class Options>
Question by_request(const Given& g) {
  std::string json = R"({"model": ")" + g.model + R"(", "system": ")" + g.system +
                     R"(", "runtime": ")" + g.runtime + '"';
  for (const auto& [name, text] : g.fields) {
    std::string value = as_value(g.task, name, text);
    if (name == "recompute_modules") {
      value = text == "norms" ? R"(["norms"])" : R"(["norms", "mlp"])";
    }
    json += ", \"" + name + "\": " + value;
  }
  Options o;
  std::vector<Diagnostic> problems;
  const Document document = parse_json(json + "}", "request");
  read_request(document, document.root, options_of(o), problems, {.asker = Asker::network});
  EXPECT_TRUE(problems.empty()) << to_text(problems.front());
  return question_of(o, plain(), g.task);
}

Digits by_question(const Question& question) {
  try {
    return digits_of(read_scenario(question));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

Digits by_sweep(const Given& g) {
  std::string plan = "kind = \"" + std::string(name_of(g.task)) + "\"\n[base]\nmodel = \"" +
                     g.model + "\"\nsystem = \"" + g.system + "\"\nruntime = \"" + g.runtime +
                     "\"\n";
  for (const auto& [name, text] : g.fields) {
    if (name == "batch") continue;
    if (name == "recompute_modules") {
      plan += "recompute_modules.norms = true\n";
      if (text != "norms") plan += "recompute_modules.mlp = true\n";
    } else {
      plan += name + " = " + as_value(g.task, name, text) + "\n";
    }
  }
  plan += "[[axis]]\nfield = \"batch\"\nvalues = [" + g.fields.at("batch") + "]\n";
  try {
    const sweep::Plan read = sweep::read_plan(plan, "plan", Lookup::presets);
    sweep::Evaluator evaluator(read, sweep::inner_search());
    sweep::Chunk chunk;
    evaluator.answer(0, chunk);
    const char* wanted = g.task == Task::train ? "step_seconds" : "latency_seconds";
    for (std::size_t i = 0; i < chunk.values.size(); ++i) {
      if (evaluator.outputs()[i].name == wanted && std::isfinite(chunk.values[i])) {
        return chunk.values[i];
      }
    }
  } catch (const InputError&) {  // no point has degrees that multiply to its devices
  }
  return std::nullopt;
}

Digits by_case(const Given& g) {
  const bool train = g.task == Task::train;
  std::string header = "id,kind,system,runtime,model,metric,measured,source";
  std::string row = std::string("a,") + (train ? "train," : "infer,") + g.system + "," + g.runtime +
                    "," + g.model + "," + (train ? "step_seconds" : "latency_seconds") + ",1,me";
  for (const auto& [name, text] : g.fields) {
    header += "," + name;
    row += text.find(',') == std::string::npos ? "," + text : ",\"" + text + '"';
  }
  Catalogue catalogue;
  const auto results =
      validate(read_cases(parse_csv(header + "\n" + row + "\n", "c.csv")), catalogue);
  if (!results.at(0).unsupported.empty()) return std::nullopt;
  return results[0].predicted;
}

/// The space of that strategy alone.
Digits by_search(const Given& g, const Scenario& x) {
  SearchOptions o;
  fill(g, o);
  o.infer = g.task == Task::infer;
  o.gpus = static_cast<int>(devices_of(x.strategy));
  o.threads = 1;
  for (const auto& [name, text] : g.fields) {
    const auto& work = workload_fields();
    const auto of_it = [&wanted = name](const auto& f) { return f.slot.name == wanted; };
    if (std::any_of(work.begin(), work.end(), of_it)) {
      o.given.set(name, Node::of(text));
    }
  }
  Inputs inputs = x.inputs;
  inputs.strategy = x.strategy;
  inputs.serving = x.problem.serving;
  const auto fix = [&](std::string_view name, auto&) {
    if (o.given.find(name) != nullptr) return;  // by a flag of its own
    for (const Slot& slot : fields_of(g.task, inputs).fields) {
      if (slot.name != name) continue;
      const int number = static_cast<int>(sweep::number_of(slot.target));
      const auto* e = std::get_if<EnumRef>(&slot.target);
      const std::string value =
          e != nullptr ? std::string(e->names[e->get(e->value)]) : std::to_string(number);
      o.fix.push_back(std::string(name) + "=" + value);
    }
  };
  SearchProgress progress;
  if (o.infer) {
    ServingSpace names;
    describe(fix, names);
    const ServingSearch t = read_serving_search(o, plain());
    const auto found = search_serving(t.scenario.problem, t.space, t.aim, progress).best;
    return found.empty() ? Digits{} : found[0].estimate.latency.value;
  }
  SearchSpace names;
  describe(fix, names);
  TrainingSearch t = read_training_search(o, plain());
  t.space.modules = {x.strategy.modules};
  const SearchPlan plan = lay_out(t.scenario.problem, t.space);
  const auto found = search(t.scenario.problem, t.space, plan, t.aim, progress).best;
  return found.empty() ? Digits{} : found[0].estimate.step.value;
}

std::string text_of(const Given& g) {
  std::string text = g.model + " on " + g.system + " with " + g.runtime;
  for (const auto& [name, value] : g.fields) text += " --" + name + " " + value;
  return text;
}

TEST(Scenario, EveryWayOfAskingGivesTheSameDigits) {
  Draw draw;
  int answered = 0;
  int searched = 0;
  for (int i = 0; i < 500; ++i) {
    const Given g = draw();
    const Question question = by_flags(g);
    const Digits digits = by_question(question);
    const Question request =
        g.task == Task::train ? by_request<TrainOptions>(g) : by_request<InferOptions>(g);
    EXPECT_EQ(by_question(request), digits) << text_of(g);
    EXPECT_EQ(by_sweep(g), digits) << text_of(g);
    EXPECT_EQ(by_case(g), digits) << text_of(g);
    if (!digits) continue;
    ++answered;
    const Scenario x = read_scenario(question);
    const bool train = g.task == Task::train;
    const Verdict verdict =
        train ? evaluate(x.problem, x.strategy).verdict : serve(x.problem, x.strategy).verdict;
    // A search looks only at what fits, and at no schedule of a pipeline that is none.
    if (verdict != Verdict::fits) continue;
    if (train && x.strategy.pp == 1 && x.strategy.schedule != Schedule::one_f_one_b) continue;
    ++searched;
    EXPECT_EQ(by_search(g, x), digits) << text_of(g);
  }
  EXPECT_GT(answered, 100);
  EXPECT_GT(searched, 50);
}

// What a plan leaves out is what a search leaves out: the precision of the weights as they are
// stored, schedules that the runtime has.
TEST(Scenario, ASweepFindsWhatASearchFinds) {
  struct Sought {
    const char* model;
    const char* system;
    std::vector<std::pair<const char*, double>> given;
    std::string precision = {};
    bool infer = true;
  };
  const std::vector<Sought> all = {
      {"llama3.1-405b", "dgx-h100", {{"input", 1024}, {"output", 64}}, "fp8"},
      {"gpt-oss-120b", "dgx-b200", {{"input", 1000}, {"output", 100}}},
      {"kimi-k2-thinking", "dgx-b200", {{"input", 1000}, {"output", 100}}},
      {"llama3.1-8b", "dgx-h100", {{"batch", 128}, {"seq", 4096}}, "", false},
  };
  for (const Sought& x : all) {
    std::string plan_text = std::string(x.infer ? "kind = \"infer\"\n" : "kind = \"train\"\n") +
                            "best = true\n[base]\nmodel = \"" + x.model + "\"\nsystem = \"" +
                            x.system + "\"\n";
    SearchOptions o;
    o.model.name = x.model;
    o.system.name = x.system;
    o.infer = x.infer;
    o.gpus = 8;
    o.threads = 1;
    for (const auto& [name, value] : x.given) {
      plan_text += std::string(name) + " = " + std::to_string(static_cast<int>(value)) + "\n";
      o.given.set(name, Node::of(value));
    }
    if (!x.precision.empty()) {
      plan_text += "precision = \"" + x.precision + "\"\n";
      o.precision = {x.precision};
    }
    plan_text += "[[axis]]\nfield = \"gpus\"\nvalues = [8]\n";
    const sweep::Plan plan = sweep::read_plan(plan_text, "plan", Lookup::presets);
    sweep::Evaluator evaluator(plan, sweep::inner_search());
    sweep::Chunk chunk;
    evaluator.answer(0, chunk);
    std::map<std::string, double> swept;
    for (std::size_t i = 0; i < chunk.values.size(); ++i) {
      swept[evaluator.outputs()[i].name] = chunk.values[i];
    }
    SearchProgress progress;
    if (x.infer) {
      const ServingSearch t = read_serving_search(o, plain());
      const auto found = search_serving(t.scenario.problem, t.space, t.aim, progress).best;
      ASSERT_FALSE(found.empty()) << x.model;
      EXPECT_EQ(swept["best_batch"], found[0].serving.batch) << x.model;
      EXPECT_EQ(swept["output_tokens_per_second"], found[0].estimate.tokens_per_second) << x.model;
    } else {
      const TrainingSearch t = read_training_search(o, plain());
      const SearchPlan space = lay_out(t.scenario.problem, t.space);
      const auto found = search(t.scenario.problem, t.space, space, t.aim, progress).best;
      ASSERT_FALSE(found.empty()) << x.model;
      EXPECT_EQ(swept["step_seconds"], found[0].estimate.step.value) << x.model;
    }
  }
}

// No number of devices is a question, and none of them may loop.
TEST(Scenario, ASearchNeedsDevices) {
  for (const int gpus : {0, -1, 20000000}) {
    for (const bool infer : {false, true}) {
      SearchOptions o;
      o.model.name = "gpt3-6.7b";
      o.system.name = "dgx-a100";
      o.infer = infer;
      o.gpus = gpus;
      o.max_gpus = infer ? std::optional<int>{} : std::optional<int>{64};
      if (!infer) o.given.set("batch", Node::of(64));
      EXPECT_THROW(
          infer ? void(read_serving_search(o, plain())) : void(read_training_search(o, plain())),
          InputError)
          << gpus;
    }
  }
}

TEST(Scenario, ARuntimeIsAskedForWhatItDoes) {
  const auto refused = [](Task task, const char* runtime) {
    Question q = by_flags({task, "llama3.1-8b", "dgx-h100", runtime, {}});
    return test::error_of([&] { read_scenario(q); }).find("--runtime") != std::string::npos;
  };
  EXPECT_TRUE(refused(Task::train, "vllm"));
  EXPECT_TRUE(refused(Task::infer, "megatron-core"));
  EXPECT_FALSE(refused(Task::infer, "nemo-2023"));
  EXPECT_FALSE(refused(Task::train, "megatron-core"));
}

// Every axis that a strategy has may be fixed, but for the parts of recomputation.
TEST(Scenario, SpacesHaveEveryAxis) {
  std::vector<std::string_view> names;
  auto list = [&](std::string_view name, auto&) { names.push_back(name); };
  SearchSpace space;
  describe(list, space);
  const Strategy one;
  for (const Slot& axis : reflect(one).fields) {
    if (axis.name == "modules") continue;
    EXPECT_NE(std::find(names.begin(), names.end(), axis.name), names.end()) << axis.name;
  }
}

}  // namespace
}  // namespace sextant::cli
