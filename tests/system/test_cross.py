"""Where there are no such instructions: the module built for 64-bit ARM, under QEMU's user mode.

scripts/ci/cross-aarch64.sh builds it, on libraries that it fetches.
"""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.support.builds import BUILD, CONF, ConfigWriter, Flavour, need
from tests.support.draws import check_draws

CROSS = BUILD / "aarch64"
SYSROOT = CROSS / "sysroot"
OPENSSL = str(SYSROOT / "usr" / "bin" / "openssl")
REASON = "RDSEED: not in this CPU; RDRAND: not in this CPU"
AARCH64 = 183  # e_machine of an ELF header


@pytest.fixture
def aarch64() -> Flavour:
    """Skipped where the script could not have what it needs; a build that failed is a failure."""
    if not SYSROOT.is_dir() or not shutil.which("aarch64-linux-gnu-gcc"):
        pytest.skip("scripts/ci/cross-aarch64.sh could not have the cross compiler or the libraries for arm64")
    return Flavour("aarch64", "aarch64", prefix=(need("qemu-aarch64"), "-L", str(SYSROOT)))


def test_the_module_is_one_for_aarch64(aarch64: Flavour) -> None:
    header = (aarch64.modules / "drng.so").read_bytes()[:20]
    assert header[:4] == b"\x7fELF"
    assert int.from_bytes(header[18:20], "little") == AARCH64


def test_it_exports_its_entry_point_and_its_counters_and_has_no_executable_stack(aarch64: Flavour) -> None:
    module = str(aarch64.modules / "drng.so")
    symbols = subprocess.run(
        ["aarch64-linux-gnu-nm", "-D", "--defined-only", module], capture_output=True, text=True, check=True
    ).stdout
    assert sorted(line.split()[-1] for line in symbols.splitlines()) == ["OSSL_provider_init", "drng_counters"]
    headers = subprocess.run(
        ["aarch64-linux-gnu-readelf", "-W", "-l", "-d", module], capture_output=True, text=True, check=True
    ).stdout
    assert "BIND_NOW" in headers
    assert "RWE" not in next(line for line in headers.splitlines() if "GNU_STACK" in line)


def test_the_fallback_serves(aarch64: Flavour) -> None:
    answer = aarch64.probe(CONF / "drng.cnf")
    assert answer["rand_bytes"] == 1
    assert answer["rand_status"] == 1
    assert all(answer[role]["provider"] == "drng" for role in ("primary", "public", "private"))
    drng = answer["drng"]
    assert drng["status"] == 1
    assert drng["active-source"] == "fallback"
    assert drng["disabled-reason"] == REASON
    assert drng["aes-implementation"] == "ARMv8-AES"
    assert drng["seeds-fallback"] == 1
    assert drng["seeds-rdseed"] + drng["seeds-rdrand"] + drng["seed-failures"] == 0


@pytest.mark.parametrize("source", ["auto", "rdseed", "rdrand"])
def test_without_a_fallback_nothing_serves(aarch64: Flavour, config: ConfigWriter, source: str) -> None:
    answer = aarch64.probe(config(fallback="no", source=source))
    assert answer["rand_bytes"] != 1
    assert answer["rand_status"] == 0
    reasons = "\n".join(answer["errors"])
    assert "no instruction can seed and fallback = no" in reasons
    assert "not in this CPU" in reasons
    assert answer["drng"]["active-source"] == "none"
    assert answer["drng"]["seeds-fallback"] == 0


def test_the_command_line_serves(aarch64: Flavour) -> None:
    results = [aarch64.run([OPENSSL, "rand", "-provider", "drng", "-hex", "32"]) for _ in range(2)]
    for result in results:
        assert result.returncode == 0, result.stderr
        assert re.fullmatch(r"[0-9a-f]{64}\n", result.stdout)
    assert results[0].stdout != results[1].stdout


def test_the_command_line_fails_without_a_fallback(aarch64: Flavour, config: ConfigWriter) -> None:
    result = aarch64.run([OPENSSL, "rand", "-hex", "32"], {"OPENSSL_CONF": str(config(fallback="no"))})
    assert result.returncode != 0
    assert result.stdout == ""
    assert REASON in result.stderr


def test_hmac_conditions_too(aarch64: Flavour, config: ConfigWriter) -> None:
    """Its self-test has passed then, on the other architecture's libcrypto."""
    answer = aarch64.probe(config(conditioner="hmac-sha256"))
    assert answer["rand_bytes"] == 1
    assert answer["public"]["provider"] == "drng"


@pytest.mark.parametrize("mode", ["fork", "clone"])
def test_forks_are_noticed(aarch64: Flavour, mode: str) -> None:
    check_draws(aarch64, mode, CONF / "drng.cnf")
