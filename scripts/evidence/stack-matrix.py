#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether anything secret stays on the stack, with every compiler here and every way to optimize and harden.

    scripts/evidence/stack-matrix.py            all of it, a quarter of an hour or more
    scripts/evidence/stack-matrix.py --short    each compiler as the module is released, and at both extremes

Builds tests/process/test_stack.c below build/stack-matrix and runs it. Prints a row for each build with the first thing
that was found. Ends with 0 when nothing was, 1 when something was, 77 where the test cannot run. What compiles with -O0
keeps every value on the stack, and is not looked at.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "stack-matrix"
SKIPPED = 77


@dataclass(frozen=True)
class Way:
    """One way to compile."""

    flags: str
    hardened: bool
    # CMake's. Debug compiles the kernels of AES as all else, and not with the -O3 of CMakeLists.txt.
    configuration: str = "None"

    def __str__(self) -> str:
        kernels = " kernels alike" if self.configuration == "Debug" else ""
        return f"{self.flags}{kernels}{' hardened' if self.hardened else ''}"


SHORT = (Way("-O2", True), Way("-O1", False), Way("-O3", False))
FLAGS = ("-O1", "-O2", "-O3", "-Os", "-O2 -march=native", "-O2 -flto", "-O2 -fno-omit-frame-pointer")
WHOLE = (
    *(Way(flags, hardened) for flags in FLAGS for hardened in (False, True)),
    *(Way("-O2", hardened, "Debug") for hardened in (False, True)),  # -O1 and -Os unroll too little for that
)


def compilers() -> list[str]:
    """Each gcc and clang in PATH once, whatever its names are."""
    found: dict[Path, str] = {}
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        names = sorted(p.name for p in Path(folder).glob("*") if re.fullmatch(r"(gcc|clang)(-\d+)?", p.name))
        for name in reversed(names):  # gcc-12 before gcc: the version says more
            found.setdefault((Path(folder) / name).resolve(), name)
    return sorted(found.values())


def run(*command: str | Path) -> None:
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} fails:\n{result.stdout}{result.stderr}")


def test(compiler: str, way: Way) -> tuple[int, str]:
    """The test's exit status, and what it found first."""
    build = BUILD / re.sub(r"[^\w.]+", "_", f"{compiler} {way}")
    options = {
        "CMAKE_C_COMPILER": compiler,
        "CMAKE_C_FLAGS": f"{way.flags} -DNDEBUG",
        "CMAKE_C_FLAGS_DEBUG": "",
        "CMAKE_BUILD_TYPE": way.configuration,
        "DRNG_HARDEN": "ON" if way.hardened else "OFF",
        "DRNG_TESTS": "ON",
    }
    run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *(f"-D{name}={value}" for name, value in options.items()))
    run("cmake", "--build", build, "--target", "process_stack")
    result = subprocess.run([build / "tests" / "process_stack"], capture_output=True, text=True, check=False)
    found = re.search(r"^ +\S+, AES-\d+, .*", result.stdout, re.MULTILINE)
    last = result.stdout.splitlines()[-1:] or [f"ended with {result.returncode}"]
    return result.returncode, "nothing" if result.returncode == 0 else found[0].strip() if found else last[0]


def main() -> int:
    if sys.argv[1:] not in ([], ["--short"]):
        sys.exit(__doc__)
    failed = False
    for compiler in compilers():
        for way in SHORT if sys.argv[1:] else WHOLE:
            status, said = test(compiler, way)
            if status == SKIPPED:
                print(said)
                return SKIPPED
            failed |= status != 0
            print(f"{f'{compiler} {way}':56} {said}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
