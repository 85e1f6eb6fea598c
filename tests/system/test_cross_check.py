# SPDX-License-Identifier: Apache-2.0
"""drng's CTR-DRBG beside libcrypto's own on random scripts of calls: DRNG_SCRIPTS of them, or some hundreds."""

from __future__ import annotations

import os

import pytest

from tests.support.builds import BUILD, FLAVOURS, NO_AES, RELEASE
from tests.support.cross_check import Program, check

# Masks for OPENSSL_ia32cap, which take the faster implementations of AES away; libcrypto's too.
NO_AVX512 = ":~0x10000"
NO_VAES = ":~0x20000000000"
MASKS = {"fastest": "", "no AVX-512": NO_AVX512, "no VAES": NO_VAES, "no AES-NI": NO_AES}

SEED = 1


def run(preset: str, count: int, env: dict[str, str]) -> Program:
    with Program([str(BUILD / preset / "tests" / "cross_check")], RELEASE.environment(env)) as program:
        check(program, count, SEED)
    assert program.scripts >= count
    return program


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_both_give_the_same_bytes(mask: str) -> None:
    program = run("dev", int(os.environ.get("DRNG_SCRIPTS", "700")), {"OPENSSL_ia32cap": mask} if mask else {})
    for kind in "igr":
        assert program.results[f"{kind}1"] > 100, "calls that succeed"
        assert program.results[f"{kind}0"] > 10, "calls that are refused"
    assert program.compared > 1 << 20


def test_both_give_the_same_bytes_under_the_sanitizers() -> None:
    flavour = FLAVOURS["asan-ubsan"]()
    env = {k: v for k, v in flavour.env.items() if k != "LD_PRELOAD"}
    run("asan-ubsan", 300, env)


def test_a_planted_difference_is_found_and_shrunk() -> None:
    program = Program([str(BUILD / "dev" / "tests" / "cross_check"), "--planted"], RELEASE.environment())
    with program, pytest.raises(AssertionError, match="different bytes") as failure:
        check(program, 1000, SEED)
    shrunk = str(failure.value).splitlines()[1].split(";")
    assert len(shrunk) == 5, shrunk
    assert shrunk[4] == "g 17 0 0 1"
