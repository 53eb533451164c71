// SPDX-License-Identifier: Apache-2.0
#include "cli/search_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <thread>

#include "cli/scenario_reader.hpp"
#include "sextant/predict/layout.hpp"
#include "sextant/units/parse.hpp"

namespace sextant::cli {
namespace {

/// "pp<=16" taken apart.
struct Constraint {
  std::string axis;
  std::string relation;
  std::vector<std::string> values;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t to = text.find(at); to != std::string::npos; to = text.find(at, from)) {
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  parts.push_back(text.substr(from));
  return parts;
}

/// The axes of a space by name: what --fix and --limit may say of them.
class Axes {
 public:
  Axes(Flags& flags) : flags_(flags) {}

  void number(const std::string& name, Choices& choices) { numbers_[name] = &choices; }
  template <NamedEnum E>
  void choice(const std::string& name, std::vector<E>& values) {
    choices_[name] = [this, &values](const char* flag, const std::vector<std::string>& given) {
      values.clear();
      for (const std::string& g : given) values.push_back(flags_.choice<E>(flag, g));
    };
  }
  void yes_or_no(const std::string& name, std::vector<bool>& values) {
    choices_[name] = [this, &values](const char* flag, const std::vector<std::string>& given) {
      values.clear();
      for (const std::string& g : given) {
        const bool yes = g == "true" || g == "yes" || g == "on" || g == "1";
        const bool no = g == "false" || g == "no" || g == "off" || g == "0";
        if (!yes && !no) flags_.add(flag, "expected yes or no, got '" + g + "'");
        values.push_back(yes);
      }
    };
  }

  void fix(const std::string& text) { read("--fix", text, {"="}); }
  void limit(const std::string& text) { read("--limit", text, {"<=", ">=", "<", ">", "="}); }

 private:
  void read(const char* flag, const std::string& text, const std::vector<std::string>& relations) {
    const std::size_t at = text.find_first_of("<>=");
    const auto relation =
        at == std::string::npos
            ? relations.end()
            : std::find_if(relations.begin(), relations.end(), [&](const std::string& r) {
                return text.compare(at, r.size(), r) == 0;
              });
    if (relation == relations.end() || at == 0 || at + relation->size() == text.size()) {
      return flags_.add(flag,
                        "'" + text + "' is not of the form AXIS" + relations.front() + "VALUE",
                        std::string("such as ") + (relations.size() == 1 ? "tp=8" : "'pp<=16'"));
    }
    set(flag, {text.substr(0, at), *relation, split(text.substr(at + relation->size()), ',')});
  }

  void set(const char* flag, const Constraint& c) {
    if (const auto n = numbers_.find(c.axis); n != numbers_.end())
      return bound(flag, c, *n->second);
    const auto choice = choices_.find(c.axis);
    if (choice == choices_.end()) {
      std::vector<std::string> names;
      for (const auto& [name, axis] : numbers_) names.push_back(name);
      for (const auto& [name, axis] : choices_) names.push_back(name);
      const std::string hint = did_you_mean(c.axis, names);
      std::string all;
      for (const std::string& n : names) all += (all.empty() ? "" : ", ") + n;
      return flags_.add(flag, "there is no axis '" + c.axis + "'",
                        hint.empty() ? "one of " + all : hint);
    }
    if (c.relation != "=") {
      return flags_.add(flag, c.axis + " has names, not an order", c.axis + "=" + c.values.front());
    }
    choice->second(flag, c.values);
  }

  void bound(const char* flag, const Constraint& c, Choices& axis) {
    std::vector<int> values;
    for (const std::string& text : c.values) {
      const std::optional<double> value = parse_number(text);
      if (!value || *value != std::floor(*value) || *value < 0 || *value > 1e8) {
        return flags_.add(flag, c.axis + ": expected a whole number, got '" + text + "'");
      }
      values.push_back(static_cast<int>(*value));
    }
    if (c.relation == "=") {
      axis.only = values;
      return;
    }
    if (values.size() > 1) return flags_.add(flag, c.axis + ": a limit is one number");
    const int value = values.front();
    if (c.relation == "<=") axis.most = std::min(axis.most, value);
    if (c.relation == "<") axis.most = std::min(axis.most, value - 1);
    if (c.relation == ">=") axis.least = std::max(axis.least, value);
    if (c.relation == ">") axis.least = std::max(axis.least, value + 1);
  }

  Flags& flags_;
  std::map<std::string, Choices*> numbers_;
  std::map<std::string, std::function<void(const char*, const std::vector<std::string>&)>> choices_;
};

class Reader : ScenarioReader {
 public:
  Reader(const SearchOptions& options, const Common& common)
      : ScenarioReader(common), o_(options) {}

