#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much of drng a draw of 32 bytes enters: functions, the files that define them, and how deep they are nested.

    scripts/evidence/entered.py            the figures of this tree
    scripts/evidence/entered.py --list     which functions, each below its caller, with the line where it begins

Builds the module below build/entered with `-O0 -fno-inline -finstrument-functions`, so that inlined functions count
too, and tests/programs/entered.c, which draws under the strict profile: in a process that has drawn before, and as the
first in a child. Leaves the table of docs/develop/architecture.md there for tables.py. Needs gcc, binutils, cmake,
ninja-build, pkg-config and libssl-dev.

Every request takes in a word, as `auto` has it in a virtual machine without a clock device. Words that an instruction
does not give at once are asked for again: of many draws, that with the fewest functions counts. VAES is masked and
RDRAND makes the seeds, so that CPUs with VAES or RDSEED and without take the same way. Other figures come from a CPU
without AES-NI, and from a machine with a clock device, which is then watched.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import markdown_table

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "entered"
MODULE = BUILD / "drng.so"
PROGRAM = BUILD / "entered"
SOURCE = ROOT / "tests" / "programs" / "entered.c"
TABLE = BUILD / "entered.md"

# addr2line of binutils 2.40 takes the functions of headers for those of the file that includes them, in DWARF 5.
FLAGS = "-O0 -fno-inline -finstrument-functions -gdwarf-4"
NO_VAES = ":~0x20000000000"  # of OPENSSL_ia32cap


@dataclass(frozen=True)
class Figures:
    """Of one draw."""

    functions: int
    files: int
    deep: int


DRAWS = {"warm": "a 32-byte `RAND_bytes`", "child": "the first after a fork"}


@dataclass(frozen=True)
class Function:
    """Of drng, as addr2line names it; those of one name in several files are several."""

    name: str
    file: str  # from the root of the tree
    line: str


@dataclass(frozen=True)
class Entry:
    """A function that was entered, in the order of time."""

    depth: int  # 1 where libcrypto or fork() called it
    function: Function


Trace = list[Entry]


# ---- Building and tracing ----


def run(command: Sequence[str | Path], env: dict[str, str] | None = None, text: str = "") -> str:
    try:
        result = subprocess.run(command, cwd=ROOT, env=env, input=text, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit(f"{command[0]} is not installed")
    if result.returncode != 0:
        said = result.stdout + result.stderr
        sys.exit(f"{' '.join(map(str, command))} ended with {result.returncode}:\n{said}")
    return result.stdout


def build() -> None:
    """Debug, since the kernels of AES are compiled with -O3 in every other configuration."""
    settings = [
        "-DCMAKE_BUILD_TYPE=Debug",
        "-DDRNG_HARDEN=OFF",
        "-DDRNG_TESTS=OFF",
        "-DCMAKE_C_COMPILER=gcc",
        f"-DCMAKE_C_FLAGS={FLAGS}",
    ]
    run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", *settings])
    run(["cmake", "--build", BUILD, "--target", "drng"])
    run(["gcc", "-std=c11", "-O2", "-Wall", "-rdynamic", SOURCE, "-o", PROGRAM, "-lcrypto"])


def configuration() -> Path:
    """The strict profile; request_mixing = yes, whatever this machine is."""
    text = (ROOT / "conf" / "drng.cnf").read_text(encoding="utf-8")
    settings = "[drng_sect]\nrequest_mixing = yes\nsource = rdrand"
    text, count = re.subn(r"^\[drng_sect\]$", settings, text, flags=re.MULTILINE)
    if count != 1:
        sys.exit("conf/drng.cnf has not the line: [drng_sect]")
    path = BUILD / "drng.cnf"
    path.write_text(text, encoding="utf-8")
    return path


def functions_at(offsets: Sequence[str]) -> dict[str, Function]:
    """Two lines for each offset: the name, and the file with its line."""
    said = run(["addr2line", "-f", "-e", MODULE], text="\n".join(offsets)).splitlines()
    found: dict[str, Function] = {}
    for offset, name, place in zip(offsets, said[::2], said[1::2], strict=True):
        file, _, line = place.partition(" (")[0].rpartition(":")
        if not Path(file).is_relative_to(ROOT):
            sys.exit(f"{MODULE} has {name} at {offset}, in no file of this tree: {place}")
        found[offset] = Function(name, str(Path(file).resolve().relative_to(ROOT)), line)
    return found


def traces() -> dict[str, Trace]:
    """Of each draw the one that enters the fewest functions."""
    own = {key: value for key, value in os.environ.items() if not key.startswith(("OPENSSL_", "LD_PRELOAD"))}
    env = {**own, "OPENSSL_CONF": str(configuration()), "OPENSSL_MODULES": str(BUILD), "OPENSSL_ia32cap": NO_VAES}
    said = [line.split() for line in run([PROGRAM], env).splitlines()]
    known = functions_at(sorted({words[1] for words in said if len(words) > 1}))
    found: dict[str, list[Trace]] = {draw: [] for draw in DRAWS}
    for words in said:
        if len(words) == 1:
            trace: Trace = []
            found[words[0]].append(trace)
        else:
            trace.append(Entry(int(words[0]), known[words[1]]))
    return {draw: min(each, key=lambda trace: figures(trace).functions) for draw, each in found.items()}


def figures(trace: Trace) -> Figures:
    functions = {entry.function for entry in trace}
    files = {function.file for function in functions}
    return Figures(len(functions), len(files), max((entry.depth for entry in trace), default=0))


# ---- What is printed ----


def tree(trace: Trace) -> list[str]:
    """Each function once below each chain of callers, and how often it was entered there."""
    counts: dict[tuple[Function, ...], int] = {}
    below: dict[tuple[Function, ...], list[tuple[Function, ...]]] = {(): []}
    chain: tuple[Function, ...] = ()
    for entry in trace:
        caller = chain[: entry.depth - 1]
        chain = (*caller, entry.function)
        if chain not in counts:
            counts[chain] = 0
            below[caller].append(chain)
            below[chain] = []
        counts[chain] += 1

    printed: list[str] = []
    waiting = below[()][::-1]
    while waiting:
        chain = waiting.pop()
        function, times = chain[-1], counts[chain]
        often = f"  x{times}" if times > 1 else ""
        printed.append(f"{'  ' * (len(chain) - 1)}{function.name}  {function.file}:{function.line}{often}")
        waiting += below[chain][::-1]
    return printed


def table(measured: dict[str, Trace]) -> str:
    found = [(title, figures(measured[draw])) for draw, title in DRAWS.items()]
    rows = [(title, str(each.functions), str(each.files), str(each.deep)) for title, each in found]
    return markdown_table.table(("measured", "functions", "files", "deep"), rows) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the functions")
    args = parser.parse_args()
    build()
    measured = traces()
    TABLE.write_text(table(measured), encoding="utf-8")
    if args.list:
        for draw, title in DRAWS.items():
            print(f"{title.replace('`', '')}:", *tree(measured[draw]), sep="\n", end="\n\n")
    else:
        print(table(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main())
