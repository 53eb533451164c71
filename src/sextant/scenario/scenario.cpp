// SPDX-License-Identifier: Apache-2.0
#include "sextant/scenario/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "sextant/cost/outrun.hpp"
#include "sextant/io/write.hpp"
#include "sextant/predict/infer.hpp"
#include "sextant/predict/reach.hpp"
#include "sextant/predict/rules.hpp"
#include "sextant/predict/tuning.hpp"
#include "sextant/spec/flags.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

/// Empty where the device multiplies in this type.
std::string runs_as_other(const Scenario& x, Precision asked) {
  const Device& device = x.system.device;
  const Activations activations = x.problem.model.activations;
  const Precision real = runs_as(device, asked);
  const Precision in =
      x.task == Task::train ? asked : multiplied_in(x.problem, {.precision = asked}, asked);
  const std::string runs = fmt::format("multiplies run as {}", name_of(runs_as(device, in)));
  if (in != asked && narrow(in))
    return fmt::format("{} weights are multiplied with {}: {}", name_of(asked), name_of(in), runs);
  if (in != asked && (asked != Precision::fp4 || real == asked)) {
    const bool unsaid = asked == Precision::int8 && activations == Activations::usual;
    return fmt::format("{} is the weights' type alone: {}{}", name_of(asked), runs,
                       unsaid ? " (W8A8: model.activations=int8)" : "");
  }
  if (real == asked) return "";
  return fmt::format("{} has no {} matrix units: {}{}", device.name, name_of(asked),
                     in != asked ? "weights are widened and " : "", runs);
}

class Reader {
 public:
  explicit Reader(const Question& question) : q_(question), problems_(question.problems) {
    x_.task = q_.task;
  }

  Scenario run(bool with_strategy) {
    load();
    read_inputs(q_.task, q_.given, x_.inputs, x_.given, problems_);
    read_settings();
    load_draft();
    check_inputs();
    find_unread();
    if (loaded_) judge(with_strategy);
    throw_if_any(std::move(problems_));
    if (with_strategy) {
      assume_strategy();
      assume_replicas();
    } else {
      assume_precision();
    }
    assume_work(with_strategy);
    say_device();
    x_.assumptions.insert(x_.assumptions.end(), q_.notes.begin(), q_.notes.end());
    return std::move(x_);
  }

 private:
  void named(const char* flag, const std::function<void()>& work);
  void load();
  void load_draft();
  void read_settings();
  void check_inputs();
  void check_axes();
  void check_parts();
  bool trains_nothing() const;
  void prepare_problem();
  void find_unread();
  void judge(bool with_strategy);
  std::vector<Diagnostic> wrong(bool with_strategy);
  Diagnostic refused(Refusal outcome) const;
  void assume_strategy();
  void assume_idle_axes();
  void assume_precision();
  void assume_exchange();
  void assume_replicas();
  void assume_work(bool with_strategy);
  void assume_images();
  void say_device();

  bool trains() const { return q_.task == Task::train; }
  bool gives(std::string_view field) const { return x_.given.contains(field); }
  void add(std::string file, std::string message, std::string hint = "") {
    Diagnostic& d = problems_.emplace_back();
    d.file = std::move(file);
    d.message = std::move(message);
    d.hint = std::move(hint);
  }
  template <class... Args>
  void assume(fmt::format_string<Args...> text, Args&&... args) {
    x_.assumptions.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  std::string context_words() const {
    const Serving& w = x_.inputs.serving;
    const std::string images =
        w.images > 0 ? fmt::format(", {} image{}", w.images, w.images > 1 ? "s" : "") : "";
    return fmt::format("input {}{} and output {} are a context of {}, {} takes {} at most", w.input,
                       images, w.output, prompt_tokens(x_.problem) + w.output, model_.name,
                       model_.max_context);
  }
  void assume_unless(std::string_view field, std::string text) {
    if (!gives(field)) x_.assumptions.push_back(std::move(text));
  }

  const Question& q_;
  Runtime runtime_;
  Model model_;
  Scenario x_;
  std::vector<Diagnostic> problems_;
  GivenFields unread_;   // what was given, but could not be read
  bool loaded_ = false;  // system, model and runtime
  bool uneven_ = false;  // the devices are no whole number of replicas
};

void Reader::named(const char* flag, const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& e) {
    for (Diagnostic& d : placed_at(flag, e)) problems_.push_back(std::move(d));
  }
}

