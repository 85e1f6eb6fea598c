#!/usr/bin/python3 -I
"""Derives the cutoffs of mixing/health.h from SP 800-90B, 4.4.1 and 4.4.2.

Integers throughout: 1 - 2^-30 is near enough to 1 for a sum of floating-point numbers to lose the answer.

    cutoffs.py            prints them as a table
    cutoffs.py --check    compares them with the header; what differs is printed, and the exit status is 1
"""

import argparse
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

HEADER = Path(__file__).resolve().parent.parent / "mixing" / "health.h"

# A false positive once in 2^30 samples.
FALSE_POSITIVE_BITS = 30
# 4.4.2: the window for samples that are not binary.
WINDOW = 512


@dataclass(frozen=True)
class Sample:
    """One kind of sample and the entropy claimed for it, in bits."""

    name: str
    bits: int
    entropy: int


SAMPLES = (Sample("WORD", 64, 32), Sample("BYTE", 8, 8))


def rct_cutoff(entropy: int, a: int = FALSE_POSITIVE_BITS) -> int:
    """4.4.1: C = 1 + ceil(a / H)."""
    return 1 + -(-a // entropy)


def critbinom(n: int, entropy: int, a: int) -> int:
    """The least k for which at most k successes in n trials, each of chance 2^-entropy, have chance 1 - 2^-a."""
    choices = 2**entropy
    below = 0
    for k in range(n + 1):
        # Of the choices^n outcomes, those with exactly k successes.
        below += math.comb(n, k) * (choices - 1) ** (n - k)
        if below * 2**a >= choices**n * (2**a - 1):
            return k
    raise AssertionError("n successes in n trials are certain")


def apt_cutoff(entropy: int, a: int = FALSE_POSITIVE_BITS, window: int = WINDOW) -> int:
    """4.4.2: C = 1 + CRITBINOM(W, 2^-H, 1 - 2^-a); below 2 the window's own first sample would fail."""
    return max(2, 1 + critbinom(window, entropy, a))


def derived() -> dict[str, int]:
    """What the header's enum has to say."""
    values = {"DRNG_APT_WINDOW": WINDOW}
    for sample in SAMPLES:
        values[f"DRNG_{sample.name}_RCT_CUTOFF"] = rct_cutoff(sample.entropy)
        values[f"DRNG_{sample.name}_APT_CUTOFF"] = apt_cutoff(sample.entropy)
    return values


def stated(header: str) -> dict[str, int]:
    """The constants of the header's enums that are plain numbers."""
    return {name: int(value) for name, value in re.findall(r"\b(DRNG_\w+) = (\d+)\b", header)}


def print_table() -> None:
    print(f"SP 800-90B, false-positive rate 2^-{FALSE_POSITIVE_BITS}, window {WINDOW}\n")
    print("| sample | bits | entropy claimed | repetition count (4.4.1) | adaptive proportion (4.4.2) |")
    print("| --- | --- | --- | --- | --- |")
    for sample in SAMPLES:
        rct, apt = rct_cutoff(sample.entropy), apt_cutoff(sample.entropy)
        print(f"| {sample.name.lower()} | {sample.bits} | {sample.entropy} | {rct} | {apt} |")


def check(path: Path) -> int:
    """The exit status: 1 where the header says something else, or nothing."""
    found = stated(path.read_text(encoding="utf-8"))
    status = 0
    for name, value in derived().items():
        if found.get(name) != value:
            print(f"{path}: {name} is {found.get(name, 'missing')}, derived: {value}")
            status = 1
    return status


def main() -> int:
    parser = argparse.ArgumentParser(description="Cutoffs of the health tests, from SP 800-90B.")
    parser.add_argument("--check", action="store_true", help="compare with the header and print what differs")
    parser.add_argument("--header", type=Path, default=HEADER, help="the header to compare with")
    args = parser.parse_args()
    if args.check:
        return check(args.header)
    print_table()
    return 0


if __name__ == "__main__":
    sys.exit(main())
