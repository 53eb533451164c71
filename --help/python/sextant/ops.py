# SPDX-License-Identifier: Apache-2.0
# Written by sextant-manual.
"""Kernels, one or all of a scenario: time, traffic, what bounds it."""
from __future__ import annotations

from ._answer import Answer, Path, Preset, Settings, Texts, ask

__all__ = ["gemm", "attention", "experts", "stream", "collective", "infer", "train"]


def gemm(
    *,
    set: Settings | None = None,
    device: Preset | None = None,
    dtype: str | None = None,
    sustained: bool | None = None,
    busy: str | None = None,
    m: float | None = None,
    n: float | None = None,
    k: float | None = None,
    batch: float | None = None,
    quantize: bool | None = None,
    activity: float | None = None,
) -> Answer:
    """A matrix multiply y[m,n] = x[m,k] W^T.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        device: device preset or file; without, h100-sxm
        dtype: fp32 tf32 fp16 bf16 fp8 int8 fp6 fp4 int4; without, bf16
        sustained: the clock power allows when the load goes on
        busy: how long the load lasts, such as "5 ms"
        m: rows of x; without, 4096
        n: columns of y; without, 4096
        k: inner dimension; without, 4096
        batch: multiplies at once; without, 1
        quantize: quantise x row by row first
        activity: how much the operands switch: 1 random numbers, 0 zeros; without, 1

    On the command line:
        sextant ops gemm --device h100-sxm --dtype bf16 -m 4096 -n 4096 -k 4096
    """
    return ask("ops gemm", locals(), lists=("set",), writes=())


def attention(
    *,
    set: Settings | None = None,
    device: Preset | None = None,
    dtype: str | None = None,
    sustained: bool | None = None,
    busy: str | None = None,
    backend: str | None = None,
    phase: str | None = None,
    batch: float | None = None,
    heads: float | None = None,
    kv_heads: float | None = None,
    head_dim: float | None = None,
    q_len: float | None = None,
    kv_len: float | None = None,
    window: float | None = None,
    kv_dtype: str | None = None,
    no_causal: bool | None = None,
    mla: bool | None = None,
) -> Answer:
    """An attention kernel.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        device: device preset or file; without, h100-sxm
        dtype: fp32 tf32 fp16 bf16 fp8 int8 fp6 fp4 int4; without, bf16
        sustained: the clock power allows when the load goes on
        busy: how long the load lasts, such as "5 ms"
        backend: flash, cudnn or trtllm; without, flash
        phase: prefill, decode or backward; without, prefill
        batch: sequences; without, 1
        heads: query heads; without, 32
        kv_heads: cache heads; 0: as many; without, 0
        head_dim: of a head; without, 128
        q_len: queries a sequence; without, 2048
        kv_len: context; 0: as the queries; without, 0
        window: sliding window; 0: none; without, 0
        kv_dtype: type of the cache (fp32, tf32, fp16, bf16, fp8, int8, fp6, fp4, int4)
        no_causal: every query sees everything
        mla: latent attention (DeepSeek dimensions)

    On the command line:
        sextant ops attention --device h100-sxm --backend trtllm --phase decode --batch 64 --heads 64 --kv-heads 8 --q-len 1 --kv-len 4096
    """
    return ask("ops attention", locals(), lists=("set",), writes=())


def experts(
    *,
    set: Settings | None = None,
    device: Preset | None = None,
    dtype: str | None = None,
    sustained: bool | None = None,
    busy: str | None = None,
    tokens: float | None = None,
    hidden: float | None = None,
    ffn: float | None = None,
    topk: float | None = None,
    experts: float | None = None,
    tp: float | None = None,
    ep: float | None = None,
    routing: str | None = None,
) -> Answer:
    """A mixture-of-experts layer of one rank.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        device: device preset or file; without, h100-sxm
        dtype: fp32 tf32 fp16 bf16 fp8 int8 fp6 fp4 int4; without, bf16
        sustained: the clock power allows when the load goes on
        busy: how long the load lasts, such as "5 ms"
        tokens: tokens routed; without, 1024
        hidden: model width; without, 4096
        ffn: width of an expert; without, 14336
        topk: experts a token; without, 2
        experts: experts in all; without, 8
        tp: ranks that share an expert; without, 1
        ep: ranks that share the experts; without, 1
        routing: balanced or power_law_X; without, balanced

    On the command line:
        sextant ops experts --device h200-sxm --dtype fp8 --tokens 4096 --hidden 7168 --ffn 2048 --experts 256 --topk 8 --ep 8
    """
    return ask("ops experts", locals(), lists=("set",), writes=())


