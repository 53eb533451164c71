// SPDX-License-Identifier: Apache-2.0
// A published analysis, reproduced: rows, a figure, and what they say.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/report/plot.hpp"
#include "sextant/report/record.hpp"

namespace sextant::study {

struct Study {
  std::string name = {};
  std::string title;
  Records rows;  ///< for programs; for people what has a title
  plot::Figure figure;
  std::vector<std::string> findings;          ///< sentences, written from the numbers
  std::vector<plot::Figure> companions = {};  ///< further figures
  Records table = {};                         ///< for people, where rows are not for them
};

/// Training times of Megatron on A100s (Korthikanti et al. 2022, Narayanan et al. 2021).
Study training_validation();
/// Memory of a device by what is recomputed (Korthikanti et al. 2022, Figures 1 and 7).
Study memory_footprint();
/// Latency of Llama 2 as NVIDIA published it in 2023 (Kundu et al. 2024), and today.
Study inference_validation();
/// What bounds each multiply of a layer, prefill and decode, by device.
Study gemm_bounds();
/// GPT-3 on A100 to B200: the gain, and what it comes from (Kundu et al. 2024; NVIDIA's claims).
Study gpu_generations();
/// Training on devices generated for each logic node, memory and network.
Study node_scaling();
/// Latency of Llama 2 on an A100-class die as its memory gets faster.
Study dram_scaling();
/// What limits training and serving, by generation and by node.
Study bottleneck_evolution();
/// Real devices from budgets like theirs: what comes out, and how fast it would be.
Study regeneration();
/// Runs of months, from tokens to device-hours: Llama 3, DeepSeek-V3, OPT, BLOOM.
Study long_runs();

struct Entry {
  std::string_view name;
  Study (*make)();
};
inline constexpr std::array<Entry, 10> studies = {{
    {"training-validation", training_validation},
    {"memory-footprint", memory_footprint},
    {"inference-validation", inference_validation},
    {"gemm-bounds", gemm_bounds},
    {"gpu-generations", gpu_generations},
    {"node-scaling", node_scaling},
    {"dram-scaling", dram_scaling},
    {"bottleneck-evolution", bottleneck_evolution},
    {"regeneration", regeneration},
    {"long-runs", long_runs},
}};

}  // namespace sextant::study
