#!/usr/bin/python3 -Es
"""What a seed costs by each claim that its words can be counted by.

Prints a table, and leaves it in build/bench/bench-claims.md: a seed of 384 bits from this CPU's RDSEED, with as many
words as drng's design asks for and as each maker's certificate does, in turns in one process, kernel bytes included.
The ratio's spread is that between the quartiles of its runs. Installs what it needs from Debian's packages (root).
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

from bench_report import cpu_model, markdown

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"
PROGRAM = BUILD / "tests" / "bench" / "claims"

HEADER = (
    "words counted by",
    "words in a window",
    "a seed of 384 bits",
    "ratio to the design",
    "seeds that came in time",
)


def measure() -> tuple[list[tuple[str, int]], list[list[float | None]]]:
    """The ways and their windows; the times in ns, run by run, None where RDSEED was too slow."""
    result = subprocess.run([PROGRAM], capture_output=True, text=True, check=True)
    first, *lines = result.stdout.splitlines()
    ways = [(name, int(words)) for name, words in (way.split(":") for way in first.split())]
    return ways, [[None if cell == "-" else float(cell) for cell in line.split()] for line in lines]


def row(ways: list[tuple[str, int]], runs: list[list[float | None]], way: int) -> list[str]:
    name, words = ways[way]
    times = [run[way] for run in runs]
    came = [time for time in times if time is not None]
    ratios = [run[way] / run[0] for run in runs if run[0] is not None and run[way] is not None]
    counted = "design" if way == 0 else f"{name}'s certificates"
    if len(ratios) < 2:
        return [counted, f"{words}", "-", "-", f"{len(came)} of {len(times)}"]
    low, middle, high = statistics.quantiles(ratios, n=4)
    ratio = "1" if way == 0 else f"{middle:.2f} ±{(high - low) / 2:.2f}"
    return [counted, f"{words}", f"{statistics.median(came) / 1000:.1f} µs", ratio, f"{len(came)} of {len(times)}"]


def main() -> int:
    subprocess.run([ROOT / "scripts" / "bench.sh", "--build"], check=True)
    ways, runs = measure()
    text = f"{cpu_model()}\n\n{markdown(HEADER, [row(ways, runs, way) for way in range(len(ways))])}\n"
    print(text)
    (BUILD / "bench-claims.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
