# SPDX-License-Identifier: Apache-2.0
"""Finds a piece of C by the name of what holds it, whatever its file, its white space and its comments are."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("mixing", "provider", "library")
# What comes between tokens, and what is one: a string, a word, else a character by itself.
SPACE = re.compile(r"(?:\s|\\\n|/\*.*?\*/|//[^\n]*)*", re.DOTALL)
TOKEN = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\w+|\S""")
OPEN, CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Token:
    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    found = []
    at = SPACE.match(text).end()
    while at < len(text):
        token = TOKEN.match(text, at)
        found.append(Token(token[0], *token.span()))
        at = SPACE.match(text, token.end()).end()
    return found


@dataclass(frozen=True)
class Source:
    """A file, taken apart."""

    path: Path
    text: str
    tokens: Sequence[Token]


@functools.cache
def sources(root: Path) -> list[Source]:
    paths = sorted(p for folder in FOLDERS for p in (root / folder).rglob("*.[chS]"))
    texts = [(path, path.read_text(encoding="utf-8")) for path in paths]
    return [Source(path, text, tokens(text)) for path, text in texts]


def closing(words: Sequence[str], at: int) -> int:
    """The bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(words)):
        depth += (words[i] in OPEN) - (words[i] in CLOSE)
        if depth == 0:
            return i
    return len(words) - 1


def end_of_function(words: Sequence[str], at: int) -> int | None:
    """The end of the function's body, where it is defined and not called or declared."""
    if words[at + 1 : at + 2] != ["("]:
        return None
    at = closing(words, at + 1) + 1
    return closing(words, at) if words[at : at + 1] == ["{"] else None


def end_of_constant(words: Sequence[str], at: int) -> int | None:
    """The end of an enum's constant with its value, or of a variable with its initializer."""
    at += 1
    while words[at : at + 1] == ["["]:
        at = closing(words, at) + 1
    if words[at : at + 1] != ["="] or words[at + 1 : at + 2] == ["="]:
        return None
    while at < len(words) and words[at] not in ",;}":
        at = closing(words, at) + 1 if words[at] in OPEN else at + 1
    return at


def end_of_macro(words: Sequence[str], at: int) -> int | None:
    """The end of an assembler's macro."""
    if words[max(at - 2, 0) : at] != [".", "macro"]:
        return None
    return words.index("endm", at)


def definitions(words: Sequence[str], name: str) -> Iterator[tuple[int, int]]:
    """First token of each definition of `name`, and the one after its last."""
    for at in (i for i, word in enumerate(words) if word == name):
        ends = (end_of(words, at) for end_of in (end_of_function, end_of_constant, end_of_macro))
        yield from ((at, end + 1) for end in ends if end is not None)


@dataclass(frozen=True)
class Place:
    """A text in a file, from the `start`th character on."""

    path: Path
    start: int
    end: int


def places(root: Path, inside: str, old: str, file: str = "") -> tuple[set[Path], set[Place]]:
    """The files that define `inside`, and each place of `old` in it. `file` is the end of a path, where several files
    define that name and have that text in it."""
    wanted = [token.text for token in tokens(old)]
    files: set[Path] = set()
    found: set[Place] = set()  # once each: a variable may bear the name of the function that it is in
    for source in sources(root):
        if not f"/{source.path}".endswith(f"/{file}" if file else ""):
            continue
        words = [token.text for token in source.tokens]
        for first, end in definitions(words, inside):
            files.add(source.path)
            for at in range(first, end + 1 - len(wanted)):
                if words[at : at + len(wanted)] == wanted:
                    last = source.tokens[at + len(wanted) - 1]
                    found.add(Place(source.path, source.tokens[at].start, last.end))
    return files, found
