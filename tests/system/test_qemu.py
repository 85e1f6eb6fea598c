# SPDX-License-Identifier: Apache-2.0
"""CPUs that this machine does not have: the module under QEMU's user mode, with RDRAND, AES-NI and both missing.

QEMU hands most system calls to the host's kernel, /proc/cpuinfo included, but takes MADV_WIPEONFORK for a success and
does nothing. The tables are those of QEMU 7.2, Debian 12's: it has no RDSEED, and its VAES is wrong.
"""

import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.builds import CONF, ROOT, SAMPLE, SKIPPED, ConfigWriter, Flavour, need, programs, said_by
from tests.support.draws import check_draws
from tests.support.machine import BROKEN

TABLES_ARE_OF = (7, 2)

ABSENT = "not in this CPU"


def qemu_version() -> tuple[int, int]:
    text = said_by(need("qemu-x86_64"), "--version")
    match = re.search(r"version (\d+)\.(\d+)", text)
    assert match, text
    return int(match[1]), int(match[2])


def skip_where_the_tables_do_not_hold() -> None:
    if platform.machine() != "x86_64":
        pytest.skip("the module that was built is not one for x86-64")
    if (version := qemu_version()) != TABLES_ARE_OF:
        pytest.skip(f"this is QEMU {version[0]}.{version[1]}, and what is expected here was seen on 7.2")


# ---- Models ----


@dataclass(frozen=True)
class Model:
    """A CPU that QEMU can be, and what the module is to make of it."""

    cpu: str
    rdrand: str | None  # why it may not be used; None: it may
    aes: str

    @property
    def reason(self) -> str:
        """`disabled-reason`; no model has RDSEED."""
        return f"RDSEED: {ABSENT}" + (f"; RDRAND: {self.rdrand}" if self.rdrand else "")

    @property
    def has_rdrand(self) -> bool:
        return "RDRAND" not in self.reason


def part(vendor: str, family: int, model: int) -> str:
    return f"max,vendor={vendor},family={family},model={model}"


def amd(family: int, model: int) -> str:
    return part("AuthenticAMD", family, model)


# `max` is an AMD of family 0fh, which never had RDRAND and stands on the list of broken parts.
MODELS = [
    Model("Nehalem", ABSENT, "portable"),
    Model("Westmere", ABSENT, "AES-NI"),
    Model("IvyBridge", None, "AES-NI"),
    Model("Haswell", None, "AES-NI"),
    Model("EPYC", None, "AES-NI"),
    Model("max", BROKEN, "AES-NI"),
    Model("max,-rdrand", ABSENT, "AES-NI"),
    Model("max,-rdseed", BROKEN, "AES-NI"),
    Model("max,-vaes", BROKEN, "AES-NI"),
    Model("max,-aes", BROKEN, "portable"),
    Model("max,-rdrand,-aes", ABSENT, "portable"),
    Model(part("GenuineIntel", 6, 85), None, "AES-NI"),
    Model(part("HygonGenuine", 24, 1), None, "AES-NI"),
    # The edges of the list: 15h, 16h, and of 17h the models 70h to 7fh. RDSEED of 17h 47h QEMU does not have.
    Model(amd(0x15, 0x02), BROKEN, "AES-NI"),
    Model(amd(0x16, 0x30), BROKEN, "AES-NI"),
    Model(amd(0x17, 0x01), None, "AES-NI"),
    Model(amd(0x17, 0x47), None, "AES-NI"),
    Model(amd(0x17, 0x6F), None, "AES-NI"),
    Model(amd(0x17, 0x70), BROKEN, "AES-NI"),
    Model(amd(0x17, 0x7F), BROKEN, "AES-NI"),
    Model(amd(0x17, 0x80), None, "AES-NI"),
    Model(amd(0x1A, 0x02), None, "AES-NI"),
]

WITHOUT_RDRAND = [m for m in MODELS if not m.has_rdrand]
WITH_RDRAND = [m for m in MODELS if m.has_rdrand]

every_model = pytest.mark.parametrize("model", MODELS, ids=[m.cpu for m in MODELS])


def emulated(cpu: str, *options: str) -> Flavour:
    """The released module on that CPU."""
    skip_where_the_tables_do_not_hold()
    return Flavour(cpu, "release", prefix=(need("qemu-x86_64"), *options, "-cpu", cpu))


