// SPDX-License-Identifier: Apache-2.0
#include "sextant/options/rl_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/options/scenario.hpp"
#include "sextant/options/traffic_scenario.hpp"

namespace sextant {
namespace {

class RlReader {
 public:
  RlReader(const RlOptions& options, const Common& common) : o_(options), common_(common) {}

  RlScenario run() {
    read_samples();
    x_.actor = training(o_.model);
    check_context();
    pack(x_.actor);
    if (o_.algorithm == RlAlgorithm::ppo) {
      x_.critic = training(o_.critic.empty() ? o_.model : o_.critic);
      pack(*x_.critic);
    }
    if (!o_.reward_model.empty()) {
      x_.reward = training(o_.reward_model);
      pack(*x_.reward);
    }
    read_engines();
    collect_assumptions();
    return std::move(x_);
  }

 private:
  void assume(std::string text) { x_.assumptions.push_back(std::move(text)); }

  int given_or(const std::optional<int>& given, const char* name, int otherwise) {
    if (!given) assume(fmt::format("{} {}", name, otherwise));
    return given.value_or(otherwise);
  }

  void read_samples() {
    std::vector<Diagnostic> problems;
    const auto add = [&](const char* flag, const char* message, const char* hint) {
      problems.push_back({.file = flag, .message = message, .hint = hint});
    };
    if (o_.overlap && !o_.rollout_gpus) {
      add("--overlap", "engines share the devices of training", "give --rollout-gpus");
    }
    if (o_.sleep && o_.rollout_gpus) {
      add(*o_.sleep ? "--sleep" : "--no-sleep", "engines have devices of their own",
          "leave it or --rollout-gpus out");
    }
    if (!o_.critic.empty() && o_.algorithm == RlAlgorithm::grpo) {
      add("--critic", "grpo has none", "--algorithm ppo");
    }
    if (o_.longest && !o_.spread) {
      add("--longest", "answers are all alike", "give --spread, such as 0.5");
    }
    if (o_.longest && *o_.longest < o_.output.value_or(usual_output)) {
      add("--longest", "the longest answer is shorter than the mean", "see --output");
    }
    throw_if_any(std::move(problems));
    const int prompts = given_or(o_.prompts, "prompts", 64);
    each_ = given_or(o_.samples, "samples", o_.algorithm == RlAlgorithm::grpo ? 16 : 1);
    input_ = given_or(o_.input, "input", 256);
    output_ = given_or(o_.output, "output", usual_output);
    x_.task.algorithm = o_.algorithm;
    x_.task.samples = static_cast<double>(prompts) * each_;
    x_.task.tokens = x_.task.samples * (input_ + output_);
    x_.task.epochs = o_.epochs;
    x_.task.reference = o_.reference.value_or(true);
    x_.task.elsewhere = o_.rollout_gpus.has_value();
    x_.task.overlap = o_.overlap;
    RlFramework& f = x_.task.framework;
    f.refit = o_.refit;
    f.sleep = o_.sleep.value_or(f.sleep);
    f.unpinned = o_.unpinned.value_or(f.unpinned);
    f.tensor = Seconds(o_.host_per_tensor.value_or(f.tensor.value));
    f.answer = Seconds(o_.host_per_answer.value_or(f.answer.value));
    if (!o_.spread) assume("answers of one length; --spread says how they differ");
  }

  /// A model as the options of training have it; sequences are prompts with their answers.
  Scenario training(const PresetRef& model) const {
    TrainOptions t;
    t.model = model;
    t.system = o_.system;
    t.runtime = o_.runtime;
    t.given = o_.given;
    t.notes = o_.notes;
    if (t.given.find("batch") == nullptr) {
      t.given.set("batch", Node::of(static_cast<std::int64_t>(x_.task.samples)));
    }
    t.given.set("seq", Node::of(padded(longest_unit)));
    Scenario s = read_training(t, common_);
    // Only as far as its ranks need it, so that they have equal parts.
    for (int unit = 1; unit < longest_unit; unit *= 2) {
      s.problem.work.seq = padded(unit);
      if (legal(s.problem, s.strategy) == Verdict::fits) break;
      s.problem.work.seq = padded(longest_unit);
    }
    return s;
  }

  /// A prompt and its answer, padded to whole units of tokens.
  static constexpr int longest_unit = 64;
  int padded(int unit) const { return (input_ + output_ + unit - 1) / unit * unit; }

  void check_context() {
    const Model& m = x_.actor.problem.model;
    const int longest = input_ + (o_.longest ? *o_.longest : output_);
    if (m.max_context <= 0 || longest <= m.max_context) return;
    const std::string what =
        fmt::format("prompts and answers make a context of {}, {} takes {} at most", longest,
                    m.name, m.max_context);
    if (o_.allow_long) return assume(what + ": gone on with, as asked");
    throw InputError({{.file = o_.longest ? "--longest" : "--output",
                       .message = what,
                       .hint = "--allow-long goes on all the same"}});
  }

  /// Answers are packed as far as a microbatch goes, where it is not given.
  void pack(Scenario& s) {
    if (o_.given.find("microbatch") != nullptr) return;
    const int tokens = o_.pack.value_or(8192);
    const int most = std::max(1, tokens / s.problem.work.seq);
    for (int m = most; m >= 1; --m) {
      Strategy packed = s.strategy;
      packed.microbatch = m;
      if (legal(s.problem, packed) != Verdict::fits) continue;
      s.strategy = packed;
      break;
    }
    std::erase_if(s.assumptions, [](const std::string& a) { return a.starts_with("microbatch"); });
    s.assumptions.push_back(
        fmt::format("microbatch {}: of {} tokens at most", s.strategy.microbatch, tokens));
  }

