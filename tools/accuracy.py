#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/accuracy.md, docs/accuracy.svg and the table in the README: every figure we state, anew.

usage: tools/accuracy.py PROGRAM CASES-FOLDER      (make accuracy CASES=FOLDER)
"""
import glob
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What each set must reach, and which statistic is meant.
BARS = {
    "gemm-a100-h100-h200": (5.5, "mape"),
    "gemm-h200-cublas": (8, "mape"),
    "attention-a100-h100-h200": (7.5, "mape"),
    "attention-h200-sdpa": (12, "mape"),
    "stream-h200": (9, "mape"),
    "experts-a100-h100-h200": (10, "median_ape"),
    "attention-mla-a100-h100-h200": (12, "mape"),
}
LABELS = {
    "gemm-a100-h100-h200": "GEMM, bf16 and fp8, on A100, H100, H200",
    "gemm-h200-cublas": "GEMM, cuBLAS on H200",
    "attention-a100-h100-h200": "attention, TensorRT-LLM on A100, H100, H200",
    "attention-h200-sdpa": "attention, FlashAttention-2 and cuDNN on H200",
    "stream-h200": "norms, softmax, element-wise on H200",
    "experts-a100-h100-h200": "mixture-of-experts layers",
    "attention-mla-a100-h100-h200": "latent attention (DeepSeek)",
}
NAMES = {"mape": "mean", "median_ape": "median"}
# Whole steps: the bar, and what it is for people.
STEPS = {
    "train-korthikanti-2022": (3, "mape", "training, Megatron-LM, 22B to 1T on A100"),
    "train-megatron-2021": (5, "mape", "training, Megatron-LM, 1.7B to 1T on up to 3072 A100"),
    "train-vtrain-single": (8, "mape", "training, Megatron-DeepSpeed, small GPTs on 2 to 8 A100"),
    "train-bloom": (8, "median_ape", "training, BLOOM's trials on 384 A100"),
    "train-llm-foundry": (8, "median_ape", "training, FSDP, 125M to 70B on A100 and H100"),
    "train-nemo-24.07": (8, "median_ape", "training, NeMo, fp8 on H100"),
    "train-megatron-h100-weak": (8, "median_ape", "training, Megatron-Core, 1.7B to 462B on up to 6144 H100"),
    "train-dgxc": (4.5, "mape", "training, NVIDIA's recipes, dense and MoE, H100 to GB200"),
    "train-megatron-bridge": (7, "median_ape", "training, NVIDIA's recipes, dense and MoE, H100 to GB300"),
    "train-nanotron-h100": (6.5, "median_ape", "training, nanotron, 8 to 512 H100"),
    "infer-h200-single": (4, "mape", "serving, single steps, Llama on one H200"),
    "infer-nvidia-llama2": (6, "mape", "serving, NVIDIA's Llama 2 table, A100 and H100"),
    "infer-fastertransformer": (8, "mape", "serving, FasterTransformer, 350M to 530B"),
    "infer-trtllm-static-latency": (10, "mape", "serving, TensorRT-LLM 2023, latency"),
    "infer-trtllm-static-throughput": (15, "mape", "serving, TensorRT-LLM 2023, throughput"),
    "infer-splitwise-vllm": (10, "mape", "serving, vLLM 2023"),
    "infer-lmdeploy-tpot": (10, "mape", "serving, LMDeploy, time per token"),
    "collective-a100-h100-h200": (12, "mape", "collectives, NCCL and one-shot"),
    "memory-nanotron-h100": (5, "mape", "memory, runs or runs out (share told wrong)"),
    "memory-nanotron-h100 (allocated)": (10, "median_ape", "memory, allocated, nanotron"),
}
# One file, four numbers of a step.
SINGLE = "train-h200-single"


def run(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def groups(program, *arguments):
    answer = json.loads(run(program, "validate", "--format", "json", *arguments))
    return {g["name"]: g for g in answer["groups"]}


def percent(x):
    return f"{100 * x:.1f} %"


def row(*cells):
    return "| " + " | ".join(cells) + " |\n"


def table(header, rows):
    return row(*header) + row(*("---" for _ in header)) + "".join(row(*r) for r in rows)


def rate(program, *arguments):
    answer = json.loads(run(program, "ops", "gemm", "--device", "h200-sxm", "-m", "8192", "-n", "8192", "-k", "8192",
                            "--format", "json", *arguments))
    return f"{answer['tflops']:.0f} TFLOP/s at {answer['clock_hz'] / 1e9:.2f} GHz"


def others(program, folder):
    """The sets without a bar of their own above: as they stand, by what was measured, refused rows counted."""
    files = sorted(f for f in glob.glob(folder + "/*.csv") if Path(f).stem not in BARS and Path(f).stem not in STEPS and Path(f).stem != SINGLE)
    rows = [(n, str(g["cases"]), percent(g["mape"]), percent(g["median_ape"]), percent(g["p90_ape"]), f"{100 * g['bias']:+.1f} %",
             str(g["unsupported"] or "")) for n, g in groups(program, "--by-metric", "--cases", *files).items() if n != "all" and g["cases"] > 0]
    return f"""## Newer sets

