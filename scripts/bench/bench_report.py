#!/usr/bin/python3 -Es
# SPDX-License-Identifier: Apache-2.0
"""A table of what the benchmark measured: bench_report.py bench.json prints it, and leaves it beside that in bench.md.
With a second file, of a newer OpenSSL, it makes the table of docs/performance.md, in peers.md.

A figure is the median of its repetitions, and a ratio stands before half of (Q3 / reference Q1) - (Q1 / reference Q3).
Requests are timed by the CPU clock, which other load disturbs little.
"""

from __future__ import annotations

import json
import platform
import re
import statistics
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"
BASE = "CTR-DRBG"
NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}

# Of docs/performance.md: which file has the row, its name there, and the way. drng's are ratios to the built-in's.
PEERS = (
    (0, "OpenSSL 3.0 built-in", BASE),
    (0, "drng", "drng"),
    (0, "drng, request mixing", "drng-mixing"),
    (1, "OpenSSL 3.5 built-in", BASE),
    (1, "drng", "drng"),
    (1, "drng, request mixing", "drng-mixing"),
    (1, "drng, `random-provider`", "random_provider"),
    (1, "getrandom() by the vDSO", "getrandom-vdso"),
    (0, "AWS-LC", "AWS-LC"),
    (0, "libsodium", "libsodium"),
    (0, "Go", "Go"),
    (0, "Go in FIPS mode", "Go-FIPS"),
    (0, "Rust ThreadRng", "ThreadRng"),
)
PEER_SIZES = ("16", "64", "1024", "65536")

Key = tuple[str, str]  # a way, and its size
Figure = tuple[float, float, float]  # quartiles, in ns


def cpu_model() -> str:
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else f"unknown CPU ({platform.machine()})"


def measured_with(model: str) -> str:
    """How the text above a table begins. tables.py knows the tables of one CPU by what stands before ": drng "."""
    newest = re.search(r"^## (Not released yet: )?([\d.]+)", CHANGELOG.read_text(encoding="utf-8"), re.MULTILINE)
    if newest is None:
        raise ValueError(f"{CHANGELOG}: no version")
    before = " before its release" if newest[1] else ""
    return f"{model}: drng {newest[2]}{before}, {datetime.now(UTC):%d %B %Y}"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in columns that line up, so that it reads as well in a terminal."""
    table = [list(header), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    table.insert(1, ["-" * width for width in widths])
    return "\n".join(f"| {' | '.join(map(str.ljust, row, widths))} |" for row in table)


def ns_text(ns: float) -> str:
    if ns >= 1e6:
        return f"{ns / 1e6:.2f} ms"
    return f"{ns / 1e3:.1f} us" if ns >= 1e4 else f"{ns:.0f} ns"


def size_text(size: str) -> str:
    number = int(size)
    return f"{number >> 20} MiB" if number >= 1 << 20 else f"{number >> 10} KiB" if number >= 1 << 10 else f"{size} B"


def figures(rows: Iterable[dict[str, Any]]) -> dict[Key, Figure]:
    """Of each name, from Google Benchmark's row for each repetition."""
    times: dict[Key, list[float]] = {}
    for row in rows:
        if row.get("error_occurred"):
            sys.exit(f"{row['name']}: {row['error_message']}")
        _, way, size = row["run_name"].split("/")
        times.setdefault((way, size), []).append(row["cpu_time"] * NS[row["time_unit"]])
    return {
        key: tuple(statistics.quantiles(t * 2 if len(t) == 1 else t, n=4, method="inclusive"))
        for key, t in times.items()
    }


def compared(above: Figure, below: Figure) -> str:
    spread = (above[2] / below[0] - above[0] / below[2]) / 2
    return f"{above[1] / below[1]:.2f} ±{spread:.2f}"


def request_table(found: dict[Key, Figure]) -> str:
    ways, sizes = {way for way, _ in found}, sorted({size for _, size in found}, key=int)

    def cell(way: str, size: str) -> str:
        own, base = found.get((way, size)), found.get((BASE, size))
        ratio = f", {compared(own, base)}" if own and base and way != BASE else ""
        return f"{ns_text(own[1])}{ratio}" if own else ""

    rows = [
        [way, *(cell(way, size) for size in sizes)]
        for way in sorted(ways, key=lambda way: (way != BASE, not way.startswith("drng"), way))
    ]
    return markdown(["time of a request", *map(size_text, sizes)], rows)


def peer_table(found: Sequence[dict[Key, Figure]]) -> str:
    def cell(file: int, way: str, size: str) -> str:
        own, base = found[file][way, size], found[file][BASE, size]
        return f"{own[1] / base[1]:.2f}" if way.startswith(("drng", "random_provider")) else ns_text(own[1])

    rows = [[name, *(cell(file, way, size) for size in PEER_SIZES)] for file, name, way in PEERS]
    return markdown(["time of a request", *map(size_text, PEER_SIZES)], rows)


def main() -> int:
    first, *more = map(Path, sys.argv[1:])
    read = [json.loads(path.read_text()) for path in (first, *more)]
    context, found = read[0]["context"], [figures(data["benchmarks"]) for data in read]
    load = f"{context['load_avg'][0]:.1f}" if context.get("load_avg") else "unknown"
    libraries = " and ".join(data["context"]["openssl"] for data in read)
    machine = f"{context['num_cpus']} CPUs, load average {load}; {libraries}; drng's AES: {context['aes']}."
    table = peer_table(found) if more else request_table(found[0])
    text = f"{measured_with(context['cpu'])}; {machine}\n\n{table}\n"
    print(text)
    (first.with_name("peers.md") if more else first.with_suffix(".md")).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
