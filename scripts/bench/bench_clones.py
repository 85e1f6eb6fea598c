#!/usr/bin/python3 -Es
"""What protection from copies of a virtual machine costs a request.

Prints a table, and leaves it in build/bench/bench-clones.md: the request without protection, with a clock device that is
watched, with a word of RDRAND, and with the kernel's bytes and the time, in turns in one process. The ratio's spread is
that between the quartiles of its runs. The device is a page that the program makes; reading it costs what reading the
real one costs. Installs what it needs from Debian's packages (root).
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

from bench_report import cpu_model, markdown, ns_text, size_text

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"
PROGRAM = BUILD / "tests" / "bench" / "clones"

LENGTHS = (16, 32, 64, 256, 1024, 16384)
WAYS = ("none", "counter", "instruction", "kernel")
HEADER = ("clone-protection", *map(size_text, LENGTHS))


def measure(length: int) -> list[list[float]]:
    """The ways' times, run by run."""
    result = subprocess.run([PROGRAM, str(length)], capture_output=True, text=True, check=True)
    return [[float(number) for number in line.split()] for line in result.stdout.splitlines()]


def cell(runs: list[list[float]], way: int) -> str:
    """The time without protection, or the ratio to it in the same run."""
    if way == 0:
        return ns_text(statistics.median(run[0] for run in runs))
    ratios = [run[way] / run[0] for run in runs]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.2f} ±{(high - low) / 2:.2f}"


def main() -> int:
    subprocess.run([ROOT / "scripts" / "bench.sh", "--build"], check=True)
    found = {length: measure(length) for length in LENGTHS}
    rows = [[name, *(cell(found[length], way) for length in LENGTHS)] for way, name in enumerate(WAYS)]
    text = f"{cpu_model()}\n\n{markdown(HEADER, rows)}\n"
    print(text)
    (BUILD / "bench-clones.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
