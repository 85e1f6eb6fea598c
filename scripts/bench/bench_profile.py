#!/usr/bin/python3 -Es
"""Where the time of a 32-byte request goes: instructions by function, counted by valgrind's callgrind.

    bench_profile.py                 prints a table: drng by function, the rest by file
    bench_profile.py --all           all by function

Leaves the table in build/bench/profile.md. Counted are many requests less fewer, so that neither start-up nor seeding
is in it. valgrind shows programs a CPU without VAES: the AES is AES-NI's. An instruction is no unit of time: RDRAND is
one of them. Installs what it needs from Debian's packages (root).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench_report import markdown

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"

SIZE = 32
FEW, MANY = 1000, 2000

# Column, and what stands in drng's section. With RDSEED or the fallback the seeds of every run take the same path; one
# from RDRAND has a limit in time, which valgrind may exceed or not.
PROFILES = {
    "built-in": None,
    "drng": "source = rdseed\nrequest_mixing = no\n",
    "with request mixing": "source = rdseed\nrequest_mixing = yes\n",
}


@dataclass(frozen=True)
class Function:
    """A function of an object file; name "" where the file is stripped."""

    object: str
    name: str


def self_costs(lines: Iterable[str]) -> Counter[Function]:
    """Instructions of each function itself, from callgrind's output without compression."""
    costs: Counter[Function] = Counter()
    object_ = name = ""
    after_call = False
    for line in lines:
        key, _, value = line.rstrip("\n").partition("=")
        if key == "ob":
            object_ = Path(value).name.replace("???", "(unknown)")
        elif key == "fn":
            name = "" if value.startswith("0x") or value == "???" else value.removesuffix("'2")
        elif key == "calls":
            after_call = True  # the next line is what the callee cost
        elif line[:1].isdigit():
            if not after_call:
                costs[Function(object_, name)] += int(line.split()[1])
            after_call = False
    return costs


def run(keys: str | None, count: int) -> Counter[Function]:
    with tempfile.TemporaryDirectory() as directory:
        config, out = Path(directory) / "openssl.cnf", Path(directory) / "callgrind.out"
        config.write_text("" if keys is None else f".include {ROOT}/conf/drng.cnf\n[drng_sect]\n{keys}")
        options = [f"--callgrind-out-file={out}", "--compress-strings=no", "--compress-pos=no", "--quiet"]
        program = str(BUILD / "tests" / "bench" / "requests")
        environment = {**os.environ, "OPENSSL_CONF": str(config), "OPENSSL_MODULES": str(BUILD)}
        command = ["valgrind", "--tool=callgrind", *options, program, str(SIZE), str(count)]
        subprocess.run(command, env=environment, check=True)
        return self_costs(out.read_text().splitlines())


def per_request(keys: str | None) -> dict[Function, float]:
    few, many = run(keys, FEW), run(keys, MANY)
    return {function: (many[function] - few[function]) / (MANY - FEW) for function in many}


def by_file(profile: dict[Function, float]) -> dict[Function, float]:
    """One row for each file but drng's own."""
    costs: Counter[Function] = Counter()
    for function, cost in profile.items():
        costs[function if function.object == "drng.so" else Function(function.object, "")] += cost
    return dict(costs)


def table(profiles: dict[str, dict[Function, float]]) -> str:
    """What takes a whole instruction of a request, the dearest first."""
    functions = {f for profile in profiles.values() for f, cost in profile.items() if cost >= 1}
    order = sorted(functions, key=lambda f: (-max(profile.get(f, 0) for profile in profiles.values()), f.name))
    rows = []
    for function in order:
        costs = [profile.get(function, 0) for profile in profiles.values()]
        rows.append([function.object, function.name, *(f"{cost:.0f}" if cost >= 1 else "" for cost in costs)])
    totals = [f"{sum(profile.values()):.0f}" for profile in profiles.values()]
    return markdown(["file", "function", *profiles], [*rows, ["all", "", *totals]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="every file by function")
    arguments = parser.parse_args()
    subprocess.run([ROOT / "scripts" / "bench.sh", "--build"], check=True)
    profiles = {name: per_request(keys) for name, keys in PROFILES.items()}
    text = table(profiles if arguments.all else {name: by_file(profile) for name, profile in profiles.items()}) + "\n"
    print(text)
    (BUILD / "profile.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
