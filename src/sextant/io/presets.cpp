// SPDX-License-Identifier: Apache-2.0
// Loading presets: bases first, then overlays, settings and checks.
#include "sextant/io/presets.hpp"

#include <algorithm>
#include <concepts>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <tuple>
#include <utility>

#include "sextant/io/catalog.hpp"
#include "sextant/io/checkpoints.hpp"
#include "sextant/io/files.hpp"
#include "sextant/io/huggingface.hpp"
#include "sextant/io/parsing.hpp"
#include "sextant/io/read.hpp"
#include "sextant/io/text.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

/// What each kind describes, in the order of PresetKind.
using PresetTypes = std::tuple<Device, System, Model, Runtime, Kernels, CollectiveLibrary,
                               Measurement, LogicNode, MemoryPart, LinkPart, CoreTemplate>;
template <class T, std::size_t at = 0>
constexpr PresetKind kind_from() {
  if constexpr (std::same_as<T, std::tuple_element_t<at, PresetTypes>>) {
    return static_cast<PresetKind>(at);
  } else {
    return kind_from<T, at + 1>();
  }
}
template <class T>
constexpr PresetKind kind_of = kind_from<T>();

/// "no device is called 'x'" with what may have been meant.
struct Unknown {
  std::string message;
  std::string hint;
};
Unknown unknown(PresetKind kind, std::string_view name) {
  const std::string noun(name_of(kind));
  std::string hint = preset_hint(name, kind);
  if (const std::vector<PresetKind> others = preset_kinds(name); !others.empty()) {
    const bool built_in = kind == PresetKind::system && others.front() == PresetKind::device;
    hint = "there is a " + std::string(name_of(others.front())) + " of that name" +
           (built_in && !hint.empty() ? "; " + hint : "");
  }
  const std::string list = "'sextant list " + noun + "s' shows all";
  hint = hint.empty() ? list : hint + " (" + list + ")";
  return {"no " + noun + " is called " + in_quotes(name), hint};
}

// No TOML starts with a brace.
bool is_json(const PresetSource& source) {
  const std::size_t start = source.text.find_first_not_of(" \t\r\n");
  return source.file.ends_with(".json") ||
         (start != std::string::npos && source.text[start] == '{');
}

Document parse(const PresetSource& source) {
  // A part of a file keeps the line numbers it has there.
  std::string text(static_cast<std::size_t>(source.first_line - 1), '\n');
  text += source.text;
  return is_json(source) ? parse_json(std::move(text), source.file)
                         : parse_toml(std::move(text), source.file);
}

const Node& pick_model(const Document& document, const Node& models, const PresetSource& source) {
  std::vector<std::string> names;
  for (const Node& model : models.items) {
    const Node* name = model.find("name");
    names.push_back(name == nullptr ? "" : name->string);
    if (!source.fragment.empty() && names.back() == source.fragment) return model;
  }
  if (source.fragment.empty() && models.items.size() == 1) return models.items.front();
  if (source.fragment.empty()) {
    throw InputError({problem_at(
        document, models.place, "model",
        "the file holds " + std::to_string(names.size()) + " models",
        names.empty() ? ""
                      : "pick one as '" + source.file + "#" + printable(names.front()) + "'")});
  }
  throw InputError({problem_at(document, models.place, "model",
                               "no model here is called " + in_quotes(source.fragment),
                               did_you_mean(source.fragment, names))});
}

/// The table of a file that describes the preset: all of it, or one of its models.
const Node& table_of(const Document& document, const PresetSource& source, PresetKind kind) {
  const Node* models = kind == PresetKind::model ? document.root.find("model") : nullptr;
  if (models == nullptr || models->kind != Node::Kind::array) return document.root;
  for (const Node::Member& member : document.root.members) {
    if (&member.value == models) continue;
    throw InputError({problem_at(document, member.place, printable(member.key),
                                 "unknown field beside [[model]]")});
  }
  return pick_model(document, *models, source);
}

/// Where names inside a document are looked up.
struct Origin {
  std::string folder = {};
  Lookup lookup = Lookup::anywhere;
};

template <class T>
class Loader {
 public:
  explicit Loader(Lookup lookup) : lookup_(lookup) {}

  T value{};
  std::vector<Diagnostic> problems;

  /// A preset or file named by the user, outside any document.
  void load(std::string_view name, const std::vector<Setting>& settings) {
    load_base(name);
    if (problems.empty()) finish_settings(settings);
  }

