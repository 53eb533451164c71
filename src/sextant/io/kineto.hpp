// SPDX-License-Identifier: Apache-2.0
// Traces of PyTorch's profiler (Kineto), as torch.profiler writes them: Chrome's trace format,
// plain or packed by gzip, of any length.
#pragma once

#include <memory>
#include <string>

#include "sextant/io/bytes.hpp"
#include "sextant/profile/recording.hpp"

namespace sextant {

/// Throws InputError where the text is no trace, or holds nothing to look at.
profile::Recording parse_kineto(std::unique_ptr<ByteSource> source, const std::string& file);
profile::Recording read_kineto(const std::string& path);

}  // namespace sextant
