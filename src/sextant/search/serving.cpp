// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/serving.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "sextant/scenario/derive.hpp"
#include "sextant/search/parallel.hpp"
#include "sextant/search/pareto.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

struct Instance {
  Strategy strategy;
  Precision cache = Precision::bf16;
};

/// Legal or not: what is not is counted with its reason.
std::vector<Instance> instances_of(const Problem& p, const ServingSpace& space) {
  std::vector<Instance> all;
  const auto add = [&](int tp, int pp, int dp) {
    const std::vector<int> ep =
        values_of(space.ep, p.model.experts.count > 0 ? divisors(tp * dp) : std::vector<int>{1});
    for (const int e : ep) {
      for (const Precision precision : space.precision) {
        const std::vector<Precision> usual{usual_cache(p.model, p.runtime, precision)};
        for (const Precision cache : space.cache.empty() ? usual : space.cache) {
          all.push_back({{.tp = tp, .pp = pp, .dp = dp, .ep = e, .precision = precision}, cache});
        }
      }
    }
  };
  // Replicas of attention make sense only where experts are shared between them.
  const bool replicas = p.model.experts.count > 0 || !space.dp.only.empty();
  for (int size = 1; size <= space.devices; ++size) {
    if (!space.at_most && space.devices % size != 0) continue;
    for (const int tp : values_of(space.tp, divisors(size))) {
      if (size % tp != 0) continue;
      for (const int pp : values_of(space.pp, divisors(size / tp))) {
        if (size / tp % pp != 0) continue;
        const int dp = size / tp / pp;
        if (!replicas && dp > 1) continue;
        const std::vector<int> allowed = values_of(space.dp, {dp});
        if (contains(allowed, dp)) add(tp, pp, dp);
      }
    }
  }
  return all;
}

/// The batch of an instance with the most tokens a second, between those looked at beside it.
struct Peak {
  Instance instance;
  int below = 0;
  int batch = 0;
  int above = 0;    ///< the batch itself where a larger one misses the limits
  double rate = 0;  ///< tokens a second
  double score = 0;
  std::uint64_t order = 0;

  double rate_a_device() const {
    return rate / (instance.strategy.tp * instance.strategy.pp * instance.strategy.dp);
  }
};

/// Batches of one instance that are tried between two at a time, on each side of the best.
constexpr int tried_beside = 4;
/// Instances whose best batch is looked for between those that all have, and how far behind the
/// first of them they may lie: tiles are worth a few percent.
constexpr std::size_t most_narrowed = 8;
constexpr double narrowed_within = 0.1;

/// Evenly between both, of whole shares of the replicas.
void between(int low, int high, int share, std::vector<int>& to) {
  const int parts = (high - low) / share / (tried_beside + 1);
  const int step = share * std::max(1, parts);
  for (int b = (low / share) * share + step; b < high; b += step) {
    if (b > low) to.push_back(b);
  }
}

class Server {
 public:
  Server(const Problem& p, const ServingSpace& space, const ServingAim& aim)
      : p_(p), space_(space), aim_(aim) {}

  std::uint64_t run(const Instance& instance, std::size_t index) {
    const Strategy& s = instance.strategy;
    p_.serving.cache = instance.cache;
    std::uint64_t place = 0;
    const auto order = [&] { return (static_cast<std::uint64_t>(index) << 32U) | place++; };
    const Verdict verdict = legal_serving(p_, s);
    if (verdict != Verdict::fits) {
      ++result.rejected[verdict];
      return 1;
    }
    Peak peak;
    int before = 0;
    for (const int batch : batches(s)) {
      p_.serving.batch = batch;
      const ServingEstimate e = serve(p_, s);
      const std::optional<double> score = add(s, e, order());
      if (score && peak.batch == before) peak.above = batch;
      if (score && e.tokens_per_second > peak.rate) {
        peak = {instance, before, batch, batch, e.tokens_per_second, *score};
      }
      before = batch;
    }
    peak.order = order();
    if (peak.batch > 0) peaks_.push_back(peak);
    return place;
  }

