# SPDX-License-Identifier: Apache-2.0
"""instructions.py: a load and a draw execute no more instructions than it allows, and it finds those that do."""

from __future__ import annotations

import subprocess
from collections import Counter

import pytest

import instructions
from tests.support.builds import ROOT, need


def test_none_executes_more_than_it_may() -> None:
    need("valgrind")
    script = ROOT / "scripts" / "evidence" / "instructions.py"
    result = subprocess.run([script, "--check"], capture_output=True, text=True, check=False)
    if result.returncode == 77:
        pytest.skip(result.stderr)
    assert result.returncode == 0, result.stdout + result.stderr
    assert [line.split(" | ")[0].strip("| ") for line in result.stdout.splitlines()[2:]] == list(instructions.MOST)


@pytest.mark.parametrize("name", instructions.MOST)
def test_one_more_is_found(name: str) -> None:
    measured = {each: Counter({"draw": most - 1, "wipe": 1}) for each, most in instructions.MOST.items()}
    assert instructions.above(measured) == []
    measured[name]["wipe"] += 1
    assert instructions.above(measured) == [name]


def test_what_a_callee_executes_counts_once() -> None:
    of_callgrind = """\
ob=(1) /usr/lib/libcrypto.so.3
fl=(1) ???
fn=(1) RAND_bytes
0 5
cob=(2) /modules/drng.so
cfn=(2) generate
calls=1 0
0 30

ob=(2)
fn=(2)
0 7
+1 3
cfn=(3) wipe
calls=1 0
* 20

fn=(3)
0 20
"""
    assert instructions.of_the_module(of_callgrind) == {"generate": 10, "wipe": 20}
