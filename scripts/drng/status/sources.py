# SPDX-License-Identifier: Apache-2.0
"""What the openssl.cnf says that a process would read now. Only what root alone can change is read, and only where the
process sees the same file; of any other the answer is `elsewhere`, with the command to type there."""

from __future__ import annotations

import os
import re
import shlex
import stat
import time
from dataclasses import dataclass
from typing import Any

from .. import aside
from ..conf import meaning
from ..conf.libcrypto import Libcrypto
from ..conf.reading import Read, Whole
from ..paths import FileError, OthersError, as_user, read_once, walked
from ..terminal import Failure
from ..text import printable
from .changes import changed
from .look import Look

ROOM = 1 << 30
# More users' paths than that, of one user, are not read; nor for longer, whatever mounts and paths he has made.
MOST_OF_A_USER, SECONDS_OF_A_USER = 32, 5.0
MOST_MOUNTS = 8 << 20  # bytes

# What drng-enable has systemd write when the service starts, and take away when it stops.
CREDENTIAL = re.compile(r"/run/credentials/[^/]+/drng\.cnf")


@dataclass(frozen=True)
class Source:
    path: str = ""
    is_known: bool = False
    elsewhere: str = ""  # why it is not known here
    command: str = ""  # that tells there
    problem: str = ""  # why libcrypto goes on without this file or one that it includes
    names_drng: bool = False  # it activates drng
    generator: str = ""  # what it takes as the generator
    asks_drng: bool = False  # the generators are to be drng's
    is_strict: bool = False  # and nobody else's
    module: str = ""
    folder: str = ""  # of modules, by this environment
    not_loaded: str = ""  # why the module cannot be loaded
    changed: float = 0.0  # when the file, or what it includes, came to be what is there


# ---- Whether it is the same file ----


def _place(pid: str, path: str) -> tuple[bytes, bytes]:
    """The device, and the path there, by the mount that is on top of it: no file is asked."""
    best: tuple[int, bytes, bytes] = (-1, b"", b"")
    name = os.fsencode(os.path.normpath(path))
    with open(f"/proc/{pid}/mountinfo", "rb") as file:
        said = file.read(MOST_MOUNTS)
        for line in said.splitlines() if len(said) < MOST_MOUNTS else ():
            _, _, device, root, point, *_ = line.split(b" ")
            point = re.sub(rb"\\(\d{3})", lambda m: bytes((int(m[1], 8),)), point).rstrip(b"/")
            if (name == point or name.startswith(point + b"/")) and len(point) >= best[0]:
                best = (len(point), device, root.rstrip(b"/") + name[len(point) :])
    return best[1:]


def _sees_ours(look: Look, path: str) -> bool:
    """A process that has ended is a FileNotFoundError, or its kin."""
    pid = str(look.who.pid)
    return look.sees_our_files or all(
        _place(pid, each) == _place("self", each) for each in (path, os.path.realpath(path))
    )


def _may_be_read_by_all(path: str) -> bool:
    """Of what root alone can change; of anything else, who reads it says what is wrong."""
    try:
        with walked(path):
            pass
    except (Failure, OSError):
        return True
    path = os.path.realpath(path)
    folders: list[str] = []
    while (folder := os.path.dirname(folders[-1] if folders else path)) not in folders:
        folders.append(folder)
    enters = all(os.stat(folder).st_mode & stat.S_IXOTH for folder in folders)
    return enters and bool(os.stat(path).st_mode & stat.S_IROTH)


# ---- What it says ----


def _parsed(text: bytes) -> dict[str, Any]:
    """In the process that this is. Nothing that the text names is loaded: the process has chosen the file."""
    crypto = Libcrypto()
    conf, line, why = crypto.read(text)
    sections = crypto.sections(conf)
    return {"number": crypto.number(), "sections": sections, "line": line, "why": why, "folder": crypto.folders()[0]}


