# SPDX-License-Identifier: Apache-2.0
"""instructions.py: a load and a draw execute no more instructions than it allows."""

from __future__ import annotations

import subprocess

import pytest

import instructions
from tests.support.builds import need


def test_none_executes_more_than_it_may() -> None:
    need("valgrind")
    result = subprocess.run([instructions.__file__, "--check"], capture_output=True, text=True, check=False)
    if result.returncode == 77:
        pytest.skip(result.stderr)
    assert result.returncode == 0, result.stdout + result.stderr
    found = dict(line.rsplit(": ", 1) for line in result.stdout.splitlines())
    measured = {name: int(said.partition(", at most")[0].replace(",", "")) for name, said in found.items()}
    assert list(measured) == list(instructions.MOST)
    assert all(measured.values())
