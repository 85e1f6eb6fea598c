# SPDX-License-Identifier: Apache-2.0
"""Builds from whatever an earlier attempt has left, and what a run of the tests says that it has left out."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.builds import ROOT
from tests.support.skips import grouped

Result = subprocess.CompletedProcess[str]

# ---- What an earlier attempt has left ----


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project of one file, with the script that builds it."""
    (tmp_path / "scripts/ci").mkdir(parents=True)
    for name in ("builds.sh", "packages.sh"):
        shutil.copy(ROOT / "scripts/ci" / name, tmp_path / "scripts/ci")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(one C)\nadd_library(one one.c)\n"
    )
    presets = '{"version": 3, "configurePresets": [{"name": "one", "generator": "Ninja", "binaryDir": "%s"}]}'
    (tmp_path / "CMakePresets.json").write_text(presets % "${sourceDir}/build/${presetName}")
    (tmp_path / "one.c").write_text("int one(void) { return 1; }\n")
    return tmp_path


def build(tree: Path) -> Result:
    command = ["sh", "-euc", ". scripts/ci/builds.sh; build_preset one; echo built"]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)


def test_a_build_that_was_moved_or_broken_off_is_made_anew(tree: Path) -> None:
    assert build(tree).stdout.endswith("built\n")
    assert build(tree).stdout == "ninja: no work to do.\nbuilt\n"
    cache = tree / "build/one/CMakeCache.txt"
    cache.write_text(cache.read_text().replace(str(tree), "/somewhere/else"))
    moved = build(tree)
    assert moved.stdout.endswith("built\n"), moved.stderr
    cache.write_text("half a li")
    assert build(tree).stdout.endswith("built\n")


def test_what_does_not_compile_is_a_failure_with_the_compilers_words(tree: Path) -> None:
    (tree / "one.c").write_text("int one(void) { return missing; }\n")
    result = build(tree)
    assert result.returncode == 1
    assert "built" not in result.stdout
    assert "missing" in result.stderr
    assert "build/one could not be built: all of it is in build/one/build.log" in result.stderr


# ---- What was left out ----


def test_skips_are_counted_by_what_would_unlock_them() -> None:
    reasons = [
        "Skipped: /var/cache/x is not there: scripts/ci/test-rpm.sh makes it, and so does DRNG_PACKAGE_CHROOT=1",
        "Skipped: shellcheck is not installed",
        "skipped: this CPU has no AVX-512",
        "Skipped: this CPU has no RDRAND",
        "Skipped: nobody has thought of this one",
    ]
    assert grouped(reasons) == [
        "   2  another CPU",
        "   1  DRNG_PACKAGE_CHROOT=1: chroots in which packages are installed",
        "   1  packages that could not be had",
        "   1  nobody has thought of this one",
    ]


def test_the_list_of_skips_is_the_last_runs(tmp_path: Path) -> None:
    (tmp_path / "scripts/ci").mkdir(parents=True)
    for name in ("scripts/test.sh", "scripts/ci/packages.sh", "scripts/ci/builds.sh"):
        shutil.copy(ROOT / name, tmp_path / name)

    def listed() -> str:
        command = ["scripts/test.sh", "--list-skips"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert listed() == "no test has been run here: scripts/test.sh\n"
    (tmp_path / "build").mkdir()
    (tmp_path / "build/skips").write_text("   1  what was left out\n")
    assert listed() == "   1  what was left out\n"
