# SPDX-License-Identifier: Apache-2.0
# Written by sextant-manual.
"""The commands as functions."""
from __future__ import annotations

from ._answer import Answer, Path, Preset, Settings, Texts, ask

__all__ = ["list", "show", "train", "infer", "import_", "traffic", "compare", "profile", "search", "tech", "sweep", "report", "study", "validate", "calibrate"]


def list(
    kind: str | None = None,
    *,
    set: Settings | None = None,
) -> Answer:
    """The presets.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        kind: devices, systems, models, runtimes, kernels, nodes, drams, links or cores

    On the command line:
        sextant list devices
    """
    return ask("list", locals(), lists=("set",), writes=())


def show(
    name: str,
    *,
    set: Settings | None = None,
    kind: str | None = None,
    toml: bool | None = None,
    json: bool | None = None,
    fields: bool | None = None,
) -> Answer:
    """One preset, or what may be set.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        name: a preset, a file, or with --fields a kind
        kind: device, system, model, runtime, kernel, node, dram, link or core
        toml: as a file to start your own from
        json: in SI base units
        fields: every field, its type, default and meaning

    On the command line:
        sextant show h100-sxm --toml > mine.toml
    """
    return ask("show", locals(), lists=("set",), writes=())


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
    tokens: str | float | None = None,
    price: str | float | None = None,
    device_between_failures: str | None = None,
    node_between_failures: str | None = None,
    devices_per_host: float | None = None,
    restart: str | None = None,
    checkpoint_pause: str | None = None,
    checkpoint_bandwidth: str | None = None,
    checkpoint_interval: str | None = None,
    pue: float | None = None,
    grid_kg_per_kwh: float | None = None,
    explain: bool | None = None,
    sensitivity: bool | None = None,
    timeline: bool | None = None,
    choices: bool | None = None,
    nearest: bool | None = None,
    trace: Path | None = None,
) -> Answer:
    """A training step: its time, its memory, and why.

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
        tokens: the whole run of so many, such as 15T: days, dollars, energy, failures
        price: dollars a device and hour, or a public tier: aws, lambda
        device_between_failures: run: mean time between interruptions by one device
        node_between_failures: run: the same by one node's host, links and software
        devices_per_host: run: devices behind one host, where a node has more
        restart: run: from an interruption to the next step
        checkpoint_pause: run: what a checkpoint takes beyond writing it
        checkpoint_bandwidth: run: of storage, for one device
        checkpoint_interval: run: between checkpoints; without, the interval that wastes least
        pue: run: energy of the building over that of the machine
        grid_kg_per_kwh: run: kilograms of CO2 for a kilowatt-hour
        explain: every operator of the slowest stage
        sensitivity: what a tenth more of each resource changes
        timeline: in JSON, what each stage does when
        choices: in JSON, the legal values of each axis, the others held
        nearest: in JSON, how far off the nearest measured cases are
        trace: write a timeline for ui.perfetto.dev: out.json

    On the command line:
        sextant train --model gpt3-175b --system dgx-a100 --gpus 64 --tp 8 --pp 8 --interleave 3 --sp --recompute selective --batch 64 --seq 2048
    """
    return ask("train", locals(), lists=("set", "recompute_modules", "lora_targets", "frozen",), writes=("trace",))


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
    curve: bool | None = None,
    sensitivity: bool | None = None,
    explain: bool | None = None,
    choices: bool | None = None,
    nearest: bool | None = None,
    plot: Path | None = None,
) -> Answer:
    """Requests served: latency, throughput, memory, and why.

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
        curve: batch sizes from 1 to the largest that fits
        sensitivity: what a tenth more of each resource changes
        explain: every operator of a prefill and a decode pass
        choices: in JSON, the legal values of each axis, the others held
        nearest: in JSON, how far off the nearest measured cases are
        plot: write a figure of the curve: out.svg or out.html

    On the command line:
        sextant infer --model llama2-13b --system dgx-h100 --tp 2 --batch 1 --input 200 --output 200
    """
    return ask("infer", locals(), lists=("set",), writes=("plot",))


