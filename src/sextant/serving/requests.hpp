// SPDX-License-Identifier: Apache-2.0
// Requests as they come: when, how long, with which shared prefixes.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "sextant/serving/random.hpp"
#include "sextant/spec/describe.hpp"

namespace sextant {

enum class Arrivals : std::uint8_t {
  poisson,
  gamma,    ///< with a burstiness: a coefficient of variation other than 1
  uniform,  ///< evenly spaced
  burst,    ///< all at once
  closed,   ///< so many users, each sends the next request when one is answered
  trace,    ///< as they came
};
constexpr auto names_of(Arrivals) {
  return std::array<std::string_view, 6>{"poisson", "gamma", "uniform", "burst", "closed", "trace"};
}

enum class Lengths : std::uint8_t { fixed, uniform, lognormal, trace };
constexpr auto names_of(Lengths) {
  return std::array<std::string_view, 4>{"fixed", "uniform", "lognormal", "trace"};
}

/// Why a request waited before it was scheduled.
enum class Wait : std::uint8_t { none, step, slots, cache, budget };
constexpr auto names_of(Wait) {
  return std::array<std::string_view, 5>{"nothing", "the step that ran", "a free slot",
                                         "room in the cache", "the token budget"};
}

/// What another engine has done for a request, where one reads the prompts.
struct Prompted {
  double scheduled = -1;
  double first_token = -1;  ///< when it was there; below 0: nobody did
  Wait wait = Wait::none;
};

struct Request {
  double arrival = 0;  ///< seconds
  int input = 1;       ///< tokens
  int output = 1;
  std::uint32_t prefix = 0;         ///< where its prefix blocks start in Trace::blocks
  std::uint32_t prefix_blocks = 0;  ///< how many it has
  std::uint32_t number = 0;         ///< from 0, in order of arrival
  Prompted prompted;
};

/// Requests of a file.
struct Trace {
  std::vector<Request> requests;      ///< in order of arrival
  std::vector<std::uint32_t> blocks;  ///< ids of prefix blocks, each of `block_tokens`
  int block_tokens = 512;
  bool timed = false;  ///< it says when they arrive, all at once perhaps
};

/// What is sent to the engines.
struct Traffic {
  Arrivals arrivals = Arrivals::poisson;
  Lengths lengths = Lengths::fixed;
  double rate = 1;        ///< requests a second; of a trace 0: as it came
  double burstiness = 1;  ///< coefficient of variation of the time between two
  int concurrency = 1;    ///< users of a closed loop
  double requests = 1e4;  ///< how many are sent; of a trace at most its own
  double until = std::numeric_limits<double>::infinity();  ///< seconds; later answers do not count
  int input = 512;
  int output = 128;
  double length_ratio = 1;  ///< uniform: between this share of nominal and nominal
  double spread = 1;        ///< lognormal: standard deviation over the mean
  std::uint64_t seed = 1;
  const Trace* trace = nullptr;  ///< outlives it
};

/// Means over the requests of a traffic, for closed formulas.
struct TrafficMeans {
  double input = 0;
  double output = 0;
  double context = 0;  ///< of a token that is generated, itself included
  double reach = 0;    ///< tokens that a token of a prompt looks at
  double rate = 0;     ///< requests a second; 0 where they are not timed
};

/// Draws requests one by one. Lengths and times come from streams of their own: another rate gives
/// the same requests closer together.
class RequestStream {
 public:
  explicit RequestStream(const Traffic& traffic);
  /// False where all are sent. In a closed loop the arrival is whatever the sender says.
  bool next(Request& request);
  std::uint32_t sent() const { return sent_; }

 private:
  int length(int nominal);
  double gap();

  const Traffic& traffic_;
  Random times_;
  Random sizes_;
  double now_ = 0;
  double scale_ = 1;  // of a trace's times
  std::uint32_t most_ = 0;
  std::uint32_t sent_ = 0;
};

TrafficMeans means_of(const Traffic& traffic);

/// Prompts of one length that come at once, and answers of different ones.
struct Sampled {
  int requests = 1;
  int input = 1;
  double output = 1;                                         ///< mean
  double spread = 0;                                         ///< as Traffic's
  double longest = std::numeric_limits<double>::infinity();  ///< answer: it is cut there
  std::uint64_t seed = 1;
};
/// Lengths are lognormal and cut at the longest, about a middle that leaves their mean what it is.
Trace sample_of(const Sampled& sampled);

}  // namespace sextant
