#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much of drng a draw of 32 bytes enters: functions, the files that define them, and how deep they are nested.

    entered.py            the figures of this tree; the exit status is 1 where docs/develop/architecture.md says less
    entered.py --list     which functions, each below its caller, with the line where it begins

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

import re
import sys
from collections.abc import Sequence

from common import ROOT, run, table

BUILD = ROOT / "build" / "entered"
PAGE = ROOT / "docs" / "develop" / "architecture.md"

# addr2line of binutils 2.40 takes the functions of headers for those of the file that includes them, in DWARF 5.
FLAGS = "-O0 -fno-inline -finstrument-functions -gdwarf-4"
NO_VAES = ":~0x20000000000"  # of OPENSSL_ia32cap
DRAWS = {"warm": "a 32-byte `RAND_bytes`", "child": "the first after a fork"}

Trace = list[tuple[int, str, str]]  # how deep a function was entered, its name, and its file with the line


def build() -> None:
    """Debug, since the kernels of AES are compiled with -O3 in every other configuration."""
    options = {"CMAKE_BUILD_TYPE": "Debug", "DRNG_HARDEN": "OFF", "DRNG_TESTS": "OFF", "CMAKE_C_COMPILER": "gcc"}
    settings = [f"-D{name}={value}" for name, value in {**options, "CMAKE_C_FLAGS": FLAGS}.items()]
    run("cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", *settings)
    run("cmake", "--build", BUILD, "--target", "drng")
    source = ROOT / "tests" / "programs" / "entered.c"
    run("gcc", "-std=c11", "-O2", "-Wall", "-rdynamic", source, "-o", BUILD / "entered", "-lcrypto")


def functions_at(offsets: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Two lines for each offset: the name, and the file with its line."""
    said = run("addr2line", "-f", "-e", BUILD / "drng.so", text="\n".join(offsets)).splitlines()
    places = [place.partition(" (")[0].removeprefix(f"{ROOT}/") for place in said[1::2]]
    return dict(zip(offsets, zip(said[::2], places, strict=True), strict=True))


def traces() -> dict[str, Trace]:
    """Of each draw the one that enters the fewest functions."""
    text = (ROOT / "conf" / "drng.cnf").read_text(encoding="utf-8")
    settings = "\n[drng_sect]\nrequest_mixing = yes\nsource = rdrand\n"
    (BUILD / "drng.cnf").write_text(text.replace("\n[drng_sect]\n", settings), encoding="utf-8")
    env = {"OPENSSL_CONF": str(BUILD / "drng.cnf"), "OPENSSL_MODULES": str(BUILD), "OPENSSL_ia32cap": NO_VAES}
    said = [line.split() for line in run(BUILD / "entered", **env).splitlines()]
    known = functions_at(sorted({words[1] for words in said if len(words) > 1}))
    found: dict[str, list[Trace]] = {draw: [] for draw in DRAWS}
    for words in said:
        if len(words) == 1:
            trace: Trace = []
            found[words[0]].append(trace)
        else:
            trace.append((int(words[0]), *known[words[1]]))
    return {draw: min(each, key=figures) for draw, each in found.items()}


def figures(trace: Trace) -> tuple[int, int, int]:
    functions = {(name, place) for _, name, place in trace}
    return len(functions), len({place.partition(":")[0] for _, place in functions}), max(depth for depth, *_ in trace)


def listed(trace: Trace) -> list[str]:
    """In the order of time, those that follow each other once."""
    lines = [f"{'  ' * (depth - 1)}{name}  {place}" for depth, name, place in trace]
    return [line for number, line in enumerate(lines) if number == 0 or line != lines[number - 1]]


def understates(row: Sequence[str]) -> bool:
    """Whether the page says less."""
    said = re.search(rf"^\| {row[0]} \| (\d+) \| (\d+) \| (\d+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return said is None or any(int(old) < int(new) for old, new in zip(said.groups(), row[1:], strict=True))


def main(arguments: Sequence[str]) -> int:
    if list(arguments) not in ([], ["--list"]):
        sys.exit(__doc__)
    build()
    measured = traces()
    if arguments:
        for draw, title in DRAWS.items():
            print(f"{title.replace('`', '')}:", *listed(measured[draw]), sep="\n", end="\n\n")
        return 0
    rows = [(title, *map(str, figures(measured[draw]))) for draw, title in DRAWS.items()]
    text = table(("measured", "functions", "files", "deep"), rows)
    print(text)
    (BUILD / "entered.md").write_text(text + "\n", encoding="utf-8")
    return 1 if any(understates(row) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
