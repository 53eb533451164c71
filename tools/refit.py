#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refits the presets that ship and writes the constants into them.

usage: tools/refit.py PROGRAM CASES-FOLDER [device NAME | kernels NAME | collectives NAME]...

Runs `sextant calibrate` and replaces the fitted tables of presets/devices/NAME.toml or
presets/kernels/NAME.toml; everything else in those files, comments included, stays. With a communication library
go the latency and efficiency of the fabrics that it was measured on, in every presets/systems/*.toml that has them.
"""
import glob
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"device": "devices", "kernels": "kernels", "collectives": "collectives"}
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
        text += f"[{name}]\n" + "".join(f"{k} = {rounded(v)}\n" for k, v in values.items()) + "\n"
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


def main():
    program, cases = sys.argv[1], sorted(glob.glob(sys.argv[2] + "/*.csv"))
    collectives = [c for c in cases if Path(c).name.startswith("collective-")]
    kinds = ("gemm-", "attention-", "experts-", "stream-")
    cases = [c for c in cases if Path(c).name.startswith(kinds)]
    for what, name in zip(sys.argv[3::2], sys.argv[4::2]):
        if what == "collectives":
            refit_collectives(program, collectives, name)
            continue
        out = Path("/tmp") / f"sextant-refit-{name}.toml"
        subprocess.run([program, "calibrate", "--cases", *cases, f"--{what}", name, "-o", str(out)], check=True)
        fitted = tomllib.loads(out.read_text())
        replace(ROOT / "presets" / FOLDERS[what] / f"{name}.toml", leaves(fitted))


if __name__ == "__main__":
    main()
