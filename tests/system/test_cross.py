# SPDX-License-Identifier: Apache-2.0
"""64-bit Arm, POWER, IBM Z and RISC-V: the module and the CUnit programs, under QEMU's user mode.

scripts/ci/cross.sh builds them, on libraries that it fetches. 64-bit Arm has a CPU with its instructions and one
without. The CUnit programs that take longest are left out: ctest --test-dir build/cross/ARCH runs all.
"""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.builds import ARM_MAX, BUILD, CONF, ROOT, SAMPLE, ConfigWriter, Flavour, need, said_by
from tests.support.draws import check_draws
from tests.support.keys import instructions_by_machine

pytestmark = pytest.mark.nightly("the code of other processors in their units' tests: aes_arm, none, provider_armcap")


@dataclass(frozen=True)
class Architecture:
    name: str
    tools: str  # the prefix of its binutils
    with_instructions: str | None  # a CPU of QEMU's
    without: str

    @property
    def folder(self) -> Path:
        return BUILD / "cross" / self.name

    @property
    def sysroot(self) -> Path:
        return self.folder / "sysroot"

    @property
    def openssl(self) -> str:
        return str(self.sysroot / "usr" / "bin" / "openssl")

    @property
    def instructions(self) -> tuple[str, ...]:
        return instructions_by_machine().get(self.name, ("none",))

    @property
    def absent(self) -> str:
        """Why none of them serves on the CPU without."""
        if self.name == "riscv64":
            return "none: RISC-V's register `seed` (Zkr) is the kernel's alone"
        if self.with_instructions is None:
            return "none: this architecture has no such instruction"
        return "; ".join(f"{name.upper()}: not in this CPU" for name in self.instructions)

    def flavour(self, cpu: str | None) -> Flavour:
        """Skipped where the script could not have what it needs; a build that failed is a failure."""
        if not self.sysroot.is_dir() or not shutil.which(f"{self.tools}-gcc"):
            pytest.skip(f"scripts/ci/cross.sh could not have the cross compiler or the libraries for {self.name}")
        if cpu is None:
            pytest.skip(f"programs have no such instruction on {self.name}")
        emulator = (need(f"qemu-{self.name}"), "-L", str(self.sysroot), "-cpu", cpu)
        return Flavour(self.name, f"cross/{self.name}", prefix=emulator)


ARCHITECTURES = (
    Architecture("aarch64", "aarch64-linux-gnu", ARM_MAX, "cortex-a72"),
    Architecture("ppc64le", "powerpc64le-linux-gnu", None, "power9"),
    Architecture("s390x", "s390x-linux-gnu", None, "max"),
    Architecture("riscv64", "riscv64-linux-gnu", None, "rv64"),
)
ARM = ARCHITECTURES[0]
NO_RNG = ("cortex-a72", "neoverse-n1")

# More than ten seconds each, and what they test is the same code everywhere; test_rows has the faults on each row.
LONG = ("ctr_drbg", "fault_matrix", "process_allocation", "process_threads", "process_unload", "seed", "seed_time")


@pytest.fixture(params=ARCHITECTURES, ids=lambda a: a.name)
def arch(request: pytest.FixtureRequest) -> Architecture:
    return request.param


@pytest.fixture
def hardware(arch: Architecture) -> Flavour:
    return arch.flavour(arch.with_instructions)


@pytest.fixture
def bare(arch: Architecture) -> Flavour:
    return arch.flavour(arch.without)


