# SPDX-License-Identifier: Apache-2.0
"""An openssl.cnf with its includes in their places. Each file is read once, and libcrypto opens none of them.

Of its lines only those are looked at here that include other files; libcrypto reads the text.
"""

import contextlib
import os
import re
from dataclasses import dataclass, field

from ..paths import LIMIT, FileError, names_in, read_once

Section = dict[str, str]

MOST_FILES = 256

BOM = b"\xef\xbb\xbf"  # libcrypto passes over it in the first file

# A line that ends with a backslash, and not with two, goes on in the next.
LINE = re.compile(rb"(?:[^\n]*?(?<!\\)\\\r*\n)*[^\n]*(?:\n|\Z)")
# As config(5) has it; and what libcrypto takes for one, too: .includes PATH, section::.include PATH.
INCLUDE = re.compile(rb"""[ \t]*\.include[ \t]*=?[ \t]*(/(?:\\.|[^#$\\"'`])*)(?:#.*)?""", re.S)
ODD = re.compile(rb"[^#=]*\.include")


@dataclass
class Whole:
    """An openssl.cnf with each include in its place, so that libcrypto opens nothing."""

    text: bytearray = field(default_factory=bytearray)
    own: bytearray = field(default_factory=bytearray)  # the same without what is included
    lines: list[tuple[str, int]] = field(default_factory=list)  # whence each line is: a file, and the number there
    passed_over: list[str] = field(default_factory=list)  # includes that libcrypto ignores, and why
    files: list[str] = field(default_factory=list)

    def where(self, number: int) -> str:
        path, line = self.lines[number - 1] if 0 < number <= len(self.lines) else ("", 0)
        return f"{path}:{line}"

    def add(self, text: bytes, above: tuple[str, ...]) -> None:
        """The text of the last of the files, each of which includes the next."""
        number = 1
        for physical in LINE.findall(text if above[1:] else text.removeprefix(BOM)):
            line = re.sub(rb"\\\r*\n", b"", physical)
            if found := INCLUDE.fullmatch(line):
                self._include(os.fsdecode(re.sub(rb"\\(.)", rb"\1", found[1].strip())), above)
            elif ODD.match(line):
                raise FileError(f"{above[-1]}:{number}: write .include and a path from /, alone, without variables")
            elif physical:
                # A file's last line goes on in no other file.
                ending = b"" if physical.endswith(b"\n") else b"\n\n" if physical.endswith(b"\\") else b"\n"
                self.text += physical + ending
                self.own += b"" if above[1:] else physical + ending
                self.lines += [(above[-1], number + i) for i in range((physical + ending).count(b"\n"))]
            number += physical.count(b"\n")

    def _include(self, path: str, above: tuple[str, ...]) -> None:
        if path in above:
            self.passed_over.append(f"{path} includes itself")
            return
        try:
            with contextlib.suppress(NotADirectoryError):
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


@dataclass(frozen=True)
class Read:
    """An openssl.cnf as libcrypto has read it."""

    path: str
    sections: dict[str, Section] = field(default_factory=dict)
    passed_over: list[str] = field(default_factory=list)  # includes that libcrypto ignores

    def section(self, name: str) -> Section:
        """Its keys in the order in which OpenSSL goes through them; none where there is no such section."""
        return self.sections.get(name, {})

    @property
    def init(self) -> str:
        """The section that openssl_conf names."""
        return self.section("default").get("openssl_conf", "")