def import_(
    what: Texts,
    *,
    set: Settings | None = None,
    as_: str | None = None,
    task: str | None = None,
    model: Preset | None = None,
    system: Preset | None = None,
    gpus: int | None = None,
) -> Answer:
    """Another tool's configuration as a scenario, every argument accounted for.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        what: a file, or after -- a command: vllm serve …
        as_: the format, where it cannot be told: vllm, sglang, trtllm, megatron, nemo, megatron-bridge, primus, deepspeed, torchtitan, axolotl, torchtune, mlperf
        task: train or infer, where the format is of neither
        model: in place of what it says: a preset or a config.json
        system: what it runs on, which few formats say
        gpus: devices, where it does not say how many

    On the command line:
        sextant import --system dgx-h100 -- vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 4
    """
    return ask("import", locals(), lists=("set", "what",), writes=())


def traffic(
    *,
    set: Settings | None = None,
    model: Preset | None = None,
    system: Preset | None = None,
    runtime: Preset | None = None,
    from_: Path | None = None,
    tp: int | None = None,
    pp: int | None = None,
    dp: int | None = None,
    ep: int | None = None,
    replicas: int | None = None,
    precision: str | None = None,
    kv_precision: str | None = None,
    arrivals: str | None = None,
    rate: float | None = None,
    burstiness: float | None = None,
    concurrency: int | None = None,
    requests: int | None = None,
    input: int | None = None,
    output: int | None = None,
    lengths: str | None = None,
    length_ratio: float | None = None,
    spread: float | None = None,
    seed: int | None = None,
    allow_long: bool | None = None,
    token_budget: int | None = None,
    max_requests: int | None = None,
    block: int | None = None,
    memory_fraction: float | None = None,
    prefix_cache: bool | None = None,
    router: str | None = None,
    prefill_workers: int | None = None,
    prefill_tp: int | None = None,
    prefill_pp: int | None = None,
    prefill_dp: int | None = None,
    prefill_ep: int | None = None,
    decode_workers: int | None = None,
    decode_tp: int | None = None,
    decode_pp: int | None = None,
    decode_dp: int | None = None,
    decode_ep: int | None = None,
    sweep_ratio: bool | None = None,
    max_ttft_p99: str | None = None,
    max_tpot_p99: str | None = None,
    price: str | float | None = None,
    curve: bool | None = None,
    series: bool | None = None,
    plot: Path | None = None,
    trace: Path | None = None,
) -> Answer:
    """Requests over time: latencies by percentile, goodput, cost, the limit.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        model: model preset, file or Hugging Face config.json
        system: system preset or file
        runtime: software stack with its engine; without, vllm
        from_: a scenario, or another tool's configuration or launch script: see 'import'
        tp: tensor-parallel degree of an engine
        pp: its pipeline stages
        dp: its replicas of attention, each with its own requests
        ep: its expert-parallel degree, over the ranks of tp and dp
        replicas: engines
        precision: of the weights: bf16 fp16 fp8 fp4; int8 and int4: weights alone
        kv_precision: of the cache: bf16 fp16 fp8 int8 (fp32, tf32, fp16, bf16, fp8, int8, fp6, fp4, int4)
        arrivals: poisson, gamma, uniform, burst, closed, or the file of a trace; without, poisson
        rate: requests a second; of a trace, its times are scaled to it
        burstiness: gamma: spread of the time between two requests over its mean
        concurrency: closed: users, each waits for its answer
        requests: how many are sent
        input: tokens of a prompt
        output: tokens generated
        lengths: fixed, uniform or lognormal around --input and --output, or trace
        length_ratio: uniform: the shortest over the longest
        spread: lognormal: standard deviation over the mean
        seed: of everything random; without, 1
        allow_long: go on with a context beyond the model's
        token_budget: tokens a step; without, the engine's default
        max_requests: requests at a time; without, the engine's default
        block: tokens of a cache block
        memory_fraction: share of memory that the engine takes
        prefix_cache: keep blocks of shared prefixes; without, as the engine does
        router: round-robin, least-requests, least-tokens, two-choices or prefix-aware
        prefill_workers: disaggregated: engines that read prompts
        prefill_tp: their tensor-parallel degree
        prefill_pp: their pipeline stages
        prefill_dp: their replicas of attention
        prefill_ep: their expert-parallel degree
        decode_workers: disaggregated: engines that generate
        decode_tp: their tensor-parallel degree
        decode_pp: their pipeline stages
        decode_dp: their replicas of attention
        decode_ep: their expert-parallel degree
        sweep_ratio: the best split of as many workers
        max_ttft_p99: first token of 99 in 100 within, such as '1 s'; a request over it is not good
        max_tpot_p99: time a token of 99 in 100, such as '40 ms'
        price: dollars a device and hour, or a public tier: aws, lambda
        curve: latencies against the rate, up to the most it can serve
        series: in JSON: requests and cache over time, latencies by share of requests
        plot: write figures of load, latencies and the curve: out.html; one of them: out.svg
        trace: write a timeline for ui.perfetto.dev: out.json

    On the command line:
        sextant traffic --model llama3.1-70b --system dgx-h100 --tp 4 --rate 2 --input 2000 --output 500 --max-ttft-p99 '1 s' --max-tpot-p99 '40 ms'
    """
    return ask("traffic", locals(), lists=("set",), writes=("plot", "trace",))


