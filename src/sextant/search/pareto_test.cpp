// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/pareto.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sextant {
namespace {

using Points = std::vector<std::pair<int, int>>;

Points front_of(const Points& points) {
  Front<int> front;
  for (std::size_t i = 0; i < points.size(); ++i) {
    front.add(points[i].first, points[i].second, i, static_cast<int>(i));
  }
  Points found;
  for (const auto& e : front.entries()) {
    found.emplace_back(static_cast<int>(e.x), static_cast<int>(e.y));
  }
  return found;
}

TEST(Front, KeepsWhatNoOtherBeats) {
  EXPECT_EQ(front_of({}), Points{});
  EXPECT_EQ(front_of({{3, 3}, {1, 5}, {2, 4}}), (Points{{1, 5}, {2, 4}, {3, 3}}));
  EXPECT_EQ(front_of({{3, 3}, {1, 5}, {2, 2}}), (Points{{1, 5}, {2, 2}}));
  EXPECT_EQ(front_of({{1, 1}, {1, 1}, {1, 2}, {2, 1}}), (Points{{1, 1}}));
}

TEST(Front, DoesNotDependOnTheOrderOfArrival) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    Points points;
    for (int i = 0; i < 30; ++i) {
      points.emplace_back(static_cast<int>(random() % 12), static_cast<int>(random() % 12));
    }
    Front<int> one;
    Front<int> two;
    Front<int> half;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t j = points.size() - 1 - i;
      one.add(points[i].first, points[i].second, i, static_cast<int>(i));
      (j % 2 == 0 ? two : half).add(points[j].first, points[j].second, j, static_cast<int>(j));
    }
    two.add(half);
    ASSERT_EQ(one.entries().size(), two.entries().size());
    for (std::size_t i = 0; i < one.entries().size(); ++i) {
      EXPECT_EQ(one.entries()[i].point, two.entries()[i].point);
    }
    for (const auto& [x, y] : points) {
      bool beaten = false;
      bool kept = false;
      for (const auto& [a, b] : points) beaten |= a <= x && b <= y && (a < x || b < y);
      for (const auto& e : one.entries()) kept |= e.x == x && e.y == y;
      EXPECT_NE(beaten, kept);
    }
  }
}

}  // namespace
}  // namespace sextant
