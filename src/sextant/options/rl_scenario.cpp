// SPDX-License-Identifier: Apache-2.0
#include "sextant/options/rl_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sextant/options/scenario.hpp"
#include "sextant/options/settings.hpp"
#include "sextant/options/traffic_scenario.hpp"
#include "sextant/spec/flags.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

class RlReader {
 public:
  RlReader(const RlOptions& options, const Common& common) : o_(options), common_(common) {}

  RlScenario run() {
    check_flags();
    read_samples();
    const bool known = collected([&] {
      x_.actor = training(o_.model);
      check_context();
      check_batch();
      pack(x_.actor);
    });
    if (o_.algorithm == RlAlgorithm::ppo && (known || !o_.critic.empty())) {
      const auto read = [&] {
        x_.critic = training(o_.critic.empty() ? o_.model : o_.critic);
        pack(*x_.critic);
      };
      collected(read, "--critic");
    }
    if (!o_.reward_model.empty()) {
      const auto read = [&] {
        x_.reward = training(o_.reward_model);
        pack(*x_.reward);
      };
      collected(read, "--reward-model");
    }
    collected([&] { read_engines(known); });
    throw_if_any(std::move(flags_.problems));
    collect_assumptions();
    return std::move(x_);
  }

 private:
  void assume(std::string text) { x_.assumptions.push_back(std::move(text)); }

  int given_or(const std::optional<int>& given, const char* name, int otherwise) {
    if (!given) assume(fmt::format("{} {}", name, otherwise));
    return given.value_or(otherwise);
  }

  bool unread(std::initializer_list<std::string_view> names) const {
    return sextant::unread(common_, names);
  }

  /// Whether nothing is wrong with a part of what was asked. What is wrong is kept, once: the
  /// engines and other models have the system of training. `model` names the other model.
  template <class Work>
  bool collected(const Work& work, const char* model = nullptr) {
    try {
      work();
    } catch (const InputError& e) {
      for (Diagnostic d : e.diagnostics()) {
        if (d.file == "--seq") d.file = "--output";  // what sequences are follows from it
        const bool known = std::any_of(
            flags_.problems.begin(), flags_.problems.end(),
            [&](const Diagnostic& o) { return o.file == d.file && o.message == d.message; });
        if (known) continue;
        flags_.problems.push_back(d);
        if (model == nullptr) continue;
        Diagnostic& own = flags_.problems.back();
        if (own.file == "--model") {
          own.file = model;
        } else {
          own.message += fmt::format(", for {}", model);
        }
      }
      return false;
    }
    return true;
  }

  void check_flags() {
    if (o_.overlap && !o_.rollout_gpus && !unread({"rollout_gpus"})) {
      flags_.add("--overlap", "engines share the devices of training", "give --rollout-gpus");
    }
    if (o_.sleep && o_.rollout_gpus) {
      flags_.add(*o_.sleep ? "--sleep" : "--no-sleep", "engines have devices of their own",
                 "leave it or --rollout-gpus out");
    }
    if (!o_.critic.empty() && o_.algorithm == RlAlgorithm::grpo && !unread({"algorithm"})) {
      flags_.add("--critic", "grpo has none", "--algorithm ppo");
    }
    if (o_.unpinned && o_.rollout_gpus) {
      flags_.add("--unpinned", "engines have devices of their own: nothing is copied away for them",
                 "leave it or --rollout-gpus out");
    }
    if (o_.pack && o_.given.find("microbatch") != nullptr) {
      flags_.add("--pack", "--microbatch says how many answers go together",
                 "leave one of them out");
    }
    for (const auto& [flag, given] :
         {std::pair{"--longest", o_.longest}, std::pair{"--seed", o_.seed}}) {
      if (!given || o_.spread || unread({"spread"})) continue;
      flags_.add(flag, "answers are all alike", "give --spread, such as 0.5");
    }
    if (o_.longest && *o_.longest < o_.output.value_or(usual_output) && !unread({"output"})) {
      flags_.add("--longest", "the longest answer is shorter than the mean", "see --output");
    }
  }

