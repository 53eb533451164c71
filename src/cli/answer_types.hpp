// SPDX-License-Identifier: Apache-2.0
// The types of what the commands answer, for OpenAPI and the page.
#pragma once

#include "sextant/answer/schema.hpp"

namespace sextant::cli {

/// Read off answers to small questions, once.
const AnswerTypes& answer_types();

}  // namespace sextant::cli