def stream(
    *,
    set: Settings | None = None,
    device: Preset | None = None,
    dtype: str | None = None,
    sustained: bool | None = None,
    busy: str | None = None,
    op: str | None = None,
    rows: float | None = None,
    cols: float | None = None,
) -> Answer:
    """An operator that only streams.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        device: device preset or file; without, h100-sxm
        dtype: fp32 tf32 fp16 bf16 fp8 int8 fp6 fp4 int4; without, bf16
        sustained: the clock power allows when the load goes on
        busy: how long the load lasts, such as "5 ms"
        op: copy add gelu silu_mul dropout layernorm rmsnorm add_rmsnorm softmax adamw; without, rmsnorm
        rows: rows; without, 4096
        cols: columns; without, 8192

    On the command line:
        sextant ops stream --device h200-sxm --op rmsnorm --rows 8192 --cols 8192
    """
    return ask("ops stream", locals(), lists=("set",), writes=())


def collective(
    *,
    set: Settings | None = None,
    system: Preset | None = None,
    collective: str | None = None,
    library: str | None = None,
    gpus: int | None = None,
    gpus_per_node: int | None = None,
    bytes: str | None = None,
    plot: Path | None = None,
) -> Answer:
    """Communication between devices.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        system: system preset or file; without, dgx-h100
        collective: all_reduce all_gather reduce_scatter all_to_all send_recv; without, all_reduce
        library: 'sextant list collectives'; without, the system's
        gpus: ranks; without, 8
        gpus_per_node: ranks of a node; 0: as it has; without, 0
        bytes: the whole buffer, un-sharded, such as "64 MiB"; without, 64 MiB
        plot: write bus bandwidth by size: out.svg or out.html

    On the command line:
        sextant ops collective --system dgx-h100 --collective all_reduce --gpus 8 --bytes '64 MiB'
    """
    return ask("ops collective", locals(), lists=("set",), writes=("plot",))


def infer(
    *,
    set: Settings | None = None,
    model: Preset | None = None,
    system: Preset | None = None,
    runtime: Preset | None = None,
    from_: Path | None = None,
    gpus: int | None = None,
    tp: int | None = None,
    pp: int | None = None,
    dp: int | None = None,
    ep: int | None = None,
    precision: str | None = None,
    batch: int | None = None,
    input: int | None = None,
    output: int | None = None,
    batching: str | None = None,
    chunk: int | None = None,
    kv_precision: str | None = None,
    speculate: int | None = None,
    acceptance: float | None = None,
    draft_cost: float | None = None,
    allow_long: bool | None = None,
    phase: str | None = None,
    context: int | None = None,
    plot: Path | None = None,
) -> Answer:
    """Every operator of one pass of serving, and its roofline.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        model: model preset, file or Hugging Face config.json
        system: system preset or file
        runtime: software stack; without, trtllm
        from_: a scenario, or another tool's configuration or launch script: see 'import'
        gpus: devices; without, what the degrees take
        tp: tensor-parallel degree
        pp: pipeline stages
        dp: replicas; without, what is left of the devices. To serve: of attention, each with its share of the batch
        ep: expert-parallel degree, over the ranks of tp, cp and dp
        precision: type of the matrix multiplies; int8 and int4: of weights alone, to serve
        batch: requests at a time
        input: tokens of a prompt
        output: tokens generated
        batching: static, or closed-loop: what ends is replaced
        chunk: prompt tokens that join a decode step; 0, or without: whole prompts
        kv_precision: type of keys and values (fp32, tf32, fp16, bf16, fp8, int8, fp6, fp4, int4)
        speculate: tokens a draft model proposes a step
        acceptance: chance that one of them is right
        draft_cost: a draft step over a step of the model
        allow_long: go on with a context beyond the model's
        phase: prefill or decode; without, decode
        context: tokens a sequence looks at, its own included
        plot: write the roofline: out.svg or out.html

    On the command line:
        sextant ops infer --model llama2-13b --system dgx-h100 --tp 2 --phase decode --plot roofline.svg
    """
    return ask("ops infer", locals(), lists=("set",), writes=("plot",))


