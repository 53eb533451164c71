# SPDX-License-Identifier: Apache-2.0
"""libsextant-step from Python's ctypes: a loop of one user, against `sextant traffic`.

Usage: oracle.py LIBRARY PROGRAM
"""

import ctypes
import json
import math
import subprocess
import sys
import threading


class Limits(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in
                ("devices", "cache_tokens", "longest", "token_budget", "max_requests", "block")]


class Step(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in
                ("decoding", "contexts", "prompt_tokens", "reach", "prompts")]


class Cost(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("seconds", "low", "high", "joules")]


library = ctypes.CDLL(sys.argv[1])
library.sextant_prepare.restype = ctypes.c_void_p
library.sextant_version.restype = ctypes.c_char_p
for function, arguments in (("sextant_release", 1), ("sextant_limits_of", 2), ("sextant_state_tokens_of", 2),
                            ("sextant_step_cost", 3)):
    getattr(library, function).argtypes = [ctypes.c_void_p] * arguments


def prepare(**request):
    text = json.dumps(request).encode()
    error = ctypes.create_string_buffer(4096)
    engine = library.sextant_prepare(text, ctypes.c_size_t(len(text)), error, ctypes.c_size_t(len(error)))
    return engine, error.value.decode()


def cost_of(engine, **step):
    cost = Cost()
    code = library.sextant_step_cost(engine, ctypes.byref(Step(**step)), ctypes.byref(cost))
    return code, cost


SCENARIO = {"model": "llama3.1-70b", "system": "dgx-h100", "tp": 4, "precision": "fp8", "max_requests": 128}
LENGTHS = {"input": 1000, "output": 300}


def one_user(engine):
    """The first token's time, and that of a token after it."""
    n = LENGTHS["input"]
    code, first = cost_of(engine, prompt_tokens=n, reach=n * n / 2, prompts=1)
    assert code == 0
    total = 0.0
    for k in range(1, LENGTHS["output"]):
        code, cost = cost_of(engine, decoding=1, contexts=n + k)
        assert code == 0 and cost.low < cost.seconds < cost.high and cost.joules > 0
        total += cost.seconds
    return first.seconds, total / (LENGTHS["output"] - 1)


def against_traffic(engine):
    flags = [f"--{key.replace('_', '-')}={value}" for key, value in {**SCENARIO, **LENGTHS}.items()]
    said = json.loads(subprocess.run(
        [sys.argv[2], "traffic", *flags, "--arrivals", "closed", "--concurrency", "1", "--requests", "5", "--format", "json"],
        check=True, capture_output=True, text=True).stdout)
    first, token = one_user(engine)
    assert math.isclose(token, said["tpot_seconds"]["p50"], rel_tol=5e-3), (token, said["tpot_seconds"]["p50"])
    # Beside the step there is the front end, a few milliseconds.
    wait = said["ttft_seconds"]["p50"] - first
    assert -1e-4 < wait < 1e-2, wait


def hostile(engine):
    wrong, said = prepare(model="llama9", system="dgx-h100", tpp=4)
    assert not wrong and "tpp" in said, said
    wrong, said = prepare(model="llama3.1-8c", system="dgx-h100")
    assert not wrong and "did you mean" in said, said
    wrong, said = prepare(model="llama3.1-405b", system="dgx-h100", tp=1)
    assert not wrong and "cache" in said, said
    assert not library.sextant_prepare(None, ctypes.c_size_t(0), None, ctypes.c_size_t(0))
    assert cost_of(None, decoding=1, contexts=10)[0] == 1
    for bad in (math.nan, math.inf, -1.0):
        assert cost_of(engine, decoding=bad, contexts=10)[0] == 1
    limits = Limits()
    assert library.sextant_limits_of(engine, ctypes.byref(limits)) == 0 and limits.max_requests == 128
    assert cost_of(engine, decoding=129, contexts=129)[0] == 2
    assert cost_of(engine, decoding=1, contexts=limits.longest + 1)[0] == 2
    assert cost_of(engine, prompt_tokens=limits.token_budget + 1, prompts=1)[0] == 2
    assert cost_of(engine)[1].seconds == 0
    # The corners of what it takes.
    for decoding in (1, limits.max_requests):
        for tokens in (0, 1, limits.token_budget):
            code, cost = cost_of(engine, decoding=decoding, contexts=decoding * limits.longest, prompt_tokens=tokens,
                                 reach=tokens * tokens / 2, prompts=min(1, tokens))
            assert code == 0 and 0 < cost.seconds < 1e4, (decoding, tokens, cost.seconds)


def states():
    """What a request takes beside its tokens: nothing, or the states of a model with recurrences."""
    for model, some in (("llama3.1-8b", False), ("nemotron-h-8b", True)):
        engine, error = prepare(model=model, system="dgx-h100", **LENGTHS)
        assert engine, error
        tokens = ctypes.c_double(-1)
        assert library.sextant_state_tokens_of(engine, ctypes.byref(tokens)) == 0
        limits = Limits()
        library.sextant_limits_of(engine, ctypes.byref(limits))
        assert (tokens.value > 0) == some and tokens.value % limits.block == 0, (model, tokens.value)
        assert library.sextant_state_tokens_of(engine, None) == 1
        library.sextant_release(engine)
    assert library.sextant_state_tokens_of(None, ctypes.byref(tokens)) == 1


def many_threads(engine):
    expected = one_user(engine)
    results = []
    threads = [threading.Thread(target=lambda: results.append(one_user(engine))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [expected] * 8


def main():
    assert library.sextant_abi() == 1
    engine, error = prepare(**SCENARIO, **LENGTHS)
    assert engine, error
    nothing, error = prepare(model="nope", system="dgx-h1000", tp=4, foo=1)
    assert not nothing and all(x in error for x in ("foo", "nope", "dgx-h1000")), error
    against_traffic(engine)
    hostile(engine)
    states()
    many_threads(engine)
    library.sextant_release(engine)
    print("libsextant-step", library.sextant_version().decode(), "agrees with sextant traffic")


main()
