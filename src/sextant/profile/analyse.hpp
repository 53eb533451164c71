// SPDX-License-Identifier: Apache-2.0
// A recording beside the model: what each operator took and could take, when the device waited and
// for whom, and what the run loses most time by.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sextant/profile/attain.hpp"
#include "sextant/profile/attribute.hpp"
#include "sextant/profile/recording.hpp"

namespace sextant::profile {

/// All calls of one operator with one shape.
struct OperatorGroup {
  std::string name;
  std::string shape;
  std::string kernel;  ///< the one that took longest
  Job job;
  Found found = Found::nowhere;
  int calls = 0;
  int kernels = 0;
  Seconds measured;
  std::optional<Seconds> predicted;
  Bound bound = Bound::launch;
};

/// Who a device waited for.
enum class Wait : std::uint8_t {
  host,             ///< it was not told what to do in time
  synchronisation,  ///< the host had waited for it, and began anew
  copy,             ///< moving data from or to the host, with nothing else to do
  dependency,       ///< other work of the device, or another device
  launch,           ///< the step from one kernel to the next
  profiler,         ///< the profiler's own work
  count
};
constexpr auto names_of(Wait) {
  return std::array<std::string_view, 6>{"host",       "synchronisation", "copy",
                                         "dependency", "launch",          "profiler"};
}
struct Waited {
  Seconds time;
  int times = 0;
};

/// Times count from the first launch of the trace.
struct Step {
  std::string name;
  Seconds start;
  Seconds time;
  Seconds idle;
};

struct Loss {
  std::string cause;
  Seconds time;
  std::string advice;
};

/// A device of the trace.
struct DeviceSeen {
  int number = 0;
  Seconds busy;
  Seconds window;
};

/// A piece of the picture of time: what runs, and of which kind.
struct Piece {
  Seconds start;
  Seconds length;
  Kind kind = Kind::unknown;
  bool idle = false;
  Wait wait = Wait::host;
  std::string label;
};

struct Profile {
  int device = 0;
  std::vector<DeviceSeen> devices;
  Seconds measured;                   ///< from the first launch to the end of the last work
  Seconds busy;                       ///< at least one kernel or copy runs
  Seconds device_time;                ///< of all kernels and copies, added up
  Seconds attributed;                 ///< of that, with an operator and shapes
  std::vector<OperatorGroup> groups;  ///< longest first
  Table<Waited, Wait> waits;
  Seconds exposed_communication;  ///< collectives with no other work beside them
  int launches = 0;
  std::vector<Step> steps;   ///< empty: the program did not mark any
  std::vector<Loss> losses;  ///< largest first
  std::vector<Piece> pieces;
  Hertz slowest_clock;  ///< that power allows, over the trace
  Hertz fastest_clock;
};

struct Question {
  Attainable attainable;
  int device = -1;  ///< of the trace; -1: the busiest
};

/// Throws InputError where the trace has no such device.
Profile analyse(Recording& recording, const Question& question);

}  // namespace sextant::profile
