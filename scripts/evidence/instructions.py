#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many instructions of drng.so a load executes, and a draw of 16 and of 32 bytes, with and without request mixing.

    scripts/evidence/instructions.py                  the figures of this tree
    scripts/evidence/instructions.py --list load      in which functions: of what has this text in its name
    scripts/evidence/instructions.py --check          the exit status is 1 where one is above what MOST allows
    scripts/evidence/instructions.py --module PATH    of a module that is built already

Builds the release module, and tests/programs/instructions.c, which callgrind counts. Valgrind's CPU has AES-NI and no
VAES where the machine has AES-NI; elsewhere the exit status is 77. Needs gcc, binutils, cmake, ninja-build, pkg-config,
libssl-dev and valgrind.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import markdown_table

ROOT = Path(__file__).resolve().parents[2]
MODULE = ROOT / "build" / "release" / "drng.so"
SOURCE = ROOT / "tests" / "programs" / "instructions.c"

MIXING = {"no": "", "yes": ", mixing"}  # request_mixing, and what its draws are called
DRAWS = int(re.search(r"\bDRAWS = (\d+)", SOURCE.read_text(encoding="utf-8"))[1])  # type: ignore[index]

# The load has all that drng does there. Other versions of GCC make a few per cent more.
MOST = {
    "load": 105_000,
    "random_provider, 16 bytes": 740,
    "random_provider, 32 bytes": 765,
    "EVP_RAND, 16 bytes": 710,
    "EVP_RAND, 32 bytes": 735,
    "random_provider, 16 bytes, mixing": 1_215,
    "random_provider, 32 bytes, mixing": 1_235,
    "EVP_RAND, 16 bytes, mixing": 1_190,
    "EVP_RAND, 32 bytes, mixing": 1_210,
}

Counts = dict[str, Counter[str]]  # of each load or draw: how many instructions each function executed


def run(command: Sequence[str | Path], env: dict[str, str] | None = None) -> None:
    result = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {result.returncode}:\n{result.stdout}{result.stderr}")


def configuration(folder: Path, mixing: str) -> Path:
    """The strict profile with this request_mixing."""
    text = (ROOT / "conf" / "drng.cnf").read_text(encoding="utf-8")
    text, count = re.subn(r"^\[drng_sect\]$", rf"\g<0>\nrequest_mixing = {mixing}", text, flags=re.MULTILINE)
    if count != 1:
        sys.exit("conf/drng.cnf has not the line: [drng_sect]")
    path = folder / "drng.cnf"
    path.write_text(text, encoding="utf-8")
    return path


def of_the_module(text: str) -> Counter[str]:
    """What one file of callgrind's counts in the module itself, a name being written out only where it comes first."""
    names: dict[str, str] = {}
    found: Counter[str] = Counter()
    current = {"ob": "", "fn": ""}
    is_of_a_call = False  # the line behind "calls=" has what the callee executed
    for line in text.splitlines():
        if match := re.fullmatch(r"c?(ob|fn|fl|fi|fe)=\((\d+)\)(?: (.*))?", line):
            kind, number, name = match.groups()
            key = f"{'fn' if kind == 'fn' else 'ob' if kind == 'ob' else 'fl'} {number}"
            names.setdefault(key, name or "")
            if not line.startswith("c") and kind in current:
                current[kind] = names[key]
        elif line.startswith("calls="):
            is_of_a_call = True
        elif match := re.fullmatch(r"[+*-]?\d* (\d+)", line):
            if not is_of_a_call and Path(current["ob"]).name == MODULE.name:
                found[current["fn"]] += int(match[1])
            is_of_a_call = False
    return found


def measure(module: Path) -> Counts:
    """A draw is the mean of many, since RDRAND may want to be asked again."""
    found: Counts = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(["gcc", "-std=c11", "-O2", "-Wall", SOURCE, "-o", folder / "instructions", "-lcrypto"])
        own = {key: value for key, value in os.environ.items() if not key.startswith(("OPENSSL_", "LD_PRELOAD"))}
        for mixing, suffix in MIXING.items():
            settings = {"OPENSSL_CONF": str(configuration(folder, mixing)), "OPENSSL_MODULES": str(module.parent)}
            out = folder / f"callgrind-{mixing}"
            tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
            run([*tool, folder / "instructions"], {**own, **settings})
            for path in folder.glob(f"{out.name}.*"):
                text = path.read_text(encoding="utf-8")
                of = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
                if of is None or of[1] == "warm":
                    continue
                counts = of_the_module(text)
                if of[1] == "load":
                    found.setdefault("load", counts)
                else:
                    found[of[1] + suffix] = Counter({f: round(count / DRAWS) for f, count in counts.items()})
    return found


def above(measured: Counts) -> list[str]:
    return [name for name, most in MOST.items() if measured[name].total() > most]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", metavar="TEXT")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--module", type=Path)
    args = parser.parse_args()
    if not re.search(r"\baes\b", Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")):
        print("this CPU has no AES-NI", file=sys.stderr)
        return 77
    if args.module is None:
        run(["cmake", "--preset", "release"])
        run(["cmake", "--build", "--preset", "release", "--target", "drng"])
    measured = measure((args.module or MODULE).resolve())
    if args.list is not None:
        for name in MOST:
            if args.list in name:
                print(
                    f"{name}:", *(f"{times:8} {function}" for function, times in measured[name].most_common()), sep="\n"
                )
        return 0
    rows = [(name, f"{measured[name].total():,}") for name in MOST]
    print(markdown_table.table(("executed in drng.so", "instructions"), rows))
    too_many = above(measured) if args.check else []
    for name in too_many:
        print(f"{name}: at most {MOST[name]:,} were allowed", file=sys.stderr)
    return 1 if too_many else 0


if __name__ == "__main__":
    sys.exit(main())
