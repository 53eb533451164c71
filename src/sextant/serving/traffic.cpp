// SPDX-License-Identifier: Apache-2.0
#include "sextant/serving/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <queue>
#include <string>

#include "sextant/predict/energy.hpp"
#include "sextant/predict/held.hpp"
#include "sextant/serving/links.hpp"
#include "sextant/spec/diagnostic.hpp"
#include "sextant/spec/patience.hpp"

namespace sextant {
namespace {

constexpr std::size_t slowest_kept = 10;
constexpr std::size_t most_spans = 200000;  // what a viewer still opens

double replicas_of(const Cluster& c) {
  return c.pool.replicas + (c.decode ? c.decode->replicas : 0);
}

/// What moves from the engine that reads a prompt to the one that goes on.
struct Moved {
  explicit Moved(const Problem& p)
      : a_token(cache_bytes_per_token(p)), a_request(cached(p, {}, stage_of(p, {}, 0), 0, 0)) {}
  Bytes of(double prompt) const { return a_request + prompt * a_token; }
  Bytes a_token;
  Bytes a_request;  // however long
};

/// Turns what engines say into statistics.
class Collector {
 public:
  Collector(double until, const ServiceLimits& limits) : until_(until), limits_(limits) {}

  void answer(const Answered& a) {
    if (a.end > until_) return;
    TrafficResult& r = result;
    const Request& q = a.request;
    const double ttft = a.first_token - q.arrival;
    const double latency = a.end - q.arrival;
    const double tpot = q.output > 1 ? (a.end - a.first_token) / (q.output - 1) : 0;
    r.ttfts.add(ttft);
    r.latencies.add(latency);
    if (q.output > 1) r.tpots.add(tpot);
    ++r.completed;
    r.output_tokens += q.output;
    r.input_tokens += q.input;
    if (ttft <= limits_.ttft.value && tpot <= limits_.tpot.value) ++r.good;
    last_end_ = std::max(last_end_, a.end);
    const double read = q.prompted.first_token < 0 ? a.first_token : q.prompted.first_token;
    keep_slow({.answer = a,
               .queued = a.scheduled - q.arrival,
               .prompt = read - a.scheduled,
               .moved = a.first_token - read,
               .decode = a.end - a.first_token,
               .latency = latency});
  }

  void span(const StepSpan& s) {
    TrafficResult& r = result;
    const double counted = std::clamp((until_ - s.start) / s.seconds, 0.0, 1.0);
    if (s.decoding > 0) gaps_.add(s.seconds / s.steps, s.decoding * s.steps);
    (s.prompt_tokens == 0 ? r.decode_share
     : s.decoding > 0     ? r.mixed_share
                          : r.prefill_share) += counted * s.seconds;
    r.joules += counted * s.work;
    r.most_watts = std::max(r.most_watts, s.watts);
    r.timeline.add(s.start, s.seconds, s.waiting, s.running, s.cache);
  }

  /// Of all engines of the cluster, whose time the shares are of.
  TrafficResult take(double first_arrival, const Cluster& cluster) {
    TrafficResult& r = result;
    r.ttft = r.ttfts.percentiles();
    r.tpot = r.tpots.percentiles();
    r.gap = gaps_.percentiles();
    r.latency = r.latencies.percentiles();
    r.seconds = std::isfinite(until_) ? until_ : last_end_ - first_arrival;
    const double whole = r.seconds * replicas_of(cluster);
    const double busy = r.prefill_share + r.decode_share + r.mixed_share;
    const double idle = std::max(0.0, whole - busy);
    for (const Pool* pool : {&cluster.pool, cluster.decode ? &*cluster.decode : nullptr}) {
      if (pool == nullptr) continue;
      r.standing +=
          pool->devices() * standing_energy(pool->problem, Seconds(r.seconds)).total().value;
    }
    r.joules += r.standing;
    for (double* share : {&r.prefill_share, &r.decode_share, &r.mixed_share}) {
      *share = whole > 0 ? *share / (busy + idle) : 0;
    }
    r.idle_share = busy + idle > 0 ? idle / (busy + idle) : 1;
    std::sort(r.slowest.begin(), r.slowest.end(), slower);
    return std::move(result);
  }

  double last_end() const { return last_end_; }
  TrafficResult result;

 private:
  static bool slower(const SlowRequest& a, const SlowRequest& b) {
    return a.latency != b.latency ? a.latency > b.latency
                                  : a.answer.request.number < b.answer.request.number;
  }
  void keep_slow(const SlowRequest& s) {
    std::vector<SlowRequest>& list = result.slowest;
    if (list.size() == slowest_kept && !slower(s, list.front())) return;
    // A heap whose front is the fastest of those kept.
    if (list.size() == slowest_kept) {
      std::pop_heap(list.begin(), list.end(), slower);
      list.pop_back();
    }
    list.push_back(s);
    std::push_heap(list.begin(), list.end(), slower);
  }

