// SPDX-License-Identifier: Apache-2.0
// How far off predictions were where someone measured: presets/errors/measured.toml.
#pragma once

#include "sextant/spec/errors.hpp"

namespace sextant {

/// Read once.
const Errors& measured_errors();

}  // namespace sextant
