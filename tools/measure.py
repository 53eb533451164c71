#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the GPU it runs on and writes case files for `sextant validate` and `calibrate`.

usage: python3 tools/measure.py DEVICE-NAME OUTPUT-FOLDER [--system NAME] [--only PARTS]

Needs PyTorch with CUDA, and for `models` Hugging Face's Transformers. DEVICE-NAME is the name the cases will carry
(h200-sxm), --system that of the system around it, for steps and collectives (h200-single; without, DEVICE-NAME).
PARTS, with commas; without, all:

kernels      multiplies, attention, streaming operators. Each is captured in a CUDA graph together with copies of
             itself on other data, enough of them that no weight is found in L2, and the graph is replayed; the time
             is the median over replays divided by the kernels in the graph. Two minutes on an H200.
steps        whole training steps of small GPTs and Llamas in eager PyTorch (runtime pytorch: bf16 weights, gradients
             and Adam states), and decode steps in one CUDA graph with compiled blocks (runtime pytorch-graph).
experts      prompts and decode steps of mixtures of experts in one CUDA graph: softmax, top-k, sort, gather, grouped
             multiplies, scatter. Weights are random, so experts are chosen evenly; but tokens of one prompt look at
             each other, and choose alike.
models       forward passes and training steps of BERT, GPT-2, GPT-3 and OPT as Transformers has them, in fp32 without
             TF32 and with attention as plain products and a softmax.