  /// A value in a document: a preset's name, or a table.
  void load(const Document& document, const Node& node, const Origin& origin,
            const std::vector<Setting>& settings, const std::string& prefix = "") {
    prefix_ = prefix;
    if (node.kind == Node::Kind::string) {
      extend(document, node, origin, prefix);
    } else {
      overlay(document, node, origin, prefix);
    }
    finish(document, node, settings);
  }

  /// A preset that is written out in place; it has no other name than the one it gives itself.
  void load_object(const Node& object, const std::vector<Setting>& settings) {
    const std::string noun(name_of(kind_of<T>));
    const Document document{.file = noun, .text = {}, .root = object};
    if constexpr (std::same_as<T, Model>) {
      // Only our own tables call them that.
      if (object.find("layers") == nullptr && object.find("extends") == nullptr) {
        value = model_from_hugging_face(document);
        complete_ = true;
      }
    }
    if (!complete_) overlay(document, document.root, {.folder = {}, .lookup = lookup_}, "");
    if (value.name.empty()) value.name = "custom";
    finish(document, document.root, settings);
  }

  /// A preset as its files describe it, without settings; `value` is not completed yet.
  void load_base(std::string_view name) {
    const PresetSource source = source_named(name);
    const Document document = parse(source);
    finish_base(document, overlay_source(document, source));
  }

  /// On from a base that load_base() found in order.
  void resume(const T& base, const std::vector<Setting>& settings) {
    value = base;
    finish_settings(settings);
  }

  /// What was loaded; throws InputError with all that is wrong.
  T take() {
    throw_if_any(std::move(problems));
    return std::move(value);
  }

  /// What was read before, by others, is complete.
  void start_from(const T& base) {
    value = base;
    complete_ = true;
  }

 private:
  PresetSource source_named(std::string_view name) {
    std::optional<PresetSource> source =
        find_preset({.kind = kind_of<T>, .name = name, .excluded = seen_, .lookup = lookup_});
    if (!source) {
      const Unknown u = unknown(kind_of<T>, name);
      throw InputError(u.message, u.hint);
    }
    seen_.push_back(source->identity);
    return std::move(*source);
  }

