"""What becomes of a program on drng when the system refuses: sweep-table.py and what the documents promise.

The sweeps of instructions, signals, locks and cancellations are programs of tests/process, which test_unit.py runs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.builds import ROOT, SKIPPED

SCRIPT = ROOT / "scripts" / "evidence" / "sweep-table.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=600, check=False
    )


def test_each_call_filter_and_limit() -> None:
    """The rules of the script hold, and the page says what is."""
    result = run("--check")
    if result.returncode == SKIPPED:
        pytest.skip(result.stdout.strip())
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_page_that_says_something_else_is_found(tmp_path: Path) -> None:
    """The control: --check reads the table and not only the rules."""
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    other = re.sub(r"^\| `getrandom` \|.*\n", "", text, flags=re.MULTILINE)
    assert other != text
    page = tmp_path / "reliability.md"
    page.write_text(other, encoding="utf-8")
    result = run("--check", "--page", str(page))
    if result.returncode == SKIPPED:
        pytest.skip(result.stdout.strip())
    assert result.returncode == 1
    assert "calls is out of date" in result.stdout
    assert page.read_text(encoding="utf-8") == other, "--check writes nothing"


def test_the_documents_say_what_clone_is_not_supported() -> None:
    """Two processes at once on one set of thread-local variables: no memory tells them apart."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.7"))]
    assert any(re.search(r"CLONE_VM", page.read_text(encoding="utf-8")) for page in pages)