void Reader::load() {
  named("--system", [&] { x_.system = load_system(q_.system, q_.settings, q_.lookup); });
  named("--model", [&] { model_ = load_model(q_.model, q_.settings, q_.lookup); });
  const PresetRef runtime =
      q_.runtime.empty() ? PresetRef{usual_runtime(q_.task, x_.system, q_.engine)} : q_.runtime;
  named("--runtime", [&] { runtime_ = load_runtime(runtime, q_.settings, q_.lookup); });
  check_roots(q_.settings, setting_roots(), problems_);
  if (!q_.settings.empty()) {
    Libraries any;
    apply_settings(q_.settings, reflect(any.kernels), "kernel", problems_);
    apply_settings(q_.settings, reflect(any.collectives), "collective", problems_);
  }
  if (q_.runtime.empty()) assume("runtime {}", runtime.name);
  // What a reader of somebody's file has left out; presets' remarks are for those who look at them.
  if (!model_.notes.empty() && preset_kinds(q_.model.name).empty()) {
    assume("{}: {}", model_.name, model_.notes);
  }
  loaded_ = problems_.empty();
}

void Reader::load_draft() {
  const std::string& draft = x_.inputs.serving.speculation.draft;
  if (trains() || draft.empty()) return;
  named("--draft", [&] {
    x_.inputs.draft = std::make_shared<const Model>(load_model(PresetRef{draft}, {}, q_.lookup));
  });
}

/// "--tp 8", "--no-sp": a field as a flag gives it.
std::string as_flag(const Slot& slot, const std::string& value) {
  if (!std::holds_alternative<bool*>(slot.target)) return flag_of_field(slot.name) + " " + value;
  return flag_of_field((value == "true" ? "" : "no_") + std::string(slot.name));
}

// "--set strategy.tp=8" is "--tp 8", and no other than that.
void Reader::read_settings() {
  const StructRef axes = fields_of(q_.task, x_.inputs);
  const GivenFields flags = x_.given;
  for (const Setting& setting : q_.settings) {
    if (root_of(setting) != "strategy") continue;
    const std::string field = canonical_input(setting.path);
    const std::size_t before = problems_.size();
    const Slot* slot = flags.contains(field) ? find_by(axes.fields, &Slot::name, field) : nullptr;
    const std::string flag = slot != nullptr ? as_flag(*slot, text_of(slot->target)) : "";
    apply_settings({{"strategy." + field, setting.value}}, axes, "strategy", problems_);
    if (slot != nullptr && as_flag(*slot, text_of(slot->target)) != flag) {
      problems_.push_back({.file = "--set",
                           .field = "strategy." + field,
                           .message = setting.value + " contradicts " + flag,
                           .hint = "leave one of them out"});
    }
    if (problems_.size() > before) unread_.insert(field);
    x_.given.insert(field);
  }
  x_.inputs.said = said([&](const char* field) { return gives(field); });
}

void Reader::check_inputs() {
  if (trains() && x_.inputs.training.tuning.rank == 0) {
    for (const char* field : {"adapter", "lora_targets"}) {
      if (!gives(field)) continue;
      add(flag_of_field(field), "there are no adapters", "give --lora-rank, such as 16");
    }
  }
  if (trains()) {
    check_axes();
    return check_parts();
  }
  if (x_.inputs.serving.speculation.tokens > 0) {
    if (gives("draft") && gives("draft_cost")) {
      add("--draft-cost", "the steps of --draft are timed", "leave one of them out");
    }
    return;
  }
  for (const char* field : {"acceptance", "draft", "draft_cost"}) {
    if (!gives(field)) continue;
    add(flag_of_field(field), "there is no speculation", "give --speculate, the tokens a step");
  }
}

