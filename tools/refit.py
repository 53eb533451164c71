#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refits the presets that ship and writes the constants into them.

usage: tools/refit.py PROGRAM CASES-FOLDER [device NAME | kernels NAME | collectives NAME | runtime NAME]...

Runs `sextant calibrate` and replaces the fitted tables of presets/devices/NAME.toml or
presets/kernels/NAME.toml; everything else in those files, comments included, stays. With a communication library
go the latency and efficiency of the fabrics that it was measured on, in every presets/systems/*.toml that has them. Of
a runtime's fields those change that the steps and requests of the case files determine.
"""
import glob
import json
import math
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"device": "devices", "kernels": "kernels", "collectives": "collectives"}
# Of kernels of which they say nothing.
UNUSED = {"pair": 0, "narrow_cols": 0, "wide_cols": 0, "wide_elements": 0}
HEADER = "# Fitted by tools/refit.py; do not edit by hand.\n"


def rounded(value):
    """Four significant digits: more is noise."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, str):
        number = re.fullmatch(r"([-+0-9.e]+) (\S+)", value)
        if not number:
            return f'"{value}"'
        amount, unit = float(number[1]), number[2]
        if unit == "s" and amount < 1e-3:
            amount, unit = amount * 1e6, "us"
        return f'"{amount:.4g} {unit}"'
    return str(value)


def leaves(content, prefix=""):
    """The tables that hold plain values, by dotted name."""
    found = {}
    for key, value in content.items():
        if isinstance(value, dict):
            found.update(leaves(value, prefix + key + "."))
        elif prefix:
            found.setdefault(prefix[:-1], {})[key] = value
    return found


def replace(path, tables):
    """Puts the tables at the end of the file, in place of those of the same name."""
    kept, skipping = [], False
    for line in path.read_text().splitlines(keepends=True):
        table = re.match(r"\[([\w.-]+)\]", line)
        if table:
            skipping = table[1] in tables
        if line == HEADER or skipping:
            continue
        kept.append(line)
    text = "".join(kept).rstrip("\n") + "\n\n" + HEADER
    for name, values in tables.items():
        text += f"[{name}]\n" + "".join(
            f"{k} = {rounded(v)}\n" for k, v in values.items() if UNUSED.get(k) != v) + "\n"
    path.write_text(text.rstrip("\n") + "\n")


def set_fabric(name, field, value):
    """In every system that has a fabric of this name, and in the link of that title."""
    written = f'"{value * 1e6:.3g} us"' if field == "latency" else f"{value:.4g}"
    for path in sorted((ROOT / "presets/systems").glob("*.toml")):
        blocks = re.split(r"(?m)^(?=\[)", path.read_text())
        for i, block in enumerate(blocks):
            if block.startswith("[[fabrics]]") and f'name = "{name}"\n' in block:
                blocks[i] = re.sub(rf"(?m)^({field} = )\S+( us\")?", rf"\g<1>{written}", block)
        path.write_text("".join(blocks))
    for path in (ROOT / "presets/technology/links").glob("*.toml"):
        text = path.read_text()
        if f'title = "{name}"\n' in text:
            path.write_text(re.sub(rf"(?m)^({field} = )\S+( us\")?", rf"\g<1>{written}", text))


def refit_collectives(program, cases, name):
    """Constants by dotted name, in place; those of fabrics in the systems."""
    command = [program, "calibrate", "--cases", *cases, "--collectives", name, "--format", "json",
               "--evaluations", "20000"]
    fit = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["fits"][0]
    path = ROOT / "presets/collectives" / f"{name}.toml"
    preset = tomllib.loads(path.read_text())
    preset["provenance"] = fit["provenance"]
    for constant, value in fit["constants"].items():
        if constant.startswith("fabric/"):
            set_fabric(*constant.split("/")[1:], value)
            continue
        *tables, field = constant.split(".")
        table = preset
        for t in tables:
            table = table[t]
        table[field] = value
    replace(path, leaves(preset))
    for field in ("direct_network_share",):
        if field in fit["constants"]:
            text = re.sub(rf"(?m)^({field} = )[\d.]+", rf"\g<1>{preset[field]:.4g}", path.read_text())
            path.write_text(text)


def same(a, b):
    """Of two values as they are written, whatever their unit."""
    scale = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
    numbers = []
    for value in (a, b):
        number, _, unit = str(value).partition(" ")
        numbers.append(float(number) * scale.get(unit, 1))
    return math.isclose(*numbers, rel_tol=1e-3)


def set_field(text, name, value):
    """Puts one field into a file, by dotted name, in place of the line that has it; what it is stays said."""
    *tables, field = name.split(".")
    parts = re.split(r"(?m)^(?=\[)", text)
    header = f"[{'.'.join(tables)}]\n"
    at = next((i for i, p in enumerate(parts) if tables and p.startswith(header)), None if tables else 0)
    old = re.search(rf"(?m)^{field} = [^#\n]*(?:# (.*))?\n", parts[at]) if at is not None else None
    said = [s for s in re.split("; ", old[1] or "") if not re.search("prior|fitted", s)] if old else []
    line = f"{field} = {value}  # {'; '.join([*filter(None, said), 'fitted'])}\n"
    if at is None:
        return text.rstrip("\n") + f"\n\n{header}{line}"
    block = parts[at]
    parts[at] = block.replace(old[0], line) if old else block.rstrip("\n") + "\n" + line + ("\n" if at + 1 < len(parts) else "")
    return "".join(parts)


def refit_runtime(program, cases, name):
    out = Path("/tmp") / f"sextant-refit-{name}.toml"
    command = [program, "calibrate", "--cases", *cases, "--runtime", name, "-o", str(out)]
    subprocess.run(command, check=True)
    write_runtime(name, out)


def write_runtime(name, out):
    path = ROOT / "presets/runtimes" / f"{name}.toml"
    text, now = path.read_text(), tomllib.loads(path.read_text())
    fitted = tomllib.loads(out.read_text())
    provenance = fitted.pop("provenance")
    fields = {k: v for k, v in fitted.items() if not isinstance(v, dict) and k not in ("name", "extends")}
    for table, values in leaves(fitted).items():
        fields.update({f"{table}.{k}": v for k, v in values.items()})
    for field, value in fields.items():
        *tables, key = field.split(".")
        table = now
        for t in tables:
            table = table.get(t, {})
        if not same(value, table.get(key, 0)):
            text = set_field(text, field, rounded(value))
    path.write_text(text)
    replace(path, {"provenance": provenance})


def main():
    program, cases = sys.argv[1], sorted(glob.glob(sys.argv[2] + "/*.csv"))
    steps = [c for c in cases if Path(c).name.startswith(("train-", "infer-"))]
    collectives = [c for c in cases if Path(c).name.startswith("collective-")]
    kinds = ("gemm-", "attention-", "experts-", "stream-")
    cases = [c for c in [*cases, *map(str, sorted(ROOT.glob("cases/*.csv")))] if Path(c).name.startswith(kinds)]
    for what, name in zip(sys.argv[3::2], sys.argv[4::2]):
        if what == "collectives":
            refit_collectives(program, collectives, name)
            continue
        if what == "runtime":
            refit_runtime(program, steps, name)
            continue
        out = Path("/tmp") / f"sextant-refit-{name}.toml"
        subprocess.run([program, "calibrate", "--cases", *cases, f"--{what}", name, "-o", str(out)], check=True)
        fitted = tomllib.loads(out.read_text())
        replace(ROOT / "presets" / FOLDERS[what] / f"{name}.toml", leaves(fitted))


if __name__ == "__main__":
    main()
