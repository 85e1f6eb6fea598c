"""The upgrade from drng 0.1.0 to the package of today while nginx serves: scripts/ci/test-upgrade.sh."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.packages import CHROOTS, in_chroot


def test_an_upgrade_from_0_1_0_under_a_running_nginx(packages: Path) -> None:
    if not list(CHROOTS.glob("drng_0.1.0-*.deb")) and "DRNG_PACKAGE_CHROOT" not in os.environ:
        pytest.skip("0.1.0 is not built: scripts/ci/test-upgrade.sh builds it, and so does DRNG_PACKAGE_CHROOT=1")
    said = in_chroot("scripts/ci/test-upgrade.sh", next(packages.glob("drng_*.deb")))
    for proof in ("pages, and none has failed", "it runs an older drng", "The upgrade goes as it should"):
        assert proof in said
