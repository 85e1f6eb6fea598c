# SPDX-License-Identifier: Apache-2.0
"""Where the builds are, and how a program is started on top of one.

A flavour is a way to run libcrypto's users with the module: as it is released, under AddressSanitizer and
UndefinedBehaviorSanitizer, or under valgrind. A test that takes `flavour` runs under each.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
CONF = ROOT / "conf"
PAGES = sorted(p.name for p in (ROOT / "docs").glob("*.[1-8]"))  # of the manual

# Both instructions taken away, by the switch that users of OpenSSL know.
MASKED = "~0x4000000000000000:~0x40000"
NO_AES = "~0x200000000000000"

# scripts/test.sh says here which packages could not be had: what needs their programs is skipped, and fails otherwise.
NOT_INSTALLED = os.environ.get("DRNG_NOT_INSTALLED", "")

# ctest's SKIP_RETURN_CODE: hardware that this machine does not have, or packages that cannot be had.
SKIPPED = 77

# QEMU's CPU of 64-bit Arm with all that it has. To sign pointers as the architecture says would take most of its time.
ARM_MAX = "max,pauth-impdef=on"

# Asks CUnit programs that try everything for a part of it: see unit_samples() in tests/unit/unit.h.
SAMPLE = {"DRNG_TEST_SAMPLE": "1"}


ConfigWriter = Callable[..., Path]  # see the fixture `config`


@dataclass(frozen=True)
class Flavour:
    """A way to run programs on top of one build of the module."""

    name: str
    preset: str
    prefix: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def modules(self) -> Path:
        return BUILD / self.preset

    def program(self, name: str) -> str:
        """A program of tests/programs, in the build that fits the flavour."""
        preset = "dev" if self.preset == "release" else self.preset
        return str(BUILD / preset / "tests" / name)

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("OPENSSL_", "LD_", "ASAN_", "UBSAN_"))}
        env["OPENSSL_MODULES"] = str(self.modules)
        env["LC_ALL"] = "C"
        return {**env, **self.env, **(extra or {})}

    def run(
        self, command: Sequence[str], env: Mapping[str, str] | None = None, **kwargs: Any
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end; what it prints is text in the result."""
        kwargs.setdefault("timeout", 120)
        return subprocess.run(
            [*self.prefix, *command],
            env=self.environment(env),
            capture_output=True,
            text=True,
            check=False,
            **kwargs,
        )

    def says(self, command: Sequence[str], env: Mapping[str, str] | None = None, **kwargs: Any) -> str:
        """What it prints, which comes to a good end."""
        result = self.run(command, env, **kwargs)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def probe(self, config: Path | None, env: Mapping[str, str] | None = None, *arguments: str) -> dict[str, Any]:
        """Who served under this openssl.cnf; see tests/programs/probe.c."""
        extra = {"OPENSSL_CONF": str(config) if config else "/dev/null", **(env or {})}
        return json.loads(self.says([self.program("probe"), *arguments], extra))


def _asan_env() -> dict[str, str]:
    """An uninstrumented program that loads an instrumented module needs the runtime from the start."""
    names = ("libasan.so", "libubsan.so")
    paths = [
        subprocess.run(["gcc", f"-print-file-name={n}"], capture_output=True, text=True, check=True).stdout.strip()
        for n in names
    ]
    return {
        "LD_PRELOAD": " ".join(paths),
        "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:exitcode=99",
        "LSAN_OPTIONS": f"suppressions={ROOT / 'tests' / 'lsan.supp'}:print_suppressions=0",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }


VALGRIND = ("valgrind", "--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite", "--error-exitcode=98")

RELEASE = Flavour("release", "release")


# Made when asked for: only one of them takes a compiler.
FLAVOURS: dict[str, Callable[[], Flavour]] = {
    "release": lambda: RELEASE,
    "asan-ubsan": lambda: Flavour("asan-ubsan", "asan-ubsan", env=_asan_env()),
    "valgrind": lambda: Flavour("valgrind", "release", prefix=VALGRIND),
}


def need(program: str) -> str:
    """The path of a program that scripts/test.sh installs."""
    path = shutil.which(program)
    if not path and NOT_INSTALLED:
        pytest.skip(f"{program} is not installed: {NOT_INSTALLED}")
    assert path, f"{program} is not installed: run scripts/test.sh, which installs what the tests need"
    return path


def said_by(*command: str | Path, **kwargs: Any) -> str:
    """What a script or a CUnit program says that comes to a good end. It may find that it cannot be done here."""
    result = subprocess.run(command, capture_output=True, text=True, check=False, **{"timeout": 1200, **kwargs})
    if result.returncode == SKIPPED:
        pytest.skip((result.stdout + result.stderr).strip().splitlines()[-1])
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def openssl_version() -> tuple[int, ...]:
    """Of the openssl command here: three numbers."""
    said = subprocess.run([need("openssl"), "version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.findall(r"\d+", said.split()[1])[:3]))


def has_random_provider() -> bool:
    """Whether this OpenSSL knows the key of that name: 3.5 and later do."""
    return openssl_version() >= (3, 5)


def served_by_drng(answer: dict) -> bool:
    return all(
        answer[role] and answer[role]["provider"] == "drng" and answer[role]["name"] == "CTR-DRBG"
        for role in ("primary", "public", "private")
    )


def programs(preset: str, label: str = "") -> list[tuple[str, str]]:
    """Name and path of each test that ctest knows in a build, or of those with a label."""
    if not (BUILD / preset / "CTestTestfile.cmake").exists():
        return []
    labels = ("--label-regex", label) if label else ()
    listing = said_by("ctest", "--show-only=json-v1", *labels, cwd=BUILD / preset)
    # ctest knows no command where the program is not there: its test fails, and not the collection of all.
    return [(t["name"], t.get("command", ["/not-built"])[0]) for t in json.loads(listing)["tests"]]