Blackwell and consumer cards, fp32, mixtures of experts, adapters, TPUs and serving under load, as they stand: runtimes, engines and
communication libraries were fitted or read off some of these rows (each preset says which), nothing was left out. Closed loops of
public benchmarks are runs of many dates and settings, some of them odd: their medians count, their means do not.

{table(("set", "cases", "mean", "median", "9 in 10 under", "bias", "refused"), rows)}"""


def main():
    program, folder = sys.argv[1], sys.argv[2]
    files = sorted(f for f in glob.glob(folder + "/*.csv") if Path(f).stem in BARS)
    fitted = groups(program, "--cases", *files)
    left_out = groups(program, "--leave-families-out", "--cases", *files)
    gemms = [f for f in files if Path(f).stem.startswith("gemm-")]
    devices = groups(program, "--leave-devices-out", "--cases", *gemms)
    shipped = groups(program)
    whole = [f for f in glob.glob(folder + "/*.csv") if Path(f).stem in STEPS or Path(f).stem == SINGLE]
    steps = groups(program, "--by-metric", "--cases", *[f for f in whole if Path(f).stem == SINGLE])
    by_metric = [(n, str(g["cases"]), percent(g["mape"]), percent(g["median_ape"]), percent(g["p90_ape"]),
                  f"{100 * g['bias']:+.1f} %") for n, g in steps.items() if n != "all"]
    steps = groups(program, "--cases", *sorted(whole))
    run(program, "validate", "--cases", *files, *sorted(whole), "--plot", str(ROOT / "docs/accuracy.svg"))
    composed = []
    apart = groups(program, "--leave-families-out", "--cases", *sorted(whole))
    for name, (bar, statistic, _) in STEPS.items():
        g, k = steps[name], apart.get(name, {"cases": 0})
        refitted = k["cases"] > 0
        counts = k if refitted else g
        met = "yes" if 100 * counts[statistic] <= bar else "**no**"
        composed.append((name, str(g["cases"]), percent(g["mape"]), percent(g["median_ape"]),
                         percent(k["mape"]) if refitted else "", percent(k["median_ape"]) if refitted else "",
                         percent(counts["p90_ape"]), f"{100 * counts['bias']:+.1f} %", f"{NAMES[statistic]} ≤ {bar} %", met))

    sets = []
    for name, (bar, statistic) in BARS.items():
        if name not in fitted:
            continue
        f, k = fitted[name], left_out[name]
        met = "yes" if 100 * k[statistic] <= bar else "**no**"
        sets.append((name, str(f["cases"]), percent(f["mape"]), percent(k["mape"]), percent(k["median_ape"]),
                     percent(k["p90_ape"]), f"{NAMES[statistic]} ≤ {bar} %", met))
    text = f"""# Accuracy