  void read_samples() {
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
    const bool set = std::any_of(common_.set.begin(), common_.set.end(),
                                 [](const std::string& s) { return axis_of(s) == "batch"; });
    if (!set && t.given.find("batch") == nullptr) {
      t.given.set("batch", Node::of(static_cast<std::int64_t>(x_.task.samples)));
    }
    t.given.set("seq", Node::of(padded(longest_unit)));
    // Nobody knows what follows from numbers that could not be read.
    Common common = common_;
    if (unread({"prompts", "samples"})) common.unread.emplace_back("batch");
    if (unread({"input", "output"})) common.unread.emplace_back("seq");
    Scenario s = read_training(t, common);
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
    if (unread({"input", "output", "longest"})) return;
    const std::string what =
        fmt::format("prompts and answers make a context of {}, {} takes {} at most", longest,
                    m.name, m.max_context);
    if (o_.allow_long) return assume(what + ": gone on with, as asked");
    flags_.add(o_.longest ? "--longest" : "--output", what, "--allow-long goes on all the same");
  }

  void check_batch() {
    const int batch = x_.actor.problem.work.batch;
    if (batch <= x_.task.samples || unread({"prompts", "samples"})) return;
    flags_.add("--batch",
               fmt::format("an update of {} answers, a step has {:.0f}", batch, x_.task.samples),
               "fewer, or more --prompts or --samples");
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

  /// `known`: training's devices are.
  void read_engines(bool known) {
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
    const bool counted =
        (x_.task.elsewhere || (known && !unread({"gpus", "tp", "pp", "dp", "cp"}))) &&
        !unread({"rollout_gpus", "rollout_tp", "rollout_pp", "rollout_dp"});
    const bool whole = engines >= 1 && engines == std::floor(engines);
    if (counted && !whole) {
      flags_.add(x_.task.elsewhere ? "--rollout-gpus" : "--rollout-tp",
                 fmt::format("{} devices are no whole number of engines of {}", devices, degrees),
                 "--rollout-tp, --rollout-pp and --rollout-dp must divide them");
    }
    t.replicas = whole ? static_cast<int>(engines) : 1;
    t.allow_long = true;  // which was asked before
    x_.rollout = traffic_of(t);
    if (o_.spread) vary_lengths();
    if (common_.unread.empty()) check_cache(x_.rollout, "--rollout-tp");
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
    constexpr std::string_view own[] = {"runtime", "tp", "pp", "dp", "ep", "precision"};
    constexpr std::string_view prefix = "rollout_";
    Common common = common_;
    // A strategy is how the model is trained; engines have flags of their own.
    std::erase_if(common.set, [](const std::string& s) { return !axis_of(s).empty(); });
    std::erase_if(common.unread, [&](const std::string& name) { return contains(own, name); });
    for (std::string& name : common.unread) {
      if (name.starts_with(prefix)) name.erase(0, prefix.size());
    }
    try {
      return read_traffic(t, common);
    } catch (const InputError& e) {
      throw InputError(renamed(e, prefix, own));
    }
  }

  void vary_lengths() {
    Sampled sampled{.requests = static_cast<int>(x_.task.samples),
                    .input = input_,
                    .output = static_cast<double>(output_),
                    .spread = *o_.spread,
                    .seed = static_cast<std::uint64_t>(o_.seed.value_or(1))};
    if (o_.longest) sampled.longest = *o_.longest;
    x_.rollout.trace = std::make_shared<const Trace>(sample_of(sampled));
    x_.rollout.traffic.trace = x_.rollout.trace.get();
    x_.rollout.traffic.lengths = Lengths::trace;
  }

  void collect_assumptions() {
    const auto take = [&](const std::vector<std::string>& from, const char* of) {
      for (const std::string& a : from) {
        const std::string text = std::string(of) + a;
        if (!contains(x_.assumptions, text)) {
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
  Flags flags_;
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