def compare(
    files: Texts,
    *,
    set: Settings | None = None,
) -> Answer:
    """Scenarios side by side: the difference, factor by factor.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        files: two to six scenarios (TOML or JSON with task and its fields), or other tools' files

    On the command line:
        sextant compare a.toml b.toml
    """
    return ask("compare", locals(), lists=("set", "files",), writes=())


def profile(
    trace: Preset,
    *,
    device: Preset,
    set: Settings | None = None,
    gpu: int | None = None,
) -> Answer:
    """A profiler's trace beside the model: where a run loses time.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        trace: a trace of torch.profiler, .json or .json.gz; in a request the trace itself
        device: device preset or file that it ran on, or that it might run on
        gpu: which device of the trace; -1: the busiest; without, -1

    On the command line:
        sextant profile trace.json.gz --device h200-sxm
    """
    return ask("profile", locals(), lists=("set",), writes=())


def search(
    *,
    model: Preset,
    system: Preset,
    gpus: int,
    set: Settings | None = None,
    runtime: Preset | None = None,
    max_gpus: int | None = None,
    infer: bool | None = None,
    objective: str | None = None,
    fix: Texts | None = None,
    limit: Texts | None = None,
    explore: Texts | None = None,
    precision: Texts | None = None,
    max_memory: str | None = None,
    top: int | None = None,
    threads: int | None = None,
    plot: Path | None = None,
    batch: int | None = None,
    seq: int | None = None,
    optimizer: str | None = None,
    lora_rank: int | None = None,
    lora_targets: Texts | None = None,
    adapter: str | None = None,
    frozen: Texts | None = None,
    input: int | None = None,
    output: int | None = None,
    batching: str | None = None,
    chunk: int | None = None,
    speculate: int | None = None,
    acceptance: float | None = None,
    draft_cost: float | None = None,
    allow_long: bool | None = None,
    price: float | None = None,
    kv_precision: Texts | None = None,
    max_ttft: str | None = None,
    max_tpot: str | None = None,
    min_throughput: float | None = None,
    traffic: str | None = None,
    rate: float | None = None,
    max_ttft_p99: str | None = None,
    max_tpot_p99: str | None = None,
) -> Answer:
    """The best strategies, the Pareto front, and why the rest fail.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        model: model preset, file or Hugging Face config.json
        system: system preset or file
        runtime: software stack; without, megatron-core, or trtllm to serve
        gpus: devices
        max_gpus: twice as many, four times, … up to so many as well
        infer: search ways to serve instead of to train
        objective: to train: tokens-per-second, step-time, tokens-per-second-per-gpu, memory, energy or cost; to serve: throughput, latency or gpus
        fix: hold an axis: tp=8, recompute=none,full
        limit: bound an axis: 'pp<=16'
        explore: axes that are otherwise held: shard, offload, modules, overlap
        precision: of the multiplies; several: bf16,fp8
        max_memory: of a device, such as '70 GB'; without, what it has
        top: strategies to show; without, 10
        threads: 0: all cores; without, 0
        plot: write the Pareto front: out.svg or out.html
        batch: sequences a step, over all replicas
        seq: tokens a sequence
        optimizer: how weights follow their gradients (adamw, adamw-bf16-states, adamw-8bit, adafactor, muon, sgd)
        lora_rank: of adapters on frozen weights; 0: all weights are trained
        lora_targets: projections with adapters: qkv, output, up, down; without, all
        adapter: lora; qlora: frozen weights in 4 bits; dora: lengths of rows beside
        frozen: parts not trained: embedding, attention, mlp, experts, norms, head
        input: tokens of a prompt
        output: tokens generated
        batching: static, or closed-loop: what ends is replaced
        chunk: prompt tokens that join a decode step; 0, or without: whole prompts
        speculate: tokens a draft model proposes a step
        acceptance: chance that one of them is right
        draft_cost: a draft step over a step of the model
        allow_long: go on with a context beyond the model's
        price: dollars a device and hour
        kv_precision: of the cache; several: bf16,fp8
        max_ttft: time to the first token at most, such as '500 ms'
        max_tpot: time of a token at most, such as '30 ms'
        min_throughput: tokens a second at least, to serve
        traffic: plan capacity for requests over time: poisson, …, or the file of a trace
        rate: requests a second, of --traffic
        max_ttft_p99: first token of 99 in 100 requests of --traffic within, such as '1 s'
        max_tpot_p99: time a token of 99 in 100, such as '40 ms'

    On the command line:
        sextant search --model gpt3-175b --system dgx-a100 --gpus 512 --batch 512 --fix tp=8 --limit 'pp<=16'
    """
    return ask("search", locals(), lists=("set", "fix", "limit", "explore", "precision", "lora_targets", "frozen", "kv_precision",), writes=("plot",))


