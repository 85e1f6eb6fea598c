"""docs/entropy.md says what scripts/entropy.py derives, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

SCRIPT = ROOT / "scripts" / "entropy.py"
DOCUMENT = ROOT / "docs" / "entropy.md"


def check(document: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--check", "--document", str(document)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_document_has_the_derived_numbers() -> None:
    result = check(DOCUMENT)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("| 8 | 512 | 256 |", "| 4 | 256 | 128 |", "a table is not the derived one"),
        ("127.0", "128.0", "a table is not the derived one"),
        ("(SP 800-90A, 10.2.1), by default with AES-256", "of 77 bits", "numbers that no table has: 77"),
        ("<!-- entropy.py: limits -->", "", "has not each of the tables"),
    ],
)
def test_another_number_is_found(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = DOCUMENT.read_text()
    assert old in text
    document = tmp_path / "entropy.md"
    document.write_text(text.replace(old, new))
    result = check(document)
    assert result.returncode == 1
    assert message in result.stdout


def test_files_that_the_document_names_are_there() -> None:
    words = DOCUMENT.read_text().replace("(", " ").replace(")", " ").replace("`", " ").replace(",", " ").split()
    paths = {w.rstrip(".:") for w in words if w.startswith(("mixing/", "scripts/", "tests/"))}
    assert len(paths) > 8
    for path in paths:
        assert (ROOT / path).exists(), path


def test_output_entropy_of_the_standard() -> None:
    """Worked by hand: what goes in is spread over more than fits, so that less than a bit is lost, or just one."""
    sys.path.insert(0, str(SCRIPT.parent))
    try:
        from entropy import deficit, describe_output
    finally:
        sys.path.pop(0)
    assert 0.99 < deficit(256, 128, 128, 128) < 1.01
    assert describe_output(512, 128, 256) == "128(1 - 2^-134)"
    assert describe_output(65792, 256, 128) == "127.0"
    # Hardly any entropy in: hardly any out.
    assert round(deficit(256, 128, 128, 10), 3) == 118
