# SPDX-License-Identifier: Apache-2.0
"""Every link of a page leads somewhere, in the tree and as the pages are installed; the pictures are small, and new."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.builds import BUILD, ROOT, said_by
from tests.support.packages import installed_pages

PICTURES = ROOT / "docs" / "pictures"
LARGEST = 60_000

PATTERNS = ("*.md", "docs/**/*.md", "scripts/*.md", "tests/**/*.md")
PAGES = sorted(page for pattern in PATTERNS for page in ROOT.glob(pattern))


def anchors(page: Path) -> set[str]:
    """Of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path, root: Path) -> list[str]:
    """Relative links that lead nowhere below the root, to a file or to a heading."""
    text = re.sub(r"^```.*?^```$|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    wrong = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or root not in target.parents or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere_in_the_tree(page: Path) -> None:
    assert not broken(page, ROOT)


def test_links_lead_somewhere_where_the_pages_are_installed(tmp_path: Path) -> None:
    """In /usr/share/doc/drng, where there are neither sources nor the pages of evaluators and developers."""
    command = ["cmake", "--install", str(BUILD / "release"), "--prefix", "/usr"]
    subprocess.run(command, check=True, capture_output=True, env={"PATH": "/usr/bin:/bin", "DESTDIR": str(tmp_path)})
    folder = tmp_path / "usr" / "share" / "doc" / "drng"
    pages = [*folder.glob("*.md"), *folder.glob("docs/*.md")]
    held = {path.relative_to(folder) for path in (folder / "docs").rglob("*") if path.is_file()}
    assert held == {path.relative_to(ROOT) for path in installed_pages()}
    assert {page.name for page in pages} >= {"README.md", "SECURITY.md", "servers.md", "failures.md", "clones.md"}
    wrong = {str(page.relative_to(folder)): found for page in pages if (found := broken(page, folder))}
    assert not wrong


def test_every_picture_is_shown_and_is_small() -> None:
    shown = {name for page in PAGES for name in re.findall(r"pictures/([\w.-]+)", page.read_text(encoding="utf-8"))}
    assert {path.name for path in PICTURES.iterdir()} == shown
    assert not [path.name for path in PICTURES.iterdir() if path.stat().st_size > LARGEST]


def test_the_pictures_are_those_of_the_script() -> None:
    said_by(ROOT / "scripts" / "evidence" / "pictures.sh", "--check")
