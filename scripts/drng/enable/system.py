# SPDX-License-Identifier: Apache-2.0
"""The system: a file of drng's own, and one line that includes it.

The line stands at the end of openssl.cnf; or, where openssl.cnf includes the folder openssl.d, as Fedora's and RHEL's
does, in a file there. libcrypto passes over an include that leads nowhere: without drng's file the line does nothing.
"""

from __future__ import annotations

import os
import re

from .. import OWN, TRIED
from ..conf.meaning import named_sections
from ..conf.probe import Probe
from ..terminal import Failure, Unchanged, UsageError
from . import texts
from .arguments import Request
from .changes import File, read
from .target import Target, conf_path, named_conf, probe, read_roots
from .texts import Head, decode, encode

ENDED = "trial"  # in the place of a profile

FOLDER = "/etc/pki/tls/openssl.d"
PATH = f"{FOLDER}/drng-enable.conf"

LINE = f".include {OWN}"
NO_NEWLINE = " # the line above had no end"
OURS = re.compile(rf"(\n?)^[ \t]*\.include[ \t=]+{re.escape(OWN)}[ \t]*({NO_NEWLINE})?\r?(\n|\Z)", re.M)
FOLDER_LINE = re.compile(rf"^[ \t]*\.include[ \t=]+{re.escape(FOLDER)}/?[ \t]*(#.*)?\r?$", re.M)


def without_line(text: str) -> str:
    """As it was before the line came, byte for byte."""
    return OURS.sub(lambda found: "" if found[2] and found.end() == len(text) else found[1], text)


class System(Target):
    """openssl.cnf, or the file of the folder: whichever has the line, or is to have it."""

    name, typed, trials = "system", "--system", (TRIED,)

    def __init__(self) -> None:
        super().__init__()
        self.conf = conf_path()
        self.ours = {path: read(path) for path in (OWN, TRIED)}
        self.theirs: dict[str, bytes | None] = {}
        for path in (self.conf, PATH):
            try:
                self.theirs[path] = read_roots(path, named_conf() if path == self.conf else path)
            except Failure as error:
                self.theirs[path], self.missing, self.is_served = None, str(error), False
        self.main = decode(self.theirs[self.conf])
        by_folder = os.path.isdir(FOLDER) and FOLDER_LINE.search(self.main) is not None
        self.path = PATH if by_folder and not OURS.search(self.main) else self.conf
        self.there = decode(self.theirs[self.path])
        self.tried = self.ours[TRIED] is not None
        own = texts.head_of(self.ours[TRIED if self.tried else OWN])
        if OURS.search(self.there):
            self.head = own
        # What another openssl.cnf in the place of ours, or a restart of the machine, has left.
        elif own and not self.tried and self.theirs[self.conf] is not None:
            words = ["on --system --profile", own.profile, *(f"--set {k}={v}" for k, v in own.settings)]
            gone = f"drng has gone from {self.path} since it was switched on"
            self.notes.append(f"{gone}: `drng-enable {' '.join(words)}` brings it back")
        if own and own.profile == ENDED:
            self.head = None
            self.notes = ["a restart has ended the trial: `drng-enable off --system` takes away what is left of it"]

    def base(self) -> Probe:
        return probe(encode(self._whole("")), self.conf)

    def _whole(self, text: str) -> str:
        """All that would be read with this text in our file. Of the folder's files, which libcrypto reads in the order
        in which the file system has them, ours would be the first, where all others can overrule it."""
        if self.path == self.conf:
            return without_line(self.main) + ("\n" if text and not self.main.endswith("\n") else "") + text
        others = "".join(
            ".include {}/{}\n".format(FOLDER, re.sub(r"([^\w.-])", r"\\\1", name))
            for name in sorted(os.listdir(FOLDER))
            if name.endswith((".cnf", ".conf")) and f"{FOLDER}/{name}" != PATH
        )
        return FOLDER_LINE.sub(lambda _: f"{text}{others}{'[default]' if text else ''}", self.main, count=1)

    def require(self, request: Request) -> None:
        left = without_line(self.there)
        if self.missing:
            raise Unchanged(self.missing)
        if self.theirs[self.conf] is None:
            raise Unchanged(f"{self.conf}: there is no such file")
        if self.path == self.conf and re.search(r"(?<!\\)\\\r*\n?\Z", left):
            raise Unchanged(
                f"{self.conf} ends with a backslash, and would go on in the line of drng-enable: remove the backslash"
            )
        if self.head is None and not request.profile:
            raise UsageError(
                "on --system takes --profile: strict (a program that cannot load drng gets no random numbers) or "
                "permissive (it gets OpenSSL's own, and drng-status --check says so)"
            )
        if self.path == PATH and re.search(r"^[ \t]*[^#\s]", left, re.M):
            raise Unchanged(f"{PATH} has lines that drng-enable did not write: move them into another file there")

    def _text(self, head: Head) -> str:
        return texts.lines(self.base(), head, alone=False)

    def after(self, head: Head) -> Probe:
        after = probe(encode(self._whole(self._text(head))), self.conf)
        if self.path == PATH and named_sections(after).random != f"drng_{head.profile}".replace("-", "_"):
            raise Unchanged(f"{PATH} would not do, since another file of {FOLDER}, or {self.conf}, overrules it")
        return after

    def files(self, head: Head, *, trial: bool) -> list[File]:
        """First what the line leads to."""
        written = {OWN: texts.seal(head, self._text(head))}
        if trial:
            written = {TRIED: written[OWN], OWN: texts.seal(Head(ENDED), f".include {TRIED}\n")}
        text = self.there
        if not OURS.search(text):
            text += f"{LINE}\n" if not text or text.endswith("\n") else f"\n{LINE}{NO_NEWLINE}\n"
        line = File(self.path, self.theirs[self.path], encode(text), ours=False)
        return [*(File(path, self.ours[path], data) for path, data in written.items()), line]

    def off(self) -> list[File]:
        """What cannot be read is left to whoever can."""
        files = super().off()
        if self.missing:
            self.notes.append(f"{self.missing}; and remove the line `{LINE}` there, which does nothing now")
        for path, data in self.theirs.items():
            left = encode(without_line(decode(data)))
            if data is not None:
                files.insert(0, File(path, data, left or None if path == PATH else left, ours=False))
        return files

    def look(self) -> str:
        is_served = probe(self.theirs[self.conf] or b"", self.conf).served_by_drng
        if not self.head:
            return f"drng serves, by lines of {self.conf}" if is_served else ""
        self.is_served = is_served
        return f"programs that start now are {'served' if self.is_served else 'not served: drng-status says why'}"