def train(
    *,
    set: Settings | None = None,
    model: Preset | None = None,
    system: Preset | None = None,
    runtime: Preset | None = None,
    from_: Path | None = None,
    gpus: int | None = None,
    tp: int | None = None,
    pp: int | None = None,
    dp: int | None = None,
    cp: int | None = None,
    ep: int | None = None,
    etp: int | None = None,
    microbatch: int | None = None,
    interleave: int | None = None,
    zero: int | None = None,
    shard: int | None = None,
    offload: bool | None = None,
    context: str | None = None,
    order: str | None = None,
    sp: bool | None = None,
    schedule: str | None = None,
    recompute: str | None = None,
    recompute_layers: int | None = None,
    recompute_modules: Texts | None = None,
    precision: str | None = None,
    batch: int | None = None,
    seq: int | None = None,
    optimizer: str | None = None,
    lora_rank: int | None = None,
    lora_targets: Texts | None = None,
    adapter: str | None = None,
    frozen: Texts | None = None,
    plot: Path | None = None,
) -> Answer:
    """Every operator of a training step, and its roofline.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        model: model preset, file or Hugging Face config.json
        system: system preset or file
        runtime: software stack; without, megatron-core
        from_: a scenario, or another tool's configuration or launch script: see 'import'
        gpus: devices; without, what the degrees take
        tp: tensor-parallel degree
        pp: pipeline stages
        dp: replicas; without, what is left of the devices. To serve: of attention, each with its share of the batch
        cp: context-parallel degree
        ep: expert-parallel degree, over the ranks of tp, cp and dp
        etp: tensor-parallel degree inside experts
        microbatch: sequences in one microbatch
        interleave: model chunks a stage
        zero: ZeRO stage, 0 to 3
        shard: replicas that share states under ZeRO; 0: all
        offload: optimizer states live in host memory
        context: how context parallelism moves keys and values (ring, all-to-all)
        order: which dimension lies inside the node, innermost first (tp-cp-ep-dp-pp, tp-cp-ep-pp-dp)
        sp: sequence parallelism beside tensor parallelism; without, as the runtime does
        schedule: pipeline schedule (1f1b, gpipe, zero-bubble, zero-bubble-v, dualpipe)
        recompute: activation recomputation (none, selective, full)
        recompute_layers: layers of a stage recomputed in full; 0: all
        recompute_modules: parts recomputed beyond that (norms, activation, mlp, experts, latent)
        precision: type of the matrix multiplies; int8 and int4: of weights alone, to serve
        batch: sequences a step, over all replicas
        seq: tokens a sequence
        optimizer: how weights follow their gradients (adamw, adamw-bf16-states, adamw-8bit, adafactor, muon, sgd)
        lora_rank: of adapters on frozen weights; 0: all weights are trained
        lora_targets: projections with adapters: qkv, output, up, down; without, all
        adapter: lora; qlora: frozen weights in 4 bits; dora: lengths of rows beside
        frozen: parts not trained: embedding, attention, mlp, experts, norms, head
        plot: write the roofline: out.svg or out.html

    On the command line:
        sextant ops train --model llama3.1-8b --system dgx-h100 --gpus 8 --tp 2
    """
    return ask("ops train", locals(), lists=("set", "recompute_modules", "lora_targets", "frozen",), writes=("plot",))
