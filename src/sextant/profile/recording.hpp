// SPDX-License-Identifier: Apache-2.0
// What a profiler saw of one program: operators on the host, calls that launched work, and the work
// on devices. Plain records with numbered texts, so that millions of them fit.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sextant/units/units.hpp"

namespace sextant::profile {

/// Time on the profiler's clock, and lengths: nanoseconds.
using Nanoseconds = std::int64_t;
inline Seconds seconds(Nanoseconds t) { return Seconds(static_cast<double>(t) * 1e-9); }

/// Whether a name that was recorded has these words in it.
inline bool has(std::string_view name, std::string_view words) {
  return name.find(words) != std::string_view::npos;
}

/// Texts by number, each kept once. 0 is the empty one.
class Texts {
 public:
  /// Bytes kept at most; what is new after that is empty.
  static constexpr std::size_t room = std::size_t{96} << 20;

  Texts() { number_of(""); }
  // The table looks into the texts, which a move leaves where they are.
  ~Texts() = default;
  Texts(Texts&&) = default;
  Texts& operator=(Texts&&) = default;
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;
  std::uint32_t number_of(std::string_view text);
  std::string_view operator[](std::uint32_t number) const { return all_[number]; }
  std::size_t size() const { return all_.size(); }
  bool full() const { return full_; }

 private:
  std::deque<std::string> all_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::size_t bytes_ = 0;
  bool full_ = false;
};

/// An operator on the host, with the shapes it was called with, or a note of the program's own.
struct OperatorCall {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  std::uint32_t name = 0;
  std::uint32_t shape =
      0;  ///< its tensors' sizes, their types, and what else was given (shape.hpp)
  std::uint32_t external = 0;  ///< the profiler's number for it; 0: none
  std::uint16_t thread = 0;
};

/// A call of the driver or its runtime.
struct Call {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  std::uint32_t name = 0;
  std::uint32_t correlation = 0;  ///< the same number as what it launched
  std::uint32_t external = 0;
  std::uint16_t thread = 0;
};

enum class Work : std::uint8_t { kernel, copy, set };

/// Work of a device.
struct Activity {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  std::uint32_t name = 0;
  std::uint32_t correlation = 0;
  std::uint32_t external = 0;
  std::uint32_t launch = 0;  ///< grid, block, bytes, and what a collective moves (shape.hpp)
  std::uint16_t device = 0;
  Work work = Work::kernel;
};

/// A piece of time with a name: a step, the profiler's own work.
struct Span {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  std::uint32_t name = 0;
};

struct Recording {
  Texts texts;
  std::vector<OperatorCall> operators;
  std::vector<Call> calls;
  std::vector<Activity> activities;
  std::vector<Span> notes;           ///< of the program: ProfilerStep#3, Optimizer.step#AdamW.step
  std::vector<Span> overhead;        ///< the profiler's
  std::vector<std::string> devices;  ///< names, as the trace has them
  int rank = -1;                     ///< of the process, where it is one of several
  int ranks = 0;
  bool shapes_off = false;  ///< the trace says that shapes were not recorded
};

}  // namespace sextant::profile
