# SPDX-License-Identifier: Apache-2.0
"""Finds a piece of C by the name of what holds it, whatever its file, its white space and its comments are."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("mixing", "provider", "library")
# What may come between tokens, and what is one: a string, a word, else a character by itself.
SPACE = r"(?:\s|\\\n|/\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)*"
TOKEN = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\w+|\S""")


@dataclass(frozen=True)
class Place:
    """A text in a file, from the `start`th character on."""

    path: Path
    start: int
    end: int


@functools.cache
def sources(root: Path) -> dict[Path, str]:
    paths = sorted(p for folder in FOLDERS for p in (root / folder).rglob("*.[chS]"))
    return {path: path.read_text(encoding="utf-8") for path in paths}


def end_of_value(text: str, at: int) -> int:
    """The comma, semicolon or bracket that ends an initializer."""
    depth = 0
    while depth or text[at] not in ",;}":
        depth += (text[at] in "([{") - (text[at] in ")]}")
        at += 1
    return at


def definitions(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each definition of `name`: a function, an assembler's macro, or a constant with its value."""
    for pattern in (rf"^\w[^;{{}}\n]*\b{name}\([^;{{]*\)\s*\{{.*?^\}}", rf"\.macro {name}\b.*?\.endm"):
        yield from (found.span() for found in re.finditer(pattern, text, re.MULTILINE | re.DOTALL))
    for found in re.finditer(rf"\b{name}(?:\[[^\]]*\])*\s*=(?!=)", text):
        yield found.start(), end_of_value(text, found.end()) + 1


def places(root: Path, inside: str, old: str, file: str = "") -> tuple[set[Path], set[Place]]:
    """The files that define `inside`, and each place of `old` in it. `file` is the end of a path, where several files
    define that name and have that text in it."""
    tokens = TOKEN.findall(old)
    wanted = re.compile(SPACE.join(rf"\b{t}\b" if re.match(r"\w", t) else re.escape(t) for t in tokens))
    files: set[Path] = set()
    found: set[Place] = set()  # once each: a variable may bear the name of the function that it is in
    for path, text in sources(root).items():
        if inside not in text or not f"/{path}".endswith(f"/{file}" if file else ""):
            continue
        for start, end in definitions(text, inside):
            files.add(path)
            found |= {Place(path, *match.span()) for match in wanted.finditer(text, start, end)}
    return files, found