  TrainingSearch training() {
    begin("megatron-core");
    refuse_of_serving();
    TrainingSearch t;
    Training work;
    work.batch = whole("--batch", o_.batch, 0, 1, 100000000);
    work.seq = whole("--seq", o_.seq, 0, 1, 100000000);
    work.optimizer = choice("--optimizer", o_.optimizer, Optimizer::adamw);
    t.price = o_.price.value_or(0);
    t.aim.objective = choice("--objective", o_.objective, TrainingObjective::throughput);
    if (t.aim.objective == TrainingObjective::cost && !o_.price) {
      flags.add("--objective", "cost needs what a device costs", "give --price, dollars an hour");
    }
    t.aim.max_memory = flags.quantity<Bytes>("--max-memory", o_.max_memory);
    t.aim.top = o_.top;
    t.aim.threads = threads();
    read_space(t.space);
    if (work.batch == 0) {
      flags.add("--batch", "a search needs the sequences of a step", "such as --batch 512");
    }
    throw_if_any(std::move(flags.problems));
    if (work.seq == 0) {
      work.seq = model.max_context > 0 ? std::min(2048, model.max_context) : 2048;
      assume("seq {}", work.seq);
    }
    if (o_.optimizer.empty()) assume("optimizer adamw: fp32 master weights and moments");
    scenario.problem = prepare(scenario.system, runtime, libraries(), model, work);
    check_devices(t.space.devices.back());
    say_device();
    add_variants(t);
    t.scenario = std::move(scenario);
    return t;
  }

  ServingSearch serving() {
    begin("trtllm");
    refuse_of_training();
    ServingSearch t;
    Serving work;
    work.input = whole("--input", o_.input, 512, 1, 100000000);
    work.output = whole("--output", o_.output, 128, 1, 10000000);
    work.batching = choice("--batching", o_.batching, Batching::fixed);
    if (!o_.input) assume("input {}", work.input);
    if (!o_.output) assume("output {}", work.output);
    if (o_.batching.empty()) assume("batching static: all requests start and end together");
    t.aim.objective = choice("--objective", o_.objective, ServingObjective::throughput);
    t.aim.ttft = flags.quantity("--max-ttft", o_.max_ttft, {}, t.aim.ttft);
    t.aim.tpot = flags.quantity("--max-tpot", o_.max_tpot, {}, t.aim.tpot);
    t.aim.tokens_per_second = o_.min_throughput.value_or(0);
    t.aim.top = o_.top;
    t.aim.threads = threads();
    read_space(t);
    throw_if_any(std::move(flags.problems));
    const double longest = static_cast<double>(work.input) + work.output;
    if (model.max_context > 0 && longest > model.max_context) {
      throw InputError(
          fmt::format("--input: input {} and output {} are a context of {}, {} takes "
                      "{} at most",
                      work.input, work.output, longest, model.name, model.max_context));
    }
    scenario.problem = prepare(scenario.system, runtime, libraries(), model, work);
    check_devices(t.space.devices);
    say_device();
    t.scenario = std::move(scenario);
    return t;
  }

 private:
  void begin(const char* usual_runtime) {
    load(o_.system, o_.model, o_.runtime.empty() ? PresetRef{usual_runtime} : o_.runtime);
    if (o_.runtime.empty()) assume("runtime {}", usual_runtime);
    whole("--gpus", o_.gpus, 1, 1, 10000000);
    whole("--max-gpus", o_.max_gpus, 1, o_.gpus.value_or(1), 10000000);
    if (o_.precision.empty()) assume("precision bf16");
  }

  int threads() const {
    return o_.threads > 0 ? o_.threads
                          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }

  void refuse(const char* flag, bool given, const char* why, const char* hint) {
    if (given) flags.add(flag, why, hint);
  }
  void refuse_of_serving() {
    const char* why = "is of serving";
    const char* hint = "add --infer, or leave it out";
    refuse("--input", o_.input.has_value(), why, hint);
    refuse("--output", o_.output.has_value(), why, hint);
    refuse("--kv-precision", !o_.kv_precision.empty(), why, hint);
    refuse("--batching", !o_.batching.empty(), why, hint);
    refuse("--max-ttft", !o_.max_ttft.empty(), why, hint);
    refuse("--max-tpot", !o_.max_tpot.empty(), why, hint);
    refuse("--min-throughput", o_.min_throughput.has_value(), why, hint);
  }
  void refuse_of_training() {
    const char* why = "is of training";
    const char* hint = "leave it out, or leave out --infer";
    refuse("--seq", o_.seq.has_value(), why, hint);
    refuse("--optimizer", !o_.optimizer.empty(), why, hint);
    refuse("--price", o_.price.has_value(), why, hint);
    refuse("--max-memory", !o_.max_memory.empty(), why, hint);
    refuse("--explore", !o_.explore.empty(), why, hint);
    refuse("--max-gpus", o_.max_gpus.has_value(), why, "--objective gpus takes --gpus as the most");
  }

  template <class E>
  void read_list(const char* flag, const std::vector<std::string>& given, std::vector<E>& values) {
    if (given.empty()) return;
    values.clear();
    for (const std::string& g : given) values.push_back(flags.choice<E>(flag, g));
  }

