#!/usr/bin/python3 -Es
"""What eight fresh bytes cost: by RDRAND, and by the kernel's generator.

    bench_words.py [ROOT]    ROOT: a Debian in a directory, whose C library is used in the place of this machine's

Prints a table, and leaves it in build/bench/bench-words.md. All ways run in one process, in turns; the ratio's spread
is that between the quartiles of its runs. Nothing in ROOT is changed: its dynamic loader starts the program.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

from bench_report import cpu_model, markdown, ns_text

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"
PROGRAM = BUILD / "tests" / "bench" / "words"

WAYS = ("RDRAND", "getrandom() of the C library", "the system call")


def loader(root: str | None) -> list[str]:
    """What starts a program with the C library of that root."""
    if root is None:
        return []
    return [f"{root}/usr/lib64/ld-linux-x86-64.so.2", "--library-path", f"{root}/usr/lib/x86_64-linux-gnu"]


def library(start: list[str]) -> str:
    """The version of that C library, as its loader says it."""
    program = start[0] if start else "/lib64/ld-linux-x86-64.so.2"
    text = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return text.splitlines()[0].split()[-1].rstrip(".")


def row(runs: list[list[float]], way: int) -> list[str]:
    low, middle, high = statistics.quantiles((run[way] / run[0] for run in runs), n=4)
    return [WAYS[way], ns_text(statistics.median(run[way] for run in runs)), f"{middle:.2f} ±{(high - low) / 2:.2f}"]


def main() -> int:
    start = loader(sys.argv[1] if len(sys.argv) == 2 else None)
    subprocess.run([ROOT / "scripts" / "bench.sh", "--build"], check=True)
    output = subprocess.run([*start, PROGRAM], capture_output=True, text=True, check=True).stdout
    runs = [[float(number) for number in line.split()] for line in output.splitlines()]
    where = f"{cpu_model()}, Linux {platform.release()}, glibc {library(start)}, load average {os.getloadavg()[0]:.1f}."
    table = markdown(("a word by", "time", "time / RDRAND's"), (row(runs, way) for way in range(len(WAYS))))
    text = f"{where}\n\n{table}\n"
    print(text)
    (BUILD / "bench-words.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
