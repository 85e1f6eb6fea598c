# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/failures.md, and those like them: who serves when something is wrong."""

import re
from pathlib import Path

from tests.support.builds import CONF, ROOT

GUIDE = ROOT / "docs" / "failures.md"

# What their cells say.
DRNG, SEEDED, OPENSSL, NOBODY = "drng", "drng, seeded by OpenSSL", "OpenSSL", "nobody"

# The profile for the FIPS provider has a table of its own: test_fips.py.
PROFILES = sorted(path.name for path in CONF.glob("*.cnf") if path.name != "drng-fips.cnf")


def table(corner: str, page: Path = GUIDE) -> dict[str, dict[str, str]]:
    """Cells by row and column: the table with this first header."""
    lines = page.read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    first = next(i for i, row in enumerate(rows) if row[0] == corner)
    last = next((i for i in range(first + 2, len(rows)) if set(rows[i][0]) <= set("- ")), len(rows) + 1) - 1
    # "`drng.cnf`", perhaps with a remark in brackets.
    header = [re.sub(r"^`([^`]*)`.*", r"\1", cell) for cell in rows[first]]
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows[first + 2 : last]}