def _said_by(path: str, whole: Whole) -> Source:
    try:
        answer = aside.once(lambda: _parsed(bytes(whole.text)), aside.SECONDS, ROOM)
    except Failure as error:
        return Source(path, elsewhere=printable(f"{path}: {error}"))
    found = Read(path, answer["number"], answer["sections"])
    named = meaning.named_sections(found)
    random = meaning.generators_of(found, named.init)
    query = random.get("properties", "").replace(" ", "").split(",")
    problem = f"{whole.where(answer['line'])}: {answer['why']}" if answer["why"] else ""
    if not problem and whole.passed_over:
        problem = f"{path}, which includes what cannot be read: {whole.passed_over[0]}"
    section = meaning.undotted(found.section(named.drng))
    module = os.path.join(answer["folder"], section.get("module", "drng.so"))
    return Source(
        path=path,
        is_known=True,
        problem=printable(problem),
        names_drng=bool(named.drng) and meaning.is_active(found, named.drng),
        generator=random.get("random", ""),
        asks_drng="provider=drng" in query or "?provider=drng" in query or random.get("random_provider") == "drng",
        is_strict="provider=drng" in query,
        module=section.get("module", ""),
        folder=answer["folder"],
        not_loaded="" if "$" in module or os.path.exists(module) else printable(f"{module} is not there"),
        changed=max(changed([path, *whole.files]), default=0.0),
    )


def text_of(path: str) -> bytes:
    return b"" if path == os.devnull else read_once(path)


class Sources:
    """Each file is read once."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, str], Source] = {}
        self._asked: dict[int, int] = {}
        self._spent: dict[int, float] = {}

    def _of(self, path: str, reader: str) -> Source:
        try:
            # What libcrypto says of a file may have its lines in it.
            if reader and not _may_be_read_by_all(path):
                why = printable(f"not everybody may read {shlex.quote(path)}")
                return Source(path, elsewhere=why, command=printable(as_user(reader, "drng-conf", path)))
            whole = Whole()
            whole.add(text_of(path), (path,))
            return _said_by(path, whole)
        except OthersError as error:
            return Source(path, elsewhere=printable(error.said), command=printable(error.command))
        except FileError as error:
            return Source(path, True, problem=printable(str(error)))
        except OSError as error:
            return Source(path, True, problem=printable(f"{path}: {error.strerror}"))

    def of(self, look: Look, path: str) -> Source:
        """What it would read; an OSError where it has ended."""
        if not path:
            return Source()
        began, user = time.monotonic(), look.who.user
        try:
            return self._asked_for(look, path)
        finally:
            self._spent[user] = self._spent.get(user, 0.0) + time.monotonic() - began

    def _asked_for(self, look: Look, path: str) -> Source:
        if CREDENTIAL.fullmatch(path) and not os.path.lexists(path):
            return Source(path, is_known=True, names_drng=True)
        # Not with nsenter: root would run the program that its user has put there.
        there = f"as its user, where it runs: drng-conf {shlex.quote(path)}"
        if not path.startswith("/"):
            why = f"its OPENSSL_CONF, {shlex.quote(path)}, begins in its working directory"
            return Source(path, elsewhere=printable(why), command=printable(there))
        if look.who.user and self._spent.get(look.who.user, 0.0) > SECONDS_OF_A_USER:
            return Source(path, elsewhere="its user's files and mounts take too long", command=printable(there))
        # First, since it goes along no folder that others can change: those may never answer.
        key = path, look.who.owner if os.geteuid() == 0 != look.who.effective else ""
        if key not in self._read:
            self._asked[look.who.user] = self._asked.get(look.who.user, 0) + 1
            if look.who.user and self._asked[look.who.user] > MOST_OF_A_USER:
                return Source(path, elsewhere="its user names more files than are read", command=printable(there))
            self._read[key] = self._of(*key)
        found = self._read[key]
        if found.elsewhere:
            return found
        if not _sees_ours(look, path):
            why = f"it sees another {path}, in a root directory or a mount of its own"
            return Source(path, elsewhere=printable(why), command=printable(there))
        return found
