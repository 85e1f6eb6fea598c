#!/usr/bin/python3 -Es
"""What a call of random_bytes costs while 1 to 10,000 threads live that have drawn, and the memory that one takes.

Prints a table, and leaves it in build/bench/threads.md. random_bytes is OpenSSL 3.5's way to the provider; the program
calls it directly, so that any OpenSSL will do. Each figure is the median of three runs' medians, in CPU time of the
calling thread. Installs what it needs from Debian's packages (root).
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

from bench_report import cpu_model, markdown, ns_text

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"
PROGRAM = BUILD / "tests" / "bench" / "threads"

THREADS = (1, 10, 100, 1000, 10000)
RUNS = 3
HEADER = (
    "threads",
    "one library context",
    "two in turn",
    "two in turn, one remembered",
    "a thread's first call",
    "bytes a thread and context",
)
# With fewer, what they take lies in pages that were there before.
FEWEST_FOR_MEMORY = 100


def measure(threads: int) -> list[float]:
    result = subprocess.run([PROGRAM, str(threads)], capture_output=True, text=True, check=True)
    return [float(number) for number in result.stdout.split()[1:]]


def row(threads: int, runs: list[list[float]]) -> list[str]:
    *times, memory = (statistics.median(column) for column in zip(*runs, strict=True))
    shown = f"{memory:.0f}" if threads >= FEWEST_FOR_MEMORY else ""
    return [f"{threads:,}", *map(ns_text, times), shown]


def main() -> int:
    subprocess.run([ROOT / "scripts" / "bench.sh", "--build"], check=True)
    runs = {threads: [measure(threads) for _ in range(RUNS)] for threads in THREADS}
    rows = [row(threads, found) for threads, found in runs.items()]
    text = f"{cpu_model()}, 16 bytes a call.\n\n{markdown(HEADER, rows)}\n"
    print(text)
    (BUILD / "threads.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
