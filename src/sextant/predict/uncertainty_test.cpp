// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/uncertainty.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

Errors example() {
  Errors e;
  e.devices = {"h100-sxm", "a100-sxm-80gb"};
  e.runtimes = {"megatron-core"};
  ErrorGroup dense;
  dense.low = -0.10;
  dense.high = 0.08;
  dense.cases = 300;
  ErrorGroup experts = dense;
  experts.experts = true;
  experts.low = -0.25;
  experts.high = 0.35;
  experts.cases = 60;
  ErrorGroup few = dense;
  few.many_nodes = true;
  few.cases = 3;
  few.low = few.high = 0;
  e.groups = {dense, experts, few};
  return e;
}

const Likeness plain{.device = "h100-sxm", .runtime = "megatron-core"};

TEST(Uncertainty, IsThatOfCasesAlike) {
  const Interval i = interval_of(example(), plain);
  EXPECT_NEAR(std::log(i.low), -0.10, 1e-12);
  EXPECT_NEAR(std::log(i.high), 0.08, 1e-12);
  EXPECT_EQ(i.cases, 300);
  EXPECT_EQ(i.basis, "h100-sxm measured, runtime megatron-core measured");
  const Interval rate = inverse(i);
  EXPECT_NEAR(rate.low * i.high, 1, 1e-12);
  EXPECT_LT(rate.low, rate.high);
}

// What fp32 takes on an old card's lanes says nothing of matrix units, and the other way round.
TEST(Uncertainty, OfProductsIsByWhatMultiplies) {
  Errors e = example();
  e.groups = {{.question = Asked::gemm, .low = -0.1, .high = 0.1, .cases = 300},
              {.question = Asked::gemm_fp32, .low = -0.3, .high = 0.6, .cases = 300}};
  const auto high = [&](Precision type) {
    return std::log(interval_of(e, {.question = product_in(type), .device = "h100-sxm"}).high);
  };
  EXPECT_NEAR(high(Precision::fp32), 0.6, 1e-12);
  for (const Precision type : {Precision::tf32, Precision::bf16, Precision::fp8, Precision::int4}) {
    EXPECT_NEAR(high(type), 0.1, 1e-12) << name_of(type);
  }
}

TEST(Uncertainty, WidensWithEveryDifference) {
  const auto width = [](const Likeness& l) {
    const Interval i = interval_of(example(), l);
    return std::log(i.high / i.low);
  };
  const double base = width(plain);
  Likeness l = plain;
  l.device = "mi355x";
  const double device = width(l);
  EXPECT_GT(device, 1.4 * base);
  l.runtime = "neuron";
  EXPECT_GT(width(l), 1.4 * device);
  l = plain;
  l.experts = true;
  EXPECT_NEAR(width(l), 0.60, 1e-12);
  l = plain;
  l.many_nodes = true;  // three cases are no percentile
  EXPECT_GT(width(l), base);
}

// Cases of a harder question may be of one model alone, and all of them well predicted.
TEST(Uncertainty, OfWhatIsLessKnownIsNeverSurer) {
  Errors e = example();
  ErrorGroup many = e.groups.front();
  many.many_nodes = true;
  many.low = -0.02;
  many.high = 0.15;
  many.cases = 40;
  ErrorGroup unmeasured = e.groups.front();
  unmeasured.device_measured = false;
  unmeasured.low = -0.03;
  unmeasured.high = 0.03;
  unmeasured.cases = 40;
  e.groups.push_back(many);
  e.groups.push_back(unmeasured);
  for (const bool nodes : {false, true}) {
    for (const char* device : {"h100-sxm", "mi355x"}) {
      for (const bool narrow : {false, true}) {
        Likeness l = plain;
        l.many_nodes = nodes;
        l.device = device;
        l.narrow = narrow;
        const Interval i = interval_of(e, l);
        EXPECT_LE(std::log(i.low), -0.10 + 1e-12);
        EXPECT_GE(std::log(i.high), (nodes ? 0.15 : 0.08) - 1e-12);
      }
    }
  }
}

TEST(Uncertainty, ComparesWhatIsAlikeMoreSurely) {
  Errors e = example();
  const Contender a{plain, 1.00};
  const Contender b{plain, 1.05};
  const double apart = relate(e, a, b).chance_faster;
  // ln 1.05 over the spread of two independent errors of 0.09 / 1.645 each.
  EXPECT_NEAR(apart,
              0.5 * std::erfc(-std::log(1.05) / (std::sqrt(2.0) * 0.09 / 1.6449) / std::sqrt(2.0)),
              1e-9);
  EXPECT_NEAR(relate(e, b, a).chance_faster, 1 - apart, 1e-12);
  EXPECT_DOUBLE_EQ(relate(e, a, a).chance_faster, 0.5);
  EXPECT_EQ(relate(e, a, a).low, relate(e, a, a).high);  // all of the error is the same
  // Nine times in ten the one's time over the other's lies around what is predicted.
  const Relation r = relate(e, a, b);
  EXPECT_LT(r.low, a.seconds / b.seconds);
  EXPECT_GT(r.high, a.seconds / b.seconds);
  EXPECT_NEAR(relate(e, b, a).low, 1 / r.high, 1e-12);
  e.shared = {{.share = 0.5}, {.model = true, .share = 0.9}};
  const double near = relate(e, a, b).chance_faster;
  EXPECT_GT(near, apart);
  Contender same = a;
  Contender other = b;
  same.likeness.model = other.likeness.model = "llama3.1-8b";
  EXPECT_GT(relate(e, same, other).chance_faster, near);
  other.likeness.device = "a100-sxm-80gb";  // nothing is shared
  EXPECT_NEAR(relate(e, same, other).chance_faster, apart, 1e-12);
}

TEST(Uncertainty, SaysWhereNothingIsNear) {
  const Interval i = interval_of({}, {.question = Asked::traffic, .device = "tpu-v7"});
  EXPECT_NEAR(i.high, std::exp(0.7), 1e-12);
  EXPECT_NE(i.basis.find("no measurement of this kind"), std::string::npos);
  EXPECT_EQ(i.cases, 0);
}

}  // namespace
}  // namespace sextant
