# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/, in pages and as data, are what scripts/evidence/tables.py makes of sources and the dev build."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.builds import ROOT

SCRIPT = ROOT / "scripts" / "evidence" / "tables.py"
DOCS = ROOT / "docs"
DATA = DOCS / "develop" / "tables"
SKIPPED = 77

# What is derived from the sources alone, in no time, then what programs of the dev build give.
DERIVED = ("health-tests", "conditioning", "bounds", "budgets")
TRIED = (
    "fault-rates",
    "fault-forks",
    "matrix",
    "report",
    "slow",
    "health-lab",
    "thread-memory",
    "calls",
    "filters",
    "limits",
)
BENCHMARKS = ("bench-aes-ni", "bench-avx2", "first-byte", "startup", "versions")
TRIALS = ("clones", "entered", "nist-90b", "openssl-suite", "programs", "records", "releases")
MEASURED = {*BENCHMARKS, *TRIALS}


def tables(*arguments: str, docs: Path = DOCS) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *arguments, "--docs", str(docs)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if result.returncode == SKIPPED:
        pytest.skip(result.stdout.strip())
    return result


def names() -> set[str]:
    in_pages = {name for page in DOCS.rglob("*.md") for name in re.findall(r"<!-- end of (.*) -->", page.read_text())}
    return in_pages | {path.stem for path in DATA.glob("*.txt")}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("pictures", "library"))
    return folder


def change(page: Path, old: str, new: str) -> None:
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new), encoding="utf-8")


def test_these_are_all() -> None:
    assert names() == {*DERIVED, *TRIED, *MEASURED}


@pytest.mark.parametrize("name", [*DERIVED, *TRIED])
def test_a_table_is_what_its_maker_gives(name: str) -> None:
    result = tables("--check", name)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("page", "old", "new", "name"),
    [
        ("entropy.md", "| 8 | 512 | 256 |", "| 4 | 256 | 128 |", "conditioning"),
        ("entropy.md", "127.0", "128.0", "bounds"),
        ("entropy.md", "2^-23.0 a window", "2^-30 a sample", "health-tests"),
        (
            "develop/tables/health-lab.txt",
            "| all zeros; all ones | repetition count, stuck value | 1 |",
            "| all zeros | stuck value | 2 |",
            "health-lab",
        ),
        (
            "reliability.md",
            "| the same for the last in line | 50 |",
            "| the same for the last in line | 5 |",
            "budgets",
        ),
        ("develop/tables/calls.txt", "| `futex` | killed by signal 6", "| `futex` | killed by signal 7", "calls"),
    ],
)
def test_another_number_is_found(docs: Path, page: str, old: str, new: str, name: str) -> None:
    change(docs / page, old, new)
    changed = (docs / page).read_text(encoding="utf-8")
    result = tables("--check", name, docs=docs)
    assert result.returncode == 1
    assert f"{name} is out of date: scripts/evidence/tables.py --write {name} " in result.stdout
    assert (docs / page).read_text(encoding="utf-8") == changed, "--check writes nothing"


@pytest.mark.parametrize(
    ("page", "name", "old"),
    [
        ("entropy.md", "bounds", "127.0"),
        ("develop/tables/thread-memory.txt", "thread-memory", "`RAND_bytes()` by EVP_RAND"),
    ],
)
def test_it_is_written_right(docs: Path, page: str, name: str, old: str) -> None:
    before = (docs / page).read_text(encoding="utf-8")
    change(docs / page, old, "something else")
    assert tables("--write", name, docs=docs).returncode == 0
    assert (docs / page).read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("page", "old", "new", "message"),
    [
        ("entropy.md", "<!-- bounds: made", "<!-- figures: made", "neither the begin nor the end of a table"),
        ("entropy.md", "<!-- end of bounds -->", "", "neither the begin nor the end of a table"),
        ("entropy.md", "bounds", "figures", "tables that nobody makes, or that have no place: bounds, figures"),
        ("entropy.md", "health-tests", "bounds", "bounds is there twice"),
        ("servers.md", "\n## ", "\n<!-- by hand -->\n\n## ", "neither the begin nor the end of a table"),
    ],
)
def test_every_comment_belongs_to_a_table(docs: Path, page: str, old: str, new: str, message: str) -> None:
    change(docs / page, old, new)
    result = tables("--check", "budgets", docs=docs)
    assert result.returncode == 1
    assert message in result.stderr


def test_a_number_in_the_text_must_be_in_a_table(docs: Path) -> None:
    change(docs / "entropy.md", "for a security strength of 256 bits", "of 77 bits")
    result = tables("--check", "bounds", docs=docs)
    assert result.returncode == 1
    assert "numbers that no table has: 77" in result.stdout


def test_what_was_measured_is_taken_from_the_build_and_not_compared(docs: Path) -> None:
    result = tables("--check", "startup", docs=docs)
    assert result.returncode == 1
    assert "startup: measured, so there is nothing to compare" in result.stderr
    left = ROOT / "build" / "bench" / "startup.md"
    if not left.exists():
        command = [sys.executable, str(SCRIPT), "--write", "startup", "--docs", str(docs)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == SKIPPED
        assert f"{left} is not there" in result.stdout
        return
    assert tables("--write", "startup", docs=docs).returncode == 0
    assert left.read_text().strip() in (docs / "develop/tables/startup.txt").read_text()


def test_the_manual_says_what_clone_is_not_supported() -> None:
    """Two processes at once on one set of thread-local variables: no memory tells them apart."""
    assert "CLONE_VM" in (DOCS / "provider-drng.7").read_text(encoding="utf-8")
