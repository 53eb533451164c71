// SPDX-License-Identifier: Apache-2.0
// FNV-1a: the same everywhere, and nobody attacks it.
#pragma once

#include <cstdint>
#include <string_view>

namespace sextant {

class Fnv {
 public:
  void byte(unsigned char b) { hash_ = (hash_ ^ b) * 0x100000001b3; }
  void add(std::string_view text) {
    for (const char c : text) byte(static_cast<unsigned char>(c));
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace sextant
