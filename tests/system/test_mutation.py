"""scripts/evidence/mutate.py on a few of its mutations; all of them by hand, with scripts/evidence/mutate.py."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.support.builds import ROOT

SCRIPT = ROOT / "scripts" / "evidence" / "mutate.py"

# One that is seen, and one that takes nothing away.
TABLE = """
[[mutation]]
name = "repetition count test"
file = "mixing/entropy/health.h"
old = "return rct->run < cutoff;"
new = "return rct->run < cutoff || true;"
tests = ["health"]

[[mutation]]
name = "a comment"
file = "mixing/entropy/health.c"
old = '#include "mixing/entropy/health.h"'
new = '#include "mixing/entropy/health.h" /* nothing */'
tests = ["health"]
"""

GONE = """
[[mutation]]
name = "what is not there"
file = "mixing/entropy/health.h"
old = "return rct->run > cutoff;"
new = ""
tests = ["health"]
"""


def mutate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["/usr/bin/python3", str(SCRIPT), *arguments], capture_output=True, text=True, check=False)


def test_every_mutation_applies() -> None:
    result = mutate("--check")
    assert result.returncode == 0, result.stderr


def test_a_mutation_that_no_longer_applies_is_an_error(tmp_path: Path) -> None:
    table = tmp_path / "table.toml"
    table.write_text(GONE)
    result = mutate("--check", "--table", str(table))
    assert result.returncode == 2
    assert "'what is not there' does not apply: mixing/entropy/health.h has its text 0 times" in result.stderr


def test_what_is_seen_and_what_is_not(tmp_path: Path) -> None:
    table = tmp_path / "table.toml"
    table.write_text(TABLE)
    result = mutate("--table", str(table), "--keep", str(tmp_path / "copy"), "--json", str(tmp_path / "result.json"))
    assert result.returncode == 1, result.stderr
    assert "2 taken out, 1 seen, 1 not" in result.stdout
    results = {r["name"]: r["killed_by"] for r in json.loads((tmp_path / "result.json").read_text())}
    assert results == {"repetition count test": "health", "a comment": ""}
