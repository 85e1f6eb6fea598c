# SPDX-License-Identifier: Apache-2.0
"""Processes for drng-status to look at, and drng-status."""

import contextlib
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.builds import CONF, RELEASE, ROOT, need
from tests.support.servers import PROGRAMS, SYSTEM_PYTHON

STATUS = ROOT / "scripts" / "drng-status"
STATUS_TARGET = (SYSTEM_PYTHON, str(PROGRAMS / "status_target.py"))
PINNED = {"OPENSSL_CONF": str(CONF / "drng.cnf")}
WITHOUT_DRNG = {"OPENSSL_CONF": "/dev/null"}
NOBODY = 65534

Result = subprocess.CompletedProcess[str]


def status(*arguments: str, env: Mapping[str, str] | None = None) -> Result:
    return RELEASE.run([str(STATUS), *arguments], env if env is not None else PINNED, timeout=60)


def as_json(*arguments: str, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    return json.loads(RELEASE.says([str(STATUS), "--json", *arguments], env if env is not None else PINNED, timeout=60))


# ---- Processes to look at ----


@dataclass
class Target:
    """tests/programs/status_target.py, or another that waits for orders."""

    process: subprocess.Popen[str]

    @property
    def pid(self) -> int:
        return self.process.pid

    def do(self, line: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def maps(self) -> str:
        return Path(f"/proc/{self.pid}/maps").read_text()

    def counters(self) -> dict[str, Any]:
        return as_json("--pid", str(self.pid))["processes"][0]


@contextlib.contextmanager
def target(env: Mapping[str, str], *arguments: str, program: Sequence[str] = STATUS_TARGET) -> Iterator[Target]:
    with subprocess.Popen(
        [*program, *arguments], env=RELEASE.environment(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Target(process)


# Of a drng.so that holds what somebody has put there; followed by nothing, where ".data" is the last of it.
FORGED_MODULE = """
.text
nop
.data
.balign 64
.globl drng_counters
.type drng_counters, @object
drng_counters:
.incbin "counters"
.size drng_counters, . - drng_counters
.section .note.GNU-stack, "", @progbits
"""

# Loads what it is told to, and lives until its input ends.
HOLDER = """
import ctypes, sys
held = [ctypes.CDLL(path) for path in sys.argv[1:]]
print("held", flush=True)
sys.stdin.buffer.read()
"""


def build_module(directory: Path, content: bytes, *flags: str) -> Path:
    """A drng.so whose counters are these bytes."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "counters").write_bytes(content)
    (directory / "module.s").write_text(FORGED_MODULE)
    command = [need("gcc"), "-shared", "-nostdlib", *flags, "-o", "drng.so", "module.s"]
    subprocess.run(command, cwd=directory, check=True)
    return directory / "drng.so"


@contextlib.contextmanager
def holding(*modules: Path) -> Iterator[int]:
    """A process that has loaded these."""
    command = [SYSTEM_PYTHON, "-c", HOLDER, *map(str, modules)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process.pid
