// SPDX-License-Identifier: Apache-2.0
// The measured runs that come with the program, each with the scenario that predicts it.
#pragma once

#include "sextant/report/record.hpp"

namespace sextant {

/// "cases": runs of training and serving on systems and models that have names; "request" is the
/// fields that a request, or a link to the page, has for it.
Record measured_record();

}  // namespace sextant
