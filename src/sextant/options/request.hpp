// SPDX-License-Identifier: Apache-2.0
// A command's options from JSON: the names of its flags with '_' for '-'.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/options/option.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {

/// Who asks: a program on this machine may name files, a network may not.
enum class Asker : std::uint8_t { program, network };

struct RequestRules {
  Asker asker = Asker::program;
  std::vector<std::string_view> skip = {};  ///< members that someone else reads
};

/// Overlays what `table` gives on the options. Null leaves an option as it is. Unknown names,
/// values of another type and what is required but missing become problems, all at once.
void read_request(const Document& document, const Node& table, const std::vector<Option>& options,
                  std::vector<Diagnostic>& problems, const RequestRules& rules = {});

/// "--kv-precision" to "kv_precision".
std::string field_of_flag(std::string_view flag);
/// A message about flags as a request or a file knows them: "--max-tpot" is max_tpot.
std::string flags_as_fields(std::string_view text);

/// A problem that was said of a flag, as one of the member of `table` of that name: its place, and
/// the member's name after `path`. Any other problem stays what it is.
Diagnostic as_field(Diagnostic problem, const Document& document, const Node& table,
                    const std::string& path);

/// The request that would give these values: what differs from `defaults`, the same options as new.
Node write_request(const std::vector<Option>& options, const std::vector<Option>& defaults);

}  // namespace sextant
