# SPDX-License-Identifier: Apache-2.0
"""drng on musl, the C library of Alpine: it builds, and a program is served. scripts/ci/musl.sh by itself does more."""

from __future__ import annotations

import subprocess

import pytest

from tests.support.builds import BUILD, ROOT, said_by

pytestmark = pytest.mark.nightly("glibc alone")


def test_a_program_on_musl_is_served() -> None:
    ways = ("drng", "libdrng, shared", "libdrng, static")
    said = said_by(ROOT / "scripts/ci/musl.sh", "--short")
    assert said.splitlines() == [f"a program on musl is served by {way}" for way in ways]


def test_its_thread_local_variables_are_not_in_what_musl_cannot_enlarge() -> None:
    """musl loads no module with such a relocation, glibc's module has some."""
    module = BUILD / "musl/drng.so"
    if not module.exists():
        pytest.skip("scripts/ci/musl.sh has not built it")

    def relocations(path: object) -> str:
        command = ["readelf", "--relocs", "--wide", str(path)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert "TPOFF64" not in relocations(module).replace("DTPOFF64", "")
    assert "TPOFF64" in relocations(BUILD / "release/drng.so").replace("DTPOFF64", "")
