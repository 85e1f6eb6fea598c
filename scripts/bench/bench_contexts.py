#!/usr/bin/python3 -Es
"""What a generator costs in time and memory while 1 to 100,000 of them live in one process.

    bench_contexts.py [--quick]     --quick: up to 1,000

Each is a CTR-DRBG with AES-256 of its own under libcrypto's primary: OpenSSL's, drng's, and drng's with `batch = yes`.
Times are CPU time; the draw is of 16 bytes, from each generator in turn, so that with many of them it waits for memory.
Prints a table, and leaves it in build/bench/contexts.md. Each figure is the median of the runs. Installs what it needs
from Debian's packages (root).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

from bench_report import cpu_model, markdown, ns_text

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"
PROGRAM = BUILD / "tests" / "bench" / "contexts"
CONF = BUILD / "tests" / "bench" / "conf"

COUNTS = (1, 10, 100, 1000, 10000, 100000)
RUNS = 3
# The name of the row: the provider, and the environment's openssl.cnf.
WAYS = {
    "built-in": ("default", Path("/dev/null")),
    "drng": ("drng", CONF / "drng.cnf"),
    "drng, batch": ("drng", CONF / "drng-batch.cnf"),
}
HEADER = ("generators", "of", "make and draw once", "a draw", "free", "bytes each", "locked of these")
# Fewer generators than a page or two of them share memory with what was there before: no figure.
FEWEST_FOR_MEMORY = 1000


def parse(line: str) -> list[float]:
    """Nanoseconds to make, draw and free; bytes, and bytes that are locked."""
    return [float(word) for word in line.split()]


def measure(way: str, count: int) -> list[float]:
    provider, config = WAYS[way]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENSSL_")}
    environment |= {"OPENSSL_CONF": str(config), "OPENSSL_MODULES": str(BUILD)}
    command = [str(PROGRAM), provider, str(count)]
    return parse(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def row(way: str, count: int, runs: list[list[float]]) -> list[str]:
    *times, memory, locked = (statistics.median(column) for column in zip(*runs, strict=True))
    shown = [f"{memory:.0f}", f"{locked:.0f}"] if count >= FEWEST_FOR_MEMORY else ["", ""]
    return [f"{count:,}", way, *map(ns_text, times), *shown]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 1,000")
    arguments = parser.parse_args()
    subprocess.run([ROOT / "scripts" / "bench.sh", "--build"], check=True)
    load = os.getloadavg()[0]
    counts = [count for count in COUNTS if not arguments.quick or count <= 1000]
    rows = [row(way, count, [measure(way, count) for _ in range(RUNS)]) for count in counts for way in WAYS]
    text = f"{cpu_model()}, load average {load:.1f} before.\n\n{markdown(HEADER, rows)}\n"
    print(text)
    (BUILD / "contexts.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
