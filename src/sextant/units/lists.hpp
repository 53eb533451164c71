// SPDX-License-Identifier: Apache-2.0
// Whether a list has something, and where.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>

namespace sextant {

template <class List, class T>
constexpr bool contains(const List& list, const T& x) {
  return std::find(std::begin(list), std::end(list), x) != std::end(list);
}

/// The first whose member, or what a function says of it, is that; nothing where none is.
template <class List, class Member, class T>
constexpr auto* find_by(List&& list, Member member, const T& x) {
  const auto at = std::find_if(std::begin(list), std::end(list),
                               [&](const auto& each) { return std::invoke(member, each) == x; });
  return at == std::end(list) ? nullptr : &*at;
}

}  // namespace sextant
