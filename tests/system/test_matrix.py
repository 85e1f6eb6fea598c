# SPDX-License-Identifier: Apache-2.0
"""scripts/ci/test-matrix.sh: drng on another Debian's OpenSSL and servers, in a chroot.

One release, and only where it costs no download or was asked for; the script by itself tests them all.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.builds import ROOT, SKIPPED

RELEASE = "trixie"
CACHE = Path(os.environ.get("DRNG_MATRIX_CACHE", "/var/cache/drng-matrix"))


def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(ROOT / "scripts" / "ci" / "test-matrix.sh"), *arguments],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


@pytest.mark.nightly("this release")
def test_another_release() -> None:
    if "DRNG_MATRIX" not in os.environ and not (CACHE / f"{RELEASE}.packages").exists():
        pytest.skip("set DRNG_MATRIX=1 to make a chroot for this, or run scripts/ci/test-matrix.sh")
    result = run("--short", RELEASE)
    if result.returncode == SKIPPED:
        pytest.skip(result.stdout.strip().splitlines()[-1])
    assert result.returncode == 0, result.stdout + result.stderr
    row = re.search(rf"^\| {RELEASE} \| 3\.[5-9]\S* \| (\d+) \| \d+ \| 0 \|$", result.stdout, flags=re.MULTILINE)
    assert row and int(row[1]) > 100, result.stdout
