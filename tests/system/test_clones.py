# SPDX-License-Identifier: Apache-2.0
"""Clones of virtual machines: a few of the cases that scripts/ci/test-clones.sh runs, and its control.

A guest is a Linux under QEMU's own CPU, so each takes some seconds. docs/clones.md has the table of all cases.
"""

import platform

import pytest

from tests.support import clones
from tests.support.clone_cases import CASES
from tests.support.guests import GuestError, why_not

BY_NAME = {case.name: case for case in CASES}


@pytest.fixture(scope="module")
def guests() -> None:
    if platform.machine() != "x86_64":
        pytest.skip("QEMU and kernels are fetched for x86-64 only")
    if missing := why_not():
        pytest.skip(missing)


@pytest.mark.nightly("clones of processes, in provider_clones and process_clone")
@pytest.mark.parametrize("name", ["rdrand", "none", "vmclock-both", "aarch64-vmclock-vmgenid-none"])
def test_two_clones(guests: None, name: str) -> None:
    """The control is in each: OpenSSL's own generator, which must repeat every draw, or the rig is broken."""
    if missing := why_not(BY_NAME[name].cpu.architecture):
        pytest.skip(missing)
    result = clones.run(BY_NAME[name])
    assert not result.wrong()
    assert result.drng.all == 3 * result.control.all > 0


def test_a_control_that_does_not_repeat_is_a_broken_rig() -> None:
    def result(control: str) -> clones.Result:
        lines = ([f"@ 0 1000 built-in whole {ends} -"] for ends in ("aabb", control))
        draws = [draw for number, said in enumerate(lines) for draw in clones.draws_of(number, said)]
        return clones.Result(BY_NAME["both"], draws)

    clones.check_the_control(result("ccaa"))
    for other in ("ccdd", "failed"):
        with pytest.raises(GuestError, match="the rig is broken, OpenSSL's own generator repeats 0 of 2 draws"):
            clones.check_the_control(result(other))
