# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/, in pages and as data, are what scripts/evidence/tables.py makes of sources and the dev build."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tables
from tests.support.builds import ROOT, said_by

DOCS = ROOT / "docs"
CHECK = (sys.executable, tables.__file__, "--check")

NIGHTLY = pytest.mark.nightly("the tables that are derived from the sources")
DERIVED = ("health-tests", "conditioning", "bounds", "budgets")


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in DERIVED else NIGHTLY) for name in tables.MADE])
def test_a_table_is_what_its_maker_gives(name: str) -> None:
    said_by(*CHECK, name)


@pytest.mark.parametrize(
    ("page", "old", "new", "said"),
    [
        ("entropy.md", "127.0", "128.0", "bounds is out of date"),
        ("reliability.md", "budgets", "figures", "tables that nobody makes, or that have no place: budgets, figures"),
    ],
)
def test_what_is_wrong_is_found(tmp_path: Path, page: str, old: str, new: str, said: str) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(DOCS, docs, ignore=shutil.ignore_patterns("pictures", "library"))
    text = (docs / page).read_text(encoding="utf-8")
    assert old in text
    (docs / page).write_text(text.replace(old, new), encoding="utf-8")
    result = subprocess.run([*CHECK, "bounds", "--docs", docs], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert said in result.stdout + result.stderr
