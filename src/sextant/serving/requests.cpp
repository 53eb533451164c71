// SPDX-License-Identifier: Apache-2.0
#include "sextant/serving/requests.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

/// Requests a second of a trace as it came.
double own_rate(const Trace& trace) {
  if (trace.requests.size() < 2) return 0;
  const double span = trace.requests.back().arrival - trace.requests.front().arrival;
  return span > 0 ? static_cast<double>(trace.requests.size() - 1) / span : 0;
}

}  // namespace

RequestStream::RequestStream(const Traffic& t)
    : traffic_(t), times_(t.seed * 2 + 1), sizes_(t.seed * 2 + 2) {
  double most = std::min(t.requests, 4e9);
  if (t.arrivals == Arrivals::trace) {
    most = std::min(most, static_cast<double>(t.trace->requests.size()));
  }
  most_ = static_cast<std::uint32_t>(most);
  if (t.arrivals == Arrivals::trace && t.rate > 0) {
    const double own = own_rate(*t.trace);
    if (own > 0) scale_ = own / t.rate;
  }
}

double RequestStream::gap() {
  switch (traffic_.arrivals) {
    case Arrivals::poisson:
      return times_.exponential() / traffic_.rate;
    case Arrivals::gamma: {
      const double shape = 1 / (traffic_.burstiness * traffic_.burstiness);
      return times_.gamma(shape) / shape / traffic_.rate;
    }
    case Arrivals::uniform:
      return 1 / traffic_.rate;
    case Arrivals::burst:
    case Arrivals::closed:
    case Arrivals::trace:
      break;
  }
  return 0;
}

int RequestStream::length(int nominal) {
  switch (traffic_.lengths) {
    case Lengths::uniform: {
      const double low = std::max(1.0, std::floor(traffic_.length_ratio * nominal));
      return static_cast<int>(low + std::floor(sizes_.uniform() * (nominal - low + 1)));
    }
    case Lengths::lognormal: {
      const double variance = std::log1p(traffic_.spread * traffic_.spread);
      const double drawn = std::exp(std::sqrt(variance) * sizes_.normal() - variance / 2);
      return static_cast<int>(std::clamp(std::round(nominal * drawn), 1.0, 1e8));
    }
    case Lengths::fixed:
    case Lengths::trace:
      break;
  }
  return nominal;
}

bool RequestStream::next(Request& r) {
  if (sent_ >= most_) return false;
  const bool traced = traffic_.arrivals == Arrivals::trace || traffic_.lengths == Lengths::trace;
  if (traced) {
    // Lengths alone may be asked for again and again.
    r = traffic_.trace->requests[sent_ % traffic_.trace->requests.size()];
  } else {
    r = Request{};
    r.input = length(traffic_.input);
    r.output = length(traffic_.output);
  }
  if (traffic_.arrivals == Arrivals::trace) {
    r.arrival *= scale_;
  } else {
    now_ += gap();
    r.arrival = now_;
  }
  r.number = sent_++;
  return true;
}

TrafficMeans means_of(const Traffic& t) {
  Traffic sample = t;
  sample.requests = std::min(t.requests, 20000.0);  // enough for a mean to a percent
  RequestStream stream(sample);
  TrafficMeans m;
  Request r;
  double n = 0;
  double looked = 0;
  double first = 0;
  double last = 0;
  while (stream.next(r)) {
    if (n == 0) first = r.arrival;
    m.input += r.input;
    m.output += r.output;
    m.context += r.output * (r.input + (r.output + 1) / 2.0);
    looked += r.input * (r.input + 1.0) / 2;
    last = r.arrival;
    ++n;
  }
  if (n == 0) return m;
  m.context /= m.output;
  m.reach = looked / m.input;
  m.input /= n;
  m.output /= n;
  if (last > first) m.rate = (n - 1) / (last - first);  // traces may begin at any time
  if (t.arrivals != Arrivals::closed && t.arrivals != Arrivals::burst && t.rate > 0) {
    m.rate = t.rate;
  }
  return m;
}

Trace sample_of(const Sampled& s) {
  Random random(s.seed);
  const double variance = std::log1p(s.spread * s.spread);
  std::vector<double> drawn(static_cast<std::size_t>(s.requests));
  for (double& d : drawn) d = std::exp(std::sqrt(variance) * random.normal() - variance / 2);
  const auto cut = [&](double scale, double d) { return std::clamp(scale * d, 1.0, s.longest); };
  // The more the longest are cut, the further out the middle lies.
  double low = 0;
  double high = 1e4 * s.output;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    double sum = 0;
    for (const double d : drawn) sum += cut(middle, d);
    (sum < s.output * static_cast<double>(drawn.size()) ? low : high) = middle;
  }
  Trace trace;
  trace.requests.reserve(drawn.size());
  for (const double d : drawn) {
    Request& r = trace.requests.emplace_back();
    r.input = s.input;
    r.output = static_cast<int>(std::round(cut(high, d)));
    r.number = static_cast<std::uint32_t>(trace.requests.size() - 1);
  }
  return trace;
}

}  // namespace sextant
