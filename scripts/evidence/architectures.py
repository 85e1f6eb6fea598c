"""The architectures: the table of docs/platforms.md, from the sources, and the faults on the rows of each.

test_rows is the dev build's, and those that scripts/ci/cross.sh has built, under QEMU. Its CPU and clock are scripted:
it gives the same on every machine.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from unittest import SkipTest

from markdown_table import table

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Architecture:
    title: str
    rows: str  # of mixing/machine/rows.h
    found: str
    kernels: str  # of mixing/aes/
    cross: str | None  # of build/cross/


ARCHITECTURES = (
    Architecture("x86-64", "x86", "CPUID, OPENSSL_ia32cap, /proc/cpuinfo", "x86", None),
    Architecture("64-bit Arm", "arm", "HWCAP2_RNG, OPENSSL_armcap", "arm", "aarch64"),
    Architecture("POWER, ppc64le", "power", "PPC_FEATURE2_DARN", "power", "ppc64le"),
    Architecture("IBM Z, s390x", "z", "STFLE 57, query of PRNO", "z", "s390x"),
    Architecture("RISC-V, riscv64", "none", "nothing: the register `seed` is the kernel's alone", "riscv", "riscv64"),
)

KERNELS = {
    "aes_ni": "AES-NI",
    "aes_vaes256": "VAES-256",
    "aes_vaes512": "VAES-512",
    "aes_arm": "AESE",
    "aes_portable": "",
}


def names_of(architecture: Architecture) -> tuple[list[str], bool]:
    """The instructions in the order in which they are asked, and whether the last is a generator's."""
    rows = (ROOT / "mixing/machine/rows.h").read_text(encoding="utf-8")
    text = rows.partition(f"/* ---- {architecture.rows} ---- */")[2].partition("/* ---- ")[0]
    names = re.findall(r'X\(DRNG_\w+, "([\w-]+)"\)', text)
    has_generator = re.search(r"DRNG_HAS_GENERATOR = (\d)", text)
    if not names or has_generator is None:
        sys.exit(f"mixing/machine/rows.h has no instructions of {architecture.rows}")
    return [name.upper() for name in names if name != "none"], has_generator[1] == "1"


def aes_of(architecture: Architecture) -> str:
    """Its kernels: the files of mixing/aes/ that its chooser takes."""
    chooser = ROOT / f"mixing/aes/aes_choose_{architecture.kernels}.c"
    text = chooser.read_text(encoding="utf-8") if chooser.exists() else ""
    fast = [name for file, name in KERNELS.items() if name and re.search(rf"\bdrng_{file}\b", text)]
    return ", ".join([*fast, "plain C"])


def tested(architecture: Architecture) -> str:
    if architecture.cross is None:
        return "on hardware; other CPUs under QEMU"
    if not (ROOT / f"tests/cross/{architecture.cross}.cmake").exists():
        sys.exit(f"tests/cross/ has no {architecture.cross}.cmake")
    return "under QEMU, not on hardware"


def architectures() -> str:
    rows = []
    for one in ARCHITECTURES:
        names, has_generator = names_of(one)
        seeds = ", ".join([*names, "OpenSSL's default seed source"])
        rows.append([one.title, seeds, names[-1] if has_generator else "-", one.found, aes_of(one), tested(one)])
    return table(("architecture", "seeds from, in this order", "generator", "found by", "AES", "tested"), rows)


# ---- Faults ----


def program_of(architecture: Architecture) -> list[str]:
    if architecture.cross is None:
        return [str(ROOT / "build/dev/tests/test_rows")]
    build = ROOT / "build/cross" / architecture.cross
    return [f"qemu-{architecture.cross}", "-L", str(build / "sysroot"), str(build / "tests/test_rows")]


def cases_of(architecture: Architecture) -> list[list[str]]:
    """Instruction, fault, others, fallback, what serves, health failures, disabled, retries, ms."""
    command = program_of(architecture)
    if not Path(command[-1]).exists() or shutil.which(command[0]) is None:
        raise SkipTest(
            f"{command[-1]} is not there: scripts/ci/cross.sh builds it, and cmake --preset dev that of x86-64"
        )
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "table.md"
        env = {**os.environ, "DRNG_FAULT_TABLE": str(written)}
        result = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"{command[-1]} failed:\n{result.stdout}{result.stderr}")
        lines = written.read_text(encoding="utf-8").splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def counted(name: str, cases: list[list[str]]) -> tuple[str, ...]:
    """How many there are, and how many each serves; and the longest time."""
    served = [case[4] for case in cases]
    nobody = sum(what.startswith("nobody") for what in served)
    counts = [len(cases), served.count(name), 0, served.count("fallback"), nobody]
    counts[2] = counts[0] - sum(counts[1:])
    return (*map(str, counts), f"{max(float(case[8]) for case in cases):.2f}")


def rows() -> str:
    """Instructions of which the same is true share a row."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for architecture in ARCHITECTURES:
        if architecture.rows == "none":
            continue
        groups: dict[tuple[str, str], list[list[str]]] = {}
        for case in cases_of(architecture):
            groups.setdefault((case[0], case[2]), []).append(case)
        for (name, others), cases in groups.items():
            alike.setdefault((others, *counted(name, cases)), []).append(name)
    serves = ("it serves", "another instruction", "the fallback", "nobody: zeros and an error")
    head = ("the fault is in", "the others are", "cases", *serves, "ms, at most")
    return table(head, [[", ".join(names), *cells] for cells, names in alike.items()])


TABLES = {"architectures": architectures, "rows": rows}
