"""Goes through the openssl.cnf of an image and what it includes, file by file, as libcrypto does."""

from __future__ import annotations

import itertools
import os
import stat

from ..conf.reading import ConfError, directive, logical_lines, value_of

BOM = b"\xef\xbb\xbf"


class UnreadableFileError(Exception):
    """One file that libcrypto would go on without, and why."""


class TooMuchError(Exception):
    """It goes beyond what a real openssl.cnf may need."""


def include_directory(line: bytes) -> bytes | None:
    """Of a .pragma includedir:PATH."""
    key, colon, value = directive(line, b".pragma").partition(b":")
    return value.strip() if colon and key.rstrip() == b"includedir" else None


def first_names(folder: str, most: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in itertools.islice(entries, most)]


class Opener:
    """How a Walk gets at files; this one as the command itself does. A device is not even opened: some act on that."""

    # What a real openssl.cnf stays far below: bytes of all files together, files, how deep they include each other,
    # names in the folders that are included, and bytes of a line that is looked at.
    bytes, files, depth, names, line = 4 << 20, 1000, 32, 1 << 16, 1 << 16

    def __init__(self, shown: str = "") -> None:
        self.top, self.shown = "", shown
        self.include_directory = os.environ.get("OPENSSL_CONF_INCLUDE", "")

    def read(self, path: str, most: int, names: int) -> bytes | list[str]:
        """A file, or the names in a folder; no more of them than one beyond the most."""
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            return first_names(path, names + 1)
        if not stat.S_ISREG(mode):
            raise ConfError(f"{self.name(path)} is a FIFO or a device, not a file")
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            return file.read(most + 1)

    def name(self, path: str) -> str:
        """The file's in messages."""
        return self.shown or path if path == self.top else path

    def go_on_without(self, path: str, error: Exception) -> None:
        """An include that cannot be read: libcrypto goes on, and speaks of it in its error queue."""

    def pass_over(self, line: bytes) -> None:
        """An include whose path has a variable, which is not known here, or a line that is too long."""


class Walk:
    """Goes through an openssl.cnf. Its lines are there afterwards, but for those that include others."""

    def __init__(self, opener: Opener) -> None:
        self.opener = opener
        self.files = self.bytes = self.names = 0
        self.directory = ""
        self.lines: list[bytes] = []

    def go(self, path: str) -> Walk:
        """An UnreadableFileError or an OSError where the file itself cannot be read."""
        self.opener.top = path
        self._file(path, 0)
        return self

    def _file(self, path: str, depth: int) -> None:
        opener, self.files = self.opener, self.files + 1
        if depth > opener.depth:
            raise TooMuchError(
                f"{opener.name(path)} includes itself, or its includes are more than {opener.depth} files deep"
            )
        if self.files > opener.files:
            raise TooMuchError(
                f"{opener.name(path)}: more than {opener.files} files are read, so it is not an openssl.cnf"
            )
        found = opener.read(path, opener.bytes - self.bytes, opener.names - self.names)
        if isinstance(found, list):
            if depth == 0:
                raise UnreadableFileError("it is a directory")
            self._folder(path, found, depth)
            return
        self.bytes += len(found)
        if self.bytes > opener.bytes:
            raise TooMuchError(
                f"{opener.name(path)}: more than {opener.bytes} bytes are read, so it is not an openssl.cnf"
            )
        self.text(found, depth)

    def _folder(self, path: str, names: list[str], depth: int) -> None:
        """Of a directory libcrypto takes what ends with .cnf or .conf."""
        self.names += len(names)
        if self.names > self.opener.names:
            raise TooMuchError(f"{path}: more than {self.opener.names} names in folders that are included")
        for name in sorted(names):
            if name.lower().endswith((".cnf", ".conf")):
                self._included(f"{path}/{name}", depth)

    def _included(self, path: str, depth: int) -> None:
        try:
            self._file(path, depth + 1)
        except (UnreadableFileError, OSError) as error:
            self.opener.go_on_without(path, error)

    def text(self, text: bytes, depth: int = 0) -> None:
        for line in logical_lines(text.removeprefix(BOM)):
            if b"\r" in line or b"\0" in line:
                raise TooMuchError("a line has a carriage return or a NUL in it, at which libcrypto may begin another")
            if len(line) > self.opener.line:
                self.opener.pass_over(line)
                self.lines.append(line)
                continue
            if (directory := include_directory(line)) is not None:
                self.directory = os.fsdecode(value_of(directory))
            target = os.fsdecode(value_of(directive(line, b".include")))
            if target and "$" in target:
                self.opener.pass_over(line)
            if not target or "$" in target:
                self.lines.append(line)
                continue
            folder = self.opener.include_directory or self.directory
            self._included(f"{folder}/{target}" if folder and not target.startswith("/") else target, depth)
