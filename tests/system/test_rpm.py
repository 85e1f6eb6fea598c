# SPDX-License-Identifier: Apache-2.0
"""The .rpms for Fedora and RHEL: what rpmlint says; test_package.py says what is in them, and has their life."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.builds import ROOT
from tests.support.packages import output


@pytest.fixture(scope="module")
def rpms(packages: Path) -> list[Path]:
    return sorted(packages.glob("*drng*.rpm"))


def test_rpmlint_finds_nothing(rpms: list[Path]) -> None:
    if shutil.which("rpmlint") is None:
        pytest.skip("rpmlint is not installed")
    spec, config = ROOT / "scripts/packaging/drng.spec", ROOT / "scripts/packaging/rpmlint.toml"
    said = output("rpmlint", "--strict", "--config", config, spec, *rpms)
    assert "5 packages and 1 specfiles checked; 0 errors, 0 warnings" in said


def test_they_name_neither_the_time_nor_the_machine_of_their_build(rpms: list[Path]) -> None:
    for rpm in rpms:
        said = output("rpm", "-qp", "--queryformat", "%{BUILDHOST} %{BUILDTIME}[ %{FILEMTIMES}]", rpm)
        host, built, *changed = said.split()
        assert host == "reproducible"
        assert set(changed) == {built}


def test_they_run_on_enterprise_linux_9(rpms: list[Path]) -> None:
    """glibc 2.34 and Python 3.9."""
    needs = [name for rpm in rpms for name in output("rpm", "-qp", "--requires", rpm).split()]
    versions = [name.split("GLIBC_")[1].split(")")[0] for name in needs if "GLIBC_" in name]
    assert versions
    assert max(tuple(map(int, version.split("."))) for version in versions) <= (2, 34)