  /// A checkpoint's folder may say in a file of its own how its weights are quantised.
  void quantise_beside(const PresetSource& source) {
    const bool published = std::filesystem::path(source.file).filename() == "config.json";
    if (value.stored != Precision::bf16 || source.embedded || !published) return;
    for (const std::string& name : quantisation_files()) {
      const std::filesystem::path path = std::filesystem::path(source.folder) / name;
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(path, ignored)) continue;
      return quantise_as(parse_json(read_file(path.string()), path.string()), value);
    }
  }

  const Node& overlay_source(const Document& document, const PresetSource& source) {
    if constexpr (std::same_as<T, Model>) {
      if (is_json(source)) {
        value = model_from_hugging_face(document);
        quantise_beside(source);
        complete_ = true;
        if (value.name.empty()) value.name = source.stem;
        return document.root;
      }
    }
    const Node& table = table_of(document, source, kind_of<T>);
    // What is compiled in does not depend on the files around; a file that was reached at all is
    // trusted to name others.
    const Lookup lookup = source.embedded ? Lookup::presets : Lookup::anywhere;
    overlay(document, table, {source.folder, lookup}, "");
    if (table.find("name") == nullptr) value.name = source.stem;
    return table;
  }

  void overlay(const Document& document, const Node& table, const Origin& origin,
               const std::string& prefix) {
    if (const Node* base = table.find("extends")) {
      const bool several = base->kind == Node::Kind::array && !base->items.empty();
      for (const Node& one : several ? base->items : std::vector<Node>{*base}) {
        extend(document, one, origin, join_path(prefix, "extends"));
      }
    }
    ReadOptions options{.prefix = prefix, .skip = {"extends"}, .given = &given_};
    options.ranges = ranges();
    if constexpr (std::same_as<T, System>) {
      options.skip.emplace_back("device");
      if (const Node* device = table.find("device")) {
        overlay_device(document, *device, origin, join_path(prefix, "device"));
      }
    }
    read(document, table, value, problems, options);
  }

  // Puts the preset that a document names under what the document itself says. What two of several
  // extend lies under both, once.
  void extend(const Document& document, const Node& name, const Origin& origin,
              const std::string& path) {
    if (name.kind != Node::Kind::string) {
      return add(document, name.place, path, "expected the name of a preset in quotes");
    }
    const std::optional<PresetSource> source = find_preset({.kind = kind_of<T>,
                                                            .name = name.string,
                                                            .folder = origin.folder,
                                                            .excluded = seen_,
                                                            .lookup = origin.lookup});
    if (!source) return report_missing_base(document, name, origin, path);
    if (contains(done_, source->identity)) return;
    constexpr std::size_t most = 16;
    if (seen_.size() + done_.size() >= most) {
      return add(document, name.place, path,
                 "more than " + std::to_string(most) + " presets extend one another");
    }
    seen_.push_back(source->identity);
    const Document base = parse(*source);
    overlay_source(base, *source);
    seen_.pop_back();
    done_.push_back(source->identity);
  }

  void report_missing_base(const Document& document, const Node& name, const Origin& origin,
                           const std::string& path) {
    const CatalogQuery again{
        .kind = kind_of<T>, .name = name.string, .folder = origin.folder, .lookup = origin.lookup};
    if (find_preset(again)) {
      return add(document, name.place, path, in_quotes(name.string) + " extends itself");
    }
    const Unknown u = unknown(kind_of<T>, name.string);
    add(document, name.place, path, u.message, u.hint);
  }

  void overlay_device(const Document& document, const Node& node, const Origin& origin,
                      const std::string& path) {
    Loader<Device> device(origin.lookup);
    const bool fresh = node.kind == Node::Kind::string || node.find("extends") != nullptr;
    if (!fresh && (complete_ || given_.contains("device"))) device.start_from(value.device);
    device.load(document, node, origin, {}, path);
    value.device = std::move(device.value);
    problems.insert(problems.end(), device.problems.begin(), device.problems.end());
    given_.insert("device");
  }

  void add(const Document& document, Place place, const std::string& path, std::string message,
           std::string hint = "") {
    complete_ = true;  // what the base would have given is not missing as well
    problems.push_back(problem_at(document, place, path, std::move(message), std::move(hint)));
  }

  // Required fields, then contradictions: first of the files alone, then with the settings, so that
  // each is blamed for its own.
  void finish(const Document& document, const Node& table, const std::vector<Setting>& settings) {
    fill_in(document, table, settings);
    finish_base(document, table);
    if (problems.empty()) finish_settings(settings);
  }

  void require(const Document& document, const Node& table, std::vector<Diagnostic>& absent) {
    if (complete_) return;
    std::vector<std::string_view> skip;
    if (given_.contains("device")) skip.emplace_back("device");
    require_fields(document, table, reflect(value), given_, absent,
                   {.prefix = prefix_, .skip = skip});
  }

  /// What a setting gives does not lack.
  void fill_in(const Document& document, const Node& table, const std::vector<Setting>& settings) {
    std::vector<Diagnostic> absent;
    require(document, table, absent);
    const std::string root = std::string(name_of(kind_of<T>)) + ".";
    std::vector<Setting> filling;
    for (const Setting& s : settings) {
      if (!s.path.starts_with(root)) continue;
      const std::string path = s.path.substr(root.size());
      const std::string field = join_path(prefix_, path);
      const auto same = [&](const Diagnostic& d) { return d.field == field; };
      if (std::none_of(absent.begin(), absent.end(), same)) continue;
      filling.push_back(s);
      given_.insert(path);
    }
    if (!filling.empty()) {
      apply_settings(filling, reflect(value), name_of(kind_of<T>), problems, ranges());
    }
  }

  void finish_base(const Document& document, const Node& table) {
    require(document, table, problems);
    if (!problems.empty()) return;
    std::vector<Diagnostic> found = checked(T(value));
    locate(document, table, found, prefix_);
    problems = std::move(found);
  }

  void finish_settings(const std::vector<Setting>& settings) {
    if constexpr (requires { value.memory.nominal; }) value.memory.nominal = value.memory.capacity;
    apply_all(settings);
    if (!problems.empty()) return;
    if constexpr (requires { complete(value); }) complete(value);
    problems = checked(value);
    for (Diagnostic& d : problems) d.file = "--set";
  }

  static std::vector<Diagnostic> checked(T candidate) {
    if constexpr (requires { complete(candidate); }) complete(candidate);
    std::vector<Diagnostic> found;
    if constexpr (requires { check(candidate); }) found = check(candidate);
    if constexpr (Ranged<T>) {
      for (Diagnostic& d : check_ranges(candidate.ranges)) found.push_back(std::move(d));
    }
    return found;
  }

  void apply_all(const std::vector<Setting>& settings) {
    if constexpr (std::same_as<T, System>) {
      std::vector<Setting> rest;
      for (const Setting& s : settings) {
        if (s.path == "device" || s.path == "system.device") {
          value.device = load_device(s.value, {}, lookup_);
        } else {
          rest.push_back(s);
        }
      }
      apply_settings(rest, reflect(value), "system", problems);
      apply_settings(rest, reflect(value.device), "device", problems);
    } else {
      apply_settings(settings, reflect(value), name_of(kind_of<T>), problems, ranges());
    }
  }

  Ranges* ranges() {
    if constexpr (Ranged<T>) return &value.ranges;
    return nullptr;
  }

  Lookup lookup_;
  std::string prefix_;
  std::vector<std::string> seen_;  ///< identities of the texts under way, to find cycles
  std::vector<std::string> done_;  ///< of those that lie under the value
  GivenFields given_;
  bool complete_ = false;  ///< nothing can be missing, or has been reported already
};

