# SPDX-License-Identifier: Apache-2.0
"""An openssl.cnf with its includes in their places. Each file is read once, and libcrypto opens none of them.

Of its lines only those are looked at here that include other files; libcrypto reads the text.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..paths import LIMIT, FileError, names_in, read_once, walked

Section = dict[str, str]

MOST_FILES = 256


# ---- Lines ----

WHITE = b" \t\r\n"
# What libcrypto takes for a name, and what some letters stand for behind a backslash.
NAME = re.compile(rb"(?:\\.|[\w!.%&*+,/;?@^~|$-])*", re.S)
ESCAPES = dict(zip(b"nrbt", b"\n\r\b\t"))


def logical_lines(text: bytes) -> Iterator[bytes]:
    """A line that ends with a backslash, and not with two, goes on in the next; comments are empty."""
    for line in re.sub(rb"(?<!\\)\\\r*\n", b"", text).split(b"\n"):
        yield b"" if line.lstrip(WHITE).startswith(b"#") else line.rstrip(b"\r")


def value_of(raw: bytes) -> bytes:
    """Without quotes and backslashes, up to a comment, and without the white space before that."""
    value, quote, length = bytearray(), 0, 0
    characters = iter(raw.partition(b"\0")[0])
    for character in characters:
        if character == ord("\\"):
            character = next(characters, 0)
            value += bytes((character if quote else ESCAPES.get(character, character),)) if character else b""
        elif quote != 0 and character != quote:
            value.append(character)
        elif character in b"\"'`":
            quote = 0 if quote else character
        elif character == ord("#"):
            break
        else:
            value.append(character)
        length = len(value) if quote or character not in WHITE else length
    return bytes(value[:length])


def directive(line: bytes, name: bytes) -> bytes:
    """
    What follows the directive, b"" where it is another line: .include PATH, .include=PATH, .include = PATH, and what
    libcrypto takes for it, too: .includes PATH, and section::.include PATH. Each step goes over the line once: whoever
    writes the file shall not make it take longer.
    """
    line = line.strip(WHITE)
    found = NAME.match(line)
    if found and line.startswith(b"::", found.end()):
        line = line[found.end() + 2 :]
        found = NAME.match(line)
    if not found or not line.startswith(name):
        return b""
    rest = line[found.end() :].lstrip(WHITE)
    if rest.startswith(b"="):
        return rest[1:].lstrip(WHITE)
    return rest if len(line) - len(rest) > len(name) else b""


# ---- With its includes ----


@dataclass
class Whole:
    """An openssl.cnf with each include in its place, so that libcrypto opens nothing."""

    text: bytearray = field(default_factory=bytearray)
    lines: list[tuple[str, int]] = field(default_factory=list)  # whence each line is: a file, and the number there
    passed_over: list[str] = field(default_factory=list)  # includes that libcrypto ignores, and why
    files: list[str] = field(default_factory=list)
    folder: str = ""  # of relative includes

    def where(self, number: int) -> str:
        path, line = self.lines[number - 1] if 0 < number <= len(self.lines) else ("", 0)
        return f"{path}:{line}"

    def add(self, text: bytes, above: tuple[str, ...]) -> None:
        """The text of the last of the files, each of which includes the next."""
        number = 1
        for physical in re.findall(rb"(?:[^\n]*?(?<!\\)\\\r*\n)*[^\n]*(?:\n|\Z)", text):
            line = next(logical_lines(physical.removesuffix(b"\n")))
            key, _, value = directive(line, b".pragma").partition(b":")
            if key.rstrip() == b"includedir":
                self.folder = os.fsdecode(value_of(value.strip()))
            raw = directive(line, b".include")
            if target := os.fsdecode(value_of(raw)):
                if re.search(rb"(?<!\\)[$]", raw):
                    raise FileError(f"{above[-1]}:{number}: write the path, and no variable: .include {target}")
                self._include(os.path.join(os.environ.get("OPENSSL_CONF_INCLUDE", "") or self.folder, target), above)
            elif physical:
                # A file's last line goes on in no other file.
                ended = (
                    physical
                    if physical.endswith(b"\n")
                    else physical + (b"\n\n" if physical.endswith(b"\\") else b"\n")
                )
                self.text += ended
                self.lines += [(above[-1], number + i) for i in range(ended.count(b"\n"))]
            number += physical.count(b"\n")

    def _include(self, path: str, above: tuple[str, ...]) -> None:
        if path in above:
            self.passed_over.append(f"{path} includes itself")
            return
        try:
            with walked(path, above[0]) as (_, _, found):
                is_folder = stat.S_ISDIR(found.st_mode)
            if is_folder:
                for name in names_in(path, above[0]):
                    if name.lower().endswith((".cnf", ".conf")):
                        self._include(os.path.join(path, name), above)
                return
            text = read_once(path, above[0])
        except OSError as error:
            self.passed_over.append(f"{path}: {error.strerror}")
            return
        self.files.append(path)
        if len(self.files) > MOST_FILES or len(self.text) + len(text) > LIMIT:
            raise FileError(f"{above[0]} includes more than {MOST_FILES} files, or {LIMIT} bytes")
        self.add(text, (*above, path))


# ---- What libcrypto reads ----


@dataclass(frozen=True)
class Read:
    """An openssl.cnf as libcrypto has read it, in this version."""

    path: str
    number: int = 0  # OPENSSL_VERSION_NUMBER
    sections: dict[str, Section] = field(default_factory=dict)
    passed_over: tuple[str, ...] = ()  # includes that libcrypto ignores

    def is_since(self, major: int, minor: int) -> bool:
        """Whether the OpenSSL that is installed here is that version, or a later one."""
        return self.number >= major << 28 | minor << 20

    def section_names(self) -> list[str]:
        return list(self.sections)

    def section(self, name: str | None) -> Section | None:
        """Its keys in the order in which OpenSSL goes through them, or None where there is no such section."""
        return self.sections.get(name) if name else None
