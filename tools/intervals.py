#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes presets/errors/measured.toml: how far off predictions are, by what makes cases alike, and prints how well the
intervals hold on sets they have not seen.

usage: tools/intervals.py PROGRAM CASE-FILE...      (make intervals CASES=FOLDER)

A group's interval is the middle 90 % of ln(measured / predicted) over its cases, each source weighing as the root of its
number of cases, so that one large set is not everything. Intervals made from all sources but one are then tried on that
one; the group's interval is widened until nine of ten such cases hold.

What questions with the same device and runtime (and model) share of their error is the part of the variance that lies
between such groups of cases (one-way analysis of variance), errors beyond the middle 90 % cut off to it.
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


def interval(sets):
    weighted = [(x, len(xs) ** -0.5) for xs in sets for x in xs]
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


def main():
    program, *files = sys.argv[1:]
    rows = [(Path(path).stem, row) for path in files for row in rows_of(program, path)]
    devices = {r["device"] for _, r in rows if r["question"] == "kernel"}
    runtimes = {r["runtime"] for _, r in rows} - {"-"}
    groups = defaultdict(lambda: defaultdict(list))
    for name, r in rows:
        seen = r["question"] == "collective" or r["device"] in devices
        key = (r["question"], r["experts"], r["narrow"], r["many_nodes"], seen, True)
        groups[key][name].append(r["error"])
    text = ["# How far off predictions are, by what makes cases alike: the middle 90 % of ln(measured / predicted), widened",
            f"# until it holds on sources it has not seen. Written by tools/intervals.py on {date.today()}; do not edit.",
            f"devices = {json.dumps(sorted(devices))}", f"runtimes = {json.dumps(sorted(runtimes))}", ""]
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
    target = ROOT / "presets" / "errors" / "measured.toml"
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