void Reader::check_axes() {
  const Strategy& s = x_.inputs.strategy;
  const auto read = [&](const char* field) {
    const std::string flag = flag_of_field(field);
    return std::none_of(problems_.begin(), problems_.end(),
                        [&](const Diagnostic& d) { return d.file == flag; });
  };
  if (gives("shard") && s.shard > 0 && !has_use(s, "shard") && read("zero")) {
    add("--shard", "under zero 0 replicas share nothing", "give --zero, 1 to 3");
  }
  if (gives("recompute_layers") && s.recompute_layers > 0 && !has_use(s, "recompute_layers") &&
      read("recompute")) {
    add("--recompute-layers", "no layer is recomputed in full", "give --recompute full");
  }
}

/// Parts that are frozen or adapted are parts of the model.
void Reader::check_parts() {
  if (model_.layers == 0) return;  // it was not found
  const Tuning& t = x_.inputs.training.tuning;
  if (t.rank > model_.hidden) {
    add("--lora-rank",
        fmt::format("adapters of rank {} are larger than what they adapt: {} is {} wide", t.rank,
                    model_.name, model_.hidden),
        "16 to 64 are usual");
  }
  const auto lacks = [&](bool named, const char* field, const char* part, const char* what) {
    if (!named) return;
    add(flag_of_field(field), fmt::format("{} has no {}", model_.name, what),
        fmt::format("leave {} out", part));
  };
  const bool dense = model_.experts.count == 0;
  lacks(dense && t.targets.experts, "lora_targets", "experts", "routed experts");
  lacks(dense && t.frozen.experts, "frozen", "experts", "routed experts");
  lacks(model_.vision.layers == 0 && t.frozen.vision, "frozen", "vision", "tower for images");
}

/// Whether every weight that the model has is frozen.
bool Reader::trains_nothing() const {
  const Tuning& t = x_.inputs.training.tuning;
  if (!trains() || t.rank > 0) return false;
  for (const std::vector<graph::Branch>* part :
       {&x_.problem.graph.branches, &x_.problem.graph.tower}) {
    for (const graph::Branch& b : *part) {
      for (const graph::Operator& op : b.operators) {
        const bool weights = op.kind == graph::Kind::experts || op.weights.all() > 0;
        if (weights && is_trained(t, op)) return false;
      }
    }
  }
  return true;
}

void Reader::prepare_problem() {
  const Libraries libraries = load_libraries(x_.system, runtime_, q_.settings, q_.lookup);
  x_.problem = prepare(x_.system, runtime_, libraries, model_, Training{.predict_ahead = 0});
}

void Reader::find_unread() {
  for (const Node::Member& m : q_.given.members) {
    const std::string flag = flag_of_field(m.key);
    const bool said = find_by(problems_, &Diagnostic::file, flag) != nullptr;
    if (said || m.value.kind == Node::Kind::null) unread_.insert(m.key);
  }
}

/// Any other value, in place of one that nobody knows.
void alter(const Target& target) {
  if (auto* const* b = std::get_if<bool*>(&target)) **b = !**b;
  if (auto* const* i = std::get_if<int*>(&target)) **i = std::max(2, 2 * **i);
  if (auto* const* d = std::get_if<double*>(&target)) **d = 2 * **d + 1;
  if (const auto* e = std::get_if<EnumRef>(&target)) {
    e->set(e->value, (e->get(e->value) + 1) % e->names.size());
  }
}

/// Of what is wrong, what is so in both cases, word for word.
void keep_common(std::vector<Diagnostic>& found, const std::vector<Diagnostic>& others) {
  std::erase_if(found, [&](const Diagnostic& d) {
    return std::none_of(others.begin(), others.end(), [&](const Diagnostic& o) {
      return o.file == d.file && o.message == d.message;
    });
  });
}