  /// Tiles make throughput a saw of the batch: climbs the tooth that the best one lies on.
  void narrow(Peak peak) {
    const Strategy& s = peak.instance.strategy;
    p_.serving.cache = peak.instance.cache;
    const int first = peak.batch;
    for (;;) {
      std::vector<int> tried;
      between(peak.below, peak.batch, s.dp, tried);
      between(peak.batch, peak.above, s.dp, tried);
      tried = values_of(space_.batch, std::move(tried));
      if (tried.empty()) break;
      tried.insert(tried.end(), {peak.below, peak.batch, peak.above});
      std::sort(tried.begin(), tried.end());
      tried.erase(std::unique(tried.begin(), tried.end()), tried.end());
      for (const int batch : tried) {
        if (batch <= peak.below || batch == peak.batch || batch >= peak.above) continue;
        const double rate = rate_within(s, batch);
        if (rate > peak.rate) std::tie(peak.rate, peak.batch) = std::pair(rate, batch);
      }
      const auto at = std::find(tried.begin(), tried.end(), peak.batch);
      peak.below = at == tried.begin() ? peak.batch : *(at - 1);
      peak.above = at + 1 == tried.end() ? peak.batch : *(at + 1);
    }
    if (peak.batch == first) return;
    p_.serving.batch = peak.batch;
    add(s, serve(p_, s), peak.order);
  }

  /// Of all servers' instances those worth narrow().
  std::vector<Peak> promising() {
    if (aim_.objective == ServingObjective::latency || !space_.batch.only.empty()) return {};
    std::sort(peaks_.begin(), peaks_.end(), [](const Peak& a, const Peak& b) {
      if (a.score != b.score) return a.score < b.score;
      if (a.rate_a_device() != b.rate_a_device()) return a.rate_a_device() > b.rate_a_device();
      return a.order < b.order;
    });
    if (peaks_.size() > most_narrowed) peaks_.resize(most_narrowed);
    std::erase_if(peaks_,
                  [&, most = peaks_.empty() ? 0 : peaks_.front().rate_a_device()](const Peak& p) {
                    return p.rate_a_device() < (1 - narrowed_within) * most;
                  });
    return std::exchange(peaks_, {});
  }

  /// Takes what the other has found.
  void add(Server& other) {
    ServingResult& o = other.result;
    result.evaluated += o.evaluated;
    result.feasible += o.feasible;
    result.slow_first_token += o.slow_first_token;
    result.slow_tokens += o.slow_tokens;
    result.too_few_tokens += o.too_few_tokens;
    for (std::size_t i = 0; i < o.rejected.size; ++i) {
      result.rejected.values[i] += o.rejected.values[i];
    }
    found_.insert(found_.end(), other.found_.begin(), other.found_.end());
    trim();
    front_.add(other.front_);
    if (o.nearest) keep_nearest(*o.nearest);
    peaks_.insert(peaks_.end(), other.peaks_.begin(), other.peaks_.end());
    other.forget();
  }

  ServingResult take() {
    trim();
    if (!found_.empty()) result.nearest.reset();
    result.best = std::move(found_);
    for (const auto& e : front_.entries()) result.pareto.push_back(e.point);
    return std::move(result);
  }

  ServingResult result;

 private:
  void forget() {
    result = {};
    found_.clear();
    front_ = {};
    peaks_.clear();
  }

  /// Powers of two up to what memory holds, that, and the most that meets the limits: more
  /// requests take longer and give more tokens, but for the tiles that narrow() looks at.
  std::vector<int> batches(const Strategy& s) {
    if (!space_.batch.only.empty()) return values_of(space_.batch, {});
    const int least = std::max({1, s.dp, space_.batch.least});
    p_.serving.batch = least;
    const double room = std::min(std::floor(serve(p_, s).memory.max_batch), 1e6);
    const int most = std::max(least, std::min(static_cast<int>(room), space_.batch.most));
    std::vector<int> all;
    for (int b = least; b < most; b *= 2) all.push_back(b);
    all.push_back(most);
    const auto slow = std::find_if(all.begin(), all.end(), [&](int b) { return !meets(s, b); });
    if (slow != all.begin() && slow != all.end()) {
      int low = *(slow - 1);
      for (int high = *slow; high - low > 1;) {
        const int middle = low + (high - low) / 2;
        (meets(s, middle) ? low : high) = middle;
      }
      if (low > *(slow - 1)) all.insert(slow, low);
    }
    return values_of(space_.batch, std::move(all));
  }

  bool meets(const Strategy& s, int batch) { return rate_within(s, batch) > 0; }

  /// Tokens a second; nothing where it misses the limits.
  double rate_within(const Strategy& s, int batch) {
    p_.serving.batch = batch;
    const ServingEstimate e = serve(p_, s);
    const bool within = e.verdict == Verdict::fits && e.ttft <= aim_.ttft &&
                        (p_.serving.output <= 1 || e.tpot <= aim_.tpot);
    return within ? e.tokens_per_second : 0;
  }

