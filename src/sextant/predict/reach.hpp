// SPDX-License-Identifier: Apache-2.0
// The choices of a strategy, one each, and which of them lie outside of everything measured
// (Errors::reach, written by tools/intervals.py from the choices of measured cases).
#pragma once

#include <string>
#include <vector>

#include "sextant/predict/problem.hpp"
#include "sextant/spec/errors.hpp"

namespace sextant {

/// How a strategy lies on a model and on nodes: what its axes decide together. Zero: there is none
/// of it.
struct Extent {
  double devices = 1;
  double tensor_nodes = 1;
  double context_nodes = 1;
  double expert_nodes = 1;
  double experts_a_rank = 0;
  double layers_a_chunk = 0;
  double microbatches = 1;
  double sequence = 0;
  bool second_memory = false;
};
template <class V>
void describe(V& v, Extent& s) {
  v("devices", s.devices, {.help = "devices", .axis = {.serves = true}});
  v("tensor_nodes", s.tensor_nodes,
    {.help = "nodes that tensor parallelism spans", .axis = {.serves = true}});
  v("context_nodes", s.context_nodes, {.help = "nodes that context parallelism spans"});
  v("expert_nodes", s.expert_nodes,
    {.help = "nodes that expert parallelism spans", .axis = {.serves = true}});
  v("experts_a_rank", s.experts_a_rank, {.help = "experts a rank", .axis = {.serves = true}});
  v("layers_a_chunk", s.layers_a_chunk, {.help = "layers of the smallest model chunk"});
  v("microbatches", s.microbatches, {.help = "microbatches of a replica"});
  v("sequence", s.sequence, {.help = "tokens of a sequence"});
  v("second_memory", s.second_memory,
    {.help = "weights or cache in a second memory", .axis = {.serves = true}});
}
Extent extent_of(const Problem& problem, const Strategy& strategy);

/// One choice: a number, or a name where none lies between two others.
struct Choice {
  std::string axis;   ///< of describe(Strategy), its parts ("modules.norms"), or describe(Extent)
  std::string words;  ///< what it is
  double number = 0;
  std::string name = {};
  bool usual = false;  ///< what a strategy has that nobody touched

  std::string text() const;
  bool operator==(const Choice&) const = default;
};

/// All of a training step's, or those that mean something to serving: of its requests and its model
/// as well, what one that nobody changed is without.
std::vector<Choice> choices_of(Asked question, const Problem& problem, const Strategy& strategy);

/// A choice outside of everything measured.
struct Unmeasured {
  std::string axis;
  std::string sentence;  ///< "context-parallel degree 16: nothing measured beyond 2"
  double distance = 1;   ///< in doublings of a number; one of a name
};
std::vector<Unmeasured> unmeasured_of(const Errors& errors, Asked question,
                                      const std::vector<Choice>& choices);

}  // namespace sextant