# RDRAND then comes from a generator of QEMU's own, which starts from here in every run: the same words each time, and
# quick ones, where each word is a system call otherwise.
SAME_WORDS = ("-seed", "1")

# A seed from emulated RDRAND takes a good part of the time that it is given, and a busy machine may take the rest.
ATTEMPTS = 6


# ---- Who serves ----


def probe_with_rdrand(model: Model, config: Path) -> dict[str, Any]:
    """Tries again where RDRAND ran out of its time, and only there."""
    answer: dict[str, Any] = {}
    for _ in range(ATTEMPTS):
        answer = emulated(model.cpu, *SAME_WORDS).probe(config)
        if answer["rand_bytes"] == 1 or "RDRAND: too few words in its time" not in "\n".join(answer["errors"]):
            break
    return answer


@every_model
def test_every_cpu_is_served(model: Model) -> None:
    answer = emulated(model.cpu).probe(CONF / "drng.cnf")
    assert answer["rand_bytes"] == 1
    assert answer["rand_status"] == 1
    assert answer["public"]["provider"] == "drng"
    drng = answer["drng"]
    assert drng["status"] == 1
    assert drng["aes-implementation"] == model.aes
    assert drng["disabled-reason"] == model.reason
    # With the fallback behind it RDRAND has 2 ms, which here is too little or just enough.
    may_serve = {"rdrand", "fallback"} if model.has_rdrand else {"fallback"}
    assert drng["active-source"] in may_serve
    assert drng[f"seeds-{drng['active-source']}"] == 1
    assert drng["seeds-rdseed"] + drng["seeds-rdrand"] + drng["seeds-fallback"] == 1
    assert drng["seed-failures"] == 0
    assert drng["health-failures"] == 0


@pytest.mark.parametrize("model", WITHOUT_RDRAND, ids=[m.cpu for m in WITHOUT_RDRAND])
def test_without_an_instruction_and_a_fallback_nothing_serves(model: Model, config: ConfigWriter) -> None:
    answer = emulated(model.cpu).probe(config(fallback="no"))
    assert answer["rand_bytes"] != 1
    assert answer["rand_priv_bytes"] != 1
    assert answer["rand_status"] == 0
    reasons = "\n".join(answer["errors"])
    assert "no instruction can seed and fallback = no" in reasons
    assert model.reason in reasons
    assert answer["drng"]["active-source"] == "none"
    assert answer["drng"]["seed-failures"] > 0
    assert answer["drng"]["seeds-fallback"] == 0


@pytest.mark.parametrize("model", WITH_RDRAND, ids=[m.cpu for m in WITH_RDRAND])
def test_rdrand_alone_seeds(model: Model, config: ConfigWriter) -> None:
    answer = probe_with_rdrand(model, config(fallback="no"))
    assert answer["rand_bytes"] == 1, answer["errors"]
    assert answer["public"]["provider"] == "drng"
    assert answer["drng"]["active-source"] == "rdrand"
    assert answer["drng"]["seeds-rdrand"] == 1
    assert answer["drng"]["seeds-fallback"] == 0
    assert answer["drng"]["disabled-reason"] == model.reason


def with_rdrand_as_the_generator(tmp_path: Path) -> Path:
    text = (CONF / "drng.cnf").read_text()
    line = "\nrandom = CTR-DRBG\n"
    assert text.count(line) == 1
    path = tmp_path / "rdrand.cnf"
    path.write_text(text.replace(line, "\nrandom = RDRAND\n"))
    return path


@every_model
def test_the_rdrand_generator_serves_where_it_may(model: Model, tmp_path: Path) -> None:
    answer = emulated(model.cpu).probe(with_rdrand_as_the_generator(tmp_path))
    assert answer["public"]["name"] == "RDRAND"
    assert (answer["rand_bytes"] == 1) == model.has_rdrand
    if not model.has_rdrand:
        assert f"RDRAND may not be used: {model.reason.rsplit(': ', 1)[1]}" in "\n".join(answer["errors"])


# ---- A CPU that lies: the same words in every run ----


def outputs_of_a_lying_cpu(config: Path) -> list[str]:
    """What `openssl rand` put out, in the runs in which RDRAND kept to its time."""
    flavour = emulated("Haswell", *SAME_WORDS)
    command = [need("openssl"), "rand", "-hex", "32"]
    results = [flavour.run(command, {"OPENSSL_CONF": str(config)}) for _ in range(ATTEMPTS)]
    outputs = [r.stdout for r in results if r.returncode == 0]
    assert len(outputs) > 1, results
    return outputs


