// SPDX-License-Identifier: Apache-2.0
// Traces of requests in the formats that they are published in:
//   CSV with arrival (seconds), input, output and perhaps prefix_blocks (ids between spaces)
//   Azure's CSV: TIMESTAMP, ContextTokens, GeneratedTokens
//   Mooncake's JSON lines: timestamp (milliseconds), input_length, output_length, hash_ids
//   Qwen-Bailian's JSON lines: as Mooncake's, with chats, seconds, and blocks of 16 tokens
//   ShareGPT's JSON: conversations of a human and a model, without times
#pragma once

#include <string>

#include "sextant/serving/requests.hpp"

namespace sextant {

/// Requests in order of arrival; those without times arrive at 0. Throws InputError at the first
/// bad line, with its number.
Trace parse_trace(std::string text, const std::string& file);
Trace read_trace(const std::string& path);

}  // namespace sextant
