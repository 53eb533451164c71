// SPDX-License-Identifier: Apache-2.0
#include "sextant/import/import.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "sextant/import/facts.hpp"
#include "sextant/import/launch.hpp"
#include "sextant/import/shell.hpp"
#include "sextant/io/checkpoints.hpp"
#include "sextant/io/parsing.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/text.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

/// Fields of `traffic` that a scenario may have beside those of `infer`.
constexpr std::array<std::string_view, 16> engine_fields = {
    "replicas",        "token_budget", "max_requests",    "block",
    "memory_fraction", "prefix_cache", "prefill_workers", "prefill_tp",
    "prefill_pp",      "prefill_dp",   "prefill_ep",      "decode_workers",
    "decode_tp",       "decode_pp",    "decode_dp",       "decode_ep"};

bool is_null(std::string_view text) {
  const std::string t = lower(text);
  return t.empty() || t == "null" || t == "none" || t == "~" || t == "???";
}
bool is_off(std::string_view text) {
  const std::string t = lower(text);
  return is_null(text) || t == "false" || t == "0" || t == "0.0" || t == "no" || t == "off" ||
         t == "[]" || t == "{}" || t == "disabled" || t == "-1";
}

/// A value in a file as a text: lists of words with commas.
std::string text_of(const Node& node) {
  const auto nested = [](const Node& n) {
    return n.kind == Node::Kind::array || n.kind == Node::Kind::table;
  };
  if (!nested(node)) return plain_text(node);
  if (node.items.empty() || std::any_of(node.items.begin(), node.items.end(), nested)) {
    return to_json(node, 0);
  }
  std::string all;
  for (const Node& item : node.items) all += (all.empty() ? "" : ",") + plain_text(item);
  return all;
}

/// A text as TOML would have it: numbers and switches as such.
Node typed(const std::string& text) {
  if (text == "true" || text == "false") return Node::of(text == "true");
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, whole);
      error == std::errc{} && at == end) {
    return Node::of(whole);
  }
  double real = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, real);
      error == std::errc{} && at == end && std::isfinite(real)) {
    return Node::of(real);
  }
  return Node::of(text);
}