def tech(
    *,
    node: str,
    dram: str,
    set: Settings | None = None,
    core: str | None = None,
    area: str | None = None,
    dies: int | None = None,
    power: str | None = None,
    stacks: int | None = None,
    spare_stacks: int | None = None,
    memory_rate: str | None = None,
    kept: float | None = None,
    chiplet: Texts | None = None,
    links: int | None = None,
    link_gen: str | None = None,
    network: str | None = None,
    l2: str | None = None,
    plot: Path | None = None,
    system: bool | None = None,
    optimise: str | None = None,
    objective: str | None = None,
    price: str | None = None,
    model: Preset | None = None,
    precision: str | None = None,
    gpus: int | None = None,
    tp: int | None = None,
    pp: int | None = None,
    batch: int | None = None,
    seq: int | None = None,
    input: int | None = None,
    output_tokens: int | None = None,
) -> Answer:
    """A device from technology and budgets, and where they go.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        node: logic process: 'sextant list nodes'
        dram: memory: 'sextant list drams'
        core: core template: 'sextant list cores'; without, hopper; own: that of the node's time
        area: of one die, such as '814 mm2'
        dies: dies of the package
        power: board limit, such as '700 W'; without, what it needs
        stacks: parts of memory; without, as many as the edge holds
        spare_stacks: places for memory left empty
        memory_rate: rate of memory: as devices run it, or as its standard rates it; without, device
        kept: share of the cores that is sold; without, as the core's GPU
        chiplet: dies without cores: 'base n7 370mm2 x4 hybrid' (base, io or cache; hybrid or interposer)
        links: links between devices
        link_gen: their kind: 'sextant list links'
        network: link between nodes; without, ib-ndr
        l2: last-level cache as sold, such as '50 MiB'
        plot: write a figure: out.svg or out.html
        system: with -o out.toml: nodes of eight, not the device alone
        optimise: split for a workload: train or infer
        objective: time, or energy or cost of a token; without, time
        price: of a device, such as '30000 $', for the objective cost; without, its parts
        model: of that workload: gpt3-6.7b, or llama2-13b to serve
        precision: of the multiplies (fp32, tf32, fp16, bf16, fp8, int8, fp6, fp4, int4)
        gpus: devices; to train 1024
        tp: tensor-parallel degree; to train 4
        pp: pipeline stages; to train 4
        batch: sequences; to train 512
        seq: tokens a sequence, to train
        input: tokens of a prompt, to serve
        output_tokens: tokens generated, to serve

    On the command line:
        sextant tech --node n3 --dram hbm4 --area '814 mm2' --power '1000 W' -o dev.toml
    """
    return ask("tech", locals(), lists=("set", "chiplet",), writes=("plot",))


