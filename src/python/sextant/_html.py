# SPDX-License-Identifier: Apache-2.0
"""Answers for notebooks: a breakdown as bars, rows as a table, the rest as the program prints it."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

MOST_ROWS = 50


def flat(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Fields of fields as "outer.inner"; lists of tables are left out."""
    out: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            if "parts" not in value:  # a tree is no column
                out.update(flat(value, f"{prefix}{name}."))
        elif not (isinstance(value, list) and any(isinstance(v, Mapping) for v in value)):
            out[prefix + name] = value
    return out


def seconds(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def cell(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f"<td>{escape(text)}</td>"


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    shown = [flat(row) for row in rows[:MOST_ROWS]]
    columns = list(dict.fromkeys(name for row in shown for name in row))
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(cell(row.get(c, "")) for c in columns) + "</tr>" for row in shown)
    more = f"<p>and {len(rows) - MOST_ROWS} more</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def bars(part: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    share = part["share"]
    yield (f'<tr><td style="text-align:left;padding-left:{depth + 0.3}em">{escape(part["label"])}</td>'
           f'<td>{seconds(part["seconds"])}</td><td>{share:.1%}</td>'
           f'<td style="text-align:left"><div style="background:#3b7ea1;height:0.8em;'
           f'width:{12 * share:.2f}em"></div></td></tr>')
    for inner in part["parts"]:
        yield from bars(inner, depth + 1)


def answer(said: Any) -> str:
    headline, _, rest = said.text.partition("\n")
    if "breakdown" in said:
        rows = "".join(bars(said["breakdown"]))
        return (f"<p><b>{escape(headline)}</b></p><table>{rows}</table>"
                f"<details><summary>all of it</summary><pre>{escape(said.text)}</pre></details>")
    for name in ("best", "operators", "groups"):
        if said.get(name):
            return f"<p><b>{escape(headline)}</b></p>{table(said[name])}"
    return f"<pre>{escape(headline)}\n{escape(rest)}</pre>"
