// SPDX-License-Identifier: Apache-2.0
#include "cli/search_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <thread>

#include "cli/flags.hpp"
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

/// The axes of a space by name: what --fix and --limit may say of them. Names and ranges are those
/// of scenario/inputs.hpp.
class Axes {
 public:
  Axes(Flags& flags, Task task) : flags_(flags), fields_(input_fields(task)) {}

  // A visitor of describe(space).
  void operator()(std::string_view name, Choices& choices) {
    axes_.push_back({name, &choices, {}});
  }
  template <NamedEnum E>
  void operator()(std::string_view name, std::vector<E>& values) {
    axes_.push_back({name, nullptr, [this, &values](const char* flag, const Texts& given) {
                       values.clear();
                       for (const std::string& g : given)
                         values.push_back(flags_.choice<E>(flag, g));
                     }});
  }
  void operator()(std::string_view name, std::vector<bool>& values) {
    axes_.push_back({name, nullptr, [this, &values](const char* flag, const Texts& given) {
                       values.clear();
                       for (const std::string& g : given) values.push_back(truth(flag, g));
                     }});
  }

  void fix(const std::string& text) { read("--fix", text, {"="}); }
  void limit(const std::string& text) { read("--limit", text, {"<=", ">=", "<", ">", "="}); }

 private:
  using Texts = std::vector<std::string>;
  struct Axis {
    std::string_view name;
    Choices* numbers;  ///< or names:
    std::function<void(const char*, const Texts&)> set;
  };

  bool truth(const char* flag, const std::string& text) {
    const bool yes = text == "true" || text == "yes" || text == "on" || text == "1";
    const bool no = text == "false" || text == "no" || text == "off" || text == "0";
    if (!yes && !no) flags_.add(flag, "expected yes or no, got '" + text + "'");
    return yes;
  }

  void read(const char* flag, const std::string& text, const Texts& relations) {
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
    const auto axis =
        std::find_if(axes_.begin(), axes_.end(), [&](const Axis& a) { return a.name == c.axis; });
    if (axis == axes_.end()) {
      Texts names;
      for (const Axis& a : axes_) names.emplace_back(a.name);
      const std::string hint = did_you_mean(c.axis, names);
      return flags_.add(flag, "there is no axis '" + c.axis + "'",
                        hint.empty() ? fmt::format("one of {}", fmt::join(names, ", ")) : hint);
    }
    if (axis->numbers != nullptr) return bound(flag, c, *axis->numbers);
    if (c.relation != "=") {
      return flags_.add(flag, c.axis + " has names, not an order", c.axis + "=" + c.values.front());
    }
    axis->set(flag, c.values);
  }