def sweep(
    plan: str,
    *,
    set: Settings | None = None,
    output: Path | None = None,
    format: str | None = None,
    resume: bool | None = None,
    dry_run: bool | None = None,
    threads: int | None = None,
) -> Answer:
    """Every point of a plan, into a file of results.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        plan: what stays and what varies: plan.toml
        output: results: a SQLite database, or .csv or .jsonl
        format: sqlite, csv or jsonl; without, by the output's name
        resume: go on with results that are there
        dry_run: check the plan, count its points, and say how long
        threads: workers; 0: as many as there are cores; without, 0

    On the command line:
        sextant sweep plan.toml -o results.db
    """
    return ask("sweep", locals(), lists=("set",), writes=("output", "format",))


def report(
    results: str,
    *,
    set: Settings | None = None,
    x: str | None = None,
    y: str | None = None,
    series: str | None = None,
    where: Texts | None = None,
    pick: str | None = None,
    log_x: bool | None = None,
    log_y: bool | None = None,
    all: bool | None = None,
) -> Answer:
    """A figure or a table of a sweep's results.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        results: a sweep's SQLite database
        x: column along the figure; without, the columns are listed
        y: column up the figure
        series: column that tells lines apart
        where: keep points: 'tp=8', 'device.memory.bandwidth>=4 TB/s'
        pick: of several points at one place, the one with the least or the largest y: min, max
        log_x: logarithmic
        log_y: logarithmic
        all: also what does not fit memory

    On the command line:
        sextant report results.db --x tp --y tokens_per_second_per_gpu -o figure.svg
    """
    return ask("report", locals(), lists=("set", "where",), writes=("x", "y", "series", "pick",))


def study(
    name: str,
    *,
    set: Settings | None = None,
    output: Path | None = None,
) -> Answer:
    """A published analysis, reproduced: a table and a figure.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        name: training-validation, memory-footprint, inference-validation, gemm-bounds, gpu-generations, node-scaling, dram-scaling, bottleneck-evolution, regeneration, long-runs or all
        output: write its CSV, JSON, SVG and Markdown here

    On the command line:
        sextant study training-validation -o studies
    """
    return ask("study", locals(), lists=("set",), writes=("output",))


def validate(
    *,
    set: Settings | None = None,
    cases: Texts | None = None,
    plot: Path | None = None,
    by_device: bool | None = None,
    by_metric: bool | None = None,
    ranking: bool | None = None,
    leave_families_out: bool | None = None,
    leave_devices_out: bool | None = None,
) -> Answer:
    """Predicted against measured, by source.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        cases: case files; without, those inside the program
        plot: write a figure: out.svg or out.html
        by_device: a line for each device of a file
        by_metric: a line for each metric of a file
        ranking: whether the best predicted strategy of a model is the best measured
        leave_families_out: refit without each family of shapes, and predict it (minutes)
        leave_devices_out: predict each device's GEMMs with constants fitted to the others

    On the command line:
        sextant validate --cases gemm.csv --plot accuracy.svg
    """
    return ask("validate", locals(), lists=("set", "cases",), writes=("plot",))


def calibrate(
    *,
    set: Settings | None = None,
    cases: Texts | None = None,
    device: str | None = None,
    kernels: str | None = None,
    collectives: str | None = None,
    runtime: str | None = None,
    defaults: bool | None = None,
    folds: int | None = None,
    evaluations: int | None = None,
) -> Answer:
    """Fit a device or a kernel library to measurements.

    Arguments:
        set: override a field: device.memory.bandwidth='8 TB/s'
        cases: case files; without, those inside the program
        device: fit this device's mechanism to its GEMMs
        kernels: fit this kernel library
        collectives: fit this communication library, and the fabrics inside nodes
        runtime: fit this engine's host costs to cases of kind serving
        defaults: fit one mechanism to all devices at once
        folds: parts of which one at a time is left out; without, 5
        evaluations: of the objective, each fit; without, 2000

    On the command line:
        sextant calibrate --cases gemm.csv --device h200-sxm -o my.toml
    """
    return ask("calibrate", locals(), lists=("set", "cases",), writes=())