def test_os_mixing_saves_who_trusts_a_lying_cpu(config: ConfigWriter) -> None:
    """No health test can see that these are the words of the last run."""
    outputs = outputs_of_a_lying_cpu(config(source="rdrand", fallback="no", request_mixing="no"))
    assert len(set(outputs)) == len(outputs)


def test_without_os_mixing_a_lying_cpu_repeats_itself(config: ConfigWriter) -> None:
    """The control: the words are the same, and nothing but OS mixing has told two runs apart."""
    outputs = outputs_of_a_lying_cpu(config(source="rdrand", fallback="no", request_mixing="no", os_mixing="no"))
    assert len(set(outputs)) == 1


# ---- Forks, which this kernel does not help to notice ----


@pytest.mark.parametrize("cpu", ["Nehalem", "Haswell"])
def test_forks_are_noticed_without_the_kernels_help(cpu: str, config: ConfigWriter) -> None:
    """By the handler of fork(); a child of clone() is not noticed there."""
    check_draws(emulated(cpu), "fork", config(request_mixing="no"))


@pytest.mark.parametrize("mode", ["fork", "clone"])
def test_forks_are_noticed_on_this_machine(flavour: Flavour, mode: str, config: ConfigWriter) -> None:
    """The same with it."""
    check_draws(flavour, mode, config(request_mixing="no"))


# ---- The CUnit programs ----

NOT_HERE: Mapping[str, str] = {
    "fault_matrix": "half a minute of arithmetic that the CPU has no part in",
    "seed": "a quarter of a minute of arithmetic that the CPU has no part in",
    "rows": "arithmetic that the CPU has no part in but for one loop, which noise_mac runs",
    "provider_chain": "wants RDRAND as a parent, in times that an emulator does not keep",
    "provider_failing_cpu": "counts the words of a request, of which there are more where no kernel wipes memory",
}


def skip_what_does_not_belong(name: str) -> None:
    if name in NOT_HERE:
        pytest.skip(NOT_HERE[name])
    if name.startswith("process_"):
        pytest.skip("tests the kernel and the C library, which QEMU passes on in part; fork_draw stands for it here")


def run_cunit(cpu: str, program: str) -> tuple[int, set[str], str]:
    """Exit status, the names of the tests that failed, and all that was said."""
    flavour = emulated(cpu)
    result = flavour.run([program], {**SAMPLE, "DRNG_TEST_EMULATOR": "qemu-x86_64"}, cwd=ROOT / "tests")
    failed = re.findall(r"^  Test: (.*) \.\.\.FAILED$", result.stdout, re.MULTILINE)
    return result.returncode, set(failed), result.stdout + result.stderr


# Nehalem: neither AES-NI nor AVX; Westmere: AES-NI, but no AVX, so that a stray VEX instruction would trap.
CUNIT_CASES = [
    pytest.param(cpu, name, path, id=f"{cpu}-{name}")
    for cpu in ("Nehalem", "Westmere")
    for name, path in programs("dev")
]


@pytest.mark.parametrize(("cpu", "name", "program"), CUNIT_CASES)
def test_cunit(cpu: str, name: str, program: str) -> None:
    skip_what_does_not_belong(name)
    status, failed, output = run_cunit(cpu, program)
    if status == SKIPPED:
        pytest.skip(output.strip().splitlines()[-1])
    assert not failed, output
    assert (status == 0) == (not failed), output
    assert "Run Summary" in output


WRONG_VAES: list[tuple[str, set[str]]] = [
    ("max", {"it passes on every implementation"}),
    ("max,-vaes", set()),
]


@pytest.mark.parametrize(("cpu", "wrong"), WRONG_VAES)
def test_the_self_test_steps_down_from_a_wrong_implementation(cpu: str, wrong: set[str]) -> None:
    """
    QEMU 7.2 puts the lower half of a 256-bit register through VAESENC in the place of both (10.0 does not). `max` has
    that VAES, so one implementation fails its self-test, as the CUnit program tells, and the module takes the next.
    """
    path = dict(programs("dev"))["self_test"]
    status, failed, output = run_cunit(cpu, path)
    assert failed == wrong, output
    assert (status == 0) == (not wrong), output
    answer = emulated(cpu).probe(CONF / "drng.cnf")
    assert answer["rand_bytes"] == 1
    assert answer["drng"]["aes-implementation"] == "AES-NI"
