// SPDX-License-Identifier: Apache-2.0
// The look-up of presets: paths, $SEXTANT_PATH, compiled in.
#include "sextant/io/catalog.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "sextant/io/embedded.hpp"
#include "sextant/io/files.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

namespace fs = std::filesystem;

std::string folder_of(PresetKind kind) {
  const bool technology = kind >= PresetKind::node;
  return (technology ? "technology/" : "") + std::string(name_of(kind)) + "s";
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<fs::path> search_path() {
  std::vector<fs::path> folders;
  const char* variable = std::getenv("SEXTANT_PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    if (!folder.empty()) folders.emplace_back(folder);
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
  }
  return folders;
}

std::vector<fs::path> toml_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".toml" && is_file(entry.path())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A file that preset_names() merely passes by must not stop it.
std::string text_or_nothing(const fs::path& path) {
  try {
    return read_file(path.string());
  } catch (const std::exception&) {
    return "";
  }
}

std::string identity_of(const fs::path& path, std::string_view fragment) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return (error ? path : real).string() + "#" + std::string(fragment);
}

// ---- paths

bool has_format(std::string_view name) {
  return name.ends_with(".toml") || name.ends_with(".json");
}

bool looks_like_path(std::string_view name) {
  return name.find('/') != name.npos || has_format(name);
}

std::optional<PresetSource> from_path(const CatalogQuery& query) {
  // "file.toml#name" picks a model from a file of many; a file whose name has a '#' comes first.
  std::string_view name = query.name;
  std::string_view fragment;
  const auto resolve = [&] { return fs::path(query.folder) / fs::path(name); };
  const std::size_t hash = name.rfind('#');
  if (hash != name.npos && !is_file(resolve())) {
    fragment = name.substr(hash + 1);
    name = name.substr(0, hash);
  }
  fs::path path = resolve();
  if (query.kind == PresetKind::model && is_folder(path) && is_file(path / "config.json")) {
    path /= "config.json";
  } else if (!is_file(path) && (!looks_like_path(name) || (!has_format(name) && !is_there(path)))) {
    return std::nullopt;
  }
  PresetSource source{.identity = identity_of(path, fragment),
                      .file = path.string(),
                      .folder = path.parent_path().string(),
                      .stem = path.stem().string(),
                      .fragment = std::string(fragment)};
  if (contains(query.excluded, source.identity)) return std::nullopt;
  if (source.stem == "config") {
    source.stem = fs::absolute(path).parent_path().filename().string();
  }
  source.text = read_file(path.string());
  return source;
}

// ---- [[model]] tables

std::string_view name_on(std::string_view line) {
  if (!line.starts_with("name")) return {};
  line.remove_prefix(4);
  const std::size_t equals = line.find_first_not_of(" \t");
  if (equals == line.npos || line[equals] != '=') return {};
  const std::size_t quote = line.find_first_not_of(" \t", equals + 1);
  if (quote == line.npos || (line[quote] != '"' && line[quote] != '\'')) return {};
  const std::size_t end = line.find(line[quote], quote + 1);
  return end == line.npos ? std::string_view{} : line.substr(quote + 1, end - quote - 1);
}

std::optional<PresetSource> slice_named(std::string_view text, PresetSource source,
                                        const CatalogQuery& query) {
  for (const ModelSlice& slice : scan_models(text)) {
    if (slice.name != query.name) continue;
    source.stem = std::string(slice.name);
    source.text = std::string(slice.text);
    source.first_line = slice.line;
    if (contains(query.excluded, source.identity)) continue;
    return source;
  }
  return std::nullopt;
}

// ---- $SEXTANT_PATH

std::optional<PresetSource> from_file(const CatalogQuery& query, const fs::path& path) {
  PresetSource source{.identity = identity_of(path, ""),
                      .file = path.string(),
                      .folder = path.parent_path().string(),
                      .stem = std::string(query.name)};
  if (!is_file(path) || contains(query.excluded, source.identity)) return std::nullopt;
  source.text = read_file(path.string());
  return source;
}

std::optional<PresetSource> from_folder(const CatalogQuery& query, const fs::path& folder) {
  const std::string file = std::string(query.name) + ".toml";
  for (const fs::path& place : {folder / folder_of(query.kind), folder}) {
    if (std::optional<PresetSource> found = from_file(query, place / file)) return found;
  }
  if (query.kind != PresetKind::model) return std::nullopt;
  for (const fs::path& path : toml_files(folder / "models")) {
    const PresetSource source{.identity = identity_of(path, query.name),
                              .file = path.string(),
                              .folder = path.parent_path().string()};
    if (auto found = slice_named(text_or_nothing(path), source, query)) return found;
  }
  return std::nullopt;
}

