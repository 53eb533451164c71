// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. The world's failures are std::system_error with the path in the message.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "sextant/io/bytes.hpp"
#include "sextant/io/text.hpp"

namespace sextant {

/// The bytes of a file, a pipe or a device. More than `limit` bytes are an InputError.
std::string read_file(const std::string& path, std::size_t limit = max_document_bytes);

/// The same, a piece at a time and of any length.
std::unique_ptr<ByteSource> open_file(const std::string& path);

/// Throws where it is not there, or is nobody's to read.
void check_readable(const std::string& path);

/// A folder, and those that it lies in.
void make_folder(const std::string& path);

/// Replaces the file in one step: after a crash or a full disk the old file is still whole.
/// Pipes and devices are written to directly.
void write_file_atomically(const std::string& path, std::string_view content);

/// Throws unless write_file_atomically(path) may be expected to work: asked before long work.
void check_writable(const std::string& path);

}  // namespace sextant