Every number on this page is written by `make accuracy CASES=FOLDER`, from the presets that ship and the case files in
FOLDER. An error is |predicted / measured − 1|.

## Kernels, by source

"Left out" is what counts: the constants were fitted again without the whole family of shapes that a row belongs to (for
multiplies all rows of one n and k on one device; for attention all of one pair of head counts; for experts all of one
layer), five folds, and the row was predicted with those.

{table(("set", "cases", "mean, fitted", "mean, left out", "median, left out", "9 in 10 under", "bar", "met"), sets)}
![predicted against measured](accuracy.svg)

## Whole steps

Training and serving composed of those kernels and collectives, the host's pace, power and overlap. A runtime has a
handful of constants (`presets/runtimes`), fitted to the sets below, each with its data and error beside it; models,
devices and strategies have none. A rate's error counts like a time's. "Left out": the runtime (of collectives, the library)
was fitted again without the system and model of a row, five folds; kernels stayed, which saw none of these rows. Where nothing is
left out, nothing is fitted (memory), or the runtime has too few rows to fit it.

{table(("set", "cases", "mean", "median", "mean, left out", "median, left out", "9 in 10 under", "bias", "bar", "met"), composed)}
One H200, eager and compiled PyTorch, by metric:

{table(("set", "cases", "mean", "median", "9 in 10 under", "bias"), by_metric)}
{others(program, folder)}
## Devices nobody has measured

Each device's matrix multiplies, predicted from its datasheet with mechanism constants fitted to the other devices alone.

{table(("device left out", "cases", "mean", "median", "9 in 10 under", "bias"),
       [(n.removesuffix(" left out"), str(g["cases"]), percent(g["mape"]), percent(g["median_ape"]),
         percent(g["p90_ape"]), f"{100 * g['bias']:+.1f} %") for n, g in devices.items() if n != "all"])}
## Measurements that ship

Kernels taken with `tools/measure.py` on one H200, other shapes than any above; nothing was fitted to them. And the
published training steps of two papers. `sextant validate` without arguments prints this table.

{table(("set", "cases", "mean", "median", "9 in 10 under", "bias"),
       [(n, str(g["cases"]), percent(g["mape"]), percent(g["median_ape"]), percent(g["p90_ape"]),
         f"{100 * g['bias']:+.1f} %") for n, g in shipped.items()])}
## Power

One H200, 700 W, bf16, 8192 x 8192 x 8192 on random data. Sustained it was measured at 662 TFLOP/s and 1.48 GHz, in
bursts of a few milliseconds at 788 to 806 TFLOP/s. Predicted: sustained {rate(program, "--sustained")}; a burst of 5 ms
{rate(program, "--busy", "5 ms")}.

"""
    (ROOT / "docs/accuracy.md").write_text(text + (ROOT / "tools/accuracy-notes.md").read_text())
    short = table(("kernels", "cases", "mean error", "median"),
                  [(LABELS[s[0]], s[1], s[3], s[4]) for s in sets] +
                  [(f"GEMM, {n.removesuffix(' left out')} never measured", str(g["cases"]), percent(g["mape"]),
                    percent(g["median_ape"])) for n, g in devices.items() if n != "all"])
    short += "\n" + table(("whole steps", "cases", "mean error", "median"),
                          [(STEPS[c[0]][2], c[1], c[4] or c[2], c[5] or c[3]) for c in composed])
    readme = (ROOT / "README.md").read_text()
    begin, end = "<!-- accuracy: written by make accuracy -->\n", "<!-- /accuracy -->"
    before, after = readme.split(begin)[0], readme.split(end)[1]
    (ROOT / "README.md").write_text(before + begin + short + end + after)


if __name__ == "__main__":
    main()
