# SPDX-License-Identifier: Apache-2.0
"""Runs tests/programs/fork_draw.c and looks at what it drew."""

from pathlib import Path

from tests.support.builds import Flavour

LINES = 18


def check_draws(flavour: Flavour, mode: str, config: Path) -> None:
    """No draw comes twice, and each child has noticed that it is one; mode is fork or clone."""
    said = flavour.says([flavour.program("fork_draw"), mode], {"OPENSSL_CONF": str(config)})
    lines = [line.split() for line in said.splitlines()]
    assert len(lines) == LINES
    assert len({line[2] for line in lines}) == LINES, "a draw came twice"
    reseeds = {who: [int(line[3]) for line in lines if line[0] == who] for who in {line[0] for line in lines}}
    assert set(reseeds["parent"]) == {0}
    # Public and primary, then private: each process counts its own, and none what its parent had counted.
    for who in ("first-child", "second-child", "grandchild"):
        assert reseeds[who][:2] == [2, 3], who
