# SPDX-License-Identifier: Apache-2.0
"""The system: a file of drng's own, and one line that includes it.

The line stands at the end of openssl.cnf; or, where openssl.cnf includes the folder openssl.d, as Fedora's and RHEL's
does, in a file there. libcrypto passes over an include that leads nowhere: without drng's file the line does nothing.
"""

from __future__ import annotations

import os
import re

from .. import CONF_DIR
from ..conf.meaning import named_sections
from ..conf.probe import Probe
from ..terminal import Unchanged, UsageError, warn
from . import texts
from .arguments import PROFILES, Request
from .changes import File, read
from .check import conf_path, probe, without_module
from .target import TRIAL, Target
from .texts import Head, decode, encode

OWN, TRIED = f"{CONF_DIR}/system.cnf", f"{TRIAL}/system.cnf"
FOLDER = "/etc/pki/tls/openssl.d"
PATH = f"{FOLDER}/drng-enable.conf"

LINE = f".include {OWN}"
NO_NEWLINE = " # the line above had no end"
OURS = re.compile(rf"(\n?)^[ \t]*\.include[ \t=]+{re.escape(OWN)}[ \t]*({NO_NEWLINE})?\r?(\n|\Z)", re.M)
FOLDER_LINE = re.compile(rf"^[ \t]*\.include[ \t=]+{re.escape(FOLDER)}/?[ \t]*(#.*)?\r?$", re.M)


def with_line(text: str) -> str:
    return f"{text}{LINE}\n" if not text or text.endswith("\n") else f"{text}\n{LINE}{NO_NEWLINE}\n"


def without_line(text: str) -> str:
    """As it was before the line came, byte for byte."""

    def kept(found: re.Match[str]) -> str:
        return "" if found[2] and found.end() == len(text) else found[1]

    return OURS.sub(kept, text)


class System(Target):
    """openssl.cnf, or the file of the folder: whichever has the line, or is to have it."""

    name, typed = "system", "--system"

    def __init__(self) -> None:
        super().__init__()
        self.conf = conf_path()
        self.found = {path: read(path) for path in (self.conf, PATH, OWN, TRIED)}
        self.main = decode(self.found[self.conf])
        in_main = OURS.search(self.main) is not None
        self.by_folder = not in_main and os.path.isdir(FOLDER) and FOLDER_LINE.search(self.main) is not None
        self.path = PATH if self.by_folder else self.conf
        self.has_line = OURS.search(decode(self.found[self.path])) is not None
        own = texts.unseal(self.found[OWN])
        self.tried = own is not None and own[0].profile == "trial"
        there = texts.head_of(self.found[TRIED]) if self.tried else own and own[0]
        self.head = there if self.has_line else None
        self.gone = there if self.head is None and there and self.found[self.conf] is not None else None
        self.was_tried = self.tried and there is None
        self.tried = self.head is not None and self.tried

    def base(self) -> Probe:
        return probe(encode(self._whole("")), self.conf)

    def _whole(self, text: str) -> str:
        """All that would be read with this text in our file. Of the folder's files, which libcrypto reads in the order
        in which the file system has them, ours would be the first, where all others can overrule it."""
        if not self.by_folder:
            return without_line(self.main) + ("\n" if text and not self.main.endswith("\n") else "") + text
        names = sorted(each for each in os.listdir(FOLDER) if each.endswith((".cnf", ".conf")))
        others = "".join(
            ".include {}/{}\n".format(FOLDER, re.sub(r"([^\w.-])", r"\\\1", name))
            for name in names
            if f"{FOLDER}/{name}" != PATH
        )
        return FOLDER_LINE.sub(lambda _: f"{text}{others}{'[default]' if text else ''}", self.main, count=1)

    def require(self, request: Request) -> None:
        texts.require_ours({OWN: self.found[OWN]})
        if self.found[self.conf] is None:
            raise Unchanged(f"{self.conf}: there is no such file")
        if not self.by_folder and re.search(r"(?<!\\)\\\r*\n?\Z", without_line(self.main)):
            raise Unchanged(
                f"{self.conf} ends with a backslash, and our line would be a part of its last: take that out"
            )
        if self.head is None and not request.profile:
            raise UsageError(
                "on --system takes --profile: strict (a program that cannot load drng gets no random numbers) or "
                "permissive (it gets OpenSSL's own, and drng-status --check says so)"
            )
        if self.by_folder and any(not line.startswith("#") for line in self._others()):
            raise Unchanged(f"{PATH} has lines that drng-enable did not write: move them into another file there")

    def _others(self) -> list[str]:
        return [line for line in without_line(decode(self.found[self.path])).splitlines() if line.strip()]

    def after(self, head: Head) -> Probe:
        after = probe(encode(self._whole(texts.lines(self.base(), head, alone=False))), self.conf)
        if self.by_folder and named_sections(after).random != PROFILES[head.profile].section:
            raise Unchanged(f"{PATH} would not do, since another file of {FOLDER}, or {self.conf}, overrules it")
        for said in () if head.profile == "permissive" else without_module(after):
            warn(f"{said}, so its programs get no random numbers: take --profile permissive, or one service at a time")
        return after

    def files(self, head: Head, *, trial: bool) -> list[File]:
        """First what the line leads to."""
        text = texts.seal(head, texts.lines(self.base(), head, alone=False))
        there = decode(self.found[self.path])
        line = File(self.path, self.found[self.path], encode(there if self.has_line else with_line(there)), ours=False)
        if not trial:
            return [File(OWN, self.found[OWN], text), line]
        led = texts.seal(Head("trial"), f".include {TRIED}\n")
        return [File(TRIED, self.found[TRIED], text), File(OWN, self.found[OWN], led), line]

    def off(self) -> list[File]:
        texts.require_ours({OWN: self.found[OWN]})
        self.head, self.tried = None, False
        files = []
        for path in (self.conf, PATH):
            left = encode(without_line(decode(self.found[path])))
            files.append(File(path, self.found[path], left or None if path == PATH else left, ours=False))
        return [file for file in files if file.before is not None] + [
            File(path, self.found[path], None) for path in (OWN, TRIED)
        ]

    def confirmed(self) -> list[File]:
        self.tried = False
        return [File(OWN, self.found[OWN], self.found[TRIED]), File(TRIED, self.found[TRIED], None)]

    def still_served(self) -> str:
        served = self.base().served_by_drng
        return f"drng still serves, by lines of {self.conf} that drng-enable did not write" if served else ""

    def serves(self) -> bool:
        """Who starts now."""
        return probe(self.found[self.conf] or b"", self.conf).served_by_drng

    def is_older(self, started: float) -> bool:
        paths = [path for path in (OWN, TRIED, PATH if self.by_folder else "") if path and os.path.exists(path)]
        return any(os.stat(path).st_mtime > started for path in paths)

    def leftover(self) -> str:
        """What a restart of the machine, or another openssl.cnf in the place of ours, has left."""
        if self.was_tried:
            return "a restart has ended the trial: `drng-enable off --system` takes away what is left of it"
        if self.gone:
            return (
                f"drng has gone from {self.path} since it was switched on: `drng-enable {self.again()}` brings it back"
            )
        return ""

    def again(self) -> str:
        head = self.gone or Head("strict")
        return " ".join(["on --system --profile", head.profile, *(f"--set {k}={v}" for k, v in head.settings)])
