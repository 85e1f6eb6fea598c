# SPDX-License-Identifier: Apache-2.0
"""A few tests under another /proc/cpuinfo than this machine's; the long form is scripts/ci/test-machines.sh."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.support.builds import ROOT, SKIPPED
from tests.support.machine import Machine

SCRIPT = str(ROOT / "scripts/ci/test-machines.sh")


def machines() -> list[str]:
    listed = subprocess.run([SCRIPT, "--list"], capture_output=True, text=True, check=True).stdout
    return [line.split("\t")[0] for line in listed.splitlines()]


# What the kernel takes away there.
WITHOUT = {"no-rdseed": {"rdseed"}, "no-rdrand": {"rdrand"}, "neither": {"rdseed", "rdrand"}}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.parametrize("name", machines())
def test_tests_pass_on_a_machine_that_is(name: str, machine: Machine) -> None:
    result = run("--short", name)
    if result.returncode == SKIPPED:
        pytest.skip(result.stdout.strip().splitlines()[-1])
    assert result.returncode == 0, result.stdout + result.stderr
    source = re.search(r"^active-source +(\S+)$", result.stdout, re.MULTILINE)
    assert source, result.stdout
    if name in WITHOUT:
        left = [i for i in ("rdseed", "rdrand") if machine.may_serve(i) and i not in WITHOUT[name]]
        assert source[1] == (left or ["fallback"])[0], "drng has not seen that machine"
    passed = re.search(r"^(\d+) passed", result.stdout.splitlines()[-1])
    assert passed and int(passed[1]) >= 5, result.stdout


def test_a_machine_that_nobody_knows_is_refused() -> None:
    result = run("--short", "quantum")
    assert result.returncode == 64
    assert 'no machine "quantum"' in result.stderr
