// SPDX-License-Identifier: Apache-2.0
// How requests come over time and how long they are: of `traffic`, and of a search for its engines.
#pragma once

#include <string>

#include "sextant/options/option.hpp"
#include "sextant/serving/requests.hpp"

namespace sextant {

struct RequestOptions {
  std::optional<double> rate, burstiness;
  std::optional<int> requests;
  std::string lengths;
  std::optional<double> length_ratio, spread;
  int seed = 1;
};

template <class V>
void describe_requests(V& v, RequestOptions& o) {
  v("rate", o.rate, {.help = "requests a second; of a trace, its times are scaled to it"});
  v("burstiness", o.burstiness,
    {.help = "gamma: spread of the time between two requests over its mean"});
  v("requests", o.requests, {.help = "how many are sent", .max_remote = 1000000});
  v("lengths", o.lengths,
    {.help = "fixed, uniform or lognormal around --input and --output, or trace",
     .choices = choices_of<Lengths>()});
  v("length_ratio", o.length_ratio,
    {.help = "uniform: the shortest over the longest; without, 0.5"});
  v("spread", o.spread, {.help = "lognormal: standard deviation over the mean; without, 1"});
  v("seed", o.seed, {.help = "of everything random", .min = 0, .max = 1e9});
}

}  // namespace sextant
