// SPDX-License-Identifier: Apache-2.0
#include "sextant/sweep/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sextant/io/fnv.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/text.hpp"
#include "sextant/io/write.hpp"
#include "sextant/sweep/parallel.hpp"

namespace sextant::sweep {
namespace {

/// Seconds between commits, which is what a kill may cost; more where the disk is slow, so that
/// commits take a tenth of the time at most.
constexpr double commit_seconds = 0.5;
constexpr double commit_share = 0.1;
/// Points of a chunk at most: enough to forget the cost of handing it out.
constexpr std::uint64_t most_chunk_points = 1024;

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

std::string hash_of(std::string_view text) {
  Fnv hash;
  hash.add(text);
  return fmt::format("{:016x}", hash.value());
}

template <class T>
void add_input(StoreFacts& facts, const char* kind, const std::string& name, const T& spec) {
  facts[fmt::format("{} {}", kind, name)] = hash_of(to_json(write(spec), 0));
}

// What names lead to may change while the plan does not: a file was edited, $SEXTANT_PATH is other.
void add_named(StoreFacts& facts, const std::string& field, const std::string& name,
               Lookup lookup) {
  if (name.empty()) return;
  if (field == "model") add_input(facts, "model", name, load_model(name, {}, lookup));
  if (field == "system") add_input(facts, "system", name, load_system(name, {}, lookup));
  if (field == "device") add_input(facts, "device", name, load_device(name, {}, lookup));
  if (field == "runtime") add_input(facts, "runtime", name, load_runtime(name, {}, lookup));
  if (field == "technology.node") add_input(facts, "node", name, load_node(name, {}, lookup));
  if (field == "technology.dram") add_input(facts, "dram", name, load_dram(name, {}, lookup));
  if (field == "technology.core") add_input(facts, "core", name, load_core(name, {}, lookup));
  if (field == "technology.link_gen") add_input(facts, "link", name, load_link(name, {}, lookup));
  if (field != "technology.tier") return;
  const NamedParts tier = parts_of_tier(name);
  if (tier.count > 0) add_input(facts, "dram", tier.name, load_dram(tier.name, {}, lookup));
}

std::vector<Diagnostic> changes(const Plan& plan, const StoreFacts& now, const StoreFacts& then) {
  std::vector<Diagnostic> found;
  const auto add = [&](std::string message) {
    Diagnostic& d = found.emplace_back();
    d.message = std::move(message);
  };
  const auto old_plan = then.find("plan");
  if (old_plan == then.end()) {
    add("the results do not say which plan made them");
    return found;
  }
  for (const std::string& text : differences(plan, old_plan->second)) add(text);
  for (const auto& [name, value] : now) {
    const auto old = then.find(name);
    if (name == "plan" || name == "plan_hash" || name == "points" || name == "kind") continue;
    if (old != then.end() && old->second == value) continue;
    if (name == "version") {
      add(fmt::format("version: is {}, was {}", value,
                      old == then.end() ? "unknown" : old->second));
    } else if (old != then.end()) {
      add(name + ": what it names has changed");
    }
  }
  return found;
}

std::unique_ptr<Store> open(const Plan& plan, const Target& target,
                            const std::vector<Output>& outputs) {
  const StoreFacts facts = facts_of(plan, target.version);
  const std::string where = "'" + printable(target.path, 300) + "'";
  if (const std::optional<StoreFacts> there = stored_facts(target.path, target.format)) {
    if (!target.resume) {
      throw InputError(where + " is there already", "--resume goes on with it");
    }
    std::vector<Diagnostic> found = changes(plan, facts, *there);
    if (!found.empty()) {
      Diagnostic& d = found.emplace_back();
      d.message = where + " cannot be gone on with: its points mean something else";
      d.hint = "give another -o, or the plan and program it was begun with";
      std::rotate(found.begin(), found.end() - 1, found.end());
      throw InputError(std::move(found));
    }
  }
  return open_store(target.path, target.format, columns_of(plan, outputs), facts);
}

}  // namespace

// ---- worklist

Worklist::Worklist(std::vector<PointRange> ranges, std::uint64_t chunk_points)
    : ranges_(std::move(ranges)), chunk_points_(std::max<std::uint64_t>(chunk_points, 1)) {
  for (const PointRange& r : ranges_) {
    starts_.push_back(points_);
    points_ += r.last - r.first;
  }
}

void Worklist::each(std::uint64_t chunk,
                    const std::function<void(std::uint64_t point)>& visit) const {
  std::uint64_t position = chunk * chunk_points_;
  const std::uint64_t end = std::min(position + chunk_points_, points_);
  auto range = static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), position) -
                                        starts_.begin() - 1);
  for (; position < end; ++range) {
    const std::uint64_t last =
        std::min(end, starts_[range] + ranges_[range].last - ranges_[range].first);
    for (; position < last; ++position) {
      visit(ranges_[range].first + (position - starts_[range]));
    }
  }
}

// ---- results

Results::Results(const Plan& plan, const Target& target)
    : plan_(plan),
      outputs_(outputs_of(plan)),
      store_(open(plan, target, outputs_)),
      digits_(plan.wheels.size()),
      verdicts_(outputs_.front().names.size() + 1),
      next_commit_(now() + commit_seconds) {}

