# SPDX-License-Identifier: Apache-2.0
"""scripts/ci/test-matrix.sh: drng on another Debian's OpenSSL and servers, in a chroot.

One release, and only where it costs no download or was asked for; the script by itself tests them all.
"""

import re
from pathlib import Path

import pytest

from tests.support.packages import in_chroot

RELEASE = "trixie"


@pytest.mark.nightly("this release")
def test_another_release() -> None:
    said = in_chroot(Path("/var/cache/drng-matrix") / RELEASE, "scripts/ci/test-matrix.sh", "--short", RELEASE)
    row = re.search(rf"^\| {RELEASE} \| 3\.[5-9]\S* \| (\d+) \| \d+ \| 0 \|$", said, flags=re.MULTILINE)
    assert row and int(row[1]) > 100, said
