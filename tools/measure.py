#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures kernels of the GPU it runs on and writes case files for `sextant validate` and `calibrate`.

usage: python3 tools/measure.py DEVICE-NAME OUTPUT-FOLDER

Needs PyTorch with CUDA and nothing else. DEVICE-NAME is the name the cases will carry (h200-sxm).
Every kernel is captured in a CUDA graph together with copies of itself on other data, enough of them
that no weight is found in L2, and the graph is replayed; the time is the median over replays divided
by the kernels in the graph. Takes about two minutes on an H200.
"""
import csv
import random
import statistics
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

ROTATE_BYTES = 400e6  # several times the largest L2
REPLAY_SECONDS = 0.03
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def seconds_a_run(runs):
    """Median time of one of `runs`, functions that launch the same kernel on different data."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for run in runs[:2]:
            run()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for run in runs:
            run()
    graph.replay()
    torch.cuda.synchronize()
    times = []
    total = 0.0
    while total < REPLAY_SECONDS or len(times) < 5:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3 / len(runs))
        total += times[-1] * len(runs)
    return statistics.median(times)


def copies_for(bytes_each):
    return int(min(64, max(4, -(-ROTATE_BYTES // max(bytes_each, 1)))))


def gemm(dtype, m, n, k):
    size = {"bf16": 2, "fp16": 2, "fp8": 1}[dtype]
    copies = copies_for(n * k * size)
    if dtype == "fp8":
        x = torch.randn(m, k, device="cuda").to(torch.float8_e4m3fn)
        weights = [torch.randn(n, k, device="cuda").to(torch.float8_e4m3fn) for _ in range(copies)]
        one = torch.tensor(1.0, device="cuda")
        runs = [lambda w=w: torch._scaled_mm(x, w.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16,
                                             use_fast_accum=True) for w in weights]
    else:
        kind = {"bf16": torch.bfloat16, "fp16": torch.float16}[dtype]
        x = torch.randn(m, k, device="cuda", dtype=kind)
        weights = [torch.randn(n, k, device="cuda", dtype=kind) for _ in range(copies)]
        runs = [lambda w=w: F.linear(x, w) for w in weights]
    return seconds_a_run(runs)


def attention(backend, phase, batch, heads, kv_heads, dim, q_len, kv_len, causal):
    bytes_each = 2 * 2 * batch * kv_heads * kv_len * dim
    copies = copies_for(bytes_each) if phase == "decode" else 4
    make = lambda h, length: torch.randn(batch, h, length, dim, device="cuda", dtype=torch.bfloat16)
    inputs = [(make(heads, q_len), make(kv_heads, kv_len), make(kv_heads, kv_len)) for _ in range(copies)]
    grouped = {"enable_gqa": True} if heads != kv_heads else {}
    with sdpa_kernel(BACKENDS[backend]):
        return seconds_a_run([lambda t=t: F.scaled_dot_product_attention(*t, is_causal=causal, **grouped)
                              for t in inputs])


def stream(op, rows, cols):
    elements = rows * cols
    copies = copies_for(elements * 4)
    make = lambda: torch.randn(rows, cols, device="cuda", dtype=torch.bfloat16)
    weight = torch.ones(cols, device="cuda", dtype=torch.bfloat16)
    xs = [(make(), make()) for _ in range(min(copies, 8))]
    functions = {
        "copy": (lambda a, b: b.copy_(a), 4),
        "add": (lambda a, b: torch.add(a, b), 6),
        "gelu": (lambda a, b: F.gelu(a), 4),
        "softmax": (lambda a, b: torch.softmax(a, -1), 4),
        "layernorm": (lambda a, b: F.layer_norm(a, (cols,), weight), 4),
        "rmsnorm": (lambda a, b: F.rms_norm(a, (cols,), weight), 4),
    }
    run, per_element = functions[op]
    return seconds_a_run([lambda t=t: run(*t) for t in xs]), elements * per_element


def write(path, header, rows):
    with open(path, "w", newline="") as f:
        out = csv.DictWriter(f, header, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def main():
    device, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    random.seed(7)
    source = (f"measured by tools/measure.py on {torch.cuda.get_device_name()}, PyTorch {torch.__version__}, "
              f"CUDA {torch.version.cuda}, CUDA graph, weights rotated beyond L2")
    common = {"device": device, "metric": "seconds", "source": source}

    # Layers of real models (llama3-70b over 4, qwen2.5-14b, mistral-7b, gemma2-9b) at uneven batch sizes.
    layers = [(2560, 8192), (8192, 2048), (14336, 8192), (8192, 7168), (7168, 5120), (5120, 5120),
              (27648, 5120), (5120, 13824), (6144, 4096), (28672, 4096), (8192, 3584), (3584, 14336)]
    rows = []
    for dtype in ("bf16", "fp8"):
        for n, k in layers:
            for m in (1, 6, 24, 48, 100, 200, 400, 768, 1500, 3000, 6000):
                if dtype == "fp8" and (m < 16 or m % 8 or m in (400, 1500)):
                    continue
                if dtype == "bf16" and random.random() < 0.35:
                    continue
                rows.append({**common, "id": f"MG{len(rows)}", "kind": "gemm", "dtype": dtype, "m": m, "n": n,
                             "k": k, "measured": f"{gemm(dtype, m, n, k):.5g}"})
                torch.cuda.empty_cache()
    write(folder / f"{device}-gemm.csv", ["id", "kind", "device", "dtype", "m", "n", "k", "metric", "measured",
                                          "source"], rows)
    print(len(rows), "gemm cases")

    rows = []
    shapes = [("prefill", b, h, g, d, s, s, c) for b, h, g, d, s, c in
              [(1, 32, 8, 128, 768, 1), (1, 40, 8, 128, 3000, 1), (2, 24, 8, 128, 1500, 1), (2, 64, 8, 128, 4096, 1),
               (6, 16, 16, 64, 1024, 0), (1, 16, 16, 128, 6000, 1), (8, 32, 32, 128, 1024, 1),
               (3, 20, 20, 64, 4096, 1), (1, 64, 8, 128, 12288, 1), (4, 48, 48, 128, 2048, 0)]]
    shapes += [("decode", b, h, g, 128, 1, s, 0) for b, h, g, s in
               [(2, 32, 8, 700), (6, 40, 8, 1500), (12, 28, 4, 3000), (24, 32, 8, 6000), (48, 64, 8, 2000),
                (96, 16, 2, 4096), (8, 32, 32, 3000), (1, 64, 8, 24000), (200, 32, 8, 1000)]]
    for backend in BACKENDS:
        for phase, b, h, g, d, q, kv, causal in shapes:
            try:
                t = attention(backend, phase, b, h, g, d, q, kv, bool(causal))
            except RuntimeError as e:
                print("skipped", backend, phase, b, h, g, d, q, kv, str(e).splitlines()[0])
                continue
            rows.append({**common, "id": f"MA{len(rows)}", "kind": "attention", "backend": backend, "dtype": "bf16",
                         "phase": phase, "batch": b, "heads": h, "kv_heads": g, "head_dim": d, "q_len": q,
                         "kv_len": kv, "causal": causal, "measured": f"{t:.5g}"})
            torch.cuda.empty_cache()
    write(folder / f"{device}-attention.csv",
          ["id", "kind", "device", "backend", "dtype", "phase", "batch", "heads", "kv_heads", "head_dim", "q_len",
           "kv_len", "causal", "metric", "measured", "source"], rows)
    print(len(rows), "attention cases")

    rows = []
    for op in ("copy", "add", "gelu", "softmax", "layernorm", "rmsnorm"):
        for r, c in ((4, 5120), (100, 8192), (700, 5120), (3000, 4096), (12000, 5120), (60000, 4096)):
            t, total = stream(op, r, c)
            rows.append({**common, "id": f"MS{len(rows)}", "kind": "stream", "op": op, "rows": r, "cols": c,
                         "dtype": "bf16", "bytes": total, "measured": f"{t:.5g}"})
            torch.cuda.empty_cache()
    write(folder / f"{device}-stream.csv", ["id", "kind", "device", "op", "rows", "cols", "dtype", "bytes", "metric",
                                            "measured", "source"], rows)
    print(len(rows), "stream cases")


if __name__ == "__main__":
    main()
