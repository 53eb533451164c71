// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/wishes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/scenario/prices.hpp"
#include "sextant/search/constraints.hpp"
#include "sextant/search/parallel.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

class Reader {
 public:
  Reader(const SearchWishes& wishes, const AskedOf& asked) : o_(wishes), asked_(asked) {}

  TrainingSearch training() {
    refuse_of_serving();
    load(Task::train);
    TrainingSearch t;
    t.price = price();
    t.aim.objective = choice("--objective", o_.objective, TrainingObjective::throughput);
    if (t.aim.objective == TrainingObjective::cost && o_.price.empty()) {
      flags_.add("--objective", "cost needs what a device costs", "give --price, dollars an hour");
    }
    t.aim.max_memory = flags_.quantity<Bytes>("--max-memory", o_.max_memory);
    t.aim.top = o_.top;
    t.aim.threads = threads_or_all(o_.threads);
    t.aim.exhaustive = o_.exhaustive;
    t.time = flags_.quantity<Seconds>("--time", o_.time);
    read_space(t.space);
    if (asked_.given.find("batch") == nullptr) {
      flags_.add("--batch", "a search needs the sequences of a step", "such as --batch 512");
    }
    finish(t.space.devices.back());
    assume_precisions(scenario_, t.space.precision, !o_.precision.empty());
    if (const Bytes has = scenario_.problem.capacity; t.aim.max_memory > has) {
      scenario_.assumptions.push_back(
          fmt::format("--max-memory leaves nothing out: a device has {}", format(has)));
    }
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
    t.aim.threads = threads_or_all(o_.threads);
    t.time = flags_.quantity<Seconds>("--time", o_.time);
    read_space(t);
    finish(t.space.devices);
    if (count_instances(scenario_.problem, t.space) == 0) {
      throw InputError(
          "search: no way to serve is left: tp, pp and dp must multiply to a divisor of the "
          "devices",
          "loosen --fix or --limit");
    }
    assume_precisions(scenario_, t.space.precision, !o_.precision.empty());
    t.scenario = std::move(scenario_);
    return t;
  }

 private:
  /// What is wrong with the presets and the workload waits for what is wrong with the space.
  void load(Task task) {
    const Question question = asked_.question(task);
    try {
      scenario_ = read_workload(question);
    } catch (const InputError& e) {
      flags_.add(e);
    }
    const Strategy one;
    for (const Setting& s : question.settings) {
      const std::string name = root_of(s) == "strategy" ? canonical_input(s.path) : "";
      if (find_by(reflect(one).fields, &Slot::name, name) == nullptr) continue;
      flags_.problems.push_back({.file = "--set",
                                 .field = s.path,
                                 .message = "is what a search finds",
                                 .hint = "--fix " + name + "=VALUE holds it"});
    }
    const bool within = check_devices(o_, flags_);
    if (within && o_.max_gpus && *o_.max_gpus < devices()) {
      flags_.add("--max-gpus", fmt::format("{} is less than --gpus", *o_.max_gpus));
    }
  }

  /// Of a device whose system could be read; nothing where none is asked for.
  double price() {
    if (o_.price.empty() || scenario_.system.name.empty()) return 0;
    const System* const system = &scenario_.system;
    check_price_names(o_.price, {&system, 1}, flags_.problems);
    return read_device_price(o_.price, *system, flags_.problems).dollars_per_hour.value_or(0);
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
    refuse("--price", !o_.price.empty(), why, hint);
    refuse("--exhaustive", o_.exhaustive, why, hint);
    refuse("--loosen", o_.loosen, why, hint);
    refuse("--max-memory", !o_.max_memory.empty(), why, hint);
    refuse("--explore", !o_.explore.empty(), why, hint);
    refuse("--max-gpus", o_.max_gpus.has_value(), why, "--objective gpus takes --gpus as the most");
  }

  template <class E>
  void read_list(const char* flag, const std::vector<std::string>& given, std::vector<E>& values) {
    if (given.empty()) return;
    values.clear();
    for (const std::string& g : given) {
      const E value = flags_.choice<E>(flag, g);
      // What is searched twice is found twice.
      if (!contains(values, value)) values.push_back(value);
    }
  }

  /// Axes that have flags of their own.
  std::vector<std::string_view> held() const {
    std::vector<std::string_view> all;
    if (!o_.precision.empty()) all.emplace_back("precision");
    if (!o_.kv_precision.empty()) all.emplace_back("kv_precision");
    if (scenario_.given.contains("batch")) all.emplace_back("batch");
    return all;
  }

  void read_space(SearchSpace& s) {
    const std::int64_t most =
        std::clamp(o_.max_gpus.value_or(1), devices(), std::max(devices(), most_searched));
    for (std::int64_t n = devices(); n <= most; n *= 2) s.devices.push_back(static_cast<int>(n));
    read_list("--precision", o_.precision, s.precision);
    if (!explores("schedule")) keep_schedules(s, scenario_.problem.runtime);
    explore(s);
    constrain(s, {o_.fix, o_.limit, held()}, flags_);
  }

  void read_space(ServingSearch& t) {
    ServingSpace& s = t.space;
    s.devices = devices();
    s.at_most = t.aim.objective == ServingObjective::devices;
    s.precision = {scenario_.problem.model.stored};
    read_list("--precision", o_.precision, s.precision);
    read_list("--kv-precision", o_.kv_precision, s.cache);
    if (scenario_.given.contains("batch")) s.batch.only = {scenario_.inputs.serving.batch};
    constrain(s, {o_.fix, o_.limit, held()}, flags_);
    if (s.devices > 100000) {
      flags_.add("--gpus",
                 fmt::format("{} devices are more than one search of serving looks at", s.devices),
                 "100000 at most");
    }
  }

  bool explores(std::string_view what) const { return contains(o_.explore, what); }

  void explore(SearchSpace& s) {
    const std::span<const std::string_view> all = explored_choices();
    for (const std::string& given : o_.explore) {
      if (contains(all, given)) continue;
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

  const SearchWishes& o_;
  const AskedOf& asked_;
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

bool check_devices(const SearchWishes& wishes, Flags& flags) {
  bool within = true;
  const auto check = [&](const char* flag, const std::optional<int>& count) {
    if (!count || (*count >= 1 && *count <= most_searched)) return;
    flags.add(flag, fmt::format("expected 1 to {}, not {}", most_searched, *count));
    within = false;
  };
  check("--gpus", wishes.gpus);
  check("--max-gpus", wishes.max_gpus);
  return within;
}

std::vector<Looser> loosened(const SearchWishes& wishes) {
  std::vector<Looser> all;
  for (auto list : {&SearchWishes::fix, &SearchWishes::limit}) {
    for (std::size_t i = 0; i < (wishes.*list).size(); ++i) {
      Looser one{(wishes.*list)[i], wishes};
      (one.wishes.*list).erase((one.wishes.*list).begin() + static_cast<std::ptrdiff_t>(i));
      all.push_back(std::move(one));
    }
  }
  for (const std::string_view axis : explored_choices()) {
    const auto& known = wishes.explore;
    if (contains(known, axis)) continue;
    Looser one{std::string(axis), wishes};
    one.wishes.explore.emplace_back(axis);
    all.push_back(std::move(one));
  }
  return all;
}

TrainingSearch read_training_search(const SearchWishes& wishes, const AskedOf& question) {
  return Reader(wishes, question).training();
}

ServingSearch read_serving_search(const SearchWishes& wishes, const AskedOf& question) {
  return Reader(wishes, question).serving();
}

}  // namespace sextant
