#!/usr/bin/python3 -Es
# SPDX-License-Identifier: Apache-2.0
"""Makes tables of what the benchmark measured.

    bench_report.py bench.json    prints the tables

The tables are left beside the JSON, in bench.md, from where scripts/evidence/tables.py takes them.
A figure is the median of its repetitions. The spread behind a ratio is half of (Q3 / reference Q1) -
(Q1 / reference Q3). Seeds and the requests of a single thread are timed by that thread's
CPU clock, which other load on the machine disturbs little; all else by the wall clock.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"
BASE = "CTR-DRBG"
NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
# The order of rows and legends; what is not named here comes after.
ORDER = (
    *("CTR-DRBG", "CTR-DRBG-evp", "HASH-DRBG", "HMAC-DRBG"),
    *("drng", "drng-mixing", "drng-evp"),
    *(
        "random_provider",
        "random_provider-mixing",
        "floor",
        "floor-evp",
        "random_provider-floor",
    ),
    *("getrandom", "getrandom-vdso", "AWS-LC", "libsodium", "libsodium-internal", "RDRAND", "RNDR", "AES-256-CTR"),
)
# Where threads are compared: a key's worth, and bulk.
THREAD_SIZES = (32, 1 << 16)


# ---- Figures ----


@dataclass(frozen=True)
class Key:
    """What was measured: bytes/WAY/SIZE, seed/INSTRUCTION/HOW, thread/WAY/WHAT or process/WAY."""

    group: str
    way: str
    what: str = ""
    threads: int = 1


@dataclass(frozen=True)
class Figure:
    """Median and quartiles of repetitions, in ns."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratio:
    """One figure over another."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ±{(self.high - self.low) / 2:.2f}"


def request_key(way: str, size: int, threads: int = 1) -> Key:
    return Key("bytes", way, str(size), threads)


def place(way: str) -> tuple[int, str]:
    return (ORDER.index(way) if way in ORDER else len(ORDER), way)


@dataclass(frozen=True)
class Report:
    """By both clocks; CPU time leaves out what other processes took."""

    context: Mapping[str, Any]
    cpu: dict[Key, Figure] = field(default_factory=dict)
    wall: dict[Key, Figure] = field(default_factory=dict)

    def ways(self) -> list[str]:
        """Those of the group `bytes`."""
        return sorted({key.way for key in self.wall if key.group == "bytes"}, key=place)

    def sizes(self) -> list[int]:
        return sorted({int(key.what) for key in self.wall if key.group == "bytes"})

    def thread_counts(self) -> list[int]:
        return sorted({key.threads for key in self.wall if key.group == "bytes"})


def figure(times: Sequence[float]) -> Figure:
    if len(times) == 1:
        return Figure(times[0], times[0], times[0])
    low, median, high = statistics.quantiles(times, n=4, method="inclusive")
    return Figure(median, low, high)


def ratio(above: Figure, below: Figure) -> Ratio:
    return Ratio(above.median / below.median, above.low / below.high, above.high / below.low)


def key_of(name: str, threads: int) -> Key:
    """Google Benchmark adds to a name how it was run: real_time, threads:2."""
    group, way, *rest = (part for part in name.split("/") if not part.endswith("_time") and ":" not in part)
    return Key(group, way, rest[0] if rest else "", threads)


def figures(rows: Iterable[Mapping[str, Any]], clock: str) -> dict[Key, Figure]:
    """From Google Benchmark's rows; its own aggregates are left aside."""
    times: dict[Key, list[float]] = {}
    for row in rows:
        if row["run_type"] != "iteration":
            continue
        if row.get("error_occurred"):
            raise ValueError(f"{row['name']}: {row['error_message']}")
        times.setdefault(key_of(row["run_name"], row["threads"]), []).append(float(row[clock]) * NS[row["time_unit"]])
    return {key: figure(values) for key, values in times.items()}


def report_of(data: Mapping[str, Any]) -> Report:
    rows = data["benchmarks"]
    return Report(data["context"], figures(rows, "cpu_time"), figures(rows, "real_time"))


def cpu_model(cpuinfo: str | None = None, machine: str = platform.machine()) -> str:
    """As the kernel names it: on x86-64 and RISC-V, on POWER, and on 64-bit Arm by number."""
    text = cpuinfo if cpuinfo is not None else Path("/proc/cpuinfo").read_text()
    fields = dict(re.findall(r"^([^\t:]+?)[ \t]*: *(.+)$", text, re.MULTILINE))
    for name in ("model name", "cpu", "uarch"):
        if name in fields:
            return fields[name]
    if "CPU part" in fields:
        return f"{machine}, implementer {fields['CPU implementer']}, part {fields['CPU part']}"
    return f"unknown CPU ({machine})"


