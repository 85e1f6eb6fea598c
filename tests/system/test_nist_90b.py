# SPDX-License-Identifier: Apache-2.0
"""What scripts/evidence/nist_90b.py makes of what NIST's SP 800-90B tool says; the long form is nist-90b.sh."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import nist_90b
from nist_90b import StrangeOutput
from tests.support.builds import ROOT

SCRIPT = ROOT / "scripts" / "evidence" / "nist_90b.py"

# What version 1.1.8 writes; the figures are those of one run.
NON_IID = """
Running non-IID tests...

Running Most Common Value Estimate...

Running Entropic Statistic Estimates (bit strings only)...

Running Tuple Estimates...

Running Predictor Estimates...

H_original: 6.638383
H_bitstring: 0.898722
min(H_original, 8 X H_bitstring): 6.638383
"""
IID = """Calculating baseline statistics...
H_original: 7.892831
H_bitstring: 0.997941
min(H_original, 8 X H_bitstring): 7.892831
** Passed chi square tests

** Passed length of longest repeated substring test

** Passed IID permutation tests

"""
RESTART = """H_I: 6.638383
ALPHA: 5.0251553006530614e-06, X_cutoff: 30
X_max: 20

Running non-IID tests...

Running Most Common Value Estimate...

Running Tuple Estimates...

Running Predictor Estimates...

H_r: 7.880000
H_c: 7.100000
H_I: 6.638383

Validation Test Passed...

min(H_r, H_c, H_I): 6.638383

"""
SANITY = """H_I: 7.111002
ALPHA: 5.0251553006530614e-06, X_cutoff: 25
X_max: 1000

*** Restart Sanity Check Failed ***
"""


def test_the_estimates() -> None:
    assert nist_90b.estimate(NON_IID) == nist_90b.Estimate(6.638383, 0.898722, 6.638383)
    assert nist_90b.estimate(IID).initial == 7.892831


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("H_bitstring: 0.898722\n", "", "0 lines of H_bitstring"),
        ("H_original: 6.638383\n", 2 * "H_original: 6.638383\n", "2 lines of H_original"),
        ("H_original: 6.638383\n", "H_original: nan\n", "0 lines of H_original"),
        ("H_bitstring): 6.638383", "H_bitstring): 7.5", "not the least"),
        ("H_bitstring: 0.898722", "H_bitstring: 0.1", "not the least"),
    ],
)
def test_estimates_that_are_no_such_thing(old: str, new: str, wrong: str) -> None:
    assert old in NON_IID
    with pytest.raises(StrangeOutput, match=re.escape(wrong)):
        nist_90b.estimate(NON_IID.replace(old, new, 1))


def test_each_test_of_independence_is_read() -> None:
    assert nist_90b.failed_iid_tests(IID) == []
    for test in nist_90b.IID_TESTS:
        assert nist_90b.failed_iid_tests(IID.replace(f"Passed {test}", f"Failed {test}")) == [test]
        with pytest.raises(StrangeOutput, match=test):
            nist_90b.failed_iid_tests(IID.replace(f"** Passed {test}", ""))


def test_restarts() -> None:
    assert nist_90b.restart(RESTART) == nist_90b.Restart(7.88, 7.1, 6.638383, "")
    failed = RESTART.partition("Validation")[0] + "*** min(H_r, H_c) < H_I/2, Validation Testing Failed ***\n"
    assert nist_90b.restart(failed).validated is None
    assert "validation" in nist_90b.restart(failed).failed
    with pytest.raises(StrangeOutput, match="no verdict"):
        nist_90b.restart(RESTART.partition("Validation")[0])


def test_a_matrix_whose_rows_are_alike_fails_its_sanity_check() -> None:
    found = nist_90b.restart(SANITY)
    assert found.rows is None and found.validated is None
    assert found.failed == "sanity check: a byte 1000 times, at most 25 allowed"
    with pytest.raises(StrangeOutput):
        nist_90b.restart(SANITY.replace("X_max", "X"))


def fill(directory: Path) -> None:
    for name, text in (("version", "tool 1.1.8-3\n"), ("cpu", "A CPU\n"), ("date", "2026-11-22\n")):
        (directory / f"{name}.txt").write_text(text)
    for source, restart in (("rdseed", RESTART), ("same-start", SANITY)):
        (directory / f"{source}.non-iid.txt").write_text(NON_IID)
        (directory / f"{source}.iid.txt").write_text(IID)
        (directory / f"{source}.restart.txt").write_text(restart)


def test_the_table_says_which_tool_cpu_and_day(tmp_path: Path) -> None:
    fill(tmp_path)
    lines = nist_90b.table(tmp_path).splitlines()
    assert lines[2] == "| RDSEED of this CPU | 6.64 | 7.19 | 6.64 | 7.89 | 7.88 | 7.10 | 6.64 |"
    assert lines[3].endswith("| - | - | fails the sanity check: a byte 1000 times, at most 25 allowed |")
    assert lines[-1] == "tool 1.1.8-3, A CPU, 2026-11-22. All figures are bits in a byte."


def test_a_source_that_is_assessed_in_part_makes_no_table(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "rdseed.iid.txt").unlink()
    with pytest.raises(FileNotFoundError):
        nist_90b.table(tmp_path)


def test_the_initial_estimate_is_what_ea_restart_is_given(tmp_path: Path) -> None:
    file = tmp_path / "rdseed.non-iid.txt"
    file.write_text(NON_IID)
    command = [sys.executable, str(SCRIPT), "--initial", str(file)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "6.638383\n"
    file.write_text("")
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode != 0
