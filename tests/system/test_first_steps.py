# SPDX-License-Identifier: Apache-2.0
"""The commands that a newcomer types, where packages cannot be had and from whatever an earlier attempt has left."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.builds import ROOT
from tests.support.skips import grouped

Result = subprocess.CompletedProcess[str]

# An apt-get that gives what $HAS names once its lists are new, and says so as Debian's does; and dpkg-query, which
# knows what it has given.
APT_GET = """#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
    -o) shift 2 ;;
    -*) shift ;;
    update)
        [ -n "$HAS" ] || { echo "E: Failed to fetch: 503" >&2; exit 100; }
        touch "$0.lists"
        exit 0
        ;;
    install) shift; break ;;
    esac
done
for package; do
    case $package in -*) continue ;; esac
    case " $HAS " in *" $package "*) ;; *) echo "E: Unable to locate package $package" >&2; exit 100 ;; esac
    [ -e "$0.lists" ] || { echo "E: Unable to fetch some archives" >&2; exit 100; }
    echo "Setting up $package (1.0-1) ..."
    echo "$package" >>"$0.installed"
done
"""
DPKG_QUERY = """#!/bin/sh
for package; do :; done
! grep -qx "$package" "$(dirname "$0")/apt-get.installed" 2>/dev/null || printf installed
"""


def needed(tmp_path: Path, has: str, *packages: str) -> Result:
    """need_packages, without a service that could be kept from starting."""
    for name, text in (("apt-get", APT_GET), ("dpkg-query", DPKG_QUERY)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HAS": has}
    script = '. scripts/ci/packages.sh; need_packages "$@"; echo "all are there"'
    command = ["unshare", "--mount", "sh", "-euc", f"mount -t tmpfs none /usr/sbin; {script}", "sh", *packages]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def test_what_apt_does_is_shown(tmp_path: Path) -> None:
    result = needed(tmp_path, "one two", "one", "two")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [
        "Installing: one two",
        "  again, with new lists of packages",
        "Setting up one (1.0-1) ...",
        "Setting up two (1.0-1) ...",
        "all are there",
    ]
    again = needed(tmp_path, "", "one", "two")
    assert (again.returncode, again.stdout) == (0, "all are there\n"), "asked for nothing that is there"


@pytest.mark.parametrize(
    ("has", "said"), [("", "E: Failed to fetch: 503"), ("one", "E: Unable to locate package absent")]
)
def test_packages_that_cannot_be_had_are_named_and_nothing_goes_on(tmp_path: Path, has: str, said: str) -> None:
    result = needed(tmp_path, has, "one", "absent")
    assert result.returncode == 1
    assert "all are there" not in result.stdout
    named, *reasons = result.stderr.splitlines()
    assert named.startswith("apt could not install:") and named.endswith(" absent")
    assert said in reasons


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


BUILDERS = ("bench.sh --build", "ci/native.sh", *(f"evidence/{name}" for name in (
    "coverage.sh", "fuzz.sh 1", "collect-raw words"
)))  # fmt: skip


@pytest.mark.parametrize("script", BUILDERS)
def test_no_script_goes_on_with_what_an_earlier_build_has_left(tmp_path: Path, script: str) -> None:
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    name, *arguments = script.split()
    stubs = {
        "dpkg-query": "printf installed",
        "cmake": '[ "$1" != --build ] || { echo "it does not compile"; exit 1; }',
    }
    (tmp_path / "bin").mkdir()
    for program, body in stubs.items():
        (tmp_path / "bin" / program).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / "bin" / program).chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    command = [str(tmp_path / "scripts" / name), *arguments]
    result = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "it does not compile" in result.stderr and "could not be built" in result.stderr


def test_package_sh_installs_what_debian_control_wants(tmp_path: Path) -> None:
    """dpkg-buildpackage refuses to build without, on a fresh Debian where nothing else has brought it."""
    for program, body in {"dpkg-query": ":", "id": "echo 1000"}.items():
        (tmp_path / program).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / program).chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    result = subprocess.run(
        [ROOT / "scripts/packaging/package.sh"], env=env, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    wanted = re.search(r"^Build-Depends:\n((?: .*\n)+)", (ROOT / "debian/control").read_text(), re.MULTILINE)
    assert wanted is not None
    names = {re.split("[ ,:]", line.strip())[0] for line in wanted[1].splitlines()} - {"debhelper-compat"}
    assert "libcunit1-dev" in names
    assert names | {"debhelper"} <= set(result.stderr.split())


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
