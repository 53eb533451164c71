// SPDX-License-Identifier: Apache-2.0
// `--set path=value`: any field of any struct, read by the same code as files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/io/reflect.hpp"
#include "sextant/spec/diagnostic.hpp"
#include "sextant/spec/range.hpp"

namespace sextant {

/// A field and what it is set to: {"device.memory.bandwidth", "8 TB/s"}.
struct Setting {
  std::string path;
  std::string value;
};

/// Reads "path=value"; throws InputError when it has another form.
Setting parse_setting(std::string_view text);

/// A text as the value of a field: quotes are optional where text is expected.
Node value_of_text(const std::string& text, const Target& target);

/// The first part of the path: "device".
std::string_view root_of(const Setting& setting);

/// The field that a dotted path leads to ("memory.bandwidth", "fabrics.0.latency"), or nothing, and
/// what is wrong in the problem's message and hint. `prefix` is the struct's own path, for
/// messages.
std::optional<Slot> find_field(const StructRef& fields, std::string_view path,
                               std::string_view prefix, Diagnostic& problem);

/// Applies the settings whose path starts with `root`, in order; the others are left for others.
/// Elements of lists go by number: "system.fabrics.0.latency".
/// `ranges` are those of the struct's numbers, where they may have any: a plain number ends its
/// own.
void apply_settings(const std::vector<Setting>& settings, const StructRef& fields,
                    std::string_view root, std::vector<Diagnostic>& problems,
                    Ranges* ranges = nullptr);

/// Reads all of them; what has another form becomes a problem.
std::vector<Setting> parse_settings(const std::vector<std::string>& texts,
                                    std::vector<Diagnostic>& problems);

/// Reports settings whose root is none of `roots`.
void check_roots(const std::vector<Setting>& settings, const std::vector<std::string>& roots,
                 std::vector<Diagnostic>& problems);

/// Throws InputError with all problems at once.
template <Described T>
void apply(const std::vector<Setting>& settings, T& value, std::string_view root) {
  if (settings.empty()) return;
  std::vector<Diagnostic> problems;
  apply_settings(settings, reflect(value), root, problems);
  throw_if_any(std::move(problems));
}

}  // namespace sextant
