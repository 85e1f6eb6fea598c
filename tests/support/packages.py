# SPDX-License-Identifier: Apache-2.0
"""Packages as scripts/packaging/package.sh makes them, and the scripts that try them in chroots."""

import os
from pathlib import Path

import pytest

from tests.support.builds import ROOT, said_by

CHROOTS = Path("/var/cache/drng-packages")


def installed_pages() -> list[Path]:
    """Of docs/, with their pictures."""
    docs = ROOT / "docs"
    return [*docs.glob("*.md"), *(docs / "pictures").iterdir()]


def in_chroot(chroot: Path, script: str, *arguments: str | Path) -> str:
    """What a script says that works on a chroot of Debian. To make one takes minutes: it is there, or asked for."""
    if not chroot.exists() and "DRNG_PACKAGE_CHROOT" not in os.environ:
        pytest.skip(f"{chroot} is not there: {script} makes it, and so does DRNG_PACKAGE_CHROOT=1")
    return said_by(ROOT / script, *arguments)
