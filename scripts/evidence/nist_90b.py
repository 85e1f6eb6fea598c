#!/usr/bin/python3 -Es
# SPDX-License-Identifier: Apache-2.0
"""What NIST's SP 800-90B tool said, as a table; scripts/evidence/nist-90b.sh runs the tool.

    nist_90b.py DIRECTORY         writes DIRECTORY/nist-90b.md
    nist_90b.py --initial FILE    prints the initial entropy estimate in what ea_non_iid said: ea_restart wants it

Of ea_non_iid, ea_iid and ea_restart 1.1.8 in their short form. What they said is read strictly: a line that is missing
or strange is an error, and never an empty cell.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import markdown_table

# The tool's tests of independence, as its output calls them.
IID_TESTS = ("chi square tests", "length of longest repeated substring test", "IID permutation tests")

SOURCES = {
    "rdseed": "RDSEED of this CPU",
    "rdrand": "RDRAND of this CPU",
    "biased": "scripted: each bit is set with a chance of 9/16",
    "same-start": "scripted: a good generator that starts with the same state each time",
}


class StrangeOutput(Exception):
    """The tool said something else than it should."""


@dataclass(frozen=True)
class Estimate:
    """Bits of min-entropy in a byte."""

    original: float
    bitstring: float  # of a bit
    initial: float


@dataclass(frozen=True)
class Restart:
    """What came of a restart matrix: bits in a byte by rows and by columns, or why there are none."""

    rows: float | None
    columns: float | None
    validated: float | None
    failed: str


def number(name: str, text: str) -> float:
    found = re.findall(rf"^{re.escape(name)}: (\d+(?:\.\d+)?)$", text, re.MULTILINE)
    if len(found) != 1:
        raise StrangeOutput(f"{len(found)} lines of {name}, and there should be one")
    return float(found[0])


def estimate(text: str) -> Estimate:
    """Of ea_non_iid, and of ea_iid."""
    found = Estimate(
        number("H_original", text), number("H_bitstring", text), number("min(H_original, 8 X H_bitstring)", text)
    )
    # The tool rounds H_bitstring to six places.
    if abs(found.initial - min(found.original, 8 * found.bitstring)) > 1e-5:
        raise StrangeOutput(f"{found.initial} is not the least of {found.original} and eight times {found.bitstring}")
    return found


def failed_iid_tests(text: str) -> list[str]:
    """Those of IID_TESTS that the samples did not pass."""
    failed = []
    for test in IID_TESTS:
        verdict = re.findall(rf"^\*\* (Passed|Failed) {re.escape(test)}$", text, re.MULTILINE)
        if len(verdict) != 1:
            raise StrangeOutput(f"no verdict of the {test}")
        if verdict == ["Failed"]:
            failed.append(test)
    return failed


def restart(text: str) -> Restart:
    if re.search(r"^\*\*\* Restart Sanity Check Failed \*\*\*$", text, re.MULTILINE):
        most, cutoff = (re.findall(rf"\b{name}: (\d+)", text) for name in ("X_max", "X_cutoff"))
        if len(most) != 1 or len(cutoff) != 1:
            raise StrangeOutput("a sanity check that failed, and not by how much")
        return Restart(None, None, None, f"sanity check: a byte {most[0]} times, at most {cutoff[0]} allowed")
    rows, columns = number("H_r", text), number("H_c", text)
    if re.search(r"Validation Testing Failed", text):
        return Restart(rows, columns, None, "validation: less than half of the initial estimate")
    if not re.search(r"^Validation Test Passed\.\.\.$", text, re.MULTILINE):
        raise StrangeOutput("no verdict of the validation test")
    return Restart(rows, columns, number("min(H_r, H_c, H_I)", text), "")


# ---- The table ----


def read(directory: Path, name: str) -> str:
    return (directory / name).read_text(encoding="utf-8").strip()


def row(directory: Path, source: str) -> list[str]:
    initial = estimate(read(directory, f"{source}.non-iid.txt"))
    iid = read(directory, f"{source}.iid.txt")
    failed = failed_iid_tests(iid)
    again = restart(read(directory, f"{source}.restart.txt"))
    return [
        SOURCES[source],
        f"{initial.original:.2f}",
        f"{8 * initial.bitstring:.2f}",
        f"{initial.initial:.2f}",
        f"{estimate(iid).initial:.2f}" if not failed else f"not independent: {', '.join(failed)}",
        "-" if again.rows is None else f"{again.rows:.2f}",
        "-" if again.columns is None else f"{again.columns:.2f}",
        f"fails the {again.failed}" if again.validated is None else f"{again.validated:.2f}",
    ]


HEAD = (
    *("source", "ea_non_iid: H_original", "8 x H_bitstring", "H_I", "ea_iid: H_I if independent"),
    *("ea_restart: H_r", "H_c", "validated"),
)


def table(directory: Path) -> str:
    rows = [row(directory, source) for source in SOURCES if (directory / f"{source}.non-iid.txt").exists()]
    about = ", ".join(read(directory, f"{name}.txt") for name in ("version", "cpu", "date"))
    return f"{markdown_table.table(HEAD, rows)}\n\n{about}. All figures are bits in a byte.\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="What NIST's SP 800-90B tool said, as a table.")
    parser.add_argument("path", type=Path, help="the directory that nist-90b.sh filled, or a file with --initial")
    parser.add_argument("--initial", action="store_true", help="print the initial estimate that ea_non_iid gave")
    args = parser.parse_args()
    if args.initial:
        print(estimate(args.path.read_text(encoding="utf-8")).initial)
        return 0
    (args.path / "nist-90b.md").write_text(table(args.path), encoding="utf-8")
    print(args.path / "nist-90b.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
