# SPDX-License-Identifier: Apache-2.0
"""stack-matrix.sh: nothing secret on the stack, whatever compiled it."""

import pytest

from tests.support.builds import ROOT, need, said_by

pytestmark = pytest.mark.nightly("process_stack as this compiler builds it, in test_unit")

EACH = 3  # as the module is released, and at both extremes


def test_nothing_is_left_on_the_stack() -> None:
    for compiler in ("gcc", "clang"):
        need(compiler)
    rows = said_by(ROOT / "scripts" / "evidence" / "stack-matrix.sh").splitlines()
    for compiler in ("gcc", "clang"):
        assert sum(row.startswith(compiler) for row in rows) >= EACH, rows
    assert all(row.endswith(" nothing") for row in rows), rows
