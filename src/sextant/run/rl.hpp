// SPDX-License-Identifier: Apache-2.0
// One step of reinforcement learning: prompts are answered by the model as it is, the answers are
// judged, and the model is trained on them. GRPO (arXiv 2402.03300, section 4.1) takes several
// answers a prompt and no critic, PPO (arXiv 1707.06347; for language models arXiv 2203.02155) a
// critic that is trained beside the model.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/predict/train.hpp"

namespace sextant {

enum class RlAlgorithm : std::uint8_t { grpo, ppo };
constexpr auto names_of(RlAlgorithm) { return std::array<std::string_view, 2>{"grpo", "ppo"}; }

enum class RlPhase : std::uint8_t {
  sync,       ///< new weights to the engines
  rollout,    ///< answers
  states,     ///< what training keeps leaves the devices for the engines, and comes back
  reward,     ///< by a model
  log_probs,  ///< of the answers, by the model as it is trained
  reference,  ///< the same by the model it started from
  values,     ///< by the critic
  critic,     ///< its updates
  update,     ///< of the model
  host,       ///< answers through the process in the middle
  count
};
constexpr auto names_of(RlPhase) {
  return std::array<std::string_view, 10>{"sync",      "rollout", "states", "reward", "log_probs",
                                          "reference", "values",  "critic", "update", "host"};
}
/// A sentence for people.
std::string_view meaning_of(RlPhase phase);

/// The answers as engines make them.
struct Rollout {
  Seconds time;
  double devices = 1;
  double ranks = 1;          ///< of one engine, that share its weights
  double expert_ranks = 1;   ///< and its experts
  double element_bytes = 2;  ///< of its weights
  Bytes memory;              ///< that it takes of a device
};

/// How new weights reach the engines.
enum class Refit : std::uint8_t {
  whole,  ///< every rank gathers all of them, and its engine takes its share out (NeMo RL, verl)
  share,  ///< every rank gathers its engine's share (HybridFlow, arXiv 2409.19256, section 5.3)
};
constexpr auto names_of(Refit) { return std::array<std::string_view, 2>{"whole", "share"}; }

/// What a framework does between the phases, beyond what the layouts ask for.
struct RlFramework {
  Refit refit = Refit::whole;
  /// Engines and training leave the device to each other: engines sleep and wake (vLLM's level 1:
  /// their weights to pinned memory of the host and back), training's weights and optimizer states
  /// wait in the host's memory (NeMo RL: offload_before_refit, offload_after_refit).
  bool sleep = true;
  /// Of the host link's rate, what copies to and from memory reach that is not pinned: pinning made
  /// them 4 to 6 times as fast (DeepSpeed, pull request 5301).
  double unpinned = 0.2;
  /// The host's work on one tensor on its way to the engines, while another is sent: found, joined,
  /// named and loaded. DeepSeek-V3 has 45 thousand and took 55 s, 20 s of them for what is above
  /// (NeMo RL, pull request 638).
  Seconds tensor{0.8e-3};
  /// An answer through the process in the middle, where nothing else runs: 0.12 s for 256 of them
  /// (vime, issue 442).
  Seconds answer{0.5e-3};
};

/// A model in the layout of training; its batch is that of one update.
struct RlModel {
  const Problem* problem = nullptr;  ///< none: there is no such model
  Strategy strategy;
};

struct RlTask {
  RlAlgorithm algorithm = RlAlgorithm::grpo;
  RlModel actor;
  RlModel critic;  ///< of PPO
  RlModel reward;  ///< none: a rule's, which costs nothing
  Rollout rollout;
  double samples = 1;  ///< answers a step
  double tokens = 1;   ///< theirs and their prompts'
  double epochs = 1;   ///< times that each is trained on
  bool reference = true;
  RlFramework framework;
  bool elsewhere = false;  ///< the engines have devices of their own
  bool overlap = false;    ///< and answer the next step's prompts while this one's are trained on
};

struct RlPart {
  Seconds time;
  Bytes memory;        ///< of one device, at its fullest; 0: none of its own
  bool fits = true;    ///< that memory
  bool aside = false;  ///< on the engines' devices, beside the rest
};

struct RlStep {
  Table<RlPart, RlPhase> parts;
  Seconds time;
  double devices = 1;  ///< all of them
  double updates = 1;
  double tokens = 0;  ///< of prompts and answers, that are trained on
  Estimate update;    ///< one of them
  Bytes moved;        ///< weights that one device of an engine gets, from others
  Bytes offloaded;    ///< states that leave a device for the engines
  bool fits() const;
};

/// Strategies are legal.
RlStep rl_step(const RlTask& task);

}  // namespace sextant
