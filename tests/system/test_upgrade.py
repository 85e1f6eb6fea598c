# SPDX-License-Identifier: Apache-2.0
"""The upgrade from drng 0.2.0, one package, to those of today: test-package.sh and test-rpm.sh with --upgrade."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.packages import CHROOTS, in_chroot


def upgraded(script: str, *packages: Path) -> str:
    if not list(CHROOTS.glob("drng_0.2.0-*")) and "DRNG_PACKAGE_CHROOT" not in os.environ:
        pytest.skip(f"0.2.0 is not built: {script} --upgrade builds it, and so does DRNG_PACKAGE_CHROOT=1")
    said = in_chroot(script, "--upgrade", *packages)
    assert "The upgrade goes as it should" in said
    return said


def test_the_debs_under_a_running_nginx(packages: Path) -> None:
    said = upgraded("scripts/ci/test-package.sh", packages)
    assert "pages, and none has failed" in said
    assert "restart these to use the installed drng:" in said


def test_the_rpms(packages: Path) -> None:
    """drng and drng-tools come first."""
    said = upgraded("scripts/ci/test-rpm.sh", *sorted(packages.glob("*drng*.rpm"))[:2])
    assert "drng-tools-1.0" in said
    assert "scriptlet failed" not in said
