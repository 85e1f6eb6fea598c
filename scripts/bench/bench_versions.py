#!/usr/bin/python3 -Es
# SPDX-License-Identifier: Apache-2.0
"""RAND_bytes on each OpenSSL that is there, and the first byte of a process, with drng and without it.

    bench_versions.py [ROOT...]            this Debian's libcrypto, and that of each ROOT: a folder with another Debian,
                                           made by scripts/ci/chroot.sh (trixie has 3.5; experimental has 4.0)
    bench_versions.py --quick [ROOT...]    fewer rounds: a look

Each process draws under one openssl.cnf and measures itself, in CPU time; the configurations take turns, by rounds. A
ratio is that of one round to OpenSSL's own generator under the same libcrypto. Prints two tables, and leaves them in
build/bench/versions.md and first-byte.md. Installs what it needs from Debian's packages (root).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_report import cpu_model, markdown, measured_with, ns_text, size_text

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = REPOSITORY / "build" / "bench"
PROGRAM = BUILD / "tests" / "bench" / "rand_bytes"
CONF = BUILD / "tests" / "bench" / "conf"

SIZES = (32, 256, 1024)
BASE = "built-in"
# By the name of the row; what needs OpenSSL 3.5 says so.
WAYS = {
    BASE: Path("/dev/null"),
    "drng": CONF / "drng.cnf",
    "drng, mixing": CONF / "drng-mixing.cnf",
    "random_provider": CONF / "random-provider.cnf",
    "random_provider, mixing": CONF / "random-provider-mixing.cnf",
    # Generators that fill nothing: the cost of libcrypto itself.
    "floor": CONF / "floor.cnf",
    "random_provider, floor": CONF / "random-provider-floor.cnf",
}
SINCE_3_5 = "random_provider"
# A word in each request does not change when the first byte comes.
FIRST_WAYS = (BASE, "drng", SINCE_3_5)


@dataclass(frozen=True)
class Libcrypto:
    """One that programs can be started with: its loader, or none, and its name."""

    version: str
    soname: str
    loader: tuple[str, ...]

    def has(self, way: str) -> bool:
        major, minor = (int(number) for number in self.version.split(".")[:2])
        return not way.startswith(SINCE_3_5) or (major, minor) >= (3, 5)


@dataclass(frozen=True)
class Run:
    """Of one process, in nanoseconds; the wall time is from before the process was started."""

    first_wall: float
    first_cpu: float
    requests: tuple[float, ...]


def parse(line: str, begun: float) -> Run:
    wall, cpu, *requests = (float(word) for word in line.split())
    return Run(wall - begun, cpu, tuple(requests))


def loader_of(root: Path) -> tuple[str, ...]:
    return (str(root / "lib64/ld-linux-x86-64.so.2"), "--library-path", str(root / "usr/lib/x86_64-linux-gnu"))


def libcrypto_in(root: Path | None) -> Libcrypto:
    """The newest in this folder; None: this system's."""
    folder = (root or Path("/")) / "usr/lib/x86_64-linux-gnu"
    for soname in ("libcrypto.so.4", "libcrypto.so.3"):
        if (folder / soname).exists():
            return Libcrypto(version_of(folder / soname), soname, loader_of(root) if root else ())
    raise FileNotFoundError(f"{folder} has no libcrypto: install libssl3t64 or its like there")


def version_of(library: Path) -> str:
    """From the text of its version, which each libcrypto has in it: OpenSSL 3.5.7 9 Jun 2026."""
    found = {
        text.split(b" ")[1].decode()
        for text in library.read_bytes().split(b"\0")
        if text.startswith(b"OpenSSL ") and text.split(b" ")[1][:1].isdigit()
    }
    if len(found) != 1:
        raise ValueError(f"{library}: no version, or several: {', '.join(sorted(found))}")
    return found.pop()


def run(libcrypto: Libcrypto, config: Path, count: int, sizes: Sequence[int]) -> Run:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OPENSSL_", "LD_"))}
    environment |= {"OPENSSL_CONF": str(config), "OPENSSL_MODULES": str(BUILD)}
    command = [*libcrypto.loader, str(PROGRAM), libcrypto.soname, str(count), *map(str, sizes)]
    begun = time.monotonic_ns()
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return parse(result.stdout, begun)


def measure(
    libcrypto: Libcrypto, among: Iterable[str], rounds: int, count: int, sizes: Sequence[int]
) -> dict[str, list[Run]]:
    """By way. Each comes first as often as the others."""
    ways = [way for way in among if libcrypto.has(way)]
    found: dict[str, list[Run]] = {way: [] for way in ways}
    for number in range(rounds):
        turn = number % len(ways)
        for way in ways[turn:] + ways[:turn]:
            found[way].append(run(libcrypto, WAYS[way], count, sizes))
    return found


def ratio_text(values: Sequence[float], base: Sequence[float]) -> str:
    """Of rounds: the median, and half of what lies between the quartiles."""
    ratios = [value / other for value, other in zip(values, base, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return f"{middle:.2f} ±{(high - low) / 2:.2f}"


def cell(values: Sequence[float], base: Sequence[float] | None) -> str:
    text = ns_text(statistics.median(values))
    return text if base is None else f"{text}, {ratio_text(values, base)}"


def request_rows(version: str, found: dict[str, list[Run]]) -> list[list[str]]:
    rows = []
    for way, runs in found.items():
        base = None if way == BASE else found[BASE]
        columns = zip(*(r.requests for r in runs), strict=True)
        bases = [None] * len(runs[0].requests) if base is None else list(zip(*(r.requests for r in base), strict=True))
        rows.append([version, way, *(cell(times, other) for times, other in zip(columns, bases, strict=True))])
    return rows


def first_rows(version: str, found: dict[str, list[Run]]) -> list[list[str]]:
    rows = []
    for way, runs in found.items():
        base = None if way == BASE else found[BASE]
        cpu = cell([r.first_cpu for r in runs], base and [r.first_cpu for r in base])
        wall = cell([r.first_wall for r in runs], base and [r.first_wall for r in base])
        rows.append([version, way, cpu, wall])
    return rows


def leave(name: str, load: float, header: Sequence[str], rows: list[list[str]]) -> None:
    machine = f"{measured_with(cpu_model())}; {os.cpu_count()} CPUs, load average {load:.1f} before"
    text = f"{machine}.\n\n{markdown(header, rows)}\n"
    print(text)
    (BUILD / f"{name}.md").write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a look")
    parser.add_argument("roots", nargs="*", type=Path, metavar="ROOT")
    arguments = parser.parse_args()
    subprocess.run([REPOSITORY / "scripts" / "bench.sh", "--build"], check=True)
    rounds, starts, count = (5, 10, 2000) if arguments.quick else (15, 100, 20000)
    load = os.getloadavg()[0]
    requests, firsts = [], []
    for root in (None, *arguments.roots):
        libcrypto = libcrypto_in(root and root.resolve())
        requests += request_rows(libcrypto.version, measure(libcrypto, WAYS, rounds, count, SIZES))
        firsts += first_rows(libcrypto.version, measure(libcrypto, FIRST_WAYS, starts, 1, SIZES[:1]))
    leave("versions", load, ("OpenSSL", "RAND_bytes of", *map(size_text, SIZES)), requests)
    leave("first-byte", load, ("OpenSSL", "first byte of", "CPU time", "since the process was started"), firsts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
