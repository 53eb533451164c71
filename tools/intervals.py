#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes presets/errors/measured.toml: how far off predictions are, by what makes cases alike, and which choices were ever
measured; and prints how well the intervals hold on sets they have not seen.

usage: tools/intervals.py PROGRAM CASE-FILE...      (make intervals CASES=FOLDER)

A group's interval is the shortest that holds 90 % of ln(measured / predicted) over its cases (the middle 90 % where they
are few), each source weighing as the root of its number of cases, so that one large set is not everything. Intervals made from all sources but one are then tried on that
one; the group's interval is widened until nine of ten such cases hold.

What questions with the same device and runtime (and model) share of their error is the part of the variance that lies
between such groups of cases (one-way analysis of variance), errors beyond the middle 90 % cut off to it.

The reach of measurements is every value of every choice (an axis of a strategy, or what several decide together) among the
cases, as `validate` says them. How much wider an interval must be outside of it is tried on each choice's outermost values:
intervals made without them are widened until nine of ten of their cases hold, and that for nine of ten such values, because
nobody knows which of them the next unmeasured choice is like. Constants were fitted with them in sight, so it is no more
than the least that is needed.
"""
import csv
import json
import math
import subprocess
import sys
from collections import defaultdict
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIELDS = ("experts", "narrow", "many_nodes", "device_measured", "runtime_measured")
LEVEL = 0.9
FEWEST = 5
MANY = 50  # of fewer, the shortest interval is one that happens to be short
FURTHEST = 2.3  # ten times: beyond that a run went wrong


def rows_of(program, path):
    with open(path, encoding="utf-8", newline="") as file:
        models = {r["id"]: r.get("model") or "/".join(r.get(k) or "" for k in ("layers", "hidden")) for r in csv.DictReader(file)}
    answer = subprocess.run([program, "validate", "--cases", path, "--format", "json"], check=True,
                            capture_output=True, text=True).stdout
    for row in json.loads(answer)["rows"]:
        if row.get("alike") and row["predicted"] > 0 and row["measured"] > 0:
            words = row["alike"].split()
            yield {"question": words[0], "experts": words[1] == "true", "narrow": words[2] == "true",
                   "many_nodes": words[3] == "true", "device": words[4], "runtime": words[5],
                   "model": models.get(row["id"], ""),
                   "choices": dict(word.split("=") for word in (row.get("choices") or "").split()),
                   # A rate's error is the inverse of a time's.
                   "error": (1 if words[6] == "time" else -1) * math.log(row["measured"] / row["predicted"])}


def quantile(weighted, q):
    """Of (value, weight) pairs; the conformal one: the value that a share q of the weight does not exceed."""
    weighted = sorted(weighted)
    total = sum(w for _, w in weighted)
    seen = 0
    for value, weight in weighted:
        seen += weight
        if seen >= q * total:
            return value
    return weighted[-1][0]


def shortest(weighted):
    """The shortest interval that holds LEVEL of the weight: errors are skewed, kernels are late more often than early."""
    weighted = sorted(weighted)
    enough = LEVEL * sum(w for _, w in weighted) * (1 - 1e-12)
    best, inside, after = (weighted[0][0], weighted[-1][0]), 0, 0
    for low, weight in weighted:
        while inside < enough and after < len(weighted):
            inside += weighted[after][1]
            after += 1
        if inside < enough:
            return best
        best = min(best, (low, weighted[after - 1][0]), key=lambda ends: ends[1] - ends[0])
        inside -= weight
    return best


def interval(sets):
    weighted = [(x, len(xs) ** -0.5) for xs in sets for x in xs]
    if len(weighted) >= MANY:
        return shortest(weighted)
    return quantile(weighted, (1 - LEVEL) / 2), quantile(weighted, (1 + LEVEL) / 2)


def held(low, high, wider, xs):
    middle, half = (low + high) / 2, wider * (high - low) / 2
    return sum(abs(x - middle) <= half for x in xs) / len(xs)


def widening(by_set):
    """How much wider than that of the others a set's interval must be for nine of ten of its cases to hold. A handful of
    cases says nothing of nine in ten; and where twice as wide is not enough, the sets are not alike, which no factor mends."""
    by_set = {s: xs for s, xs in by_set.items() if len(xs) >= FEWEST}
    if len(by_set) < 2:
        return 1.5  # nothing to try it on
    others = {s: interval([xs for t, xs in by_set.items() if t != s]) for s in by_set}
    weight = {s: len(xs) ** 0.5 for s, xs in by_set.items()}
    for wider in (1 + i / 20 for i in range(20)):
        share = sum(weight[s] * held(*others[s], wider, by_set[s]) for s in by_set) / sum(weight.values())
        if share >= LEVEL:
            return wider
    return 2


def shared(rows, fields):
    """The part of the variance that lies between groups of rows with the same fields."""
    errors = [r["error"] for r in rows]
    low, high = quantile([(e, 1) for e in errors], (1 - LEVEL) / 2), quantile([(e, 1) for e in errors], (1 + LEVEL) / 2)
    groups = defaultdict(list)
    for r in rows:
        groups[tuple(r[f] for f in fields)].append(min(max(r["error"], low), high))
    count, kinds = len(rows), len(groups)
    mean = sum(map(sum, groups.values())) / count
    means = {k: sum(xs) / len(xs) for k, xs in groups.items()}
    within = sum((x - means[k]) ** 2 for k, xs in groups.items() for x in xs) / (count - kinds)
    between = sum(len(xs) * (means[k] - mean) ** 2 for k, xs in groups.items()) / (kinds - 1)
    each = (count - sum(len(xs) ** 2 for xs in groups.values()) / count) / (kinds - 1)
    between = max(0, (between - within) / each)
    return between / (between + within)


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def reach_of(rows):
    """The values of each choice, in order, by whether a step of training or anything of serving was asked."""
    reach = defaultdict(set)
    for _, r in rows:
        for axis, value in r["choices"].items():
            reach["train" if r["question"] == "train" else "infer", axis].add(value)
    return {key: sorted(values, key=lambda v: (number(v) or 0, v)) for key, values in sorted(reach.items())}


def outermost(values):
    """Those that measurements would not reach without themselves, and how many doublings outside they would be."""
    if len(values) < 2:
        return
    if number(values[0]) is None:
        yield from ((value, 1) for value in values)
        return
    for end, next_one in ((values[-1], values[-2]), (values[0], values[1])):
        far, near = sorted(max(number(v), 1) for v in (end, next_one))[::-1]
        yield end, max(1, math.log2(far / near))


def wider_outside(rows, reach, group_of):
    """How many times as wide a doubling outside. The variance grows with the distance (predict/uncertainty.cpp)."""
    tried = []
    for (kind, axis), values in reach.items():
        for value, distance in outermost(values):
            out, rest = defaultdict(list), defaultdict(lambda: defaultdict(list))
            for name, r in rows:
                if (r["question"] == "train") != (kind == "train") or axis not in r["choices"]:
                    continue
                if r["choices"][axis] == value:
                    out[group_of(r)].append(r["error"])
                else:
                    rest[group_of(r)][name].append(r["error"])
            for key, errors in out.items():
                others = rest.get(key, {})
                if len(errors) >= FEWEST and sum(map(len, others.values())) >= 4 * FEWEST:
                    tried.append((interval(list(others.values())), widening(others), distance, errors))
    steps = [1 + i / 20 for i in range(61)]
    needed = [next((f for f in steps if held(*i, wider * math.sqrt(1 + (f ** 2 - 1) * d), errors) >= LEVEL), steps[-1])
              for i, wider, d, errors in tried]
    enough = quantile([(f, 1) for f in needed], LEVEL)
    print(f"outermost choices: of {len(tried)}, {sum(f == 1 for f in needed)} hold without themselves, nine of ten where "
          f"{enough:.2f} times as wide a doubling outside")
    return enough


def main():
    program, *files = sys.argv[1:]
    rows = [(Path(path).stem, row) for path in files for row in rows_of(program, path)]
    # Kernels are what is asked of a device alone, without a runtime.
    devices = {r["device"] for _, r in rows if r["runtime"] == "-" and r["question"] != "collective"}
    runtimes = {r["runtime"] for _, r in rows} - {"-"}
    groups = defaultdict(lambda: defaultdict(list))

    def group_of(r):
        seen = r["question"] == "collective" or r["device"] in devices
        return r["question"], r["experts"], r["narrow"], r["many_nodes"], seen, True

    for name, r in rows:
        groups[group_of(r)][name].append(r["error"])
    reach = reach_of(rows)
    text = ["# How far off predictions are, by what makes cases alike: 90 % of ln(measured / predicted), widened",
            f"# until it holds on sources it has not seen. Written by tools/intervals.py on {date.today()}; do not edit.",
            f"devices = {json.dumps(sorted(devices))}", f"runtimes = {json.dumps(sorted(runtimes))}",
            f"wider_outside = {wider_outside(rows, reach, group_of):.2f}", ""]
    print(f"{'group':70} {'sets':>4} {'cases':>6} {'interval':>18} {'wider':>6}")
    for key, by_set in sorted(groups.items()):
        cases = sum(map(len, by_set.values()))
        low, high = interval(list(by_set.values()))
        wider = widening(by_set)
        middle, half = (low + high) / 2, wider * (high - low) / 2
        low, high = max(middle - half, -FURTHEST), min(middle + half, FURTHEST)
        name = " ".join([key[0]] + [f for f, v in zip(FIELDS, key[1:]) if v])
        print(f"{name:70} {len(by_set):4} {cases:6} {100*math.expm1(low):+8.1f} {100*math.expm1(high):+8.1f} {wider:6.2f}")
        text += ["[[group]]", f'question = "{key[0]}"'] + [f"{f} = {str(v).lower()}" for f, v in zip(FIELDS, key[1:])]
        text += [f"low = {low:.4f}", f"high = {high:.4f}", f"cases = {cases}", f"sets = {len(by_set)}", ""]
    for question in ("train", "infer"):
        asked = [r for _, r in rows if r["question"] == question]
        for model in (False, True):
            share = shared(asked, ("device", "runtime") + (("model",) if model else ()))
            print(f"{question}, same device and runtime{' and model' if model else ''}: {100 * share:.0f} % of the variance is shared")
            text += ["[[shared]]", f'question = "{question}"', f"model = {str(model).lower()}", f"share = {share:.3f}", ""]
    for (kind, axis), values in reach.items():
        numbers = number(values[0]) is not None
        text += ["[[reach]]", f'question = "{kind}"', f'axis = "{axis}"',
                 f"numbers = [{', '.join(values)}]" if numbers else f"names = {json.dumps(values)}", ""]
    target = ROOT / "presets" / "errors" / "measured.toml"
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
