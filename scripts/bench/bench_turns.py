#!/usr/bin/python3 -Es
"""Long requests, and the first draw of forked children, with drng and without it.

    bench_turns.py [--rounds N]

Prints the CPU time of RAND_bytes over that with OpenSSL's own generator: of requests of 1, 16 and 64 KiB for each way
of AES, and of the first draw of a child while 1, 100 and 1,000 children live, without and with mixing. Each
configuration has its turn in each round, in a process of its own; a ratio is of one round. Median, and the quartiles in
brackets.
OPENSSL_MODULES says which module; where it is not set, that of build/release.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from bench_report import cpu_model

ROOT = Path(__file__).resolve().parents[2]
LENGTHS = ("1024", "16384", "65536")
CHILDREN = ("1", "100", "1000")
# OPENSSL_ia32cap without VAES, without AVX-512, and as it is.
MASKS = {"AES-NI": ":~0x20000000000", "VAES-256": ":~0x10000", "all the CPU has": ""}


def draw(libcrypto: ctypes.CDLL, buffer: ctypes.Array[ctypes.c_char], times: int = 1) -> int:
    """Nanoseconds of CPU time."""
    length, drawn = len(buffer), 0
    before = time.process_time_ns()
    for _ in range(times):
        drawn += libcrypto.RAND_bytes(buffer, length)
    after = time.process_time_ns()
    if drawn != times:
        sys.exit("RAND_bytes failed")
    return after - before


def requests(length: int) -> float:
    libcrypto, buffer = ctypes.CDLL("libcrypto.so.3"), ctypes.create_string_buffer(length)
    return statistics.median(draw(libcrypto, buffer, 32) for _ in range(40))


def children(number: int) -> float:
    """The median over these children, each of which lives until the last one has drawn."""
    libcrypto, buffer = ctypes.CDLL("libcrypto.so.3"), ctypes.create_string_buffer(16)
    draw(libcrypto, buffer)
    (times, told), (wait, go) = os.pipe(), os.pipe()
    taken = []
    for _ in range(number):
        if os.fork() == 0:
            os.close(go)
            os.write(told, draw(libcrypto, buffer).to_bytes(8, "little"))
            os.read(wait, 1)
            os._exit(0)
        taken.append(int.from_bytes(os.read(times, 8), "little"))
    os.close(go)
    for _ in taken:
        os.wait()
    return statistics.median(taken)


def figure(what: str, number: str, environment: Mapping[str, str]) -> float:
    result = subprocess.run(
        [sys.executable, "-Es", __file__, "--measure", what, number],
        env={"OPENSSL_MODULES": str(ROOT / "build" / "release"), **os.environ, **environment},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return float(result.stdout)


def cell(what: str, number: str, conf: str, rounds: int, mask: str) -> str:
    cap = {"OPENSSL_ia32cap": mask} if mask else {}
    ratios = []
    for _ in range(rounds):
        theirs = figure(what, number, {**cap, "OPENSSL_CONF": "/dev/null"})
        ratios.append(figure(what, number, {**cap, "OPENSSL_CONF": conf}) / theirs)
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"


def main() -> int:
    parser = argparse.ArgumentParser(description="Long requests and first draws of children, beside OpenSSL's own.")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        what, number = arguments.measure
        print({"requests": requests, "children": children}[what](int(number)))
        return 0
    profile = (ROOT / "conf" / "drng.cnf").read_text()
    with tempfile.TemporaryDirectory() as folder:
        mixed = Path(folder, "mixed.cnf")
        mixed.write_text(profile.replace("\n[drng_sect]\n", "\n[drng_sect]\nrequest_mixing = yes\n"))
        print(cpu_model(Path("/proc/cpuinfo").read_text(), os.uname().machine))
        for name, mask in MASKS.items():
            cells = [cell("requests", n, str(ROOT / "conf" / "drng.cnf"), arguments.rounds, mask) for n in LENGTHS]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
        for number in CHILDREN:
            cells = [
                cell("children", number, str(c), arguments.rounds, "") for c in (ROOT / "conf" / "drng.cnf", mixed)
            ]
            print(f"| {number} children | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