  void bound(const char* flag, const Constraint& c, Choices& axis) {
    const auto field = std::find_if(fields_.begin(), fields_.end(),
                                    [&](const InputField& f) { return f.slot.name == c.axis; });
    const Field range = field != fields_.end() ? field->slot.field : Field{.max = 1e8};
    std::vector<int> values;
    for (const std::string& text : c.values) {
      const std::optional<double> value = parse_number(text);
      if (!value || *value != std::floor(*value)) {
        return flags_.add(flag, c.axis + ": expected a whole number, got '" + text + "'");
      }
      if (*value < range.min || *value > range.max) {
        return flags_.add(
            flag, fmt::format("{}: expected {} to {}, got {}", c.axis, range.min, range.max, text));
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
  const std::vector<InputField>& fields_;
  std::vector<Axis> axes_;
};

class Reader {
 public:
  Reader(const SearchOptions& options, const Common& common) : o_(options), common_(common) {}

  TrainingSearch training() {
    refuse_of_serving();
    load(Task::train);
    TrainingSearch t;
    t.price = o_.price.value_or(0);
    t.aim.objective = choice("--objective", o_.objective, TrainingObjective::throughput);
    if (t.aim.objective == TrainingObjective::cost && !o_.price) {
      flags_.add("--objective", "cost needs what a device costs", "give --price, dollars an hour");
    }
    t.aim.max_memory = flags_.quantity<Bytes>("--max-memory", o_.max_memory);
    t.aim.top = o_.top;
    t.aim.threads = threads();
    read_space(t.space);
    if (o_.given.find("batch") == nullptr) {
      flags_.add("--batch", "a search needs the sequences of a step", "such as --batch 512");
    }
    finish(t.space.devices.back());
    add_variants(t);
    t.scenario = std::move(scenario_);
    return t;
  }

  ServingSearch serving() {
    refuse_of_training();
    load(Task::infer);
    ServingSearch t;
    t.aim.objective = choice("--objective", o_.objective, ServingObjective::throughput);
    t.aim.ttft = flags_.quantity("--max-ttft", o_.max_ttft, {}, t.aim.ttft);
    t.aim.tpot = flags_.quantity("--max-tpot", o_.max_tpot, {}, t.aim.tpot);
    t.aim.tokens_per_second = o_.min_throughput.value_or(0);
    t.aim.top = o_.top;
    t.aim.threads = threads();
    read_space(t);
    finish(t.space.devices);
    t.scenario = std::move(scenario_);
    return t;
  }

 private:
  /// What is wrong with the presets and the workload waits for what is wrong with the space.
  void load(Task task) {
    try {
      scenario_ = read_workload(question_of(o_, common_, task));
    } catch (const InputError& e) {
      flags_.add(e);
    }
    if (o_.gpus && (*o_.gpus < 1 || *o_.gpus > 10000000)) {
      flags_.add("--gpus", fmt::format("expected 1 to 10000000, got {}", *o_.gpus));
    }
    if (o_.max_gpus && *o_.max_gpus < devices()) {
      flags_.add("--max-gpus", fmt::format("{} is less than --gpus", *o_.max_gpus));
    }
  }

  int devices() const { return std::max(1, o_.gpus.value_or(1)); }

  void finish(int most) {
    throw_if_any(std::move(flags_.problems));
    const int has = scenario_.problem.max_devices;
    if (most > has) {
      throw InputError(
          fmt::format("--gpus: {} is more than {} has, {}", most, scenario_.system.name, has));
    }
  }

  int threads() const {
    return o_.threads > 0 ? o_.threads
                          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }

  template <NamedEnum E>
  E choice(const char* flag, const std::string& text, E otherwise) {
    return text.empty() ? otherwise : flags_.choice<E>(flag, text);
  }

  void refuse(const char* flag, bool given, const char* why, const char* hint) {
    if (given) flags_.add(flag, why, hint);
  }
  void refuse_of_serving() {
    const char* why = "is of serving";
    const char* hint = "add --infer, or leave it out";
    refuse("--kv-precision", !o_.kv_precision.empty(), why, hint);
    refuse("--max-ttft", !o_.max_ttft.empty(), why, hint);
    refuse("--max-tpot", !o_.max_tpot.empty(), why, hint);
    refuse("--min-throughput", o_.min_throughput.has_value(), why, hint);
  }
  void refuse_of_training() {
    const char* why = "is of training";
    const char* hint = "leave it out, or leave out --infer";
    refuse("--price", o_.price.has_value(), why, hint);
    refuse("--max-memory", !o_.max_memory.empty(), why, hint);
    refuse("--explore", !o_.explore.empty(), why, hint);
    refuse("--max-gpus", o_.max_gpus.has_value(), why, "--objective gpus takes --gpus as the most");
  }

  template <class E>
  void read_list(const char* flag, const std::vector<std::string>& given, std::vector<E>& values) {
    if (given.empty()) return;
    values.clear();
    for (const std::string& g : given) values.push_back(flags_.choice<E>(flag, g));
  }

  template <class Space>
  void constrain(Space& space, Task task) {
    Axes axes(flags_, task);
    describe(axes, space);
    for (const std::string& text : o_.fix) axes.fix(text);
    for (const std::string& text : o_.limit) axes.limit(text);
  }

  void read_space(SearchSpace& s) {
    const std::int64_t most = std::max(devices(), o_.max_gpus.value_or(1));
    for (std::int64_t n = devices(); n <= most; n *= 2) s.devices.push_back(static_cast<int>(n));
    read_list("--precision", o_.precision, s.precision);
    explore(s);
    constrain(s, Task::train);
  }

  void read_space(ServingSearch& t) {
    ServingSpace& s = t.space;
    s.devices = devices();
    s.at_most = t.aim.objective == ServingObjective::devices;
    read_list("--precision", o_.precision, s.precision);
    read_list("--kv-precision", o_.kv_precision, s.cache);
    if (scenario_.given.contains("batch")) s.batch.only = {scenario_.inputs.serving.batch};
    constrain(s, Task::infer);
    if (s.devices > 100000) {
      flags_.add("--gpus",
                 fmt::format("{} devices are more than one search of serving looks at", s.devices),
                 "100000 at most");
    }
  }

  bool explores(std::string_view what) const {
    return std::find(o_.explore.begin(), o_.explore.end(), what) != o_.explore.end();
  }

  void explore(SearchSpace& s) {
    const std::span<const std::string_view> all = explored_choices();
    for (const std::string& given : o_.explore) {
      if (std::find(all.begin(), all.end(), given) != all.end()) continue;
      flags_.add("--explore", "unknown value '" + given + "'",
                 fmt::format("one of {}", fmt::join(all, ", ")));
    }
    if (explores("offload")) s.offload = {false, true};
    // Groups that share states inside a node, their copies between nodes (HSDP).
    if (explores("shard")) {
      s.shard.only = {0};
      for (int n = 2; n <= scenario_.system.devices_per_node; n *= 2) s.shard.only.push_back(n);
    }
    const Model& model = scenario_.problem.model;
    if (explores("modules")) {
      s.modules.push_back({.norms = true});
      s.modules.push_back({.activation = true});
      s.modules.push_back({.norms = true, .activation = true});
      s.modules.push_back({.mlp = true});
      if (model.experts.count > 0) s.modules.push_back({.experts = true});
      if (model.attention.kind == AttentionKind::latent) s.modules.push_back({.latent = true});
    }
  }

  /// With --explore overlap: every set of communications that the runtime does not hide today.
  void add_variants(TrainingSearch& t) {
    t.variants.push_back({"", scenario_.problem});
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
  const Common& common_;
  Flags flags_;
  Scenario scenario_;
};

}  // namespace

std::span<const std::string_view> explored_choices() {
  static const std::vector<std::string_view> all = [] {
    const Strategy one;
    std::vector<std::string_view> held;
    for (const Slot& axis : reflect(one).fields) {
      if (axis.field.axis.held) held.push_back(axis.name);
    }
    held.emplace_back("overlap");
    return held;
  }();
  return all;
}

TrainingSearch read_training_search(const SearchOptions& options, const Common& common) {
  return Reader(options, common).training();
}

ServingSearch read_serving_search(const SearchOptions& options, const Common& common) {
  return Reader(options, common).serving();
}

}  // namespace sextant::cli