/// What is compiled in does not change: it is read once, whoever asks, and stays as it is.
template <class T>
class ReadPresets {
 public:
  struct Entry {
    T base;      ///< for settings to be applied to
    T finished;  ///< without any
  };

  /// Throws InputError where there is no such preset, or something wrong with it.
  const Entry& get(const std::string& name) {
    {
      const std::shared_lock lock(mutex_);
      const auto found = entries_.find(name);
      if (found != entries_.end()) return *found->second;
    }
    Loader<T> loader(Lookup::presets);
    loader.load_base(name);
    auto entry = std::make_unique<Entry>();
    entry->base = loader.take();
    loader.resume(entry->base, {});
    entry->finished = loader.take();
    const std::unique_lock lock(mutex_);
    return *entries_.try_emplace(name, std::move(entry)).first->second;
  }

  static ReadPresets& all() {
    static ReadPresets presets;
    return presets;
  }

 private:
  std::shared_mutex mutex_;
  std::map<std::string, std::unique_ptr<const Entry>, std::less<>> entries_;
};

/// "llama3-405b" of "llama3.1-405b".
std::string without_minor(std::string_view name) {
  std::string major;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool minor = name[i] == '.' && i > 0 && is_digit(name[i - 1]) && i + 1 < name.size() &&
                       is_digit(name[i + 1]);
    if (!minor) {
      major += name[i];
      continue;
    }
    while (i + 1 < name.size() && is_digit(name[i + 1])) ++i;
  }
  return major;
}

}  // namespace

std::string preset_hint(std::string_view name, std::optional<PresetKind> only) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < names_of(PresetKind{}).size(); ++i) {
    const auto kind = static_cast<PresetKind>(i);
    if (only && kind != *only) continue;
    const std::vector<std::string> names = preset_names(kind);
    all.insert(all.end(), names.begin(), names.end());
  }
  std::string meant;
  if (!only || *only == PresetKind::model) meant = model_like(name);
  if (!meant.empty()) return "did you mean '" + meant + "'?";
  // The start of a name, or one whose version was left out: of few, all of them.
  constexpr std::size_t few = 6;
  std::vector<std::string> longer;
  // What vendors call it: the usual one first, and it alone where there are many.
  std::string usual;
  if (only == PresetKind::system || only == PresetKind::device) usual = system_with(name);
  if (only == PresetKind::device && !usual.empty()) {
    usual = load_system(usual, {}, Lookup::presets).device.name;
  }
  if (!usual.empty()) longer.push_back(usual);
  for (const std::string& n : all) {
    // A system is asked for by its device, too.
    const bool starts = n.starts_with(lower(name)) || without_minor(n) == lower(name) ||
                        (only == PresetKind::system &&
                         load_system(n, {}, Lookup::presets).device.name.starts_with(lower(name)));
    if (name.size() > 1 && starts && n != usual) longer.push_back(n);
  }
  if (longer.size() > few && !usual.empty()) longer.resize(1);
  if (longer.empty() || longer.size() > few) return did_you_mean(name, all);
  for (const std::string& n : longer) {
    meant += (meant.empty() ? "'" : &n == &longer.back() ? " or '" : ", '") + n + "'";
  }
  return "did you mean " + meant + "?";
}