  /// Its score, where it serves within the limits.
  std::optional<double> add(const Strategy& s, const ServingEstimate& e, std::uint64_t order) {
    ++result.evaluated;
    const double room = std::floor(space_.devices / e.devices);
    ServingFound f;
    f.strategy = s;
    f.serving = p_.serving;
    f.estimate = e;
    f.order = order;
    const auto refuse = [&](std::uint64_t& count) {
      ++count;
      f.instances = room;
      f.score = lack_of(f);
      keep_nearest(f);
      return std::nullopt;
    };
    if (e.verdict != Verdict::fits) return refuse(result.rejected[e.verdict]);
    if (e.ttft > aim_.ttft) return refuse(result.slow_first_token);
    if (p_.serving.output > 1 && e.tpot > aim_.tpot) return refuse(result.slow_tokens);
    const double needed = e.tokens_per_second > 0
                              ? std::ceil(aim_.tokens_per_second / e.tokens_per_second)
                              : room + 1;
    const bool fewest = aim_.objective == ServingObjective::devices || space_.at_most;
    f.instances = fewest ? std::max(1.0, needed) : room;
    if (f.instances > room || f.tokens_per_second() < aim_.tokens_per_second) {
      return refuse(result.too_few_tokens);
    }
    ++result.feasible;
    f.score = score_of(f);
    found_.push_back(f);
    if (found_.size() > 64 + 8 * static_cast<std::size_t>(aim_.top)) trim();
    const double time = p_.serving.output > 1 ? e.tpot.value : e.ttft.value;
    front_.add(time, -f.tokens_per_second() / f.devices(), order, f);
    return f.score;
  }

  /// By what factor it misses the limit that it misses most, or memory where it does not fit.
  double lack_of(const ServingFound& f) const {
    const ServingEstimate& e = f.estimate;
    if (e.verdict != Verdict::fits) return e.memory.total() / e.memory.capacity;
    const double tokens = f.tokens_per_second();
    return std::max({e.ttft / aim_.ttft, p_.serving.output > 1 ? e.tpot / aim_.tpot : 0.0,
                     tokens > 0 ? aim_.tokens_per_second / tokens : 0.0});
  }

  void keep_nearest(const ServingFound& f) {
    const auto place = [](const ServingFound& x) {
      return std::tuple(x.estimate.verdict != Verdict::fits, x.score, x.order);
    };
    if (!result.nearest || place(f) < place(*result.nearest)) result.nearest = f;
  }

  double score_of(const ServingFound& f) const {
    switch (aim_.objective) {
      case ServingObjective::latency:
        return f.estimate.latency.value;
      case ServingObjective::devices:
        return f.devices();
      case ServingObjective::throughput:
        break;
    }
    return -f.tokens_per_second() / f.devices();
  }

  void trim() {
    const auto rate = [](const ServingFound& f) { return f.tokens_per_second() / f.devices(); };
    std::sort(found_.begin(), found_.end(), [&](const ServingFound& a, const ServingFound& b) {
      if (a.score != b.score) return a.score < b.score;
      if (rate(a) != rate(b)) return rate(a) > rate(b);
      return a.order < b.order;
    });
    if (found_.size() > static_cast<std::size_t>(aim_.top)) {
      found_.resize(static_cast<std::size_t>(aim_.top));
    }
  }

  Problem p_;  // its own: batch and cache change
  const ServingSpace& space_;
  const ServingAim& aim_;
  std::vector<ServingFound> found_;
  Front<ServingFound> front_;
  std::vector<Peak> peaks_;  ///< of each instance that serves
};

}  // namespace

std::size_t count_instances(const Problem& p, const ServingSpace& space) {
  return instances_of(p, space).size();
}

ServingResult search_serving(const Problem& problem, const ServingSpace& space,
                             const ServingAim& aim, SearchProgress& progress) {
  const std::vector<Instance> instances = instances_of(problem, space);
  const int threads = std::max(1, aim.threads);
  std::vector<Server> servers;
  for (int i = 0; i < threads; ++i) servers.emplace_back(problem, space, aim);
  for_each_unit(threads, instances.size(), progress.stop, [&](int thread, std::size_t i) {
    servers[static_cast<std::size_t>(thread)].run(instances[i], i);
    ++progress.done;
  });
  const auto gather = [&] {
    for (std::size_t i = 1; i < servers.size(); ++i) servers[0].add(servers[i]);
  };
  gather();
  const std::vector<Peak> peaks = servers[0].promising();
  for_each_unit(threads, peaks.size(), progress.stop, [&](int thread, std::size_t i) {
    servers[static_cast<std::size_t>(thread)].narrow(peaks[i]);
  });
  gather();
  ServingResult result = servers[0].take();
  result.stopped = progress.stop;
  return result;
}

}  // namespace sextant
