#!/usr/bin/python3 -Es
# SPDX-License-Identifier: Apache-2.0
"""What a process costs with drng and without it: `openssl rand 16` from start to end, and a forked child's first draw.

For bench-docs.sh, once bench.sh has built: prints two tables, and leaves them in build/bench/startup.md. Each figure is
CPU time, in rounds in which each configuration has its turn; ratios are of one round. A fork is that of the smallest
server: its child ends at once.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from bench_report import cpu_model, markdown, measured_with

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"
ROUNDS = 200
OPENSSL = ["/usr/bin/openssl", "rand", "16"]
HEADER = ("openssl.cnf", "CPU time", "over none: median", "quartiles")
FORK_COST = BUILD / "tests" / "bench" / "fork_cost"
FORKS = 10  # in a row, of one configuration
FORK_HEADER = ("openssl.cnf", "fork", "a child's first draw", "over the fork: median", "quartiles", "its next draw")

# Lines in the provider's section of the strict profile.
WAYS = {
    "drng.cnf": "",
    "source = rdrand": "source = rdrand\n",
    "conditioner = hmac-sha256": "conditioner = hmac-sha256\n",
}


def configurations() -> dict[str, str]:
    """Name and path; without drng first."""
    profile = (ROOT / "conf" / "drng.cnf").read_text()
    paths = {"none": "/dev/null"}
    for number, (name, lines) in enumerate(WAYS.items()):
        path = BUILD / f"startup-{number}.cnf"
        path.write_text(profile.replace("[drng_sect]\n", f"[drng_sect]\n{lines}", 1))
        paths[name] = str(path)
    return paths


def cpu_ms(environment: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(OPENSSL, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def row(name: str, times: list[float], base: list[float]) -> list[str]:
    low, middle, high = statistics.quantiles([a / b for a, b in zip(times, base, strict=True)], n=4)
    return [name, f"{statistics.median(times):.2f} ms", f"{middle:.2f}", f"{low:.2f} to {high:.2f}"]


def forks(environment: Mapping[str, str]) -> list[list[float]]:
    """Of each fork: itself, the child's first draw, and its next one."""
    command = [str(FORK_COST), str(FORKS)]
    lines = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return [[float(us) for us in line.split()] for line in lines]


def fork_row(name: str, costs: list[list[float]]) -> list[str]:
    fork, first, following = (statistics.median(column) for column in zip(*costs, strict=True))
    low, middle, high = statistics.quantiles([cost[1] / cost[0] for cost in costs], n=4)
    figures = [f"{fork:.0f} us", f"{first:.0f} us", f"{middle:.2f}", f"{low:.2f} to {high:.2f}", f"{following:.1f} us"]
    return [name, *figures]


def main() -> int:
    modules = {**os.environ, "OPENSSL_MODULES": str(ROOT / "build" / "bench")}
    environments = {name: {**modules, "OPENSSL_CONF": path} for name, path in configurations().items()}
    rounds = [{name: cpu_ms(environment) for name, environment in environments.items()} for _ in range(ROUNDS)]
    base = [times["none"] for times in rounds]
    rows = [row(name, [times[name] for times in rounds], base) for name in environments]
    text = f"{measured_with(cpu_model())}; `openssl rand 16`.\n\n{markdown(HEADER, rows)}\n"
    turns = [{name: forks(environment) for name, environment in environments.items()} for _ in range(ROUNDS // FORKS)]
    rows = [fork_row(name, [cost for turn in turns for cost in turn[name]]) for name in environments]
    text += f"\n{markdown(FORK_HEADER, rows)}\n"
    print(text)
    (BUILD / "startup.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
