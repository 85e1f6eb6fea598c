# SPDX-License-Identifier: Apache-2.0
"""instructions.py: a load and a draw execute no more instructions than it allows."""

import instructions
from tests.support.builds import need, said_by


def test_none_executes_more_than_it_may() -> None:
    need("valgrind")
    found = dict(line.rsplit(": ", 1) for line in said_by(instructions.__file__).splitlines())
    measured = {name: int(said.partition(", at most")[0].replace(",", "")) for name, said in found.items()}
    assert list(measured) == list(instructions.MOST)
    assert all(measured.values())
