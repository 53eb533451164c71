// SPDX-License-Identifier: Apache-2.0
// Options of `compare`.
#pragma once

#include <string>
#include <vector>

#include "sextant/options/option.hpp"

namespace sextant {

/// Scenarios as files: TOML or JSON, the fields of a request and `task`.
struct CompareOptions {
  std::vector<std::string> files;
};

template <class V>
void describe(V& v, CompareOptions& o) {
  v("files", o.files,
    {.help = "two to six scenarios (TOML or JSON with task and its fields), or other tools' files",
     .required = true,
     .positional = true,
     .placeholder = "FILE",
     .local = true});
}

}  // namespace sextant
