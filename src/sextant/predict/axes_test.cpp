// SPDX-License-Identifier: Apache-2.0
// What describe(Strategy) says of each axis' scope is true: strategies that differ in one axis
// alone never share a block or a mapping that they should not.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "sextant/io/reflect.hpp"
#include "sextant/predict/block.hpp"
#include "sextant/predict/mapping.hpp"
#include "sextant/predict/test_problem.hpp"
#include "sextant/predict/train.hpp"

namespace sextant {
namespace {

/// Calls `visit` with the axis at each of several values, itself again afterwards.
template <class Visit>
void for_each_value(const Slot& axis, const Visit& visit) {
  if (auto* const* number = std::get_if<int*>(&axis.target)) {
    const int before = **number;
    for (const int v : {0, 1, 2, 3, 4, 8}) {
      if (v < axis.field.min || v > axis.field.max) continue;
      **number = v;
      visit();
    }
    **number = before;
  } else if (auto* const* truth = std::get_if<bool*>(&axis.target)) {
    **truth = !**truth;
    visit();
    **truth = !**truth;
  } else if (const auto* choice = std::get_if<EnumRef>(&axis.target)) {
    const std::size_t before = choice->get(choice->value);
    for (std::size_t i = 0; i < choice->names.size(); ++i) {
      choice->set(choice->value, i);
      visit();
    }
    choice->set(choice->value, before);
  } else if (const auto* parts = std::get_if<StructRef>(&axis.target)) {
    for (const Slot& part : parts->fields) for_each_value(part, visit);
  }
}

struct Scene {
  const char* model;
  Strategy base;
};

const std::array scenes = {
    Scene{"llama3.1-8b", {.tp = 4, .pp = 2, .dp = 4, .cp = 2, .zero = 1, .sp = true}},
    Scene{"llama3.1-8b", {.tp = 2, .dp = 8, .zero = 3, .recompute = Recompute::full}},
    Scene{"gpt3-175b", {.tp = 2, .pp = 4, .dp = 2, .interleave = 2}},
    Scene{"mixtral-8x7b", {.tp = 2, .pp = 2, .dp = 4, .ep = 4, .recompute = Recompute::full}},
    Scene{"deepseek-v3", {.tp = 2, .dp = 8, .ep = 8, .zero = 1}},
};

TEST(Axes, OneAxisApartStrategiesShareOnlyWhatTheyMay) {
  std::set<std::string> moved;
  const Strategy one;
  const std::size_t count = reflect(one).fields.size();
  for (const Scene& scene : scenes) {
    const Problem p = test::problem_of("dgx-h100", "megatron-core", scene.model,
                                       Training{.batch = 384, .seq = 4096});
    ASSERT_EQ(legal(p, scene.base), Verdict::fits) << scene.model;
    const Block block = block_of(p, scene.base);
    const Mapping mapping = mapping_of(p, scene.base);
    const Estimate before = evaluate(p, scene.base);
    Strategy s = scene.base;
    for (std::size_t i = 0; i < count; ++i) {
      const Slot axis = reflect(s).fields[i];
      for_each_value(axis, [&] {
        if (legal(p, s) != Verdict::fits) return;
        const bool same_block = alike(scene.base, s, Scope::block);
        const bool same_mapping = alike(scene.base, s, Scope::mapping);
        const Estimate own = evaluate(p, s);
        const Estimate shared = evaluate(p, s, same_block ? block : block_of(p, s),
                                         same_mapping ? mapping : mapping_of(p, s));
        EXPECT_EQ(own.step, shared.step) << axis.name << ", " << scene.model;
        EXPECT_EQ(own.memory.total(), shared.memory.total()) << axis.name << ", " << scene.model;
        EXPECT_EQ(own.energy.total(), shared.energy.total()) << axis.name << ", " << scene.model;
        if (own.step != before.step || own.memory.total() != before.memory.total()) {
          moved.insert(std::string(axis.name));
        }
      });
    }
  }
  // Every axis acts somewhere.
  for (const Slot& axis : reflect(one).fields) {
    EXPECT_TRUE(moved.contains(std::string(axis.name))) << axis.name;
  }
}

TEST(Axes, KeysOfCachesTellAxesApart) {
  Strategy s;
  const std::uint64_t block = hash_of(s, Scope::block);
  const std::uint64_t mapping = hash_of(s, Scope::mapping);
  s.schedule = Schedule::gpipe;
  EXPECT_EQ(hash_of(s, Scope::block), block);
  EXPECT_EQ(hash_of(s, Scope::mapping), mapping);
  s.modules.latent = true;
  EXPECT_NE(hash_of(s, Scope::block), block);
  EXPECT_EQ(hash_of(s, Scope::mapping), mapping);
  s.dp = 2;
  EXPECT_NE(hash_of(s, Scope::mapping), mapping);
}

}  // namespace
}  // namespace sextant
