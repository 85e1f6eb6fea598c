"""No branch and no address depends on a secret: memcheck watches secrets that are marked as undefined.

valgrind shows programs a CPU without VAES and AVX-512: what runs here is AES-NI, libcrypto's AES with what drng puts
around it, all that is above them, and the code for VAES-256 with AES-NI in the place of its instructions, as either
compiler built it. docs/performance.md says what that leaves out.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.builds import BUILD, SKIPPED, need

CLEAN = ("ctr", "ctr-wide", "cbc", "cbc-mac", "rdrand-mac", "hmac", "df", "ctr-drbg")
PLANTED = {
    "planted-branch": "Conditional jump or move depends on uninitialised value",
    "planted-index": "Use of uninitialised value",
    "planted-behind-aes": "Conditional jump or move depends on uninitialised value",
}

# Without AES-NI libcrypto's AES is that of SSSE3; both are constant-time, which its CTR mode is not.
WITHOUT_AES_NI = {"OPENSSL_ia32cap": "~0x200000000000000"}
WITH_LIBCRYPTO = ("ctr", "cbc", "cbc-mac", "df", "ctr-drbg")

FOUND = 98


@pytest.fixture(params=["dev", "dev-clang"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Without debug information: valgrind 3.19 gives up on clang's."""
    built = BUILD / request.param / "tests" / "constant_time"
    assert built.exists(), f"{built} is missing: scripts/test.sh builds it, where valgrind's headers are"
    stripped = tmp_path / "constant_time"
    subprocess.run([need("objcopy"), "--strip-debug", str(built), str(stripped)], check=True)
    return str(stripped)


def run(program: str, case: str, **environment: str) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        [need("valgrind"), "--quiet", f"--error-exitcode={FOUND}", program, case],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if result.returncode == SKIPPED:
        pytest.skip(result.stdout.strip())
    return result


def test_every_case_is_run(program: str) -> None:
    listing = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert set(listing.split()) == {*CLEAN, *PLANTED}


@pytest.mark.parametrize("case", CLEAN)
def test_no_branch_and_no_address_depends_on_a_secret(program: str, case: str) -> None:
    result = run(program, case)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("case", WITH_LIBCRYPTO)
def test_libcryptos_aes_without_aes_ni_is_constant_time_as_drng_uses_it(program: str, case: str) -> None:
    result = run(program, case, **WITHOUT_AES_NI)
    assert result.returncode == 0, result.stderr
    assert "libcrypto" in result.stdout


@pytest.mark.parametrize("case", PLANTED)
def test_what_depends_on_a_secret_is_caught(program: str, case: str) -> None:
    result = run(program, case)
    assert result.returncode == FOUND, result.stderr
    assert PLANTED[case] in result.stderr