// ---- compiled in

std::string stem_of(const EmbeddedFile& file) { return fs::path(file.path).stem().string(); }

/// The files of one kind: they follow one another.
std::span<const EmbeddedFile> embedded_of(PresetKind kind) {
  const std::string folder = folder_of(kind) + "/";
  const std::span<const EmbeddedFile> all = embedded_presets();
  const auto inside = [&](const EmbeddedFile& f) { return f.path.starts_with(folder); };
  const auto first = std::find_if(all.begin(), all.end(), inside);
  return {first, std::find_if_not(first, all.end(), inside)};
}

std::optional<PresetSource> from_embedded(const CatalogQuery& query) {
  for (const EmbeddedFile& file : embedded_of(query.kind)) {
    PresetSource source{.identity = "embedded:" + std::string(file.path),
                        .file = "presets/" + std::string(file.path),
                        .embedded = true,
                        .stem = std::string(query.name)};
    if (query.kind == PresetKind::model) {
      source.identity.append("#").append(query.name);
      if (auto found = slice_named(file.text(), source, query)) return found;
    }
    if (stem_of(file) != query.name || contains(query.excluded, source.identity)) continue;
    source.text = file.text();
    // A file of many models is no model, though it may be named like one ("phi").
    if (query.kind == PresetKind::model && !scan_models(source.text).empty()) continue;
    return source;
  }
  return std::nullopt;
}

void add_names(const std::string& stem, std::string_view text, PresetKind kind,
               std::set<std::string>& names) {
  const std::vector<ModelSlice> slices =
      kind == PresetKind::model ? scan_models(text) : std::vector<ModelSlice>{};
  for (const ModelSlice& slice : slices) names.emplace(slice.name);
  if (slices.empty()) names.insert(stem);
}

}  // namespace

std::vector<ModelSlice> scan_models(std::string_view text) {
  std::vector<ModelSlice> slices;
  std::size_t slice_begin = 0;
  bool own_fields = false;  // not yet in a sub-table, whose `name` would be another's
  int number = 0;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (line.starts_with("[[model]]")) {
      if (!slices.empty()) slices.back().text = text.substr(slice_begin, begin - slice_begin);
      slices.push_back({{}, {}, number + 1});
      slice_begin = begin;
      own_fields = true;
    } else if (line.starts_with("[")) {
      own_fields = false;
    } else if (own_fields && slices.back().name.empty()) {
      slices.back().name = name_on(line);
    }
    begin = end + 1;
  }
  if (!slices.empty()) slices.back().text = text.substr(slice_begin);
  return slices;
}

bool presets_overridden() { return !search_path().empty(); }

std::optional<PresetSource> find_preset(const CatalogQuery& query) {
  // A name is a preset's first: a folder that happens to be called so shadows none.
  if (!query.name.empty() && !looks_like_path(query.name)) {
    for (const fs::path& folder : search_path()) {
      if (std::optional<PresetSource> found = from_folder(query, folder)) return found;
    }
    if (std::optional<PresetSource> found = from_embedded(query)) return found;
  }
  return query.lookup == Lookup::anywhere ? from_path(query) : std::nullopt;
}

std::vector<std::string> preset_names(PresetKind kind) {
  std::set<std::string> names;
  for (const EmbeddedFile& file : embedded_of(kind)) {
    // Of other kinds the file's name is enough.
    add_names(stem_of(file), kind == PresetKind::model ? file.text() : "", kind, names);
  }
  for (const fs::path& folder : search_path()) {
    for (const fs::path& path : toml_files(folder / folder_of(kind))) {
      add_names(path.stem().string(), text_or_nothing(path), kind, names);
    }
  }
  return {names.begin(), names.end()};
}

std::vector<PresetKind> preset_kinds(std::string_view name) {
  std::vector<PresetKind> kinds;
  for (std::size_t i = 0; i < names_of(PresetKind{}).size(); ++i) {
    const auto kind = static_cast<PresetKind>(i);
    if (find_preset({.kind = kind, .name = name, .lookup = Lookup::presets})) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

}  // namespace sextant