const Node* find_path(const Node& root, std::string_view path) {
  const Node* at = &root;
  while (at != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    at = at->kind == Node::Kind::table ? at->find(path.substr(0, dot)) : nullptr;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

/// One value of an argument on its way into the facts.
struct Given {
  std::string name;  ///< in the format's table
  std::string shown;
  std::string value;
  Place place;
  std::string unknown = {};  ///< why the value is not known
};

class Importer {
 public:
  Importer(const Document& document, const ImportFormat& format, const ImportHints& options)
      : document_(document), format_(format), facts_(document, problems_) {
    out_.format = format.name;
    out_.title = format.title;
    const std::string task = options.task.empty() ? format.task : options.task;
    trains_ = task != "infer";
    if (!format.task.empty() && task != format.task) {
      throw InputError(format.title + " is for " +
                       (format.task == "train" ? "training" : "serving") + ", not for '" + task +
                       "'");
    }
    out_.task = trains_ ? Task::train : Task::infer;
    for (const Node::Member& m : options.given.members) {
      if (m.value.kind == Node::Kind::null) continue;
      facts_.set(m.key, {text_of(m.value), flag_of_field(m.key), {}, true});
    }
  }

  Imported run(const std::vector<Word>& words, std::size_t first, std::size_t last) {
    launcher(words, first);
    arguments(format_, words, last);
    return finished();
  }
  Imported run(const Node& root) {
    root_ = &root;
    walk(root, "");
    return finished();
  }

 private:
  void add(Place at, std::string field, std::string message, std::string hint = "") {
    if (problems_.size() >= max_collected) return;
    problems_.push_back(
        problem_at(document_, at, std::move(field), std::move(message), std::move(hint)));
  }

  // ---- files

  void walk(const Node& node, const std::string& path) {
    if (node.kind == Node::Kind::table && !node.members.empty()) {
      for (const Node::Member& m : node.members) {
        if (m.value.kind == Node::Kind::table) {
          walk(m.value, path.empty() ? m.key : path + "." + m.key);
          continue;
        }
        leaf(m, path);
      }
      return;
    }
    if (node.kind == Node::Kind::table && !path.empty()) nothing(path, node.place);
    if (path.empty() && node.kind != Node::Kind::table) {
      add(node.place, "", "expected keys and values");
    }
  }

  void leaf(const Node::Member& m, const std::string& path) {
    const std::string full = path.empty() ? m.key : path + "." + m.key;
    if (m.value.kind == Node::Kind::null && format_.find(in_table(full)) == nullptr) {
      return nothing(full, m.place);
    }
    Given g{in_table(full), full, text_of(m.value), m.place};
    if (m.value.kind == Node::Kind::string) interpolate(g, path);
    take(format_, g);
  }

  /// Names below the format's root go without it.
  std::string in_table(const std::string& full) const {
    const std::string prefix = format_.root + ".";
    return !format_.root.empty() && full.starts_with(prefix) ? full.substr(prefix.size()) : full;
  }

  /// A table without entries: of a name that is known, it says nothing.
  void nothing(const std::string& full, Place at) {
    const std::string name = in_table(full);
    const std::vector<std::string> names = format_.names();
    std::string prefix = name + ".";
    std::replace(prefix.begin(), prefix.end(), '-', '_');
    const bool known = format_.find(name) != nullptr ||
                       std::any_of(names.begin(), names.end(),
                                   [&](const std::string& n) { return n.starts_with(prefix); });
    if (!known) return unknown(format_, name, full, at);
    out_.arguments.push_back({full, "", at, Disposition::irrelevant, "", "empty"});
  }

  /// ${path.to.key} of the same file, ${.sibling}, and ${VARIABLE:default}.
  void interpolate(Given& g, const std::string& path) {
    for (int round = 0; round < 16; ++round) {
      const std::size_t begin = g.value.find("${");
      if (begin == std::string::npos) return;
      const std::size_t end = g.value.find('}', begin);
      if (end == std::string::npos) return;
      const std::string inner = g.value.substr(begin + 2, end - begin - 2);
      const std::size_t colon = inner.find(':');
      const std::string name = inner.substr(0, colon);
      const bool variable = colon != std::string::npos && !name.empty() &&
                            std::all_of(name.begin(), name.end(), [](char c) {
                              return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
                            });
      std::string value;
      if (variable) {
        value = inner.substr(colon + 1);
      } else {
        const std::string target =
            inner.starts_with(".") ? (path.empty() ? "" : path + ".") + inner.substr(1) : inner;
        const Node* node = find_path(*root_, target);
        if (node == nullptr || node->kind == Node::Kind::table) {
          g.unknown = "'${" + printable(inner) + "}' is not read";
          return;
        }
        value = text_of(*node);
      }
      g.value = g.value.substr(0, begin) + value + g.value.substr(end + 1);
      if (g.value.size() > longest) g.value.resize(longest);
    }
    g.unknown = "it refers to itself";
  }

  // ---- command lines

  /// What starts the program: the devices it starts it on.
  void launcher(const std::vector<Word>& words, std::size_t program) {
    constexpr std::array<std::string_view, 4> known = {"torchrun", "torch.distributed.launch",
                                                       "torch.distributed.run", "deepspeed"};
    std::size_t at = program;
    for (std::size_t i = 0; i < program; ++i) {
      const auto starts = [&](std::string_view k) {
        return words[i].text == k || words[i].text.ends_with("/" + std::string(k));
      };
      if (std::any_of(known.begin(), known.end(), starts)) at = i;
    }
    if (at == program) return;
    arguments(launcher_format(), words, at + 1, program);
    // torchrun starts one node unless it is told of more; DeepSpeed those of a file.
    if (words[at].text.find("torch") != std::string::npos) facts_.otherwise("_usual_nodes", "1");
  }

  static bool is_flag(const Word& w) {
    return w.text.size() > 1 && w.text[0] == '-' && !(w.text[1] >= '0' && w.text[1] <= '9') &&
           w.text[1] != '.';
  }

  void arguments(const ImportFormat& format, const std::vector<Word>& words, std::size_t from,
                 std::size_t to = std::string::npos) {
    to = std::min(to, words.size());
    bool positional = format.positional.empty();
    for (std::size_t i = from; i < to;) {
      const Word& w = words[i];
      if (!is_flag(w)) {
        ++i;
        if (!positional) {
          positional = true;
          take(format, {format.positional, format.positional, w.text, w.place, w.unknown});
        } else {
          loose_word(format, w);
        }
        continue;
      }
      i = flag(format, words, i, to);
    }
  }

  void loose_word(const ImportFormat& format, const Word& w) {
    const bool program = &format == &launcher_format();
    if (program && (w.text.ends_with(".py") || w.text == "-m")) return;
    if (!w.unknown.empty()) {
      out_.arguments.push_back({"\"$@\"", "", w.place, Disposition::unmodelled, "",
                                "what the script is called with is not known"});
      return;
    }
    add(w.place, "", "unexpected word '" + printable(w.text) + "'",
        "a flag before it may take no value");
  }

  /// One flag and its value; where the next one starts.
  std::size_t flag(const ImportFormat& format, const std::vector<Word>& words, std::size_t i,
                   std::size_t to) {
    const Word& w = words[i++];
    std::string name = w.text.substr(w.text.starts_with("--") ? 2 : 1);
    const std::size_t equals = name.find('=');
    Given g{name.substr(0, equals), w.text.substr(0, w.text.find('=')), "", w.place, w.unknown};
    if (equals != std::string::npos) {
      g.value = name.substr(equals + 1);
    } else if (format.is_switch(g.name)) {
      g.value = "true";
    } else if (const std::string other = opposite(format, g.name); !other.empty()) {
      g.name = other;
      g.value = "false";
    } else {
      const std::size_t values =
          format.takes_many(g.name) || format.find(g.name) == nullptr ? to : std::min(to, i + 1);
      const std::size_t start = i;
      for (; i < values && !is_flag(words[i]); ++i) {
        g.value += (i == start ? "" : ",") + words[i].text;
        if (g.unknown.empty()) g.unknown = words[i].unknown;
      }
      if (i == start && format.find(g.name) != nullptr) {
        add(w.place, g.shown, "a value is missing");
        return i;
      }
    }
    nested(format, g);
    return i;
  }

  /// "--no-x" of a switch x.
  static std::string opposite(const ImportFormat& format, const std::string& name) {
    if (!name.starts_with("no-") && !name.starts_with("no_")) return "";
    const std::string other = name.substr(3);
    return format.is_switch(other) ? other : "";
  }

  /// A value that is JSON, where the table knows its parts.
  void nested(const ImportFormat& format, const Given& g) {
    std::string prefix = g.name + ".";
    std::replace(prefix.begin(), prefix.end(), '-', '_');
    const auto below = format.rules.lower_bound(prefix);
    const bool parts = below != format.rules.end() && below->first.starts_with(prefix);
    if (!parts || !g.value.starts_with("{")) return take(format, g);
    try {
      const Document inner = parse_json(g.value, g.shown);
      for (const Node::Member& m : inner.root.members) {
        take(format, {g.name + "." + m.key, g.shown + "." + m.key, text_of(m.value), g.place});
      }
    } catch (const InputError& e) {
      add(g.place, g.shown, "its JSON is wrong: " + e.diagnostics().front().message);
    }
  }

  // ---- one argument

  void unknown(const ImportFormat& format, const std::string& name, const std::string& shown,
               Place at) {
    std::string key = name;
    std::replace(key.begin(), key.end(), '-', '_');
    std::string near = closest(key, format.names());
    if (shown.starts_with("-")) {
      std::replace(near.begin(), near.end(), '_', '-');
      if (!near.empty()) near = "--" + near;
    }
    add(at, shown, "unknown argument of " + format.title,
        near.empty() ? "" : "did you mean '" + near + "'?");
  }

  void take(const ImportFormat& format, const Given& g) {
    const ImportRule* rule = format.find(g.name);
    if (rule == nullptr) return unknown(format, g.name, g.shown, g.place);
    const bool on = g.value == "true" && g.shown.starts_with("-");
    ImportedArgument a{g.shown, on ? "" : g.value, g.place, rule->disposition, "", rule->why};
    if (!g.unknown.empty() && rule->field.starts_with("_tokenizer")) {
      a.disposition = Disposition::irrelevant;
      a.why = "not known, and other arguments may say as much";
    } else if (!g.unknown.empty() && a.disposition == Disposition::used) {
      add(g.place, g.shown, "its value is not known: " + g.unknown, "write it out");
    } else if (a.disposition == Disposition::unmodelled && g.unknown.empty() && is_off(g.value)) {
      a.disposition = Disposition::irrelevant;
      a.why = "off";
    } else if (a.disposition == Disposition::used) {
      use(*rule, g, a);
    }
    out_.arguments.push_back(std::move(a));
  }

  void use(const ImportRule& rule, const Given& g, ImportedArgument& a) {
    const auto said_nothing = [&](const char* why) {
      a.disposition = Disposition::irrelevant;
      a.why = why;
    };
    if (is_null(g.value) && !rule.values.contains(lower(g.value))) {
      return said_nothing("empty: the tool's default");
    }
    if (!is_off(g.value)) {
      for (const auto& [field, what] : rule.sets) say(field, what, g, a);
    } else if (!rule.sets.empty() && rule.field.empty()) {
      return said_nothing("off");
    }
    std::string value = g.value;
    if (!rule.values.empty()) {
      const auto exact = rule.values.find(lower(value));
      const auto any = rule.values.find("*");
      if (exact == rule.values.end() && any == rule.values.end()) return no_such(rule, g);
      const std::string& mapped = exact != rule.values.end() ? exact->second : any->second;
      if (!mapped.starts_with("*")) value = mapped;
      if (value.empty()) return said_nothing("the tool's default");
      if (value.starts_with("!")) {
        a.disposition = Disposition::unmodelled;
        a.why = value.substr(1);
        return;
      }
      // What a value means, and after '!' what of it is left out.
      if (const std::size_t but = mapped.find('!'); but != mapped.npos) {
        a.why = mapped.substr(but + 1);
        if (!mapped.starts_with("*")) value.resize(but);
      }
      const auto others = meant_for_others(value);
      for (const auto& [field, meant] : others) say(field, meant, g, a);
      if (!others.empty()) return;
    }
    if (!rule.field.empty()) say(rule.field, value, g, a);
  }

  void no_such(const ImportRule& rule, const Given& g) {
    std::vector<std::string> names;
    std::string all;
    for (const auto& [name, meaning] : rule.values) {
      names.push_back(name);
      all += (all.empty() ? "" : ", ") + name;
    }
    const std::string near = did_you_mean(lower(g.value), names);
    add(g.place, g.shown, "unknown value '" + printable(g.value) + "'",
        near.empty() ? "known are " + all : near);
  }

  void say(const std::string& field, std::string value, const Given& g, ImportedArgument& a) {
    if (format_.suffixes) value = in_full(value);
    if (field == "model") value = model_named(value, g);
    if (field == "system") value = system_of(value, g);
    if (value.empty()) return;
    facts_.set(field, {value, g.shown, g.place});
    const Fact* fact = facts_.find(field);
    a.field += (a.field.empty() ? "" : ", ") + shown_as(field);
    if (fact->given) a.why = "but " + fact->from + " says " + fact->value;
  }

  /// vLLM's numbers: 8k is 8000, 8K 8192.
  static std::string in_full(const std::string& text) {
    if (text.size() < 2) return text;
    double factor = 0;
    switch (text.back()) {
      case 'k':
        factor = 1e3;
        break;
      case 'K':
        factor = 1024;
        break;
      case 'm':
        factor = 1e6;
        break;
      case 'M':
        factor = 1024.0 * 1024;
        break;
      default:
        return text;
    }
    double number = 0;
    const char* const end = text.data() + text.size() - 1;
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || at != end || !(number >= 0 && number < 1e6)) return text;
    return std::to_string(static_cast<std::int64_t>(number * factor));
  }

  std::string model_named(const std::string& said, const Given& g) {
    std::string name = said;
    if (name.ends_with(".yaml")) name.resize(name.size() - 5);
    if (name.starts_with("torchtune.models.")) name = component(name);
    if (const Fact* fixed = facts_.find("model"); fixed != nullptr && fixed->given) return name;
    const std::vector<std::string> presets = preset_names(PresetKind::model);
    if (contains(presets, name)) return name;
    const bool path = name.starts_with("/") || name.starts_with(".") || name.ends_with(".json");
    if (path) return name;
    const Checkpoint found = checkpoint_named(name);
    if (found.model.empty()) {
      const std::string near = closest(name, checkpoint_names());
      add(g.place, g.shown, "no preset is known for the model '" + printable(name) + "'",
          (near.empty() ? std::string() : "did you mean '" + near + "'? ") +
              "give --model with a preset, or with its config.json");
      return "";
    }
    if (!trains_ && !found.precision.empty()) facts_.otherwise("_stored", found.precision);
    if (!trains_ && !found.activations.empty()) {
      facts_.set("model.activations", {found.activations, g.shown, g.place});
    }
    return found.model;
  }

  /// "torchtune.models.llama3_1.qlora_llama3_1_8b" is Llama 3.1 8B with adapters.
  std::string component(const std::string& path) {
    std::string name = path.substr(path.rfind('.') + 1);
    for (const std::string prefix : {"lora_", "qlora_"}) {
      if (!name.starts_with(prefix)) continue;
      name = name.substr(prefix.size());
      facts_.otherwise("adapter", prefix.substr(0, prefix.size() - 1));
    }
    return name;
  }

  std::string system_of(const std::string& accelerator, const Given& g) {
    if (const Fact* fixed = facts_.find("system"); fixed != nullptr && fixed->given) return "";
    const std::string system = system_with(accelerator);
    if (system.empty()) {
      add(g.place, g.shown, "no system has devices called '" + printable(accelerator) + "'",
          "give --system");
    }
    return system;
  }

  // ---- the whole

  Imported finished();
  void add_defaults(bool first);
  void add_preset_facts();
  void check_values();
  void check_node_size();
  void write_scenario();
  void say_missing();

  static constexpr std::size_t longest = 1000;
  const Document& document_;
  const ImportFormat& format_;
  const Node* root_ = nullptr;
  bool trains_ = true;
  std::vector<Diagnostic> problems_;
  Facts facts_;
  Imported out_;
};

bool is_setting(const std::string& field) {
  return field.starts_with("runtime.") || field.starts_with("system.") ||
         field.starts_with("device.") || field.starts_with("kernel.");
}

/// First those that others follow from, then what nothing has said.
void Importer::add_defaults(bool first) {
  for (const auto& [field, value] : format_.absent) {
    const bool inner = field.starts_with("_") || field.starts_with("model.") || field == "batch" ||
                       field == "microbatch";
    if (inner != first || facts_.find(field) != nullptr) continue;
    const std::string tp = facts_.text("tp");
    if (field == "sp" && (tp.empty() || tp == "1")) continue;  // there is nothing for it to cut
    facts_.otherwise(field, value);
    if (!inner) out_.defaults.push_back({field, value});
  }
}

/// Layers and vocabulary of presets that arguments name.
void Importer::add_preset_facts() {
  const std::vector<std::string> presets = preset_names(PresetKind::model);
  const auto known = [&](const std::string& name) { return contains(presets, name); };
  if (const Fact* family = facts_.find("_family"); family != nullptr) {
    const Given g{"model.flavor", family->from, "", family->place};
    const std::string name = family->value + "_" + facts_.text("_flavor");
    const std::string model = model_named(name, g);
    if (!model.empty()) facts_.set("model", {model, family->from, family->place});
  }
  if (const std::string model = facts_.text("model"); known(model)) {
    facts_.otherwise("_layers", std::to_string(load_model(model).layers));
  }
  const std::string tokenizer = checkpoint_named(facts_.text("_tokenizer_model")).model;
  if (known(tokenizer)) {
    facts_.otherwise("_tokenizer_vocabulary", std::to_string(load_model(tokenizer).vocab));
  }
}

/// Values of the scenario's own fields, each blamed on its argument.
void Importer::check_values() {
  Inputs scratch;
  StructRef fields = fields_of(out_.task, scratch);
  for (const auto& entry : facts_.all()) {
    const auto& fact = entry.second;
    auto* slot = find_by(fields.fields, &Slot::name, entry.first);
    if (slot == nullptr || fact.from.empty()) continue;
    std::vector<Diagnostic> found;
    read_input(fact.value, *slot, document_, fact.from, found);
    for (const Diagnostic& d : found) add(fact.place, fact.from, d.message, d.hint);
  }
  for (const std::string_view field : engine_fields) {
    const Fact* fact = facts_.find(field);
    if (fact == nullptr) continue;
    const Node value = typed(fact->value);
    const bool share = field == "memory_fraction";
    if (value.kind == Node::Kind::string) {
      add(fact->place, fact->from, "expected a number, got '" + printable(fact->value) + "'");
    } else if (value.kind != Node::Kind::boolean &&
               !(value.number > 0 && (!share || value.number <= 1))) {
      add(fact->place, fact->from,
          std::string("expected more than 0") + (share ? " and at most 1" : "") + ", not " +
              printable(fact->value));
    }
  }
}

/// A system whose nodes are others than the file's is not that system.
void Importer::check_node_size() {
  const Fact* each = facts_.find("_devices_per_node");
  const Fact* system = facts_.find("system");
  if (each == nullptr || system == nullptr || format_.task == "train") return;
  const std::vector<std::string> presets = preset_names(PresetKind::system);
  if (!contains(presets, system->value)) return;
  const int size = load_system(system->value).devices_per_node;
  if (typed(each->value).integer == size || size > 8) return;
  for (ImportedArgument& a : out_.arguments) {
    if (a.name != each->from) continue;
    a.why = "nodes of " + each->value + "; " + system->value + " has " + std::to_string(size);
  }
}

Node list_of(const std::string& words) {
  Node list = Node::array();
  for (std::size_t from = 0; from <= words.size();) {
    const std::size_t to = std::min(words.find(',', from), words.size());
    if (to > from) list.push(Node::of(words.substr(from, to - from)));
    from = to + 1;
  }
  return list;
}

Node& inner_table(Node& table, const std::string& name) {
  for (Node::Member& m : table.members) {
    if (m.key == name) return m.value;
  }
  return table.set(name, Node::table());
}

void Importer::write_scenario() {
  Node& s = out_.scenario;
  s.set("task", Node::of(name_of(out_.task)));
  for (const char* field : {"model", "system", "runtime", "gpus"}) {
    if (const Fact* fact = facts_.find(field)) s.set(field, typed(fact->value));
  }
  Node settings = Node::array();
  Node model = Node::table();
  const bool named = facts_.find("model") != nullptr;
  for (const auto& [field, fact] : facts_.all()) {
    if (field.starts_with("model.") && !named) {
      const std::string name = field.substr(6);
      const std::size_t dot = name.find('.');
      if (dot == std::string::npos) {
        model.set(name, typed(fact.value));
        continue;
      }
      inner_table(model, name.substr(0, dot)).set(name.substr(dot + 1), typed(fact.value));
    } else if (is_setting(field) || field.starts_with("model.")) {
      // A tool's defaults are those of the dimensions it was given, not of a preset.
      if (field.starts_with("model.") && fact.from.empty()) continue;
      settings.push(Node::of(field + "=" + fact.value));
    } else if (field == "recompute_modules" || field == "lora_targets") {
      s.set(field, list_of(fact.value));
    } else if (s.find(field) == nullptr) {
      s.set(field, typed(fact.value));
    }
  }
  if (!settings.items.empty()) s.set("set", std::move(settings));
  if (!named && model.find("layers") != nullptr) s.set("model", std::move(model));
}

void Importer::say_missing() {
  const Node& s = out_.scenario;
  if (s.find("model") == nullptr) {
    out_.missing.emplace_back("model: give --model with a preset or a config.json");
  } else if (const Node* table = s.find("model"); table->kind == Node::Kind::table) {
    if (table->find("vocab") == nullptr) {
      out_.missing.emplace_back("model.vocab: the size of the vocabulary, --set model.vocab=…");
    }
    const Node* position = table->find("position");
    if (position != nullptr && position->string == "learned" &&
        table->find("max_context") == nullptr) {
      out_.missing.emplace_back("model.max_context: how many positions are learned");
    }
  }
  if (s.find("system") == nullptr) out_.missing.emplace_back("system: give --system with a preset");
  if (trains_ && s.find("gpus") == nullptr && s.find("dp") == nullptr) {
    out_.missing.emplace_back("gpus: how many devices, --gpus");
  }
  if (trains_ && s.find("seq") == nullptr) {
    out_.missing.emplace_back("seq: the tokens of a sequence, --seq");
  }
}

Imported Importer::finished() {
  add_defaults(true);
  if (!format_.runtime.empty()) facts_.otherwise("runtime", format_.runtime);
  add_preset_facts();
  check_node_size();
  finish(facts_, trains_);
  for (ImportedArgument& a : out_.arguments) {
    const auto passed = facts_.passed_over().find(a.name);
    if (passed == facts_.passed_over().end()) continue;
    a.disposition = Disposition::irrelevant;
    a.field.clear();
    a.why = passed->second;
  }
  add_defaults(false);
  check_values();
  throw_if_any(std::move(problems_));
  write_scenario();
  say_missing();
  return std::move(out_);
}

// ---- which format

std::string format_names() {
  std::string all;
  for (const ImportFormat& f : import_formats()) all += (all.empty() ? "" : ", ") + f.name;
  return all;
}

const ImportFormat* format_named(const std::string& name) {
  if (name.empty()) return nullptr;
  std::vector<std::string> names;
  for (const ImportFormat& f : import_formats()) {
    if (f.name == name) return &f;
    names.push_back(f.name);
  }
  const std::string near = did_you_mean(name, names);
  throw InputError("no format is called '" + printable(name) + "'",
                   near.empty() ? "known are " + format_names() : near);
}

/// The format whose signs a file has most of.
const ImportFormat& format_of(const Document& document, ImportSyntax syntax,
                              const ImportHints& options) {
  if (const ImportFormat* named = format_named(options.format)) return *named;
  const ImportFormat* best = nullptr;
  std::size_t signs = 0;
  for (const ImportFormat& f : import_formats()) {
    if (!f.reads(syntax)) continue;
    for (const std::vector<std::string>& keys : f.detect) {
      const bool all = std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
        return find_path(document.root, key) != nullptr;
      });
      if (all && keys.size() > signs) {
        best = &f;
        signs = keys.size();
      }
    }
  }
  if (best != nullptr) return *best;
  if (syntax == ImportSyntax::toml) {
    throw InputError({problem_at(document, {}, "task", R"(expected "train" or "infer")",
                                 "a scenario has it; --as says another format")});
  }
  throw InputError(document.file + " is of no format that is known",
                   "say which with --as: " + format_names());
}