/// Adds what is wrong with what was read, whatever was meant by what was not, and by devices that
/// make no whole number of replicas.
void Reader::judge(bool with_strategy) {
  const std::size_t before = problems_.size();
  named("--runtime", [&] { prepare_problem(); });
  if (problems_.size() > before) return;
  if (trains_nothing()) add("--frozen", "nothing is left to train", "name fewer parts");
  std::vector<Diagnostic> found = wrong(with_strategy);
  if (!unread_.empty()) {
    for (const Slot& slot : fields_of(q_.task, x_.inputs).fields) {
      if (unread_.contains(slot.name)) alter(slot.target);
    }
    if (unread_.contains("gpus")) alter(&x_.inputs.strategy.dp);
    keep_common(found, wrong(with_strategy));
  }
  if (uneven_ && !found.empty() && found.front().file == "--gpus") {
    const Diagnostic devices = found.front();
    x_.inputs.gpus = 0;
    x_.inputs.strategy.dp = x_.strategy.dp + 1;
    keep_common(found, wrong(with_strategy));
    found.insert(found.begin(), devices);
  }
  std::move(found.begin(), found.end(), std::back_inserter(problems_));
}

/// What the inputs lead to, and which rules it breaks, each by its flag.
std::vector<Diagnostic> Reader::wrong(bool with_strategy) {
  const std::optional<Refusal> outcome = derive(q_.task, x_.inputs, x_.problem, x_.strategy);
  std::vector<Diagnostic> found =
      trains() ? check(x_.problem, x_.strategy) : check_serving(x_.problem, x_.strategy);
  if (!with_strategy) {
    std::erase_if(found,
                  [](const Diagnostic& d) { return d.field != "runtime" && d.field != "images"; });
  }
  for (Diagnostic& d : found) {
    const bool devices = d.field == "dp" && !gives("dp") && gives("gpus");
    d.file = flag_of_field(devices ? "gpus" : d.field);
    d.field.clear();
  }
  if (outcome) found.insert(found.begin(), refused(*outcome));
  uneven_ = outcome == Refusal::gpus_not_divisible;
  return found;
}

Diagnostic Reader::refused(Refusal outcome) const {
  const Strategy& s = x_.strategy;
  const Serving& w = x_.inputs.serving;
  if (outcome == Refusal::context_too_long) {
    return {.file = w.input >= model_.max_context ? "--input" : "--output",
            .message = context_words(),
            .hint = "--allow-long goes on all the same"};
  }
  const int gpus = x_.inputs.gpus;
  const double product = devices_of(s);
  const double others = product / s.dp;
  const double below = std::floor(gpus / others) * others;
  const bool replicas = gives("dp");
  return {.file = "--gpus",
          .message = fmt::format("{} is not tp {} x pp {}{} x {}", gpus, s.tp, s.pp,
                                 trains() ? fmt::format(" x cp {}", s.cp) : "",
                                 replicas ? fmt::format("dp {}", s.dp) : "a whole number"),
          .hint = replicas    ? fmt::format("{} for these degrees", product)
                  : below > 0 ? fmt::format("{} or {} are the nearest", below, below + others)
                              : fmt::format("{} is the nearest", others)};
}

void Reader::assume_strategy() {
  const Strategy& s = x_.strategy;
  const bool experts = model_.experts.count > 0;
  if (!trains()) {
    assume_unless("tp", "tp 1");
    if (experts) assume_unless("ep", "ep 1: every rank holds a slice of all experts");
    return assume_precision();
  }
  assume_unless("microbatch", "microbatch 1");
  assume_unless("zero", "zero 0: every replica holds all states");
  if (experts) assume_unless("ep", "ep 1: every rank holds all experts");
  if (s.tp > 1) {
    assume_unless("sp",
                  fmt::format("sp {}: the default of {}", s.sp ? "on" : "off", runtime_.name));
  }
  assume_unless("recompute", "recompute none");
  if (s.pp > 1) assume_unless("schedule", "schedule 1f1b");
  assume_precision();
  assume_idle_axes();
}

