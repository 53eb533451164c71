// SPDX-License-Identifier: Apache-2.0
#include "sextant/profile/recording.hpp"

namespace sextant::profile {

std::uint32_t Texts::number_of(std::string_view text) {
  if (const auto at = numbers_.find(text); at != numbers_.end()) return at->second;
  if (bytes_ + text.size() > room) {
    full_ = true;
    return 0;
  }
  // What an entry costs beside its characters.
  bytes_ += text.size() + 96;
  all_.emplace_back(text);
  const auto number = static_cast<std::uint32_t>(all_.size() - 1);
  numbers_.emplace(all_.back(), number);
  return number;
}

}  // namespace sextant::profile
