#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many instructions of drng.so a load executes, and a draw of 16 and of 32 bytes, with and without request mixing.

Builds the release module, and tests/programs/instructions.c, which callgrind counts; what it has counted is left in
build/instructions, where callgrind_annotate says in which functions. Valgrind's CPU has AES-NI and no VAES where the
machine has AES-NI. Needs gcc, cmake, ninja-build, pkg-config, libssl-dev and valgrind. Exit status 1: more than MOST
allows; 77: no AES-NI here.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from common import ROOT, run

WORK = ROOT / "build" / "instructions"
MODULES = ROOT / "build" / "release"
SOURCE = ROOT / "tests" / "programs" / "instructions.c"

MIXING = {"no": "", "yes": ", mixing"}  # request_mixing, and what its draws are called
DRAWS = int(re.search(r"\bDRAWS = (\d+)", SOURCE.read_text(encoding="utf-8"))[1])  # type: ignore[index]

# The load has all that drng does there. Other versions of GCC make a few per cent more.
MOST = {
    "load": 100_000,
    "random_provider, 16 bytes": 485,
    "random_provider, 32 bytes": 510,
    "EVP_RAND, 16 bytes": 515,
    "EVP_RAND, 32 bytes": 540,
    "random_provider, 16 bytes, mixing": 690,
    "random_provider, 32 bytes, mixing": 715,
    "EVP_RAND, 16 bytes, mixing": 720,
    "EVP_RAND, 32 bytes, mixing": 750,
}


def configuration(mixing: str) -> Path:
    """The strict profile with this request_mixing."""
    text = (ROOT / "conf" / "drng.cnf").read_text(encoding="utf-8")
    path = WORK / f"{mixing}.cnf"
    path.write_text(text.replace("\n[drng_sect]\n", f"\n[drng_sect]\nrequest_mixing = {mixing}\n"), encoding="utf-8")
    return path


def of_the_module(counts: Path) -> int:
    """What functions of drng.so executed themselves."""
    said = run("callgrind_annotate", "--threshold=100", counts)
    lines = re.findall(r"^ *([\d,]+) \([^)]*\)  .*\[.*/drng\.so\]", said, re.MULTILINE)
    return sum(int(number.replace(",", "")) for number in lines)


def measure() -> dict[str, int]:
    """A draw is the mean of many, since RDRAND may want to be asked again."""
    found: dict[str, int] = {}
    for mixing, suffix in MIXING.items():
        settings = {"OPENSSL_CONF": str(configuration(mixing)), "OPENSSL_MODULES": str(MODULES)}
        counts = WORK / f"callgrind-{mixing}"
        run("valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", WORK / "instructions", **settings)
        for path in WORK.glob(f"{counts.name}.*"):
            of = re.search(r"^desc: Trigger: Client Request: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            if of is not None and of[1] == "load":
                found.setdefault("load", of_the_module(path))
            elif of is not None and of[1] != "warm":
                found[of[1] + suffix] = round(of_the_module(path) / DRAWS)
    return found


def main() -> int:
    if not re.search(r"\baes\b", Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")):
        print("this CPU has no AES-NI", file=sys.stderr)
        return 77
    WORK.mkdir(parents=True, exist_ok=True)
    for path in WORK.glob("callgrind-*"):
        path.unlink()
    run("cmake", "--preset", "release")
    run("cmake", "--build", "--preset", "release", "--target", "drng")
    run("gcc", "-std=c11", "-O2", "-Wall", SOURCE, "-o", WORK / "instructions", "-lcrypto")
    measured = measure()
    for name, most in MOST.items():
        print(f"{name}: {measured[name]:,}, at most {most:,}")
    return 1 if any(measured[name] > most for name, most in MOST.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
