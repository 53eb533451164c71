// SPDX-License-Identifier: Apache-2.0
// Every rule that a strategy breaks, said so that it can be mended: the rule with its numbers, and
// the nearest values that keep it. legal() is the same list for machines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sextant/predict/layout.hpp"
#include "sextant/predict/nearest.hpp"
#include "sextant/spec/problems.hpp"

namespace sextant {
namespace {

class Checker {
 public:
  Checker(const Problem& problem, const Strategy& strategy)
      : p_(problem), m_(problem.model), s_(strategy) {}

  std::vector<Diagnostic> run() {
    devices();
    tensor();
    context();
    pipeline();
    batch();
    experts();
    sharding();
    return problems_.take();
  }

 private:
  void devices();
  void tensor();
  void context();
  void pipeline();
  void batch();
  void experts();
  void sharding();
  double heads() const { return p_.layers.attention > 0 ? m_.attention.heads : 0; }
  double ffn() const { return p_.layers.dense > 0 ? m_.ffn : 0; }

  const Problem& p_;
  const Model& m_;
  const Strategy& s_;
  Problems problems_;
};

void Checker::devices() {
  const double others = static_cast<double>(s_.tp) * s_.cp * s_.pp;
  const double most = std::floor(p_.max_devices / others);
  problems_.require(
      devices_of(s_) <= p_.max_devices, "dp",
      fmt::format("tp {} x cp {} x pp {} x dp {} is {} devices, the system has {}", s_.tp, s_.cp,
                  s_.pp, s_.dp, devices_of(s_), p_.max_devices),
      most >= 1 ? fmt::format("at most dp {} fits beside them", most)
                : "a smaller tp, cp or pp; or --set system.max_devices for a larger system");
}

void Checker::tensor() {
  const double tp = s_.tp;
  const auto legal_tp = [&](double t) { return divides(t, heads()) && divides(t, ffn()); };
  const double limit = std::max(heads(), ffn());
  problems_.require(divides(tp, heads()), "tp",
                    fmt::format("tp {} does not divide the {} heads", tp, heads()),
                    nearest(tp, limit, legal_tp));
  problems_.require(divides(tp, ffn()), "tp",
                    fmt::format("tp {} does not divide the MLP's width, {}", tp, ffn()),
                    nearest(tp, limit, legal_tp));
  problems_.require(!s_.sp || s_.tp > 1, "sp",
                    "sequence parallelism shares out what tensor parallelism leaves whole: it "
                    "needs tp above 1",
                    "leave sp out, or take tp 2 or more");
}

void Checker::context() {
  const bool ring = s_.cp > 1 && s_.context == ContextKind::ring;
  const double pieces = (ring ? 2.0 : 1.0) * s_.cp * (s_.sp ? s_.tp : 1);
  std::string parts = ring ? fmt::format("2 x cp {}", s_.cp) : fmt::format("cp {}", s_.cp);
  if (s_.sp) parts += fmt::format(" x tp {}", s_.tp);
  problems_.require(divides(pieces, p_.work.seq), "seq",
                    fmt::format("seq {} is not a multiple of {} = {}", p_.work.seq, parts, pieces),
                    nearest_multiple(p_.work.seq, std::max(1.0, pieces)));
  if (s_.cp > 1 && s_.context == ContextKind::all_to_all) {
    const double all = m_.attention.heads;
    const double both = static_cast<double>(s_.tp) * s_.cp;
    problems_.require(divides(both, all), "cp",
                      fmt::format("context parallelism by all-to-all shares out heads: tp {} x cp "
                                  "{} does not divide the {}",
                                  s_.tp, s_.cp, all),
                      nearest(s_.cp, all, [&](double c) { return divides(s_.tp * c, all); }));
  }
}

void Checker::pipeline() {
  const double chunks = static_cast<double>(s_.pp) * s_.interleave;
  const double most = std::floor(static_cast<double>(m_.layers) / s_.interleave);
  problems_.require(
      chunks <= m_.layers, s_.interleave > 1 ? "interleave" : "pp",
      s_.interleave > 1
          ? fmt::format("pp {} x interleave {} is {} chunks, the model has {} layers", s_.pp,
                        s_.interleave, chunks, m_.layers)
          : fmt::format("pp {} is more stages than the model has layers, {}", s_.pp, m_.layers),
      most >= 1 ? fmt::format("pp {} is the most", most)
                : fmt::format("interleave {} is the most", m_.layers));
  problems_.require(s_.interleave == 1 || s_.pp > 1, "interleave",
                    fmt::format("interleave {} deals chunks of the model to pipeline stages, and "
                                "pp is 1",
                                s_.interleave),
                    "leave interleave out, or take pp 2 or more");
  problems_.require(
      s_.interleave == 1 || s_.schedule != Schedule::zero_bubble, "schedule",
      fmt::format("zero-bubble (ZB-H1) has one chunk a stage, and interleave is {}", s_.interleave),
      "leave interleave out, or schedule 1f1b");
  problems_.require(s_.zero < 2 || s_.pp == 1, "zero",
                    fmt::format("zero {} shards gradients, which a pipeline (pp {}) must keep "
                                "whole until its last microbatch",
                                s_.zero, s_.pp),
                    "zero 1, or pp 1");
}

void Checker::batch() {
  const double step = static_cast<double>(s_.dp) * s_.microbatch;
  const double batch = p_.work.batch;
  if (!divides(step, batch)) {
    const auto whole = [&](double dp) { return divides(dp * s_.microbatch, batch); };
    const std::string other = nearest(s_.dp, batch, whole);
    problems_.require(
        false, "batch",
        fmt::format("batch {} is not dp {} x microbatch {} x a whole number", batch, s_.dp,
                    s_.microbatch),
        fmt::format("{} for the batch{}", nearest_multiple(batch, std::max(1.0, step)),
                    other.empty() ? "" : ", " + other + " for dp"));
    return;
  }
  const double microbatches = batch / step;
  problems_.require(s_.interleave == 1 || divides(s_.pp, microbatches), "batch",
                    fmt::format("interleaving deals microbatches in rounds of pp: {} a replica is "
                                "not a multiple of pp {}",
                                microbatches, s_.pp),
                    fmt::format("{} for the batch", nearest_multiple(batch, s_.pp * step)));
}

void Checker::experts() {
  const Experts& e = m_.experts;
  if (e.count == 0) {
    problems_.require(s_.ep == 1, "ep", fmt::format("ep {}, and the model has no experts", s_.ep),
                      "leave ep out");
    problems_.require(s_.etp == 1, "etp",
                      fmt::format("etp {}, and the model has no experts", s_.etp), "leave etp out");
    return;
  }
  const double ranks = static_cast<double>(s_.tp) * s_.cp * s_.dp;
  const auto legal_ep = [&](double n) { return divides(n, e.count) && divides(n * s_.etp, ranks); };
  problems_.require(divides(s_.ep, e.count), "ep",
                    fmt::format("ep {} does not divide the {} experts", s_.ep, e.count),
                    nearest(s_.ep, e.count, legal_ep));
  problems_.require(divides(static_cast<double>(s_.ep) * s_.etp, ranks), "ep",
                    fmt::format("experts live on the ranks of tp {} x cp {} x dp {} = {}, which ep "
                                "{} x etp {} does not divide",
                                s_.tp, s_.cp, s_.dp, ranks, s_.ep, s_.etp),
                    nearest(s_.ep, e.count, legal_ep));
  problems_.require(divides(s_.etp, e.ffn), "etp",
                    fmt::format("etp {} does not divide an expert's width, {}", s_.etp, e.ffn),
                    nearest(s_.etp, e.ffn, [&](double t) { return divides(t, e.ffn); }));
}

void Checker::sharding() {
  problems_.require(s_.shard == 0 || divides(s_.shard, s_.dp), "shard",
                    fmt::format("groups of {} replicas do not divide dp {}", s_.shard, s_.dp),
                    nearest(s_.shard, s_.dp, [&](double n) { return divides(n, s_.dp); }));
}

}  // namespace

std::vector<Diagnostic> check(const Problem& problem, const Strategy& strategy) {
  std::vector<Diagnostic> problems = Checker(problem, strategy).run();
  const Verdict verdict = legal(problem, strategy);
  if (problems.empty() && verdict != Verdict::fits) {
    problems.emplace_back().message = std::string(name_of(verdict));
  }
  return problems;
}

}  // namespace sextant
