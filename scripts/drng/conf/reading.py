# SPDX-License-Identifier: Apache-2.0
"""An openssl.cnf, read by libcrypto itself, in a child: it waits for a FIFO, and follows a circle without end.

Of the lines of a file only those are looked at here that include other files, to know when these were changed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .. import aside
from ..paths import LIMIT, FileError, read_once, walked
from ..procfs import O_FOLDER, closing
from ..text import visible
from .libcrypto import errors, library

Section = dict[str, str]

# For one file with its includes: seconds, memory, and of the includes whose time counts.
SECONDS, ROOM, MOST_FILES, MOST_BYTES, MOST_LINKS = 5.0, 1 << 30, 256, 1 << 20, 40


class ConfError(Exception):
    """The file cannot be read, or is no openssl.cnf."""


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
            with walked(path, above[0]) as (folder, name, found):
                if stat.S_ISDIR(found.st_mode):
                    with closing(os.open(name, O_FOLDER | os.O_NOFOLLOW, dir_fd=folder)) as listed:
                        names = os.listdir(listed)
                    for each in (name for name in names if name.lower().endswith((".cnf", ".conf"))):
                        self._include(os.path.join(path, each), above)
                    return
            text = read_once(path, above[0])
        except OSError as error:
            self.passed_over.append(f"{path}: {error.strerror}")
            return
        self.files.append(path)
        if len(self.files) > MOST_FILES or len(self.text) + len(text) > LIMIT:
            raise FileError(f"{above[0]} includes more than {MOST_FILES} files, or {LIMIT} bytes")
        self.add(text, (*above, path))


# ---- When it was changed ----


def changed(path: str) -> float:
    """When a file came to be what is there: it was written, or given its name, or a link to it was made. A new owner or
    mode is no change."""
    last = 0.0
    for _ in range(MOST_LINKS):
        found = os.lstat(path)
        last = max(last, min(found.st_ctime, os.stat(os.path.dirname(path) or ".").st_mtime))
        if not stat.S_ISLNK(found.st_mode):
            return max(last, found.st_mtime)
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return last


def _includes(path: str) -> list[str]:
    """What the lines of this file, or the names in this folder, lead to."""
    if os.path.isdir(path):
        with os.scandir(path) as entries:
            return [
                entry.path for _, entry in zip(range(MOST_FILES), entries) if entry.name.endswith((".cnf", ".conf"))
            ]
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
        text = file.read(MOST_BYTES) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    folder, found = "", []
    for line in logical_lines(text):
        key, _, value = directive(line, b".pragma").partition(b":")
        if key.rstrip() == b"includedir":
            folder = os.fsdecode(value_of(value.strip()))
        if target := os.fsdecode(value_of(directive(line, b".include"))):
            found.append(os.path.join(os.environ.get("OPENSSL_CONF_INCLUDE", "") or folder, target))
    return found


def last_change(path: str) -> float:
    """Of the file and of what it includes, as far as its lines tell."""
    files, last = [path], 0.0
    for file in files:
        with contextlib.suppress(OSError, ValueError):
            last = max(last, changed(file))
            files += [each for each in _includes(file) if each not in files][: MOST_FILES - len(files)]
    return last


# ---- What libcrypto reads ----


class _Value(ctypes.Structure):
    """CONF_VALUE."""

    _fields_ = [("section", ctypes.c_char_p), ("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


def _decoded(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="backslashreplace")


def load(path: str) -> dict[str, Any]:
    """In the process that this is: "sections", and of includes that were "passed-over" why; or the "problem"."""
    try:
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode) or stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode):
            return {"problem": " is a directory or a FIFO, not a file"}
        if stat.S_ISREG(found.st_mode):
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except (OSError, ValueError) as error:
        return {"problem": f": {getattr(error, 'strerror', None) or error}"}
    lib, line = library(), ctypes.c_long(-1)
    for function in ("NCONF_new", "NCONF_get_section", "NCONF_get_section_names", "OPENSSL_sk_value"):
        getattr(lib, function).restype = ctypes.c_void_p
    lib.OpenSSL_version_num.restype = ctypes.c_ulong
    errors(lib)
    conf = ctypes.c_void_p(lib.NCONF_new(None))
    if lib.NCONF_load(conf, os.fsencode(path), ctypes.byref(line)) <= 0:
        where = f":{line.value}" if line.value > 0 else ""
        return {"problem": f"{where}: {'; '.join(errors(lib)) or 'cannot be read'}"}
    passed_over = errors(lib)

    def items(stack: ctypes.c_void_p, kind: Any) -> list[Any]:
        return [ctypes.cast(lib.OPENSSL_sk_value(stack, i), kind) for i in range(max(0, lib.OPENSSL_sk_num(stack)))]

    sections: dict[str, Section] = {}
    for name in items(ctypes.c_void_p(lib.NCONF_get_section_names(conf)), ctypes.c_char_p):
        values = items(ctypes.c_void_p(lib.NCONF_get_section(conf, name)), ctypes.POINTER(_Value))
        pairs = {_decoded(each.contents.name): _decoded(each.contents.value) for each in values}
        sections[_decoded(name.value)] = pairs
    return {"sections": sections, "passed-over": passed_over, "version": lib.OpenSSL_version_num()}


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


class Conf:
    """An openssl.cnf with everything that it includes; `shown` is its name in messages."""

    def __init__(self, path: str, shown: str | None = None) -> None:
        self.path, self.shown = path, visible(shown or path)
        ((_, found),) = aside.each([path], load, seconds=SECONDS, room=ROOM)
        if isinstance(found, aside.Failure):
            slow = "OpenSSL does not come to its end: it includes itself, a FIFO, or a file that does not answer"
            raise ConfError(f"{self.shown}: {slow} ({visible(found.reason)})")
        if "problem" in found:
            raise ConfError(visible(f"{self.shown}{found['problem']}; OpenSSL ignores it").replace(path, self.shown))
        # What it says of a file that it has read are the includes that it has not found.
        self.passed_over = [visible(each).replace(path, self.shown) for each in found["passed-over"]]
        self.sections: dict[str, Section] = found["sections"]
        self.version: int = found["version"]

    @classmethod
    def of(cls, path: str, sections: dict[str, Section], version: int) -> Conf:
        """What load() has found in the process that this is."""
        conf = cls.__new__(cls)
        conf.path = conf.shown = path
        conf.passed_over, conf.sections, conf.version = [], sections, version
        return conf

    def is_since(self, major: int, minor: int) -> bool:
        """Whether the OpenSSL that is installed here is that version, or a later one."""
        return self.version >= major << 28 | minor << 20

    def section_names(self) -> list[str]:
        return list(self.sections)

    def section(self, name: str | None) -> Section | None:
        """Its keys in the order in which OpenSSL goes through them, or None where there is no such section."""
        return self.sections.get(name) if name else None