  void constrain(Axes& axes) {
    for (const std::string& text : o_.fix) axes.fix(text);
    for (const std::string& text : o_.limit) axes.limit(text);
  }

  void read_space(SearchSpace& s) {
    const std::int64_t most = o_.max_gpus.value_or(o_.gpus.value_or(1));
    for (std::int64_t n = o_.gpus.value_or(1); n <= most; n *= 2) {
      s.devices.push_back(static_cast<int>(n));
    }
    if (s.devices.empty()) s.devices.push_back(o_.gpus.value_or(1));
    read_list("--precision", o_.precision, s.precision);
    explore(s);
    Axes axes(flags);
    axes.number("tp", s.tp);
    axes.number("pp", s.pp);
    axes.number("dp", s.dp);
    axes.number("cp", s.cp);
    axes.number("ep", s.ep);
    axes.number("etp", s.etp);
    axes.number("microbatch", s.microbatch);
    axes.number("interleave", s.interleave);
    axes.number("zero", s.zero);
    axes.number("shard", s.shard);
    axes.number("recompute_layers", s.recompute_layers);
    axes.yes_or_no("sp", s.sp);
    axes.yes_or_no("offload", s.offload);
    axes.choice("recompute", s.recompute);
    axes.choice("schedule", s.schedule);
    axes.choice("order", s.order);
    axes.choice("context", s.context);
    axes.choice("precision", s.precision);
    constrain(axes);
  }

  void read_space(ServingSearch& t) {
    ServingSpace& s = t.space;
    s.devices = o_.gpus.value_or(1);
    s.at_most = t.aim.objective == ServingObjective::devices;
    read_list("--precision", o_.precision, s.precision);
    read_list("--kv-precision", o_.kv_precision, s.cache);
    if (o_.batch) s.batch.only = {whole("--batch", o_.batch, 1, 1, 100000000)};
    Axes axes(flags);
    axes.number("tp", s.tp);
    axes.number("pp", s.pp);
    axes.number("dp", s.dp);
    axes.number("ep", s.ep);
    axes.number("batch", s.batch);
    axes.choice("precision", s.precision);
    axes.choice("kv_precision", s.cache);
    constrain(axes);
    if (s.devices > 100000) {
      flags.add("--gpus",
                fmt::format("{} devices are more than one search of serving looks at", s.devices),
                "100000 at most");
    }
  }

  bool explores(std::string_view what) const {
    return std::find(o_.explore.begin(), o_.explore.end(), what) != o_.explore.end();
  }

  void explore(SearchSpace& s) {
    for (const std::string& given : o_.explore) {
      const auto& all = explored_choices;
      if (std::find(all.begin(), all.end(), given) != all.end()) continue;
      flags.add("--explore", "unknown value '" + given + "'",
                "one of offload, shard, modules, overlap");
    }
    if (explores("offload")) s.offload = {false, true};
    // Groups that share states inside a node, their copies between nodes (HSDP).
    if (explores("shard")) {
      s.shard.only = {0};
      for (int n = 2; n <= scenario.system.devices_per_node; n *= 2) s.shard.only.push_back(n);
    }
    if (explores("modules")) {
      s.modules.push_back({.norms = true});
      s.modules.push_back({.activation = true});
      s.modules.push_back({.norms = true, .activation = true});
      s.modules.push_back({.mlp = true});
      if (model.experts.count > 0) s.modules.push_back({.experts = true});
      if (model.attention.kind == AttentionKind::latent) s.modules.push_back({.latent = true});
    }
  }

  void check_devices(int most) {
    const int has = scenario.problem.max_devices;
    if (most <= has) return;
    throw InputError(
        fmt::format("--gpus: {} is more than {} has, {}", most, scenario.system.name, has));
  }

  /// With --explore overlap: every set of communications that the runtime does not hide today.
  void add_variants(TrainingSearch& t) {
    t.variants.push_back({"", scenario.problem});
    if (!explores("overlap")) return;
    struct Kind {
      const char* name;
      bool Overlap::*field;
    };
    for (const Kind& k :
         {Kind{"tensor", &Overlap::tensor}, Kind{"weights", &Overlap::weights},
          Kind{"gradients", &Overlap::gradients}, Kind{"parameters", &Overlap::parameters},
          Kind{"pipeline", &Overlap::pipeline}}) {
      const std::size_t known = t.variants.size();
      for (std::size_t i = 0; i < known; ++i) {
        if (t.variants[i].problem.runtime.overlap.*k.field) continue;
        Variant more = t.variants[i];
        more.name += (more.name.empty() ? "overlap " : ", ") + std::string(k.name);
        more.problem.runtime.overlap.*k.field = true;
        t.variants.push_back(std::move(more));
      }
    }
  }

  const SearchOptions& o_;
};

}  // namespace

TrainingSearch read_training_search(const SearchOptions& options, const Common& common) {
  return Reader(options, common).training();
}

ServingSearch read_serving_search(const SearchOptions& options, const Common& common) {
  return Reader(options, common).serving();
}

}  // namespace sextant::cli
