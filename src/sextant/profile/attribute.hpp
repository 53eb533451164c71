// SPDX-License-Identifier: Apache-2.0
// Which operator each piece of a device's work belongs to, and with what shapes it was called:
// kernel, the call that launched it, the operator around that call, the nearest one around it whose
// tensors were recorded. Work of a CUDA graph is found by its capture, by the same kernel outside
// the graph, or by the same multiplies in their order.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/profile/host_tree.hpp"
#include "sextant/profile/recording.hpp"

namespace sextant::profile {

/// Where the shapes of a piece of work are from.
enum class Found : std::uint8_t { recorded, graph, launch, nowhere };
constexpr auto names_of(Found) {
  return std::array<std::string_view, 4>{"recorded", "graph", "launch", "nowhere"};
}

struct Owner {
  std::uint32_t name = 0;       ///< of the operator
  std::uint32_t shape = 0;      ///< its sizes; 0 where they follow from the launch
  std::uint32_t instance = 0;   ///< the same for all work of one call
  std::uint32_t call = nobody;  ///< that launched it, in the recording
  Found found = Found::nowhere;
};

/// One for each activity, in their order. Puts the recording's lists into order first: operators
/// by thread and time, calls by correlation, activities by time.
std::vector<Owner> attribute(Recording& recording);

/// The part of it that looks at graphs.
void find_in_graphs(Recording& recording, std::vector<Owner>& owners);

/// Whether a call launches a whole graph.
bool launches_graph(std::string_view call);
/// Whether a call waits for a device.
bool synchronises(std::string_view call);

}  // namespace sextant::profile