power        watts and clock of a few loads, for the device's `power` table; not cases.
collectives  NCCL between the GPUs of this machine, where there are several.
"""
import argparse
import csv
import random
import statistics
import subprocess
import threading
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

ROTATE_BYTES = 400e6  # several times the largest L2
REPLAY_SECONDS = 0.03
UNEVEN_BATCHES = (137, 200, 275, 330, 392, 448, 512, 520, 524, 536, 576, 600, 640, 700, 772, 830, 900, 1000, 1036,
                  1100, 1200, 1300, 1500, 1700, 1900, 2040)
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


def source(how):
    return (f"measured by tools/measure.py on {torch.cuda.get_device_name()}, PyTorch {torch.__version__}, "
            f"CUDA {torch.version.cuda}, {how}")


def kernels(device, folder):
    random.seed(7)
    # Replays for 30 ms and more, right after the shape before: the power controller sees a busy device.
    protocol = {"weights": "cold", "busy": "50 ms", "data": "random", "statistic": "median"}
    common = {"device": device, **protocol, "metric": "seconds",
              "source": source("CUDA graph, weights rotated beyond L2")}

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
    columns = ["id", "kind", "device", "dtype", "m", "n", "k", *protocol, "metric", "measured", "source"]
    write(folder / f"{device}-gemm.csv", columns, rows)
    print(len(rows), "gemm cases")

    # Batches between the round numbers, as prompts beside decoding requests make them.
    rows = []
    for n, k in ((6144, 4096), (28672, 4096), (4096, 14336), (27648, 5120), (5120, 27648), (10240, 8192)):
        for m in UNEVEN_BATCHES:
            rows.append({**common, "id": f"MR{len(rows)}", "kind": "gemm", "dtype": "bf16", "m": m, "n": n, "k": k,
                         "measured": f"{gemm('bf16', m, n, k):.5g}"})
            torch.cuda.empty_cache()
    write(folder / f"{device}-gemm-rows.csv", columns, rows)
    print(len(rows), "gemm cases of uneven batches")

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
           "kv_len", "causal", *protocol, "metric", "measured", "source"], rows)
    print(len(rows), "attention cases")

    rows = []
    for op in ("copy", "add", "gelu", "softmax", "layernorm", "rmsnorm"):
        for r, c in ((4, 5120), (100, 8192), (700, 5120), (3000, 4096), (12000, 5120), (60000, 4096)):
            t, total = stream(op, r, c)
            rows.append({**common, "id": f"MS{len(rows)}", "kind": "stream", "op": op, "rows": r, "cols": c,
                         "dtype": "bf16", "bytes": total, "measured": f"{t:.5g}"})
            torch.cuda.empty_cache()
    write(folder / f"{device}-stream.csv", ["id", "kind", "device", "op", "rows", "cols", "dtype", "bytes", *protocol,
                                            "metric", "measured", "source"], rows)
    print(len(rows), "stream cases")



class Norm(torch.nn.Module):
    """Layer norm for a GPT, RMS norm for a Llama."""

    def __init__(self, hidden, gpt):
        super().__init__()
        self.hidden = hidden
        self.weight = torch.nn.Parameter(torch.ones(hidden))
        self.bias = torch.nn.Parameter(torch.zeros(hidden)) if gpt else None

    def forward(self, x):
        if self.bias is not None:
            return F.layer_norm(x, (self.hidden,), self.weight, self.bias)
        return F.rms_norm(x, (self.hidden,), self.weight)


def rotate(x, cos, sin):
    low, high = x.chunk(2, -1)
    return torch.cat((low * cos - high * sin, high * cos + low * sin), -1)


class Layer(torch.nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        h, d = shape["hidden"], shape["hidden"] // shape["heads"]
        gpt = shape["mlp"] == "gelu"
        self.gpt = gpt
        self.first, self.second = Norm(h, gpt), Norm(h, gpt)
        self.qkv = torch.nn.Linear(h, h + 2 * d * shape["kv_heads"], bias=gpt)
        self.out = torch.nn.Linear(h, h, bias=gpt)
        self.up = torch.nn.Linear(h, shape["ffn"] * (1 if gpt else 2), bias=gpt)
        self.down = torch.nn.Linear(shape["ffn"], h, bias=gpt)

    def forward(self, x, cos, sin, cache=None):
        b, s, h = x.shape
        heads, groups = self.shape["heads"], self.shape["kv_heads"]
        d = h // heads
        q, k, v = self.qkv(self.first(x)).split((h, d * groups, d * groups), -1)
        q, k, v = (t.view(b, s, -1, d).transpose(1, 2) for t in (q, k, v))
        if not self.gpt:
            q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if cache is not None:  # one new token, at the end of each sequence's cache
            cache[0][:, :, -1:], cache[1][:, :, -1:] = k, v
            k, v = cache
        y = F.scaled_dot_product_attention(q, k, v, is_causal=cache is None, enable_gqa=heads != groups)
        x = x + self.out(y.transpose(1, 2).reshape(b, s, h))
        y = self.up(self.second(x))
        if self.gpt:
            y = F.gelu(y)
        else:
            gate, up = y.chunk(2, -1)
            y = F.silu(gate) * up
        return x + self.down(y)


class Model(torch.nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.embedding = torch.nn.Embedding(shape["vocab"], shape["hidden"])
        self.layers = torch.nn.ModuleList(Layer(shape) for _ in range(shape["layers"]))
        self.norm = Norm(shape["hidden"], shape["mlp"] == "gelu")
        self.head = torch.nn.Linear(shape["hidden"], shape["vocab"], bias=False)


def positions(length, dim):
    angles = torch.outer(torch.arange(length, device="cuda").float(),
                         10000 ** (-torch.arange(0, dim, 2, device="cuda").float() / dim))
    return angles.cos().bfloat16(), angles.sin().bfloat16()


def median_seconds(work, repeats=8):
    times = []
    for i in range(repeats + 3):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        if i >= 3:  # the first ones allocate and choose kernels
            times.append(time.perf_counter() - begin)
    return statistics.median(times)


def training_step(shape, microbatch, seq):
    """Seconds of forward and backward, and of the optimizer."""
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = Model(shape)
    torch.set_default_dtype(torch.float32)
    adam = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    tokens = torch.randint(shape["vocab"], (microbatch, seq), device="cuda")
    cos, sin = positions(seq, shape["hidden"] // shape["heads"])

    def forward_backward():
        x = model.embedding(tokens)
        for layer in model.layers:
            x = layer(x, cos, sin)
        logits = model.head(model.norm(x))
        F.cross_entropy(logits.view(-1, shape["vocab"]).float(), tokens.view(-1)).backward()

    passes = median_seconds(lambda: (adam.zero_grad(set_to_none=True), forward_backward()))
    return passes, median_seconds(adam.step)


@torch.no_grad()
def decode_step(shape, batch, context):
    """One token of each sequence, replayed from a graph."""
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = Model(shape)
    torch.set_default_dtype(torch.float32)
    d = shape["hidden"] // shape["heads"]
    caches = [torch.randn(2, batch, shape["kv_heads"], context, d, device="cuda", dtype=torch.bfloat16)
              for _ in range(shape["layers"])]
    cos, sin = (t[-1:] for t in positions(context, d))
    block = torch.compile(Layer.forward, dynamic=False)
    tokens = torch.randint(shape["vocab"], (batch, 1), device="cuda")

    def step():
        x = model.embedding(tokens)
        for layer, cache in zip(model.layers, caches):
            x = block(layer, x, cos, sin, (cache[0], cache[1]))
        return model.head(model.norm(x)).argmax(-1)

    return median_seconds(captured(step).replay, 20)


GPT_1B = {"layers": 24, "hidden": 2048, "heads": 16, "kv_heads": 16, "ffn": 8192, "mlp": "gelu", "vocab": 51200}
LLAMA_3B = {"layers": 28, "hidden": 3072, "heads": 24, "kv_heads": 8, "ffn": 8192, "mlp": "swiglu", "vocab": 128256}
LLAMA_8B = {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "mlp": "swiglu", "vocab": 128256}
SHAPE = list(GPT_1B)


@sdpa_kernel(SDPBackend.FLASH_ATTENTION)  # as the runtimes that the cases name
def steps(system, folder):
    rows = []
    how = "eager, FlashAttention-2, bf16 weights, gradients and Adam states"
    for shape in (GPT_1B, LLAMA_3B):
        for microbatch, seq in ((1, 2048), (4, 2048), (2, 4096)):
            try:
                times = training_step(shape, microbatch, seq)
            except torch.cuda.OutOfMemoryError:
                print("skipped, out of memory: a training step of", shape["layers"], "layers, microbatch", microbatch)
                continue
            for metric, seconds in zip(("forward_backward_seconds", "optimizer_seconds"), times):
                rows.append({**shape, "id": f"MT{len(rows)}", "kind": "train", "system": system, "runtime": "pytorch",
                             "tied": 0, "gpus": 1, "microbatch": microbatch, "batch": microbatch, "seq": seq,
                             "precision": "bf16", "optimizer": "adamw-bf16-states", "metric": metric,
                             "measured": f"{seconds:.5g}", "source": source(how)})
            torch.cuda.empty_cache()
    write(folder / f"{system}-train.csv",
          ["id", "kind", "system", "runtime", *SHAPE, "tied", "gpus", "microbatch", "batch", "seq", "precision",
           "optimizer", "metric", "measured", "source"], rows)
    print(len(rows), "training cases")

    rows = []
    how = "compiled blocks, FlashAttention-2, one CUDA graph a step"
    for shape in (LLAMA_3B, LLAMA_8B):
        for batch, context in ((1, 512), (8, 1024), (32, 2048)):
            try:
                seconds = decode_step(shape, batch, context)
            except torch.cuda.OutOfMemoryError:
                print("skipped, out of memory: decoding", batch, "sequences of", context)
                continue
            rows.append({**shape, "id": f"MD{len(rows)}", "kind": "infer", "system": system,
                         "runtime": "pytorch-graph", "tied": 0, "shard": 1, "phase": "decode", "batch": batch,
                         "input": context, "context": context, "precision": "bf16", "metric": "phase_seconds",
                         "measured": f"{seconds:.5g}", "source": source(how)})
            torch.cuda.empty_cache()
    write(folder / f"{system}-infer.csv",
          ["id", "kind", "system", "runtime", *SHAPE, "tied", "shard", "phase", "batch", "input", "context",
           "precision", "metric", "measured", "source"], rows)
    print(len(rows), "serving cases")


MIXTURES = {
    "olmoe-1b-7b": {"layers": 16, "hidden": 2048, "heads": 16, "kv_heads": 16, "ffn": 1024, "experts": 64, "topk": 8,
                    "vocab": 50304, "qk_norm": True},
    "qwen3-30b-a3b": {"layers": 48, "hidden": 2048, "heads": 32, "kv_heads": 4, "ffn": 768, "experts": 128, "topk": 8,
                      "vocab": 151936, "qk_norm": True},
    "mixtral-8x7b": {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "experts": 8, "topk": 2,
                     "vocab": 32000, "qk_norm": False},
}
HEAD = 128  # of all of them
MOST_CACHE = 30e9


def rms(x, weight):
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * weight


def add_rms(x, y, weight):
    x = x + y
    return x, rms(x, weight)


def gated(y):
    gate, up = y.chunk(2, -1)
    return F.silu(gate) * up


class Mixture:
    """A decoder with experts in every layer; what streams is compiled, the multiplies are the libraries'."""

    def __init__(self, shape):
        self.shape = shape
        make = lambda *size: torch.empty(*size, device="cuda", dtype=torch.bfloat16).normal_(0, 0.02)
        h, d, e, f = shape["hidden"], HEAD, shape["experts"], shape["ffn"]
        self.embedding, self.head = make(shape["vocab"], h), make(shape["vocab"], h)
        self.ones = torch.ones(h, device="cuda", dtype=torch.bfloat16)
        self.layers = [{"qkv": make((shape["heads"] + 2 * shape["kv_heads"]) * d, h),
                        "out": make(h, shape["heads"] * d), "router": make(e, h),
                        "up": make(e, 2 * f, h), "down": make(e, h, f)}
                       for _ in range(shape["layers"])]
        self.rms, self.add_rms, self.gated, self.rotate = (torch.compile(one, dynamic=True)
                                                           for one in (rms, add_rms, gated, rotate))

    def experts(self, x, layer):
        count, topk = self.shape["experts"], self.shape["topk"]
        weight, index = torch.topk(torch.softmax(F.linear(x, layer["router"]), -1), topk, -1)
        index = index.reshape(-1)
        order = torch.argsort(index)
        sizes = torch.zeros(count, device="cuda", dtype=torch.int32)
        sizes.scatter_add_(0, index, torch.ones_like(index, dtype=torch.int32))
        ends = torch.cumsum(sizes, 0, dtype=torch.int32)
        y = torch._grouped_mm(x[order // topk], layer["up"].transpose(1, 2), offs=ends)
        y = torch._grouped_mm(self.gated(y), layer["down"].transpose(1, 2), offs=ends)
        back = torch.empty_like(y)
        back[order] = y
        return (back.view(len(x), topk, -1) * weight.unsqueeze(-1)).sum(1)

    def step(self, tokens, cos, sin, caches):
        b, s = tokens.shape
        heads, groups = self.shape["heads"], self.shape["kv_heads"]
        x = self.embedding[tokens.reshape(-1)]
        y = torch.zeros_like(x)
        for i, layer in enumerate(self.layers):
            x, z = self.add_rms(x, y, self.ones)
            q, k, v = F.linear(z, layer["qkv"]).split((heads * HEAD, groups * HEAD, groups * HEAD), -1)
            q, k, v = (t.view(b, s, -1, HEAD).transpose(1, 2) for t in (q, k, v))
            if self.shape["qk_norm"]:
                q, k = self.rms(q, self.ones[:HEAD]), self.rms(k, self.ones[:HEAD])
            q, k = self.rotate(q, cos, sin), self.rotate(k, cos, sin)
            if caches is not None:
                caches[i][0][:, :, -1:], caches[i][1][:, :, -1:] = k, v
                k, v = caches[i]
            z = F.scaled_dot_product_attention(q, k, v, is_causal=caches is None, enable_gqa=heads != groups)
            x, z = self.add_rms(x, F.linear(z.transpose(1, 2).reshape(b * s, -1), layer["out"]), self.ones)
            y = self.experts(z, layer)
        last = lambda t: t.view(b, s, -1)[:, -1]
        return F.linear(self.add_rms(last(x), last(y), self.ones)[1], self.head).argmax(-1)


def captured(step):
    """`step` as a graph, after runs that compile and allocate."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph


@torch.no_grad()
@sdpa_kernel(SDPBackend.FLASH_ATTENTION)
def experts(system, folder):
    torch._dynamo.config.recompile_limit = 64
    rows = []
    passes = [("prefill", b, s) for b, s in ((1, 128), (1, 512), (1, 2048), (1, 4096), (4, 512), (4, 2048), (16, 512))]
    passes += [("decode", b, s) for b in (1, 2, 4, 8, 16, 32, 64, 128, 256) for s in (300, 2048)]
    for name, shape in MIXTURES.items():
        model = Mixture(shape)
        for phase, batch, context in passes:
            decode = phase == "decode"
            size = (2, batch, shape["kv_heads"], context, HEAD)
            if decode and shape["layers"] * 2 * torch.Size(size).numel() > MOST_CACHE:
                continue
            make = lambda: torch.randn(size, device="cuda", dtype=torch.bfloat16)
            caches = [make() for _ in range(shape["layers"])] if decode else None
            cos, sin = (t[-1:] if decode else t for t in positions(context, HEAD))
            tokens = torch.randint(shape["vocab"], (batch, 1 if decode else context), device="cuda")
            seconds = median_seconds(captured(lambda: model.step(tokens, cos, sin, caches)).replay, 10)
            rows.append({"id": f"ME{len(rows)}", "kind": "infer", "system": system, "runtime": "pytorch-graph",
                         "model": name, "precision": "bf16", "phase": phase, "batch": batch, "input": context,
                         "context": context, "chosen": "even", "metric": "phase_seconds", "measured": f"{seconds:.5g}",
                         "source": source("one CUDA graph a step, FlashAttention-2, grouped multiplies, "
                                          "random weights")})
            del caches
            torch.cuda.empty_cache()
        del model
        torch.cuda.empty_cache()
    write(folder / f"{system}-experts.csv", list(rows[0]), rows)
    print(len(rows), "cases of mixtures of experts")


def models(system, folder):
    import transformers as t
    plain = {"attn_implementation": "eager"}
    gpt = lambda hidden, layers, heads, length: t.GPT2LMHeadModel(t.GPT2Config(
        n_embd=hidden, n_layer=layers, n_head=heads, n_positions=length, **plain))
    # Name, how it is made, layers, hidden, heads, vocabulary, length, batches.
    bert = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
    opt = {"hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 32, "ffn_dim": 8192,
           "word_embed_proj_dim": 2048}
    known = [("bert-large", lambda: t.BertForMaskedLM(t.BertConfig(**bert, **plain)), 24, 1024, 16, 30522, 512,
              (2, 8, 16)),
             ("gpt2-large", lambda: gpt(1280, 36, 20, 1024), 36, 1280, 20, 50257, 1024, (1, 4, 8)),
             ("gpt3-xl", lambda: gpt(2048, 24, 16, 2048), 24, 2048, 16, 50257, 2048, (1, 2, 4)),
             ("gpt3-2.7b", lambda: gpt(2560, 32, 32, 2048), 32, 2560, 32, 50257, 2048, (1, 2)),
             ("opt-1.3b", lambda: t.OPTForCausalLM(t.OPTConfig(**opt, **plain)), 24, 2048, 32, 50272, 2048, (1, 2, 4))]
    rows = []
    for name, make, layers, hidden, heads, vocab, length, batches in known:
        with torch.device("cuda"):
            model = make()
        for part in model.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0
        extra = {} if name == "bert-large" else {"use_cache": False}
        for batch in batches:
            tokens = torch.randint(1000, (batch, length), device="cuda")

            def step():
                model.zero_grad(set_to_none=True)
                model(tokens, labels=tokens, **extra).loss.backward()

            model.eval()
            with torch.no_grad():
                forward = median_seconds(lambda: model(tokens, **extra), 4)
            model.train()
            both = median_seconds(step, 4)
            model.zero_grad(set_to_none=True)
            common = {"system": system, "runtime": "pytorch", "layers": layers, "hidden": hidden, "heads": heads,
                      "kv_heads": heads, "ffn": 4 * hidden, "mlp": "gelu", "vocab": vocab, "tied": 1,
                      "precision": "fp32", "backend": "eager", "batch": batch,
                      "source": source(f"Transformers {t.__version__}, {name}, eager, fp32 without TF32")}
            rows.append({"id": f"MF{len(rows)}", "kind": "infer", **common, "phase": "prefill", "input": length,
                         "context": length, "every_logit": "true", "metric": "phase_seconds",
                         "measured": f"{forward:.5g}"})
            rows.append({"id": f"MF{len(rows)}", "kind": "train", **common, "gpus": 1, "microbatch": batch,
                         "seq": length, "metric": "forward_backward_seconds", "measured": f"{both:.5g}"})
            torch.cuda.empty_cache()
        del model
        torch.cuda.empty_cache()
    columns = list(dict.fromkeys(column for row in rows for column in row))
    write(folder / f"{system}-models.csv", columns, rows)
    print(len(rows), "cases of whole models in fp32")


def sampled(work, seconds):
    """Watts and clock while `work` is repeated: means of what the driver reports, after a second to settle."""
    samples, ended = [], threading.Event()

    def watch():
        query = ["nvidia-smi", "--query-gpu=power.draw,clocks.sm", "--format=csv,noheader,nounits", "-i", "0"]
        time.sleep(1)
        while not ended.wait(0.1):
            fields = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split(",")
            samples.append([float(x) for x in fields])

    watcher = threading.Thread(target=watch)
    watcher.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        work()
        torch.cuda.synchronize()
    ended.set()
    watcher.join()
    return [statistics.mean(column) for column in zip(*samples)]


def power(device, folder, seconds=4):
    square = lambda n, dtype: torch.randn(n, n, device="cuda").to(dtype)
    a, b = square(8192, torch.bfloat16), square(8192, torch.bfloat16)
    zeros = torch.zeros_like(a)
    source_block = torch.empty(2**30, device="cuda", dtype=torch.uint8)
    target_block = torch.empty_like(source_block)
    loads = [("idle", lambda: time.sleep(0.1)),
             ("bf16 8192 x 8192 x 8192", lambda: [a @ b for _ in range(20)]),
             ("the same on zeros", lambda: [zeros @ zeros for _ in range(20)]),
             ("copy", lambda: [target_block.copy_(source_block) for _ in range(20)]),
             ("bf16 1 x 8192 x 8192", lambda: [F.linear(a[:1], b) for _ in range(500)])]
    rows = []
    for name, work in loads:
        watts, clock = sampled(work, seconds)
        rows.append({"device": device, "load": name, "watts": f"{watts:.1f}", "clock_ghz": f"{clock / 1000:.4f}"})
        print(f"{name}: {watts:.0f} W at {clock / 1000:.3f} GHz")
    write(folder / f"{device}-power.csv", ["device", "load", "watts", "clock_ghz"], rows)


def collective_rank(rank, world, system, path):
    """One of `world` processes, a GPU each; the first writes the file."""
    import torch.distributed as dist
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29511", rank=rank, world_size=world)
    rows = []
    ranks = 2
    while ranks <= world:
        group = dist.new_group(list(range(ranks)))
        if rank < ranks:
            for size in (2**p for p in range(10, 31, 2)):
                for name, run in collectives_of(dist, group, ranks, size).items():
                    seconds = median_seconds(lambda run=run: [run() for _ in range(10)]) / 10
                    rows.append({"id": f"MC{len(rows)}", "kind": "collective", "system": system, "library": "nccl",
                                 "collective": name, "gpus": ranks, "gpus_per_node": world, "nodes": 1, "bytes": size,
                                 "metric": "seconds", "measured": f"{seconds:.5g}",
                                 "source": source("ten calls in a row, host time")})
        dist.barrier()
        ranks *= 2
    if rank == 0:
        write(path, ["id", "kind", "system", "library", "collective", "gpus", "gpus_per_node", "nodes", "bytes",
                     "metric", "measured", "source"], rows)
        print(len(rows), "collective cases")
    dist.destroy_process_group()


def collectives_of(dist, group, ranks, size):
    """By name, on a whole buffer of `size` bytes, un-sharded."""
    whole = torch.empty(size // 2, device="cuda", dtype=torch.bfloat16)
    part = torch.empty(size // 2 // ranks, device="cuda", dtype=torch.bfloat16)
    other = torch.empty_like(whole)
    return {"all_reduce": lambda: dist.all_reduce(whole, group=group),
            "all_gather": lambda: dist.all_gather_into_tensor(whole, part, group=group),
            "reduce_scatter": lambda: dist.reduce_scatter_tensor(part, whole, group=group),
            "all_to_all": lambda: dist.all_to_all_single(other, whole, group=group)}


def collectives(system, folder):
    world = torch.cuda.device_count()
    if world < 2:
        print("one GPU: no collectives to measure")
        return
    torch.multiprocessing.spawn(collective_rank, (world, system, folder / f"{system}-collective.csv"), world)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device", help="the name that the cases will carry")
    parser.add_argument("folder", type=Path, help="where the files go")
    parser.add_argument("--system", help="the system around it; without, the device's name")
    parser.add_argument("--only", default="kernels,steps,experts,models,power,collectives", help="parts, with commas")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    system = options.system or options.device
    parts = {"kernels": lambda: kernels(options.device, options.folder),
             "steps": lambda: steps(system, options.folder),
             "experts": lambda: experts(system, options.folder),
             "models": lambda: models(system, options.folder),
             "power": lambda: power(options.device, options.folder),
             "collectives": lambda: collectives(system, options.folder)}
    wanted = options.only.split(",")
    unknown = [name for name in wanted if name not in parts]
    if unknown:
        parser.error(f"no part is called {', '.join(unknown)}; there are {', '.join(parts)}")
    for name in wanted:
        parts[name]()


if __name__ == "__main__":
    main()
