"""The upgrade from drng 0.2.0, one package, to the packages of today while nginx serves: scripts/ci/test-upgrade.sh."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.packages import CHROOTS, in_chroot


def test_an_upgrade_from_0_2_0_under_a_running_nginx(packages: Path) -> None:
    if not list(CHROOTS.glob("drng_0.2.0-*.deb")) and "DRNG_PACKAGE_CHROOT" not in os.environ:
        pytest.skip("0.2.0 is not built: scripts/ci/test-upgrade.sh builds it, and so does DRNG_PACKAGE_CHROOT=1")
    said = in_chroot("scripts/ci/test-upgrade.sh", packages)
    for proof in (
        "pages, and none has failed",
        "have another drng than the one that is installed now",
        "The upgrade goes as it should",
    ):
        assert proof in said
