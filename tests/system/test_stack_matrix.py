# SPDX-License-Identifier: Apache-2.0
"""stack-matrix.sh: nothing secret on the stack, whatever compiled it; all of it by hand, with the script."""

from __future__ import annotations

import subprocess

import pytest

from tests.support.builds import ROOT, SKIPPED, need

pytestmark = pytest.mark.nightly("process_stack as this compiler builds it, in test_unit")

# As the module is released, and at both extremes: the script's --short.
EACH = 3


def test_nothing_is_left_on_the_stack() -> None:
    for compiler in ("gcc", "clang"):
        need(compiler)
    result = subprocess.run(
        [str(ROOT / "scripts" / "evidence" / "stack-matrix.sh"), "--short"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if result.returncode == SKIPPED:
        pytest.skip(result.stdout.strip())
    assert result.returncode == 0, result.stdout + result.stderr
    rows = result.stdout.splitlines()
    for compiler in ("gcc", "clang"):
        assert sum(row.startswith(compiler) for row in rows) >= EACH, result.stdout
    assert all(row.endswith(" nothing") for row in rows), result.stdout