/// Files of other tools say these whether or not there is anything that they could say it of.
void Reader::assume_idle_axes() {
  const Strategy& s = x_.strategy;
  const Strategy does = acting(x_.problem, s);
  const auto idle = [&](bool is, const std::string& what, const std::string& why) {
    if (is) assume("{} has no effect: {}", what, why);
  };
  const auto named = [](const char* axis, std::string_view value) {
    return fmt::format("{} {}", axis, value);
  };
  idle(s.schedule != does.schedule, named("schedule", name_of(s.schedule)), "pp 1 has one stage");
  idle(s.order != does.order, named("order", name_of(s.order)),
       s.pp == 1 ? "pp 1 has one stage" : "dp 1 has one replica");
  idle(s.context != does.context, named("context", name_of(s.context)),
       "with cp 1 every rank has whole sequences");
  idle(s.zero != does.zero, fmt::format("zero {}", s.zero), "dp 1 has one replica");
  idle(s.shard != does.shard && s.zero == does.zero, fmt::format("shard {}", s.shard),
       "all replicas share states without it");
  if (s.recompute_layers != does.recompute_layers) {
    assume("recompute_layers {}{}", s.recompute_layers,
           s.recompute_layers > model_.layers
               ? fmt::format(" is more than the model's {}: all are recomputed", model_.layers)
               : " are all of a stage");
  }
  if (does.recompute == Recompute::full) {
    idle(!(s.modules == does.modules), "recompute_modules", "recompute full has all of a layer");
    return;
  }
  const auto part = [&](bool RecomputeModules::*module, const char* name, const char* what) {
    idle(s.modules.*module != does.modules.*module, named("recompute_modules", name),
         fmt::format("{} has no {}", model_.name, what));
  };
  part(&RecomputeModules::mlp, "mlp", "dense MLP");
  part(&RecomputeModules::experts, "experts", "routed experts");
  part(&RecomputeModules::latent, "latent", "latent attention");
}

void Reader::assume_precision() {
  const Precision p = x_.strategy.precision;
  const bool own = !trains() && p != Precision::bf16;
  assume_unless("precision", fmt::format("precision {}{}", name_of(p),
                                         own ? ": as the model's weights are published" : ""));
}

/// What a run with experts on several nodes waits for longest is said with what would hide it.
void Reader::assume_exchange() {
  const Strategy& s = x_.strategy;
  const bool paired = s.schedule == Schedule::dual_pipe && s.pp > 1;
  if (s.ep == 1 || paired || runtime_.overlap.experts) return;
  if (extent_of(x_.problem, s).expert_nodes <= 1) return;
  assume(
      "tokens go to experts on other nodes while nothing computes: runtime.overlap.experts where "
      "another microbatch does");
}

void Reader::assume_replicas() {
  const Strategy& s = x_.strategy;
  if (gives("gpus") && !gives("dp")) {
    assume("dp {}: {} devices / (tp {} x pp {}{})", s.dp, x_.inputs.gpus, s.tp, s.pp,
           trains() ? fmt::format(" x cp {}", s.cp) : "");
  } else if (trains() && !gives("gpus")) {
    assume_unless("dp", fmt::format("dp 1, so gpus {}", devices_of(s)));
    if (gives("dp")) assume("gpus {}: tp x pp x cp x dp", devices_of(s));
  }
}

