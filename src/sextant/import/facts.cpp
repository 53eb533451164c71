// SPDX-License-Identifier: Apache-2.0
#include "sextant/import/facts.hpp"

#include <array>
#include <charconv>

#include "sextant/io/text.hpp"

namespace sextant {

bool Facts::set(const std::string& field, Fact fact) {
  const auto [at, fresh] = facts_.emplace(field, fact);
  if (fresh || at->second.given || at->second.value == fact.value) return true;
  const Fact& first = at->second;
  const std::string line = first.place.line > 0 && first.place.line != fact.place.line
                               ? " in line " + std::to_string(first.place.line)
                               : "";
  if (problems_.size() < max_collected) {
    problems_.push_back(problem_at(document_, fact.place, fact.from,
                                   "contradicts '" + printable(first.from) + "'" + line + ": " +
                                       printable(fact.value) + " here, " + printable(first.value) +
                                       " there",
                                   "remove one of them"));
  }
  return false;
}

void Facts::otherwise(const std::string& field, const std::string& value) {
  facts_.emplace(field, Fact{value, "", {}});
}

void Facts::replace(const std::string& field, const std::string& value) {
  Fact& fact = facts_[field];
  if (!fact.given) fact.value = value;
}

const Fact* Facts::find(std::string_view field) const {
  const auto at = facts_.find(field);
  return at == facts_.end() ? nullptr : &at->second;
}

std::string Facts::text(std::string_view field) const {
  const Fact* fact = find(field);
  return fact == nullptr ? "" : fact->value;
}

std::optional<std::int64_t> Facts::count(std::string_view field) {
  const Fact* fact = find(field);
  if (fact == nullptr) return std::nullopt;
  std::int64_t value = 0;
  const char* const end = fact->value.data() + fact->value.size();
  const auto [at, error] = std::from_chars(fact->value.data(), end, value);
  constexpr std::int64_t most = 1'000'000'000;
  if (error == std::errc{} && at == end && value > 0 && value <= most) return value;
  problem(field, "expected a whole number above zero, got '" + printable(fact->value) + "'");
  drop(std::string(field));
  return std::nullopt;
}

void Facts::pass_over(const std::string& field, const std::string& why) {
  const Fact* fact = find(field);
  if (fact == nullptr) return;
  passed_over_[fact->from] = why;
  drop(field);
}

void Facts::problem(std::string_view field, std::string message, std::string hint) {
  if (problems_.size() >= max_collected) return;
  const Fact* fact = find(field);
  problems_.push_back(problem_at(document_, fact == nullptr ? Place{} : fact->place,
                                 fact == nullptr ? std::string(field) : fact->from,
                                 std::move(message), std::move(hint)));
}

std::string shown_as(const std::string& fact) {
  constexpr std::array<std::array<std::string_view, 2>, 38> ends = {{
      {"_narrow", "precision"},
      {"_narrow_weights", "runtime.footprint.narrow_weights"},
      {"_nodes", "gpus"},
      {"_devices_per_node", "gpus"},
      {"_accumulation", "batch"},
      {"_local_batch", "batch, microbatch"},
      {"_pipeline_microbatch", "microbatch"},
      {"_zero", "zero"},
      {"_zero_all", "zero"},
      {"_zero_stages", "zero"},
      {"_shard_degree", "zero"},
      {"_copies", "shard"},
      {"_layers_per_chunk", "interleave"},
      {"_looped", "interleave"},
      {"_layout", "interleave"},
      {"_recompute_num_layers", "recompute_layers"},
      {"_selective", "recompute"},
      {"_selective_operators", "recompute_modules"},
      {"_selective_every", "recompute_layers"},
      {"_recompute_experts", "recompute_modules"},
      {"_max_requests_of_all", "max_requests"},
      {"_token_budget_of_all", "token_budget"},
      {"_graphs", "runtime.launch.graph"},
      {"_checked_tokens", "speculate"},
      {"_draft_steps", "speculate"},
      {"_draft_model", "draft"},
      {"_recompute_method", "recompute_layers"},
      {"_experts_over_all", "ep"},
      {"_replicas", "replicas"},
      {"_attention_replicas_in_tp", "tp, dp"},
      {"_prefill_replicas_in_tp", "prefill_tp, prefill_dp"},
      {"_decode_replicas_in_tp", "decode_tp, decode_dp"},
      {"_ranks_wait", "runtime.engine.hold_steps"},
      {"_ranks_wait_steps", "runtime.engine.hold_steps"},
      {"_grouped_query", "model.attention.kv_heads"},
      {"_linear_bias", "model's biases"},
      {"_family", "model"},
      {"_flavor", "model"},
  }};
  for (const auto& [name, field] : ends) {
    if (fact == name) return std::string(field);
  }
  if (fact.starts_with("_vocabulary") || fact.starts_with("_tokenizer")) return "model.vocab";
  if (fact.starts_with("_lora")) return "lora_targets";
  if (fact == "_base_4bit" || fact == "_dora") return "adapter";
  if (fact == "_expert_layers") return "model.experts.dense_layers";
  if (fact == "_latent_attention") return "model.attention.kind";
  return fact.starts_with("_") ? fact.substr(1) : fact;
}

}  // namespace sextant