def measured_with(model: str) -> str:
    """How the text above a table begins. tables.py knows the tables of one CPU by what stands before ": drng "."""
    newest = re.search(r"^## (Not released yet: )?([\d.]+)", CHANGELOG.read_text(encoding="utf-8"), re.MULTILINE)
    if newest is None:
        raise ValueError(f"{CHANGELOG}: no version")
    before = " before its release" if newest[1] else ""
    return f"{model}: drng {newest[2]}{before}, {datetime.now(UTC):%d %B %Y}"


# ---- Tables ----


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in columns that line up, so that it reads as well in a terminal."""
    table = [list(header), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    table.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in table
    )


def size_text(size: int) -> str:
    for unit, unit_size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= unit_size:
            return f"{size // unit_size} {unit}"
    return f"{size} B"


def ns_text(ns: float) -> str:
    if ns >= 1e6:
        return f"{ns / 1e6:.2f} ms"
    if ns >= 1e4:
        return f"{ns / 1e3:.1f} us"
    return f"{ns:.0f} ns"


def ratio_text(found: Mapping[Key, Figure], above: Key, below: Key) -> str:
    return str(ratio(found[above], found[below])) if above in found and below in found else ""


def request_cell(report: Report, way: str, size: int) -> str:
    """The time, and its ratio to the base's."""
    key, base = request_key(way, size), request_key(BASE, size)
    if key not in report.cpu:
        return ""
    compared = "" if way == BASE else ratio_text(report.cpu, key, base)
    return ", ".join(filter(None, (ns_text(report.cpu[key].median), compared)))


def request_table(report: Report) -> str:
    rows = [[way, *(request_cell(report, way, size) for size in report.sizes())] for way in report.ways()]
    return markdown(["time of a request", *map(size_text, report.sizes())], rows)


def thread_table(report: Report) -> str:
    """Google Benchmark divides the wall time by the requests of all threads: twice as fast is half the time."""
    columns = [(size, count) for size in THREAD_SIZES for count in report.thread_counts() if count > 1]
    rows = [
        [way, *(ratio_text(report.wall, request_key(way, size), request_key(way, size, n)) for size, n in columns)]
        for way in report.ways()
    ]
    header = [f"{size_text(size)}, {count} threads" for size, count in columns]
    return markdown(["rate / one thread's", *header], [row for row in rows if any(row[1:])])


def base_of(key: Key) -> Key:
    """What a seed, a thread or a process is compared with."""
    return Key(key.group, key.way, "back-to-back") if key.group == "seed" else Key(key.group, BASE, key.what)


def other_table(report: Report) -> str:
    rows = []
    for key in sorted(report.wall, key=lambda key: (key.group, key.what, place(key.way))):
        found = report.cpu if key.group == "seed" else report.wall
        base = base_of(key)
        if key.group == "bytes" or key == base or base not in found:
            continue
        name = " ".join(filter(None, (key.group, key.way, key.what)))
        base_name = base.what if key.group == "seed" else base.way
        times = (ns_text(found[key].median), f"{ns_text(found[base].median)} ({base_name})")
        rows.append([name, *times, str(ratio(found[key], found[base]))])
    return markdown(["what", "time", "compared with", "ratio"], rows) if rows else ""


def heading(report: Report) -> str:
    context = report.context
    load = f"{context['load_avg'][0]:.1f}" if context.get("load_avg") else "unknown"
    cpu = context["cpu"] if context["cpu"] != "unknown" else cpu_model()
    machine = f"{context['num_cpus']} CPUs, load average {load}"
    return f"{measured_with(cpu)}; {machine}; {context['openssl']}; drng's AES: {context['aes']}."


def tables(report: Report) -> str:
    parts = [heading(report)]
    if report.sizes():
        parts.append(request_table(report))
    if len(report.thread_counts()) > 1:
        parts.append(thread_table(report))
    return "\n\n".join(filter(None, [*parts, other_table(report)])) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("json", type=Path, help="what bench.sh left in build/bench")
    arguments = parser.parse_args()
    report = report_of(json.loads(arguments.json.read_text()))
    text = tables(report)
    print(text)
    arguments.json.with_suffix(".md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