def own_counters(arch: Architecture, flavour: Flavour) -> dict:
    """Of a program that draws, as drng-status reads them."""
    program = str(ROOT / "tests" / "programs" / "own_counters.py")
    python = str(next((arch.sysroot / "usr" / "bin").glob("python3.*")))
    env = {"OPENSSL_CONF": str(CONF / "drng.cnf"), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return json.loads(flavour.says([python, "-s", program], env))


# ---- The module ----


def test_it_exports_its_entry_point_and_its_counters_and_has_no_executable_stack(
    arch: Architecture, bare: Flavour
) -> None:
    module = str(bare.modules / "drng.so")
    symbols = said_by(f"{arch.tools}-nm", "-D", "--defined-only", module)
    assert sorted(line.split()[-1] for line in symbols.splitlines()) == ["OSSL_provider_init", "drng_counters"]
    headers = said_by(f"{arch.tools}-readelf", "-W", "-l", "-d", module)
    assert "BIND_NOW" in headers
    assert "RWE" not in next(line for line in headers.splitlines() if "GNU_STACK" in line)


def test_the_c_library_is_the_sysroots(arch: Architecture, bare: Flavour) -> None:
    """And not this machine's own for that architecture, which the compiler looks for first."""
    cache = (bare.modules / "CMakeCache.txt").read_text()
    flags = re.search(r"^CMAKE_C_FLAGS:STRING=(.*)$", cache, flags=re.M)
    assert flags
    gcc = [f"{arch.tools}-gcc", f"--sysroot={arch.sysroot}", *flags[1].split()]
    for name in ("crti.o", "libc.so.6"):
        found = said_by(*gcc, f"-print-file-name={name}")
        assert found.startswith(f"{arch.sysroot}/"), found
    command = [*gcc, "-E", "-v", "-x", "c", "/dev/null"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    first = said.partition("<...> search starts here:\n")[2].split()[0]
    assert first.startswith(f"{arch.sysroot}/"), said


# ---- A CPU with the instructions ----


def test_the_first_instruction_serves(arch: Architecture, hardware: Flavour) -> None:
    first, *others = arch.instructions
    # Where QEMU gets too little time, the instruction is too slow for a seed, and the next one serves.
    for _ in range(5):
        answer = hardware.probe(CONF / "drng.cnf")
        assert answer["rand_bytes"] == 1
        assert all(answer[role]["provider"] == "drng" for role in ("primary", "public", "private"))
        drng = answer["drng"]
        if drng["active-source"] == first:
            break
    assert (drng["status"], drng["active-source"], drng["disabled-reason"]) == (1, first, "")
    assert drng[f"seeds-{first}"] == 1
    assert [drng[f"seeds-{name}"] for name in (*others, "fallback")] == [0] * (len(others) + 1)
    assert drng["seed-failures"] + drng["health-failures"] == 0


def test_each_instruction_serves_by_its_name(arch: Architecture, hardware: Flavour, config: ConfigWriter) -> None:
    for name in arch.instructions:
        drng = hardware.probe(config(source=name, fallback="no"))["drng"]
        # Its thousands of words take longer under an emulator than a seed may; provider_chain has RNDR as a generator.
        if name != "rndr":
            assert (drng["active-source"], drng[f"seeds-{name}"]) == (name, 1)
        reasons = [f"{other.upper()}: not chosen by the source key" for other in arch.instructions if other != name]
        assert drng["disabled-reason"] == "; ".join(reasons)


def test_arms_generator_is_an_algorithm(arch: Architecture, hardware: Flavour) -> None:
    listing = hardware.run([arch.openssl, "list", "-random-generators", "-provider", "drng"])
    offered = set(re.findall(r"^ *(\S+) @ drng$|(RNDR|RDRAND)", listing.stdout, flags=re.M))
    names = {name for pair in offered for name in pair if name in ("RNDR", "RDRAND")}
    assert names == {"RNDR"}, listing.stdout


# ---- 64-bit Arm ----


def test_every_object_has_branch_protection() -> None:
    """One without the note takes it from all; the C library's start-up files decide about the module as a whole."""
    flavour = ARM.flavour(ARM.without)
    objects = [
        path
        for folder in ("mixing.dir", "provider.dir", "library.dir")
        for path in (flavour.modules / "CMakeFiles" / folder).rglob("*.o")
    ]
    assert len(objects) > 30
    command = [f"{ARM.tools}-readelf", "--notes"]
    bare = [path for path in objects if "BTI, PAC" not in said_by(*command, path)]
    assert not bare


# ---- A CPU without them ----


def test_the_fallback_serves(arch: Architecture, bare: Flavour) -> None:
    answer = bare.probe(CONF / "drng.cnf")
    assert (answer["rand_bytes"], answer["rand_status"]) == (1, 1)
    assert all(answer[role]["provider"] == "drng" for role in ("primary", "public", "private"))
    drng = answer["drng"]
    assert (drng["status"], drng["active-source"], drng["disabled-reason"]) == (1, "fallback", arch.absent)
    assert drng["seeds-fallback"] == 1
    assert sum(drng[f"seeds-{name}"] for name in arch.instructions) + drng["seed-failures"] == 0


@pytest.mark.parametrize("cpu", NO_RNG)
def test_cores_before_feat_rng_have_neither_register(cpu: str) -> None:
    drng = ARM.flavour(cpu).probe(CONF / "drng.cnf")["drng"]
    assert (drng["active-source"], drng["disabled-reason"]) == ("fallback", ARM.absent)


def test_without_a_fallback_nothing_serves(arch: Architecture, bare: Flavour, config: ConfigWriter) -> None:
    for source in ("auto", *arch.instructions):
        answer = bare.probe(config(fallback="no", source=source))
        assert answer["rand_bytes"] != 1
        assert answer["rand_status"] == 0
        reasons = "\n".join(answer["errors"])
        assert "no instruction can seed and fallback = no" in reasons
        assert arch.absent.rsplit(": ", 1)[-1] in reasons
        assert answer["drng"]["active-source"] == "none"
        assert answer["drng"]["seeds-fallback"] == 0


# ---- Either ----


def test_another_architectures_instruction_is_an_error_that_lists_its_own(
    arch: Architecture, bare: Flavour, config: ConfigWriter
) -> None:
    """libcrypto drops the error, drng-conf has it: run by the Python of this architecture."""
    others = {name for names in instructions_by_machine().values() for name in names} - set(arch.instructions)
    python = next((arch.sysroot / "usr" / "bin").glob("python3.*"))
    for name in sorted(others)[::3]:
        path = config(source=name)
        assert not any(s["provider"] == "drng" for s in (bare.probe(path)["public"],) if s)
        # Not by its path from /: that folder, once opened, is the sysroot's under QEMU.
        command = [str(python), "-I", str(ROOT / "scripts" / "drng-conf"), path.name]
        result = bare.run(command, cwd=path.parent)
        allowed = ", ".join(("auto", *arch.instructions))
        assert result.returncode == 1
        assert f"drng did not load: [drng_sect] source = {name}: write one of {allowed}\n" in result.stderr


def test_hmac_conditions_too(bare: Flavour, config: ConfigWriter) -> None:
    """Its self-test has passed then, on the other architecture's libcrypto."""
    answer = bare.probe(config(conditioner="hmac-sha256"))
    assert answer["rand_bytes"] == 1
    assert answer["public"]["provider"] == "drng"


@pytest.mark.parametrize("mode", ["fork"])  # a child of clone() is not noticed where the kernel does not wipe
def test_forks_are_noticed(arch: Architecture, mode: str) -> None:
    check_draws(arch.flavour(arch.with_instructions or arch.without), mode, CONF / "drng.cnf")


def test_drng_status_understands_its_counters(arch: Architecture) -> None:
    """Its own code, by the Python of the architecture: numbers are in the byte order of the machine."""
    counters = own_counters(arch, arch.flavour(arch.with_instructions or arch.without))
    served = arch.instructions[0] if arch.with_instructions else "fallback"
    assert (counters["active-source"], counters[f"seeds-{served}"]) == (served, 1)
    # 16 bytes for the program, and what the primary gave as seed.
    assert counters["requests"] == 2
    assert counters["disabled-reason"] == ("" if arch.with_instructions else arch.absent)
    assert counters["libcrypto"].startswith("OpenSSL 3.")
    assert {f"{name}-retries" for name in arch.instructions} <= counters.keys()


# ---- libdrng ----


def library_draw(flavour: Flavour, way: str) -> dict:
    command = [flavour.program(f"library_draw_{way}")]
    return json.loads(flavour.says(command, {"LD_LIBRARY_PATH": str(flavour.modules)}))


@pytest.mark.parametrize("way", ["shared", "static"])
def test_libdrng_serves_from_the_instruction(arch: Architecture, hardware: Flavour, way: str) -> None:
    said = library_draw(hardware, way)
    names = [name.upper() for name in arch.instructions]
    assert (said["source"], said["others"]) == (names[0], "")
    assert (said["seed"], said["seed-text"]) == (1, names[0])
    assert (said["random"], said["random-text"]) == (1, names[-1])


@pytest.mark.parametrize("way", ["shared", "static"])
def test_libdrng_names_the_first_instruction_where_there_is_none(arch: Architecture, bare: Flavour, way: str) -> None:
    said = library_draw(bare, way)
    assert (said["source"], said["others"]) == ("getrandom", arch.absent)
    assert (said["seed"], said["seed-text"]) == (0, arch.absent.partition("; ")[0].partition(": ")[2])


# ---- The CUnit programs ----


def cunit_of(arch: Architecture) -> list[dict]:
    """As ctest knows them; none where nothing is built."""
    if not (arch.folder / "CTestTestfile.cmake").exists() or not shutil.which("ctest"):
        return []
    command = ["ctest", "--show-only=json-v1"]
    listing = said_by(*command, cwd=arch.folder)
    return json.loads(listing)["tests"]


CUNIT = [
    pytest.param(arch, test, id=f"{arch.name}-{test['name']}")
    for arch in ARCHITECTURES
    for test in cunit_of(arch)
    if test["name"] not in LONG
]


@pytest.mark.parametrize(("arch", "test"), CUNIT, indirect=False)
def test_cunit(arch: Architecture, test: dict) -> None:
    arch.flavour(arch.with_instructions or arch.without)
    properties = {p["name"]: p["value"] for p in test["properties"]}
    env = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
    env |= {**SAMPLE, "QEMU_CPU": arch.with_instructions or arch.without}
    said_by(*test["command"], env={**os.environ, **env}, cwd=ROOT / "tests", timeout=300)
