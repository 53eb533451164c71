// SPDX-License-Identifier: Apache-2.0
// How far off predictions were where someone measured: presets/errors/measured.toml.
#pragma once

#include <string>

#include "sextant/spec/device.hpp"
#include "sextant/spec/errors.hpp"
#include "sextant/spec/system.hpp"

namespace sextant {

/// Read once.
const Errors& measured_errors();

/// What errors know a device by: its name, or where it is a preset's that was changed a name that
/// nobody measured. Memory holds more or less and is no faster for it, nor for a second one beside.
std::string known_as(Device device);
/// The same of a system's, whose fabrics may have been changed as well.
std::string known_as(const System& system);

}  // namespace sextant
