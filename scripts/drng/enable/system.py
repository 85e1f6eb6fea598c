# SPDX-License-Identifier: Apache-2.0
"""The system's openssl.cnf, for every program; or a file of drng's own in the folder that Fedora's and RHEL's includes.

There openssl.cnf stays as it came, so that the next one of its package takes its place. libcrypto reads the files of a
folder in the order in which the file system has them, and of equal keys the last one holds: the lines must do what they
should as the first of them, and as the last.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..conf.meaning import compare
from ..conf.reading import directive, logical_lines, value_of
from ..terminal import Failure, Unchanged, UsageError, warn
from . import block, programs
from .arguments import PROFILES, Request
from .changes import File, read
from .check import Check, without_module
from .target import Target

FOLDER = "/etc/pki/tls/openssl.d"
PATH = f"{FOLDER}/drng-enable.conf"


def conf_path() -> str:
    """Debian's openssl looks behind a link."""
    return os.path.realpath(f"{programs.openssl_directory('-d')}/openssl.cnf")


def _includes_folder(line: bytes) -> bool:
    return value_of(directive(line, b".include")).rstrip(b"/") == FOLDER.encode()


class System(Target):
    """openssl.cnf itself."""

    is_theirs = True  # it came with OpenSSL, and has a backup

    def __init__(self, path: str = "") -> None:
        super().__init__("system", "--system", path or conf_path())
        self.backup = f"{self.path}.before-drng"

    def base(self) -> str:
        return block.without_block(self.text, self.path)

    def require(self, request: Request) -> None:
        if self.found is None and self.is_theirs:
            raise Unchanged(f"{self.path}: there is no such file")
        if self.head is None and not request.profile:
            raise UsageError(
                "on --system takes --profile: strict (a program that cannot load drng gets no random numbers) or "
                "permissive (it gets OpenSSL's own, and drng-status --check says so)"
            )

    def last_check(self, text: str, head: block.Head) -> None:
        for said in () if head.profile == "permissive" else without_module():
            warn(f"{said}, so its programs get no random numbers: take --profile permissive, or one service at a time")

    def _file(self, text: str) -> File:
        return File(self.path, self.found, block.encode(text), self.path)

    def files(self, head: block.Head) -> list[File]:
        base, lines = self.base(), self.lines(head)
        # Sealed behind the line break that a file without one at its end gets.
        sealed = block.seal(lines.removeprefix("\n"))
        files = [self._file(base + "\n" * lines.startswith("\n") + sealed)]
        if self.is_theirs and self.head is None:
            files.insert(0, File(self.backup, read(self.backup), self.found, self.path))
        return files

    def off(self) -> list[File]:
        base = self.base()
        if self.head is not None and not self.check.why_not(self.text) and (reason := self.check.why_not(base)):
            raise Unchanged(f"{self.path} would not load without drng's lines: {reason}")
        files = [self._file(base)] if self.head else []
        self.head = None
        try:
            kept = read(self.backup) if self.is_theirs else None
        except Failure as error:
            # One that is a link, or no file, is not ours to take away.
            warn(f"{error}: it is left")
            return files
        if kept is not None and kept != block.encode(base):
            self.notes.append(f"the old backup {self.backup} is of an earlier file: removed")
        return files + [File(self.backup, kept, None)] * (kept is not None)

    def still_served(self) -> str:
        served = self.check.serves(self.base())
        return f"drng still serves, by lines of {self.check.path} that drng-enable did not write" if served else ""

    def has_gone(self) -> str:
        """What brings it back after another openssl.cnf has taken the place of ours, as an upgrade's may."""
        if self.head is not None or not self.is_theirs or not os.path.isfile(self.backup):
            return ""
        old = [block.head_of(path.read_text(errors="replace")) for path in Path(self.path).parent.glob("openssl.cnf.*")]
        head = next(filter(None, old), block.Head("strict"))
        words = [f"--profile {head.profile}", *(f"--set {key}={value}" for key, value in head.settings)]
        return f"drng-enable on --system {' '.join(words)}"


class DropIn(System):
    """The file of the folder, with the openssl.cnf that includes it."""

    is_theirs = False

    def __init__(self, main: System) -> None:
        super().__init__(PATH)
        self.main, self.is_first = main, False
        self.check = Check(main.path, self._whole)
        names = sorted(os.listdir(FOLDER))
        self.others = [n for n in names if n.endswith((".cnf", ".conf")) and f"{FOLDER}/{n}" != PATH]

    def _file(self, text: str) -> File:
        return File(self.path, self.found, block.encode(text) or None)

    def _whole(self, text: str) -> str:
        """openssl.cnf, with what it would read of the folder if this text were in our file."""
        if text == self.text:
            return self.main.text
        others = "".join(".include {}/{}\n".format(FOLDER, re.sub(r"([^\w.-])", r"\\\1", name)) for name in self.others)
        folder = f"{text}\n{others}" if self.is_first else f"{others}{text}\n"
        lines = logical_lines(self.main.found or b"")
        return "".join(folder if _includes_folder(line) else f"{block.decode(line)}\n" for line in lines)

    def does_all(self, profile: str) -> bool:
        """Whether our lines hold, whatever else openssl.cnf and the folder say, and take nothing away from it."""
        base = self.base()
        after = base + self.lines(block.Head(profile))
        for self.is_first in (True, False):
            meaning = self.check.meaning(after)
            holds = meaning.drng and meaning.random == PROFILES[profile].section
            if not holds or compare(self.check.conf(base), self.check.conf(after)):
                return False
        return True


def choose(request: Request) -> System:
    """Where the system's lines are, or should go: what is on stays in the file in which it is."""
    main = System()
    if main.head or not os.path.isdir(FOLDER) or not any(map(_includes_folder, logical_lines(main.found or b""))):
        return main
    drop_in = DropIn(main)
    # What somebody has written into our file is theirs, and would be in effect as if it were ours.
    if request.verb == "on" and block.statements(drop_in.base()):
        raise Unchanged(
            f"{PATH} has lines that drng-enable did not write: take them out, or move them into another file of that "
            "folder"
        )
    head = drop_in.head or block.Head("strict")
    if request.verb != "on" or drop_in.does_all(request.profile or head.profile):
        return drop_in
    main.notes.append(f"{PATH} would not do, since another file overrules it: {main.path} is edited in its place")
    return main