  const double until_;
  const ServiceLimits limits_;
  Quantiles gaps_;
  double last_end_ = 0;
};

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
class Simulation final : Listener {
 public:
  Simulation(PricedCluster& priced, const Traffic& traffic, const ServiceLimits& limits,
             SpanObserver* spans)
      : priced_(priced),
        cluster_(priced.cluster),
        traffic_(traffic),
        means_(means_of(traffic)),
        stream_(traffic),
        collector_(traffic.until, limits),
        spans_(spans),
        random_(traffic.seed + 77),
        links_(cluster_.pool.replicas, cluster_.decode ? cluster_.decode->replicas : 1,
               cluster_.link.value),
        moved_(cluster_.pool.problem) {
    const bool split = cluster_.decode.has_value();
    add(cluster_.pool, priced.price, split ? Role::prefill : Role::both);
    if (!split) return;
    add(*cluster_.decode, *priced.decode_price, Role::decode);
    under_way_.resize(static_cast<std::size_t>(cluster_.decode->replicas));
  }

  TrafficResult run() {
    closed_ = traffic_.arrivals == Arrivals::closed;
    const bool feedback = closed_ || cluster_.decode.has_value();
    if (closed_) {
      for (int i = 0; i < traffic_.concurrency; ++i) send(0);
    } else {
      take_next();
    }
    if (feedback) {
      interleave();
    } else {
      follow();
    }
    return finish();
  }

 private:
  void add(const Pool& pool, StepPrice& price, Role role) {
    Listener& self = *this;
    for (int i = 0; i < pool.replicas; ++i) {
      replicas_.push_back(std::make_unique<Replica>(static_cast<int>(replicas_.size()), price,
                                                    pool.limits, role, traffic_.trace, self));
    }
  }

  // -- arrivals ----------------------------------------------------------------------------------

  /// A user of a closed loop sends the next one.
  void send(double now) {
    Request r;
    if (now > traffic_.until || !stream_.next(r)) return;
    r.arrival = now;
    pending_.push(r);
  }
  void take_next() {
    Request r;
    if (stream_.next(r) && r.arrival <= traffic_.until) pending_.push(r);
  }
  double next_arrival() const { return pending_.empty() ? never : pending_.top().arrival; }

  void arrive() {
    const Request r = pending_.top();
    pending_.pop();
    check(r);
    if (first_arrival_ < 0) first_arrival_ = r.arrival;
    last_arrival_ = r.arrival;
    Replica& chosen = *replicas_[route(r)];
    chosen.submit(r, r.arrival);
    if (!closed_) take_next();
    note_queue(r.arrival);
  }

  /// Requests that wait when half of them and when all have come; those that are served pile up,
  /// too, where a run has not lasted as long as its requests.
  void note_queue(double now) {
    const double sent = stream_.sent();
    if (sent < next_note_) return;
    double waiting = 0;
    for (const auto& r : replicas_) waiting += r->waiting();
    notes_.push_back({now, waiting});
    next_note_ = sent + std::max(1.0, std::min(traffic_.requests, 1e9) / 16);
  }

  void check(const Request& r) const {
    const EngineLimits& l = cluster_.decode ? cluster_.decode->limits : cluster_.pool.limits;
    const bool slots = cluster_.pool.problem.runtime.engine.reserve == Reserve::slot;
    const double room = (slots ? std::floor(l.cache_tokens / l.max_requests)
                               : std::floor(l.cache_tokens / l.block) * l.block) -
                        l.state_tokens;
    const double longest = static_cast<double>(r.input) + r.output;
    if (longest <= room) return;
    throw InputError("request " + std::to_string(r.number + 1) + " has " + std::to_string(r.input) +
                         " tokens in and " + std::to_string(r.output) + " out: more than the " +
                         std::to_string(static_cast<long>(room)) +
                         (slots ? " that a slot of the cache holds" : " that the cache holds"),
                     "more devices, a narrower cache or shorter requests");
  }

  // -- routing -----------------------------------------------------------------------------------

  /// The first of n with the least load.
  template <class Load>
  static std::size_t least_of(std::size_t n, const Load& load) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < n; ++i) {
      if (load(i) < load(best)) best = i;
    }
    return best;
  }

