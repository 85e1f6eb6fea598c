# SPDX-License-Identifier: Apache-2.0
"""The same sources give the same packages."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.builds import ROOT
from tests.support.packages import output


@pytest.mark.nightly("one build of the packages")
def test_the_same_sources_give_the_same_packages(packages: Path) -> None:
    """Elsewhere, a year later, by another user, in another order; reproducible.sh by itself varies more."""
    said = output(ROOT / "scripts/ci/reproducible.sh", "--quick", packages)
    assert len(re.findall(r"^[0-9a-f]{64}  ", said, flags=re.M)) == 9


def test_other_sources_give_other_packages(packages: Path, tmp_path: Path) -> None:
    """The failing twin: the comparison compares."""
    for package in packages.glob("*drng*.*"):
        (tmp_path / package.name).write_bytes(package.read_bytes() + b"more")
    result = subprocess.run(
        [ROOT / "scripts/ci/reproducible.sh", "--compare", packages, tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "is another one when it is built elsewhere" in result.stderr
