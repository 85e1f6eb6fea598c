"""The .rpm for Fedora and RHEL: its life in a tree, and what rpmlint says; test_package.py says what is in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.builds import ROOT
from tests.support.packages import in_chroot, output


@pytest.fixture(scope="module")
def rpm(packages: Path) -> Path:
    return next(packages.glob("drng-*.rpm"))


def test_its_life_in_a_tree(rpm: Path) -> None:
    said = in_chroot("scripts/ci/test-rpm.sh", rpm)
    for proof in ("rpm --verify: nothing has changed", "3 processes of nginx map drng.so", "scriptlet failed"):
        assert proof in said


def test_rpmlint_finds_nothing(rpm: Path) -> None:
    if shutil.which("rpmlint") is None:
        pytest.skip("rpmlint is not installed")
    said = output("rpmlint", "--strict", "--config", ROOT / "scripts/packaging/rpmlint.toml", rpm)
    assert "1 packages and 0 specfiles checked; 0 errors, 0 warnings" in said


def test_it_names_neither_the_time_nor_the_machine_of_its_build(rpm: Path) -> None:
    host, built, *changed = output(
        "rpm", "-qp", "--queryformat", "%{BUILDHOST} %{BUILDTIME}[ %{FILEMTIMES}]", rpm
    ).split()
    assert host == "drng.invalid"
    assert set(changed) == {built}


def test_it_runs_on_enterprise_linux_9(rpm: Path) -> None:
    """glibc 2.34 and Python 3.9."""
    needs = output("rpm", "-qp", "--requires", rpm).split()
    versions = [name.split("GLIBC_")[1].split(")")[0] for name in needs if "GLIBC_" in name]
    assert versions
    assert max(tuple(map(int, version.split("."))) for version in versions) <= (2, 34)