  /// Of n engines the next in turn, or the emptier of two drawn at random, where the router does
  /// not look at all of them.
  template <class Load>
  std::optional<std::size_t> unseen(std::size_t n, std::size_t& turn, const Load& load) {
    if (cluster_.router == Router::round_robin) return turn++ % n;
    if (cluster_.router != Router::two_choices) return std::nullopt;
    const std::size_t a = random_.bits() % n;
    const std::size_t b = random_.bits() % n;
    return load(b) < load(a) ? b : a;
  }

  std::size_t route(const Request& r) {
    const auto n = static_cast<std::size_t>(cluster_.pool.replicas);
    if (n == 1) return 0;
    const auto load = [&](std::size_t i) { return replicas_[i]->load(); };
    if (const auto some = unseen(n, turn_, load)) return *some;
    if (cluster_.router == Router::least_requests) return least_of(n, load);
    // A token found costs nothing; a token of the queue before it must be computed first.
    const bool prefixes = cluster_.router == Router::prefix_aware;
    return least_of(n, [&](std::size_t i) {
      const Replica& x = *replicas_[i];
      return x.tokens_to_come() - (prefixes ? x.matched_tokens(r) : 0);
    });
  }

  /// An engine that generates: by turns too, or the emptiest, what is on its way there counted, for
  /// prompts end several at a time.
  std::size_t route_decode() {
    const auto first = static_cast<std::size_t>(cluster_.pool.replicas);
    const std::size_t n = under_way_.size();
    const auto load = [&](std::size_t i) { return replicas_[first + i]->load() + under_way_[i]; };
    const auto some = unseen(n, decode_turn_, load);
    return some ? *some : least_of(n, load);
  }

  // -- time --------------------------------------------------------------------------------------

  /// Arrivals that do not depend on answers.
  void follow() {
    while (!pending_.empty()) {
      const double now = next_arrival();
      for (const auto& r : replicas_) {
        while (r->run(now)) Patience::check();
      }
      arrive();
    }
    for (const auto& r : replicas_) {
      while (r->clock() <= traffic_.until && r->run(never)) Patience::check();
    }
  }

  /// What one engine ends may start another: always the earliest goes on, until the next would.
  void interleave() {
    for (;;) {
      Patience::check();
      const double event = std::min(next_arrival(), links_.next_event());
      double first = never;
      double second = never;
      Replica* earliest = nullptr;
      for (const auto& r : replicas_) {
        const double start = r->next_start();
        if (start < first) {
          second = first;
          first = start;
          earliest = r.get();
        } else {
          second = std::min(second, start);
        }
      }
      if (first > traffic_.until && event > traffic_.until) return;
      if (earliest != nullptr && first < event) {
        earliest->run(std::min(event, second > first ? second : std::nextafter(first, never)));
      } else if (event == never) {
        return;
      } else if (next_arrival() <= event) {
        arrive();
      } else {
        hand_over();
      }
    }
  }

  void hand_over() {
    const std::optional<Links::Transfer> t = links_.next();
    if (!t) return;
    transfer_seconds_ += links_.now() - t->start + cluster_.transfer_start.value;
    ++transfers_;
    replicas_[static_cast<std::size_t>(t->from)]->moved(t->place, links_.now());
    const auto to =
        static_cast<std::size_t>(cluster_.pool.replicas) + static_cast<std::size_t>(t->to);
    --under_way_[static_cast<std::size_t>(t->to)];
    const Seconds handed = cluster_.decode->problem.runtime.engine.hand_over;
    const double under_way = (cluster_.transfer_start + handed).value;
    replicas_[to]->submit(t->request, links_.now() + under_way);
    between_engines_ += under_way;
  }

  // -- what engines say --------------------------------------------------------------------------

  void answered(const Answered& a) override {
    const bool prompt = cluster_.decode && a.replica < cluster_.pool.replicas;
    if (!prompt || a.request.output <= 1) {
      collector_.answer(prompt ? a : with_prompt(a));
      if (closed_) send(a.end);
      return;
    }
    Request r = a.request;
    r.prompted = {a.scheduled, a.first_token, a.wait};
    const std::size_t to = route_decode();
    ++under_way_[to];
    links_.begin({r, a.replica, a.place, static_cast<int>(to), moved_.of(r.input).value, a.end});
  }

  /// Where another engine read the prompt, its first token is sent on by the one that has taken the
  /// cache over (Dynamo's workers and SGLang's router answer from there).
  static Answered with_prompt(const Answered& a) {
    const Prompted& by = a.request.prompted;
    if (by.first_token < 0) return a;
    Answered whole = a;
    whole.scheduled = by.scheduled;
    whole.first_token = std::max(a.first_token, a.scheduled);
    // A cache that has come joins the next step: nothing that anybody could mend.
    whole.wait = std::max(a.wait == Wait::step ? Wait::none : a.wait, by.wait);
    return whole;
  }

