# SPDX-License-Identifier: Apache-2.0
"""Tables of faults and their cost, from what the tests' programs have measured; tables.py puts them where they belong.

The programs are those of the dev build: test_fault_matrix, whose some 3,300 cases are put together by outcome, and
fault_report, both on a scripted CPU and its clock, so that they give the same on every machine that has AES-NI; and
process_thread_cost.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from unittest import SkipTest

from markdown_table import table

SKIPPED = 77

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "build" / "dev" / "tests"

NOBODY = "nobody: zeros and an error"

# What the matrix calls the pairings of instructions that the page shows; the program tries more.
RDSEED_HAS_IT = ("faulty / good",)
RDRAND_HAS_IT = ("not allowed / faulty", "dry / faulty")


@dataclass(frozen=True)
class Case:
    """A row of what test_fault_matrix writes."""

    fault: str
    pairing: str
    fallback: str
    serves: str
    health_failures: str
    disabled: str
    retries: int
    milliseconds: float
    from_bad_source: str


def run(program: str, **env: str) -> str:
    if "aes" not in Path("/proc/cpuinfo").read_text(encoding="utf-8").split():
        raise SkipTest("this CPU has no AES-NI, and the tables were made on the way that has it")
    path = PROGRAMS / program
    if not path.exists():
        sys.exit(f"{path} is not there: cmake --preset dev && cmake --build --preset dev")
    result = subprocess.run([str(path)], env={**os.environ, **env}, capture_output=True, text=True, check=False)
    if result.returncode == SKIPPED:
        raise SkipTest(f"{program}: {result.stdout.strip()}")
    if result.returncode != 0:
        sys.exit(f"{path} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def table_of(program: str, variable: str, **env: str) -> str:
    """What the program writes to the file that this variable names."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "table.md"
        run(program, **{variable: str(written)}, **env)
        return written.read_text(encoding="utf-8").rstrip("\n")


def measured() -> list[Case]:
    lines = table_of("test_fault_matrix", "DRNG_FAULT_TABLE").splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    cases = [Case(*row[:6], int(row[6]), float(row[7]), row[8]) for row in rows]
    for case in cases:
        if case.from_bad_source != "no":
            sys.exit(f"words of a bad source were put out: {case}")
    return cases


# ---- The matrix ----


def all_of(values: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(values)) or "-"


def cells_of(cases: list[Case]) -> tuple[str, ...]:
    """What one fault comes to: who serves and what is disabled, if RDSEED has it, and if RDRAND has it."""
    found: list[str] = []
    for pairings in (RDSEED_HAS_IT, RDRAND_HAS_IT):
        tried = [c for c in cases if c.pairing in pairings]
        served = [all_of(c.serves for c in tried if c.fallback == wanted) for wanted in ("yes", "no")]
        found += [", ".join(dict.fromkeys(served)), all_of(c.disabled for c in tried)]
    return tuple(found)


HEAD = ("fault", "serves if RDSEED has it", "disabled", "serves if RDRAND has it", "disabled", "ms, at most")


def matrix() -> str:
    cases = measured()
    outcomes: dict[tuple[str, ...], list[Case]] = {}
    for fault in dict.fromkeys(c.fault for c in cases):
        shown = [c for c in cases if c.fault == fault and c.pairing in RDSEED_HAS_IT + RDRAND_HAS_IT]
        outcomes.setdefault(cells_of(shown), []).extend(shown)
    rows = [
        (", ".join(dict.fromkeys(c.fault for c in found)), *cells, f"{max(c.milliseconds for c in found):.2f}")
        for cells, found in outcomes.items()
    ]
    served = sum(c.serves != NOBODY for c in cases)
    return (
        f"{table(HEAD, rows).replace(NOBODY, 'nobody')}\n\n"
        f"{len(cases):,} cases: {served:,} seeds, each by the source that is named and no other, and "
        f"{len(cases) - served:,} refusals, each with an erased buffer. "
        f"The longest took {max(c.milliseconds for c in cases):.2f} ms."
    )


# ---- What the operator sees ----


def report() -> str:
    """A row for each scene: what the parameters say, and the errors, as `reason: data`."""
    rows = []
    for scene in re.split(r"\n(?=\S)", run("fault_report").rstrip("\n")):
        title, _, seen = scene.partition("\n")
        what, _, result = title.partition(": ")
        reason = re.search("disabled-reason: (.*)", seen)
        if reason:  # the error repeats it
            seen = seen.replace(f"fallback = no: {reason[1]}", "fallback = no: ...")
        said = "<br>".join(f"`{line.strip()}`" for line in seen.splitlines() if not line.endswith(": "))
        rows.append((f"{what[0].upper()}{what[1:]}", result.removeprefix("RAND_bytes() "), said))
    return table(("what is wrong", "RAND_bytes()", "what is seen"), rows)


# ---- The others ----


# The constants of mixing/entropy/noise.h, and what they are.
BUDGETS = {
    "DRNG_SEED_BUDGET_NS": "one instruction, one seed, while another source is next in line",
    "DRNG_LAST_BUDGET_NS": "the same for the last in line",
    "DRNG_STEADY_BUDGET_NS": "the same for RDRAND, in any place",
    "DRNG_STARTUP_BUDGET_NS": "on top, while a reader's start-up tests of RDSEED are not done",
}


def budgets() -> str:
    header = (ROOT / "mixing" / "entropy" / "noise.h").read_text(encoding="utf-8")
    rows = []
    for name, what in BUDGETS.items():
        match = re.search(rf"\b{name} = (\d+)\b", header)
        if match is None:
            sys.exit(f"mixing/entropy/noise.h has no {name}")
        rows.append((what, f"{int(match[1]) / 1e6:g}"))
    return table(("what may take", "ms"), rows)


def threads() -> str:
    return table_of("process_thread_cost", "DRNG_THREAD_COST")


def rates() -> str:
    return table_of("test_fault_rates", "DRNG_FAULT_RATES", DRNG_FAULT_TRIALS="200")


def readers() -> str:
    """A thousand of each kind, of libdrng's and then of the provider's, which is asked about the same faults."""
    library = table_of("test_fault_forks", "DRNG_FAULT_FORKS", DRNG_FAULT_CHILDREN="1000").splitlines()
    provider = table_of("provider_fault_readers", "DRNG_FAULT_READERS", DRNG_FAULT_CHILDREN="1000").splitlines()
    return "\n".join(f"{a[:-2]} | {b.split(' | ', 2)[2]}" for a, b in zip(library, provider, strict=True))


def unseen() -> str:
    return table_of("test_fault_unseen", "DRNG_FAULT_UNSEEN")


def slow() -> str:
    return table_of("test_seed_time", "DRNG_SLOW_TABLE")


TABLES = {
    "fault-rates": rates,
    "fault-readers": readers,
    "fault-unseen": unseen,
    "slow": slow,
    "budgets": budgets,
    "matrix": matrix,
    "report": report,
    "thread-memory": threads,
}
