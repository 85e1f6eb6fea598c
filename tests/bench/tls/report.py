# SPDX-License-Identifier: Apache-2.0
"""The tables, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .figures import LIMIT_MS, Spread
from .workloads import CONNECTIONS, DOWNLOADS

UNITS = {CONNECTIONS: ("connections/s", "a handshake"), DOWNLOADS: ("MB/s", "a download")}


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _rates(results: list[dict[str, Any]], kind: str) -> list[str]:
    unit, each = UNITS[kind]
    head = ("server", "", f"built-in, {unit}", "drng", "drng / built-in", f"CPU {each}, µs", "drng / built-in")
    rows = [_row(head), _row(["---"] * 2 + ["---:"] * (len(head) - 2))]
    for r in results:
        rows.append(
            _row(
                (
                    r["server"],
                    r["workload"],
                    f"{r['rate']['built-in']['median']:.0f}",
                    f"{r['rate']['drng']['median']:.0f}",
                    Spread(**r["rate_ratio"]).text(),
                    f"{r['cpu_us']['built-in']['median']:.0f}",
                    Spread(**r["cpu_ratio"]).text(),
                )
            )
        )
    return rows


def _draws(results: list[dict[str, Any]], kind: str) -> list[str]:
    _, each = UNITS[kind]
    head = ("server", "", f"calls {each}", "bytes", "built-in, µs", "drng, µs", "share, built-in", "share, drng")
    rows = [_row(head), _row(["---"] * 2 + ["---:"] * (len(head) - 2))]
    for r in results:
        ours, theirs = r["drawn"]["drng"], r["drawn"]["built-in"]
        rows.append(
            _row(
                (
                    r["server"],
                    r["workload"],
                    f"{ours['calls']:.1f}",
                    f"{ours['bytes']:.0f}",
                    f"{theirs['us']:.1f}",
                    f"{ours['us']:.1f}",
                    f"{r['share']['built-in']:.2%}",
                    f"{r['share']['drng']:.2%}",
                )
            )
        )
    return rows


def markdown(report: dict[str, Any]) -> str:
    """Rates and CPU time, then what the generator has to do with it, for connections and for downloads."""
    m, s = report["machine"], report["settings"]
    lines = [
        f"{m['cpu']}, {m['cpus']} CPUs{', a virtual machine' if m['virtual'] else ''}, load {m['load_before']:.1f} at"
        f" the start; {m['openssl']}; {'; '.join(m['versions'])}. {s['repeats']} repeats, {s['seconds']} s a step."
    ]
    for kind in (CONNECTIONS, DOWNLOADS):
        results = [r for r in report["results"] if r["kind"] == kind]
        if results:
            lines += ["", *_rates(results, kind), "", *_draws(results, kind)]
    if report["lost"]:
        lines += ["", f"No rate kept the longest latency under {LIMIT_MS / 1000:.0f} s: {'; '.join(report['lost'])}."]
    return "\n".join(lines) + "\n"
