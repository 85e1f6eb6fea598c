# SPDX-License-Identifier: Apache-2.0
"""64-bit ARM's AES under QEMU's user mode.

Who serves, OPENSSL_armcap as drng reads it beside libcrypto itself, and that no branch depends on a secret.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.builds import ARM_MAX, BUILD, CONF, ROOT, Flavour, need
from tests.support.draws import check_draws

pytestmark = pytest.mark.nightly("its code, done by AES-NI, in test_unit")

CROSS = BUILD / "cross" / "aarch64"
SYSROOT = CROSS / "sysroot"
OPENSSL = str(SYSROOT / "usr" / "bin" / "openssl")
VARIABLE = "OPENSSL_armcap"
AES = 1 << 2  # ARMV8_AES of crypto/arm_arch.h in libcrypto

# Nothing and no numbers, then numbers of each base, with and without the bit; past 32 and past 64 bits.
VALUES = (
    *("", "x", "~4", "08", "0x", "-", "0x4g"),
    *("0", "4", "3", "-1", "-5", "+4", " 4", "4 ", "7:0", "0x4", "0X4", "04", "0xfb", "0xff", "075", "185"),
    *("0x100000000", "0x100000004", "0x7" + "f" * 30, "9" * 40, "-" + "9" * 40),
)


@pytest.fixture(params=[ARM_MAX, "cortex-a72", "neoverse-n1"])
def arm(request: pytest.FixtureRequest) -> Flavour:
    """A CPU with AES; QEMU has none of 64-bit ARM without it."""
    return emulated(request.param)


def emulated(cpu: str) -> Flavour:
    """Skipped where the script could not have what it needs; a build that failed is a failure."""
    if not SYSROOT.is_dir() or not shutil.which("aarch64-linux-gnu-gcc"):
        pytest.skip("scripts/ci/cross.sh could not have the cross compiler or the libraries for arm64")
    return Flavour(cpu, "cross/aarch64", prefix=(need("qemu-aarch64"), "-cpu", cpu, "-L", str(SYSROOT)))


def aes_of(flavour: Flavour, value: str | None) -> str:
    answer = flavour.probe(CONF / "drng.cnf", {} if value is None else {VARIABLE: value})
    assert answer["rand_bytes"] == 1
    assert answer["public"]["provider"] == "drng"
    return answer["drng"]["aes-implementation"]


def libcrypto_has_aes(flavour: Flavour, value: str) -> bool:
    settings = flavour.run([OPENSSL, "info", "-cpusettings"], {VARIABLE: value}).stdout
    match = re.match(rf"{VARIABLE}=(0x[0-9a-f]+)", settings)
    assert match, settings
    return int(match[1], 16) & AES != 0


def test_the_cpus_aes_serves(arm: Flavour) -> None:
    """Its self-test has passed then."""
    assert aes_of(arm, None) == "ARMv8-AES"


def test_masked_aes_is_not_used(arm: Flavour) -> None:
    assert aes_of(arm, "0") == "portable"


def test_the_masked_generator_is_not_used() -> None:
    answer = emulated(ARM_MAX).probe(CONF / "drng.cnf", {VARIABLE: "0x4"})
    drng = answer["drng"]
    assert (drng["active-source"], drng["aes-implementation"]) == ("fallback", "ARMv8-AES")
    assert drng["disabled-reason"] == "RNDRRS: masked by OPENSSL_armcap; RNDR: masked by OPENSSL_armcap"


def test_the_generator_alone_is_left() -> None:
    drng = emulated(ARM_MAX).probe(CONF / "drng.cnf", {VARIABLE: "0x100"})["drng"]
    assert (drng["active-source"], drng["aes-implementation"]) == ("rndrrs", "portable")


def test_the_variable_of_x86_masks_nothing() -> None:
    answer = emulated(ARM_MAX).probe(CONF / "drng.cnf", {"OPENSSL_ia32cap": "0:0"})
    assert answer["drng"]["aes-implementation"] == "ARMv8-AES"


def test_drng_reads_what_libcrypto_reads() -> None:
    flavour = emulated(ARM_MAX)
    expected = {value: "ARMv8-AES" if libcrypto_has_aes(flavour, value) else "portable" for value in VALUES}
    assert set(expected.values()) == {"ARMv8-AES", "portable"}, "some mask it, and some do not"
    assert {value: aes_of(flavour, value) for value in VALUES} == expected


@pytest.mark.parametrize("mode", ["fork"])  # a child of clone() is not noticed where the kernel does not wipe
def test_forks_are_noticed(mode: str) -> None:
    check_draws(emulated(ARM_MAX), mode, CONF / "drng.cnf")


# ---- Constant time, of the machine code that the cross compiler has made ----

SEEDS = 8


@pytest.fixture(scope="module")
def aes_trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Static and at fixed addresses, so that the traces of two runs can be compared."""
    emulated(ARM_MAX)
    program = tmp_path_factory.mktemp("arm") / "aes_trace"
    source = ROOT / "tests" / "programs" / "aes_trace.c"
    command = ["aarch64-linux-gnu-gcc", f"--sysroot={SYSROOT}", "-std=c11", "-D_DEFAULT_SOURCE", f"-I{ROOT}", "-O2"]
    subprocess.run([*command, "-static", "-no-pie", "-o", program, source, CROSS / "libmixing.a"], check=True)
    return str(program)


def trace(program: str, log: Path, seed: int, *options: str) -> list[str]:
    """Where each stretch of instructions began that was executed."""
    emulator = [need("qemu-aarch64"), "-cpu", ARM_MAX, "-d", "exec,nochain", "-D", str(log)]
    subprocess.run([*emulator, program, str(seed), *options], check=True, timeout=60)
    return re.findall(r"\[[0-9a-f]+/([0-9a-f]+)/", log.read_text())


def test_no_branch_depends_on_a_secret(aes_trace: str, tmp_path: Path) -> None:
    first = trace(aes_trace, tmp_path / "log", 1)
    assert len(first) > 10_000
    differing = [seed for seed in range(2, SEEDS) if trace(aes_trace, tmp_path / "log", seed) != first]
    assert not differing


def test_a_branch_that_does_is_seen(aes_trace: str, tmp_path: Path) -> None:
    traces = {tuple(trace(aes_trace, tmp_path / "log", seed, "--planted")) for seed in range(1, SEEDS)}
    assert len(traces) == 2, "taken, and not taken"