void Reader::assume_work(bool with_strategy) {
  const Training& t = x_.problem.work;
  const Serving& w = x_.problem.serving;
  if (trains()) {
    assume_unless("optimizer", "optimizer adamw: fp32 master weights and moments");
    if (t.tuning.rank > 0) {
      assume_unless("adapter", "adapter lora");
      assume_unless("lora_targets",
                    std::string("adapters on qkv, output, up and down of every layer") +
                        (model_.experts.count > 0 ? "; none on routed experts" : ""));
      if (!(t.tuning.frozen == Frozen{})) {
        assume("frozen has no effect: beside adapters all weights are frozen");
      }
    }
    if (x_.problem.ahead > 0) {
      assume_unless(
          "predict_ahead",
          fmt::format("predict_ahead {}: the model's own prediction layer{}, with the head's "
                      "multiply once more",
                      x_.problem.ahead, x_.problem.ahead == 1 ? "" : "s"));
    }
    if (t.images > 0) assume_images();
    if (with_strategy) {
      assume_exchange();
      assume_unless("batch", fmt::format("batch {}: dp x microbatch x pp", t.batch));
    }
    assume_unless("seq", fmt::format("seq {}", t.seq));
    if (model_.max_context > 0 && t.seq > model_.max_context) {
      assume("seq {} is longer than the {} that {} takes: gone on with", t.seq, model_.max_context,
             model_.name);
    }
    return;
  }
  if (with_strategy) assume_unless("batch", "batch 1");
  assume_unless("input", fmt::format("input {}", w.input));
  assume_unless("output", fmt::format("output {}", w.output));
  assume_unless("batching", "batching static: all requests start and end together");
  if (with_strategy) {
    const bool brought = narrow(w.cache);
    assume_unless("kv_precision",
                  fmt::format("cache in {}{}", name_of(w.cache),
                              brought ? ", which checkpoints of so few bits bring along" : ""));
    const Problem& p = x_.problem;
    const Strategy& cut = x_.strategy;
    const bool kernels = p.runtime.communication.expert_kernels || !p.collectives.experts.offered;
    if (cut.dp > 1 && cut.ep > p.network.devices_per_node && !kernels && !gathers_tokens(p, cut)) {
      assume(
          "tokens reach experts on other nodes by an all-to-all: "
          "runtime.communication.expert_kernels for kernels made for it, runtime.overlap.experts "
          "for halves of a batch in turns");
    }
  }
  if (w.speculation.tokens > 0) {
    assume_unless("acceptance",
                  fmt::format("acceptance {} of a proposed token", w.speculation.acceptance));
    if (!x_.problem.draft) {
      assume_unless("draft_cost", fmt::format("draft cost {} of a step", w.speculation.draft_cost));
    } else {
      assume_unless("draft", "the model's own prediction layer drafts, once a token");
      const int theirs = x_.problem.draft->model.vocab;
      if (const int ours = x_.problem.model.vocab; theirs != ours) {
        assume(
            "drafts over {} tokens for a vocabulary of {}: engines refuse them, unless they "
            "translate between the two",
            theirs, ours);
      }
    }
  }
  if (w.images > 0) assume_images();
  const double longest = prompt_tokens(x_.problem) + w.output;
  if (x_.inputs.allow_long && model_.max_context > 0 && longest > model_.max_context) {
    assume("{}: gone on with, as asked", context_words());
  }
}

void Reader::assume_images() {
  const Vision& v = x_.problem.model.vision;
  const ImageShape image = image_shape(v);
  assume("an image of {}{} x {} pixels is {:.0f} patches and {:.0f} tokens{}: model.vision.image",
         v.tiles > 1 ? fmt::format("{} tiles of ", v.tiles) : "", v.image, v.image, image.patches(),
         image.tokens, v.cross_layers > 0 ? " that text looks at" : "");
  if (trains() && x_.problem.work.tuning.rank > 0) {
    assume("the tower for images is frozen, as all weights that have no adapters");
  }
}

// What the device cannot do, what is not asked of it, and whether it was measured.
void Reader::say_device() {
  const Device& device = x_.system.device;
  if (std::string other = runs_as_other(x_, x_.strategy.precision); !other.empty()) {
    x_.assumptions.push_back(std::move(other));
  }
  const Chip& chip = x_.problem.chip;
  if (chip.roofline > 0) {
    assume("no power limit: kernels run at {:.0f} % of peak at {}, whatever they draw; {} has {}",
           100 * chip.roofline, format(chip.clock), device.name, format(device.power.limit));
  }
  if (std::string unseen = outruns_cache(device, chip.l2_per_clock * chip.light_clock);
      !unseen.empty()) {
    x_.assumptions.push_back(std::move(unseen));
  }
  if (device.provenance.cases == 0) {
    assume("constants of {} are the defaults: none was fitted to it", device.name);
  }
}

}  // namespace

void assume_precisions(Scenario& x, const std::vector<Precision>& searched, bool given) {
  const std::string other = runs_as_other(x, x.strategy.precision);
  const bool same = !given && searched == std::vector{x.strategy.precision};
  if (same) return;
  std::erase_if(x.assumptions, [&](const std::string& said) {
    return said.starts_with("precision ") || said == other;
  });
  for (const Precision p : searched) {
    if (std::string runs = runs_as_other(x, p); !runs.empty()) {
      x.assumptions.push_back(std::move(runs));
    }
  }
}

std::vector<std::string> setting_roots() {
  return {"system", "device", "model", "runtime", "strategy", "kernel", "collective"};
}

Scenario read_scenario(const Question& question) { return Reader(question).run(true); }
Scenario read_workload(const Question& question) { return Reader(question).run(false); }

}  // namespace sextant
