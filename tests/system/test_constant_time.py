# SPDX-License-Identifier: Apache-2.0
"""No branch and no address depends on a secret: memcheck watches secrets that are marked as undefined.

valgrind shows programs a CPU without VAES and AVX-512: what runs here is AES in plain C, AES-NI, all that is above
them, HMAC, and the code for VAES-256 and for ARM with AES-NI in the place of their instructions, as either compiler
built it.
docs/performance.md says what that leaves out.
"""

import subprocess
from pathlib import Path

import pytest

from tests.support.builds import BUILD, need, said_by

CLEAN = ("ctr", "ctr-wide", "request", "request-wide", "arm", "cbc", "cbc-mac", "rdrand-mac", "hmac", "df", "ctr-drbg")
PLANTED = {
    "planted-branch": "Conditional jump or move depends on uninitialised value",
    "planted-index": "Use of uninitialised value",
    "planted-behind-aes": "Conditional jump or move depends on uninitialised value",
}

FOUND = 98


@pytest.fixture(params=["dev", pytest.param("dev-clang", marks=pytest.mark.nightly("GCC's code"))])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Without debug information: valgrind 3.19 gives up on clang's."""
    built = BUILD / request.param / "tests" / "constant_time"
    assert built.exists(), f"{built} is missing: scripts/test.sh builds it, where valgrind's headers are"
    stripped = tmp_path / "constant_time"
    subprocess.run([need("objcopy"), "--strip-debug", str(built), str(stripped)], check=True)
    return str(stripped)


def run(program: str, case: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [need("valgrind"), "--quiet", f"--error-exitcode={FOUND}", program, case],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_every_case_is_run(program: str) -> None:
    listing = said_by(program)
    assert set(listing.split()) == {*CLEAN, *PLANTED}


@pytest.mark.parametrize("case", CLEAN)
def test_no_branch_and_no_address_depends_on_a_secret(program: str, case: str) -> None:
    result = run(program, case)
    assert (result.returncode, "portable" in result.stdout) == (0, True), result.stderr


@pytest.mark.parametrize("case", PLANTED)
def test_what_depends_on_a_secret_is_caught(program: str, case: str) -> None:
    result = run(program, case)
    assert result.returncode == FOUND, result.stderr
    assert PLANTED[case] in result.stderr
