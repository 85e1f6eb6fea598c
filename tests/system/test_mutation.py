# SPDX-License-Identifier: Apache-2.0
"""scripts/mutate/mutate.py on a few mutations, which must tell what is seen from what is not; and whether all apply."""

import subprocess
from pathlib import Path

import pytest

from tests.support.builds import ROOT, said_by

SCRIPT = ROOT / "scripts" / "mutate" / "mutate.py"

# One that does not compile, one that is seen, and one that takes nothing away.
TABLE = """
"no code" = ["drng_rct_passes", "health", "return rct->run < cutoff;", "return"]
"repetition count test" = ["drng_rct_passes", "health",
    "return rct->run < cutoff;", "return rct->run < cutoff || true;"]
"a comment" = ["DRNG_APT_WINDOW in entropy/health.h", "health",
    "DRNG_APT_WINDOW", "/* nothing */ DRNG_APT_WINDOW"]
"""


def test_every_mutation_applies() -> None:
    said_by(SCRIPT, "--check")


@pytest.mark.nightly("each mutation's place in the code")
def test_what_is_seen_and_what_is_not(tmp_path: Path) -> None:
    table = tmp_path / "table.toml"
    table.write_text(TABLE)
    result = subprocess.run([SCRIPT, "--table", table], capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stderr
    assert result.stdout.splitlines()[-4:] == [
        "[1/3] no code: NOBODY",
        "[2/3] repetition count test: health",
        "[3/3] a comment: NOBODY",
        "3 taken out, 1 seen, 2 not",
    ]
