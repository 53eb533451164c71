// SPDX-License-Identifier: Apache-2.0
// Bytes that are read once, front to back, a piece at a time: a file, a packed file, a text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace sextant {

class ByteSource {
 public:
  ByteSource() = default;
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  /// As many bytes as there are, up to `size`; 0: the end.
  virtual std::size_t read(char* to, std::size_t size) = 0;
};

/// Of a text that outlives it.
class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : rest_(text) {}
  std::size_t read(char* to, std::size_t size) override {
    const std::size_t n = std::min(size, rest_.size());
    if (n > 0) std::memcpy(to, rest_.data(), n);
    rest_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view rest_;
};

/// The same bytes; unpacked where they start as gzip does. `file` is for messages.
std::unique_ptr<ByteSource> unpacking(std::unique_ptr<ByteSource> source, std::string file);
/// As gzip has it, fast rather than small: for what is sent once.
std::string packed(std::string_view text);
/// A whole text that gzip packed.
std::string unpacked(std::string_view packed, const std::string& file);

}  // namespace sextant