  void read_engines() {
    TrafficOptions t;
    t.model = o_.model;
    t.system = o_.system;
    t.runtime = o_.rollout_runtime;
    t.tp = o_.rollout_tp;
    t.pp = o_.rollout_pp;
    t.dp = o_.rollout_dp;
    t.ep = o_.rollout_ep;
    t.precision = o_.rollout_precision;
    t.kv_precision = o_.kv_precision;
    t.arrivals = "burst";
    t.requests = static_cast<int>(x_.task.samples);
    t.input = input_;
    t.output = output_;
    t.max_requests = o_.max_requests;
    t.token_budget = o_.token_budget;
    t.memory_fraction = o_.memory_fraction;
    // NeMo RL's grpo_math_1B.yaml: gpu_memory_utilization where devices are shared.
    if (!t.memory_fraction && !x_.task.elsewhere) {
      t.memory_fraction = 0.6;
      assume("memory_fraction 0.6 of the engines");
    }
    const double degrees =
        static_cast<double>(t.tp.value_or(1)) * t.pp.value_or(1) * t.dp.value_or(1);
    const double devices = x_.task.elsewhere ? *o_.rollout_gpus : devices_of(x_.actor.strategy);
    const double engines = devices / degrees;
    if (engines < 1 || engines != static_cast<int>(engines)) {
      throw InputError({{.file = x_.task.elsewhere ? "--rollout-gpus" : "--rollout-tp",
                         .message = fmt::format("{} devices are no whole number of engines of {}",
                                                devices, degrees),
                         .hint = "--rollout-tp, --rollout-pp and --rollout-dp must divide them"}});
    }
    t.replicas = static_cast<int>(engines);
    t.allow_long = true;  // which was asked before
    x_.rollout = traffic_of(t);
    if (o_.spread) vary_lengths();
    check_cache(x_.rollout, "--rollout-tp");
    const Pool& pool = x_.rollout.cluster.pool;
    x_.task.rollout = {.time = {},
                       .devices = devices,
                       .ranks = static_cast<double>(pool.strategy.tp) * pool.strategy.pp,
                       .expert_ranks = degrees,
                       .element_bytes = element_bytes(pool.strategy.precision),
                       .memory = x_.rollout.memory.total()};
  }

  /// What is wrong with the engines is said of their own flags.
  TrafficScenario traffic_of(const TrafficOptions& t) const {
    try {
      return read_traffic(t, common_);
    } catch (const InputError& e) {
      std::vector<Diagnostic> problems = e.diagnostics();
      for (Diagnostic& d : problems) {
        for (const char* name : {"runtime", "tp", "pp", "dp", "ep", "precision"}) {
          if (d.file == std::string("--") + name) d.file = std::string("--rollout-") + name;
        }
      }
      throw InputError(std::move(problems));
    }
  }

  void vary_lengths() {
    Sampled sampled{.requests = static_cast<int>(x_.task.samples),
                    .input = input_,
                    .output = static_cast<double>(output_),
                    .spread = *o_.spread,
                    .seed = static_cast<std::uint64_t>(o_.seed)};
    if (o_.longest) sampled.longest = *o_.longest;
    x_.rollout.trace = std::make_shared<const Trace>(sample_of(sampled));
    x_.rollout.traffic.trace = x_.rollout.trace.get();
    x_.rollout.traffic.lengths = Lengths::trace;
  }

  void collect_assumptions() {
    const auto take = [&](const std::vector<std::string>& from, const char* of) {
      for (const std::string& a : from) {
        const std::string text = std::string(of) + a;
        if (std::find(x_.assumptions.begin(), x_.assumptions.end(), text) == x_.assumptions.end()) {
          x_.assumptions.push_back(text);
        }
      }
    };
    take(x_.actor.assumptions, "");
    take(x_.rollout.scenario.assumptions, "engines: ");
    const RlFramework& f = x_.task.framework;
    if (f.refit == Refit::whole) assume("every rank gathers all new weights: --refit");
    if (f.sleep && !x_.task.elsewhere) {
      assume(
          fmt::format("engines and training leave the devices to each other; copies to memory "
                      "that is not pinned at {} of the host link: --sleep, --unpinned",
                      f.unpinned));
    }
    if (each_ > 1) assume("each prompt is read once for every answer: no prefix is shared");
    if (x_.task.reference) assume("the reference model waits in the host's memory");
    if (o_.reward_model.empty()) assume("rewards cost nothing");
  }

  static constexpr int usual_output = 1024;
  const RlOptions& o_;
  const Common& common_;
  RlScenario x_;
  int each_ = 1;
  int input_ = 1;
  int output_ = 1;
};

}  // namespace

const std::vector<InputField>& rl_fields() {
  static const std::vector<InputField> all = [] {
    std::vector<InputField> fields = input_fields(Task::train);
    std::erase_if(fields, [](const InputField& f) {
      return f.slot.name == "seq" || f.slot.name == "images";  // engines answer text alone
    });
    return fields;
  }();
  return all;
}

RlScenario read_rl(const RlOptions& options, const Common& common) {
  return RlReader(options, common).run();
}

}  // namespace sextant
