// SPDX-License-Identifier: Apache-2.0
// Operators inside operators, on every thread of the host: which one a call was made in.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "sextant/profile/recording.hpp"

namespace sextant::profile {

inline constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

/// Of a recording whose operators are in order of thread and time.
class HostTree {
 public:
  explicit HostTree(const Recording& recording);
  /// The innermost operator of the call's thread that had begun and not ended, or nobody.
  std::uint32_t around(const Call& call) const;
  /// It, or the nearest operator around it, whose tensors' sizes were recorded; or nobody.
  std::uint32_t with_sizes(std::uint32_t inner);

 private:
  bool has_sizes(std::uint32_t shape);

  const Recording& r_;
  std::vector<std::uint32_t> parents_;
  std::vector<char> known_;  ///< of a shape: 0 not looked at, 1 no sizes, 2 sizes
};

}  // namespace sextant::profile
