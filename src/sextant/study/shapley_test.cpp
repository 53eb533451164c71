// SPDX-License-Identifier: Apache-2.0
#include "sextant/study/shapley.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::study {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(Shapley, SumsHaveTheirOwnShares) {
  const std::vector<double> worth = {3, 5, -1};
  const auto sum = [&](unsigned set) {
    double all = 7;
    for (unsigned i = 0; i < 3; ++i) all += (set >> i & 1U) != 0 ? worth[i] : 0;
    return std::optional(all);
  };
  EXPECT_THAT(shapley(3, sum),
              ElementsAre(DoubleNear(3, 1e-12), DoubleNear(5, 1e-12), DoubleNear(-1, 1e-12)));
}

TEST(Shapley, WhatOnlyTwoDoTogetherIsHalved) {
  const auto both = [](unsigned set) { return std::optional(set == 3 ? 1.0 : 0.0); };
  EXPECT_THAT(shapley(2, both), ElementsAre(0.5, 0.5));
}

TEST(Shapley, NoPriceWhereAMixtureCannotBe) {
  const auto never = [](unsigned set) {
    return set == 1 ? std::nullopt : std::optional<double>(1);
  };
  EXPECT_TRUE(shapley(2, never).empty());
}

}  // namespace
}  // namespace sextant::study
