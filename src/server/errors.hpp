// SPDX-License-Identifier: Apache-2.0
// Diagnostics as the API gives them: the request's field, what is wrong, what to write instead.
#pragma once

#include <string>
#include <string_view>

#include "sextant/spec/diagnostic.hpp"

namespace sextant::server {

/// A list: [{"field", "message", "hint"}, …].
std::string errors_json(const InputError& error);
std::string errors_json(std::string_view message, std::string_view hint = "");

/// {"errors": list}
std::string error_answer(const std::string& list);

}  // namespace sextant::server