  void stepped(const StepSpan& s) override {
    collector_.span(s);
    if (spans_ != nullptr && spans_->size() < most_spans) spans_->push_back(s);
  }

  TrafficResult finish() {
    TrafficResult r = collector_.take(std::max(0.0, first_arrival_), cluster_);
    r.sent = stream_.sent();
    double present = between_engines_;
    for (const auto& x : replicas_) {
      const EngineCounts& c = x->counts();
      r.counts.preemptions += c.preemptions;
      r.counts.recomputed_tokens += c.recomputed_tokens;
      r.counts.prompt_tokens += c.prompt_tokens;
      r.counts.hit_tokens += c.hit_tokens;
      r.counts.output_tokens += c.output_tokens;
      present += x->present_seconds();
    }
    if (r.seconds > 0) r.mean_present = present / r.seconds;
    if (transfers_ > 0) r.transfer_seconds = transfer_seconds_ / transfers_;
    const double hits =
        r.counts.prompt_tokens > 0 ? r.counts.hit_tokens / r.counts.prompt_tokens : 0;
    r.capacity = priced_.capacity(means_, hits);
    r.offered = closed_ || traffic_.arrivals == Arrivals::burst ? 0 : means_.rate;
    if (notes_.size() > 4) {
      const auto& half = notes_[notes_.size() / 2];
      const auto& last = notes_.back();
      if (last.now > half.now) {
        r.queue_growth = (last.waiting - half.waiting) / (last.now - half.now);
        correct_capacity(last.waiting - half.waiting, r);
      }
    }
    r.passes = priced_.price.passes();
    if (priced_.decode_price) r.passes += priced_.decode_price->passes();
    return r;
  }

  /// Step times know nothing of preemptions and of requests that wait for memory: where those who
  /// come evenly pile up by more than chance, no more can be served than were.
  void correct_capacity(double more, TrafficResult& r) const {
    const bool steady = traffic_.arrivals != Arrivals::trace && r.offered < r.capacity;
    const double chance = 4 * std::sqrt(r.sent / 2) * std::max(1.0, traffic_.burstiness);
    if (!steady || more < chance || r.queue_growth < 0.02 * r.offered) return;
    r.capacity = std::max(0.0, r.offered - r.queue_growth);
  }

  struct Later {
    bool operator()(const Request& a, const Request& b) const {
      return a.arrival != b.arrival ? a.arrival > b.arrival : a.number > b.number;
    }
  };
  struct QueueNote {
    double now;
    double waiting;
  };

  PricedCluster& priced_;
  const Cluster& cluster_;
  const Traffic& traffic_;
  const TrafficMeans means_;
  RequestStream stream_;
  Collector collector_;
  SpanObserver* spans_;
  Random random_;
  Links links_;
  const Moved moved_;
  std::vector<double>
      under_way_;  // requests between prompt and first step, by engine that generates
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::priority_queue<Request, std::vector<Request>, Later> pending_;
  std::vector<QueueNote> notes_;
  double next_note_ = 0;
  std::size_t turn_ = 0;
  std::size_t decode_turn_ = 0;
  double first_arrival_ = -1;
  double last_arrival_ = 0;
  double transfer_seconds_ = 0;
  double between_engines_ = 0;  // of requests, while no engine has them
  double transfers_ = 0;
  bool closed_ = false;
};