Worklist Results::worklist(int workers) const {
  std::vector<PointRange> missing = store_->missing(plan_.count);
  std::uint64_t left = 0;
  for (const PointRange& r : missing) left += r.last - r.first;
  // A search at each point takes seconds: then every point is a chunk.
  const std::uint64_t fair = left / (static_cast<std::uint64_t>(std::max(workers, 1)) * 16);
  const std::uint64_t most = plan_.best ? 1 : most_chunk_points;
  return {std::move(missing), std::clamp<std::uint64_t>(fair, 1, most)};
}

void Results::take(const Worklist& worklist, const Chunk& chunk) {
  const double* values = chunk.values.data();
  worklist.each(chunk.number, [&](std::uint64_t point) {
    write_row(point, values, chunk);
    values += outputs_.size();
  });
  if (now() >= next_commit_) commit();
}

void Results::write_row(std::uint64_t point, const double* values, const Chunk& chunk) {
  cells_.clear();
  digits_of(plan_, point, digits_);
  cells_.resize(plan_.axes.size());
  for (std::size_t w = 0; w < plan_.wheels.size(); ++w) {
    for (const std::size_t a : plan_.wheels[w].axes) cells_[a] = plan_.axes[a].cell(digits_[w]);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& o = outputs_[i];
    const double value = values[i];
    if (std::isnan(value)) {
      cells_.emplace_back(std::monostate{});
    } else if (o.type == CellType::integer) {
      cells_.emplace_back(static_cast<std::int64_t>(value));
    } else if (o.type == CellType::real) {
      cells_.emplace_back(value);
    } else {
      const auto code = static_cast<std::size_t>(value);
      cells_.emplace_back(std::string_view(
          code < o.names.size() ? o.names[code] : chunk.texts[code - o.names.size()]));
    }
  }
  store_->write(point, cells_);
  ++verdicts_[std::min(static_cast<std::size_t>(values[0]), verdicts_.size() - 1)];
  ++written_;
}

std::vector<std::pair<std::string, std::uint64_t>> Results::verdicts() const {
  std::vector<std::pair<std::string, std::uint64_t>> out;
  const std::vector<std::string>& names = outputs_.front().names;
  for (std::size_t i = 0; i < verdicts_.size(); ++i) {
    if (verdicts_[i] == 0) continue;
    out.emplace_back(i < names.size() ? names[i] : "no such device or model", verdicts_[i]);
  }
  return out;
}

void Results::commit() {
  const double start = now();
  store_->commit();
  committed_ = written_;
  const double end = now();
  next_commit_ = end + std::max(commit_seconds, (end - start) / commit_share);
}

// ---- running

Chunk answer_chunk(Evaluator& evaluator, const Worklist& worklist, std::uint64_t number) {
  Chunk chunk;
  chunk.number = number;
  chunk.values.reserve(worklist.chunk_points() * evaluator.outputs().size());
  worklist.each(number, [&](std::uint64_t point) { evaluator.answer(point, chunk); });
  return chunk;
}

void run(const Plan& plan, Results& results, const RunOptions& options) {
  const Worklist worklist = results.worklist(options.threads);
  OrderedWork<Chunk> work;
  work.make_work = [&] {
    const auto evaluator = std::make_shared<Evaluator>(plan, options.search);
    return [&worklist, evaluator](std::uint64_t chunk) {
      return answer_chunk(*evaluator, worklist, chunk);
    };
  };
  work.take = [&](const Chunk& chunk) {
    results.take(worklist, chunk);
    options.progress(results.written());
  };
  work.stopped = options.stopped;
  work.run(worklist.chunks(), options.threads);
  results.commit();
}

double measure_rate(const Plan& plan, const InnerSearch& search, double seconds) {
  Evaluator evaluator(plan, search);
  constexpr std::uint64_t stretch = 64;  // neighbours share work, as in the sweep itself
  const double start = now();
  double spent = 0;
  std::uint64_t done = 0;
  for (std::uint64_t sample = 0; spent < seconds && done < plan.count; ++sample) {
    // The golden ratio spreads starts evenly however many there are.
    const double share = std::fmod(0.618033988749895 * static_cast<double>(sample), 1.0);
    const auto first = static_cast<std::uint64_t>(share * static_cast<double>(plan.count));
    Chunk chunk;
    const std::uint64_t last = std::min(plan.count, first + (plan.best ? 1 : stretch));
    for (std::uint64_t point = first; point < last && spent < seconds; ++point) {
      evaluator.answer(point, chunk);
      ++done;
      spent = now() - start;
    }
  }
  return spent > 0 ? static_cast<double>(done) / spent : 0;
}

StoreFacts facts_of(const Plan& plan, const std::string& version) {
  StoreFacts facts;
  facts["plan"] = plan.text;
  facts["plan_hash"] = hash_of(to_json(plan.root, 0));
  facts["version"] = version;
  facts["kind"] = name_of(plan.task);
  facts["points"] = std::to_string(plan.count);
  add_named(facts, "model", plan.base.model, plan.lookup);
  add_named(facts, "system", plan.base.system, plan.lookup);
  add_named(facts, "device", plan.base.device, plan.lookup);
  add_named(facts, "runtime", plan.base.runtime, plan.lookup);
  add_named(facts, "technology.node", plan.base.technology.node, plan.lookup);
  add_named(facts, "technology.dram", plan.base.technology.dram, plan.lookup);
  add_named(facts, "technology.tier", plan.base.technology.tier, plan.lookup);
  for (const Axis& a : plan.axes) {
    if (a.layer != Layer::preset) continue;
    for (const std::string& name : a.texts) add_named(facts, a.canonical, name, plan.lookup);
  }
  return facts;
}

}  // namespace sextant::sweep