std::string preset_text(PresetKind kind, std::string_view name) {
  std::optional<PresetSource> source = find_preset({.kind = kind, .name = name});
  if (!source) {
    const Unknown u = unknown(kind, name);
    throw InputError(u.message, u.hint);
  }
  return std::move(source->text);
}

template <class T>
T LoadPreset<T>::operator()(std::string_view name, const std::vector<Setting>& settings,
                            Lookup lookup) const {
  Loader<T> loader(lookup);
  if (lookup == Lookup::presets && !presets_overridden()) {
    const auto& known = ReadPresets<T>::all().get(std::string(name));
    if (settings.empty()) return known.finished;
    loader.resume(known.base, settings);
  } else {
    loader.load(name, settings);
  }
  return loader.take();
}

template <class T>
T LoadPreset<T>::operator()(const Document& document, const Node& node,
                            const std::vector<Setting>& settings, Lookup lookup) const {
  Loader<T> loader(lookup);
  const std::string folder = std::filesystem::path(document.file).parent_path().string();
  loader.load(document, node, Origin{folder, lookup}, settings);
  return loader.take();
}

template <class T>
T LoadPreset<T>::operator()(const PresetRef& preset, const std::vector<Setting>& settings,
                            Lookup lookup) const {
  if (preset.object == nullptr) return (*this)(preset.name, settings, lookup);
  Loader<T> loader(lookup);
  loader.load_object(*preset.object, settings);
  return loader.take();
}

template struct LoadPreset<Device>;
template struct LoadPreset<System>;
template struct LoadPreset<Model>;
template struct LoadPreset<Runtime>;
template struct LoadPreset<Kernels>;
template struct LoadPreset<CollectiveLibrary>;
template struct LoadPreset<Measurement>;
template struct LoadPreset<LogicNode>;
template struct LoadPreset<MemoryPart>;
template struct LoadPreset<LinkPart>;
template struct LoadPreset<CoreTemplate>;

std::string kernels_for(const std::string& library, const Device& device) {
  const auto exists = [](const std::string& name) {
    return bool(find_preset({.kind = PresetKind::kernel, .name = name, .lookup = Lookup::presets}));
  };
  const std::string variant = library + std::string(kernel_variant(device));
  if (variant == library) return library;
  const std::string narrow = variant + "-fp4";
  if (device.matrix[Precision::fp4].value > 0 && exists(narrow)) return narrow;
  return exists(variant) ? variant : library;
}
std::string collectives_for(const System& system, const Runtime& runtime) {
  const std::string& own = runtime.communication.library;
  return own.empty() ? system.collectives : own;
}
std::string small_collectives_for(const System& system, const Runtime& runtime) {
  const std::string& own = runtime.communication.small;
  return own.empty() ? collectives_for(system, runtime) : own;
}

namespace {

/// A name that leads nowhere is wrong where it was given: in this field.
template <class Load>
void named_by(const char* field, const std::vector<Setting>& settings, const Load& load) {
  try {
    load();
  } catch (const InputError& e) {
    std::vector<Diagnostic> problems = e.diagnostics();
    const bool set = find_by(settings, &Setting::path, field) != nullptr;
    for (Diagnostic& d : problems) {
      if (!d.file.empty() || !d.field.empty()) continue;
      d.field = field;
      if (set) d.file = "--set";
    }
    throw InputError(std::move(problems));
  }
}

}  // namespace

Libraries load_libraries(const System& system, const Runtime& runtime,
                         const std::vector<Setting>& settings, Lookup lookup) {
  // What has a plain name is compiled in and read once; a file of one's own is named by its path.
  const auto where = [&](const std::string& name) {
    return name.find_first_of("./") == name.npos ? Lookup::presets : lookup;
  };
  const Communication& c = runtime.communication;
  const char* const field =
      c.library.empty() ? "system.collectives" : "runtime.communication.library";
  const std::string kernels = kernels_for(runtime.kernels, system.device);
  const std::string all = collectives_for(system, runtime);
  const std::string small = small_collectives_for(system, runtime);
  Libraries libraries;
  named_by("runtime.kernels", settings,
           [&] { libraries.kernels = load_kernels(kernels, settings, where(kernels)); });
  named_by(field, settings,
           [&] { libraries.collectives = load_collectives(all, settings, where(all)); });
  named_by(c.small.empty() ? field : "runtime.communication.small", settings,
           [&] { libraries.small = load_collectives(small, settings, where(small)); });
  return libraries;
}

}  // namespace sextant