Imported import_script(const Document& document, const ImportHints& options) {
  const ImportFormat* only = format_named(options.format);
  const std::vector<ShellCommand> commands = read_script(document);
  const ShellCommand* found = nullptr;
  std::optional<ProgramLaunch> launch;
  std::optional<Diagnostic> other;
  for (const ShellCommand& c : commands) {
    std::optional<ProgramLaunch> here = launch_in(c.words, only);
    if (const std::optional<NoLaunch> no = no_launch(c.words, here); no && only == nullptr) {
      other = problem_at(document, c.words[no->word].place, no->program, no->why, no->hint);
      continue;
    }
    if (!here) here = bare_arguments(c.words, only);
    if (!here) continue;
    if (found != nullptr) {
      throw InputError({problem_at(document, c.words.front().place, "",
                                   "a second launch; the first is in line " +
                                       std::to_string(found->words.front().place.line),
                                   "keep the one that is meant")});
    }
    found = &c;
    launch = here;
  }
  if (found == nullptr) {
    if (other) throw InputError({*other});
    throw InputError(document.file + " launches no program that is known",
                     "known are " + format_names() + "; --as says which it is");
  }
  return Importer(document, *launch->format, options)
      .run(found->words, launch->first, launch->last);
}

/// A scenario of our own: all of it is used.
Imported own_scenario(const Document& document, const ImportHints& options) {
  Imported out;
  out.format = "sextant";
  out.title = "a scenario of Sextant";
  const Node* task = document.root.find("task");
  if (task->kind != Node::Kind::string || !parse_enum(task->string, out.task)) {
    throw InputError(
        {problem_at(document, task->place, "task", "expected \"train\" or \"infer\"")});
  }
  if (!options.task.empty() && options.task != task->string) {
    throw InputError({problem_at(document, task->place, "task",
                                 "is " + task->string + ", not " + options.task)});
  }
  out.scenario = document.root;
  for (const Node::Member& m : options.given.members) out.scenario.set(m.key, m.value);
  for (const Node::Member& m : document.root.members) {
    if (m.key == "task") continue;
    out.arguments.push_back(
        {m.key, printable(text_of(m.value)), m.place, Disposition::used, m.key, ""});
  }
  return out;
}

}  // namespace

bool is_engine_field(std::string_view name) { return contains(engine_fields, name); }

Imported import_text(std::string text, std::string file, const ImportHints& options) {
  const ImportSyntax syntax = syntax_of(text, file);
  if (syntax == ImportSyntax::command) {
    check_text(text, file);
    return import_script({std::move(file), std::move(text), {}}, options);
  }
  auto* parse = syntax == ImportSyntax::json ? &parse_json : &parse_toml;
  if (syntax == ImportSyntax::yaml) parse = &parse_yaml;
  const Document document = parse(std::move(text), std::move(file));
  if (syntax != ImportSyntax::yaml && document.root.find("task") != nullptr &&
      options.format.empty()) {
    return own_scenario(document, options);
  }
  const ImportFormat& format = format_of(document, syntax, options);
  return Importer(document, format, options).run(document.root);
}

Imported import_command(const std::vector<std::string>& words, const ImportHints& options) {
  std::string text = quoted_words(words);
  check_text(text, "command line");
  return import_script({"command line", std::move(text), {}}, options);
}

}  // namespace sextant