/// Requests a second of one rank when `n` requests always decode, and whatever prompts that takes.
double rate_at(const Pool& pool, StepPrice& price, const TrafficMeans& m, Role role, double input,
               double n) {
  const double ranks = std::max(1, pool.strategy.dp);
  const double budget = pool.limits.token_budget;
  const auto prompts = [&](double tokens, double decoding) {
    const int count = std::max(1, static_cast<int>(std::ceil(tokens / std::max(1.0, input))));
    return StepShape{.decoding = decoding,
                     .contexts = decoding * m.context,
                     .prompt_tokens = tokens,
                     .reach = tokens * m.reach,
                     .prompts = count,
                     .mean_decoding = decoding,
                     .mean_prompt_tokens = tokens};
  };
  if (role == Role::prefill) {
    const double tokens = std::min(budget, n * input);
    return ranks * tokens / input / price.step(prompts(tokens, 0)).seconds;
  }
  const StepShape decode{
      .decoding = n, .contexts = n * m.context, .mean_decoding = n, .mean_prompt_tokens = 0};
  const double decoded = std::max(1.0, m.output - (role == Role::decode ? 1 : 0));
  if (role == Role::decode) return ranks * n / decoded / price.step(decode).seconds;
  const double each = n * input / m.output;  // prompt tokens that each step of tokens brings
  if (pool.problem.runtime.engine.joining == Joining::mixed) {
    const double tokens = std::max(1.0, std::min(each, budget - n));
    const double even = ranks * tokens / input / price.step(prompts(tokens, n)).seconds;
    // Prompts in bunches leave steps of tokens alone, which replay a graph where mixed ones do not.
    const auto bunched = [&](double bunch) {
      const double steps = bunch / each;
      if (steps <= 1) return even;
      const double cycle = price.step(prompts(bunch, n)).seconds +
                           (steps - 1) * static_cast<double>(price.step(decode).seconds);
      return ranks * n / m.output * steps / cycle;
    };
    const double most = std::max(tokens, budget - n);
    return std::max({even, bunched(std::max(tokens, std::min(input, budget - n))), bunched(most)});
  }
  // Where more wait than are served, prompts fill a pass, which may be cheaper than several.
  const auto prefill = [&](double whole) {
    return each / whole * price.step(prompts(whole, 0)).seconds;
  };
  const double least = std::min(prefill(std::min(budget, std::max(each, input))), prefill(budget));
  return ranks * n / m.output / (price.step(decode).seconds + least);
}

}  // namespace

double capacity_of(const Pool& pool, StepPrice& price, const TrafficMeans& m, Role role,
                   double hits) {
  const EngineLimits& l = pool.limits;
  const Reserve reserve = pool.problem.runtime.engine.reserve;
  const double input = std::max(1.0, m.input * (1 - hits));
  const double tokens = m.input + (reserve == Reserve::longest ? 1.0 : 0.5) * m.output;
  // In blocks of few tokens half of the last one is empty, in large ones all that no request fills.
  const double length = l.block > 1 ? std::max(tokens + 0.5 * l.block, 1.0 * l.block) : tokens;
  const double held = reserve == Reserve::slot ? l.max_requests
                                               : std::floor(l.cache_tokens / l.block) * l.block /
                                                     (length + l.state_tokens);
  const double most = std::max(1.0, std::min<double>(l.max_requests, std::floor(held)));
  double best = 0;
  for (double n = most; n >= 1; n = std::floor(n * 0.8)) {
    best = std::max(best, rate_at(pool, price, m, role, input, n));
  }
  return best * pool.replicas;
}

void connect(Cluster& c) {
  if (!c.decode) return;
  const Network& network = c.pool.problem.network;
  if (network.count == 0) return;
  int level = 0;
  while (level + 1 < network.count &&
         network.levels[static_cast<std::size_t>(level)].reach < c.devices()) {
    ++level;
  }
  const NetworkLevel& fabric = network.levels[static_cast<std::size_t>(level)];
  const double devices =
      std::min(c.pool.devices() / c.pool.replicas, c.decode->devices() / c.decode->replicas);
  c.link = devices * fabric.rate;
  c.transfer_start = fabric.latency;
}

PricedCluster::PricedCluster(Cluster given, const TrafficMeans& means)
    : cluster(std::move(given)), price(cluster.pool.problem, cluster.pool.strategy, means.context) {
  if (!cluster.decode) return;
  decode_price =
      std::make_unique<StepPrice>(cluster.decode->problem, cluster.decode->strategy, means.context);
}

double PricedCluster::capacity(const TrafficMeans& means, double hits) {
  const bool split = cluster.decode.has_value();
  const double first =
      capacity_of(cluster.pool, price, means, split ? Role::prefill : Role::both, hits);
  if (!split) return first;
  // Each engine has a link: those of the fewer engines are full first.
  const BytesPerSecond links =
      std::min(cluster.pool.replicas, cluster.decode->replicas) * cluster.link;
  const double moved = links * Seconds(1) / Moved(cluster.pool.problem).of(means.input);
  return std::min({first, moved, capacity_of(*cluster.decode, *decode_price, means, Role::decode)});
}

TrafficResult simulate(PricedCluster& cluster, const Traffic& traffic, const ServiceLimits& limits,
                       SpanObserver* spans) {
  return Simulation(cluster, traffic, limits, spans).run();
}

TrafficResult simulate(const Cluster& cluster, const Traffic& traffic, const ServiceLimits& limits,
                       SpanObserver* spans) {
  PricedCluster priced(cluster, means_of(traffic));
  return simulate(priced, traffic, limits, spans);
}

}  // namespace sextant
