# SPDX-License-Identifier: Apache-2.0
"""What the openssl.cnf says that a process would read now. Only what root alone can change is read, and only where the
process sees the same file; of any other the answer is `elsewhere`, with the command to type there."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from .. import aside, procfs
from ..conf import meaning
from ..conf.libcrypto import Libcrypto
from ..conf.reading import Read, Whole
from ..paths import MOST_LINKS, FileError, OthersError, as_user, by_the_linker, read_once, walked
from ..terminal import Failure
from ..text import printable
from .look import Look

ROOM = 1 << 30
# For what somebody's processes name, and whatever mounts he has made.
SECONDS, MOST_MOUNTS = 5.0, 8 << 20

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
    changed: float = 0.0  # when the file, or what it includes, was written


def changed(paths: Iterable[str]) -> float:
    """When the last of them, or a link to it, was written. A new owner or mode is no change, and another file in its
    folder is none."""
    last = 0.0
    for path in filter(None, paths):
        with contextlib.suppress(OSError, ValueError):
            for _ in range(MOST_LINKS):
                last = max(last, os.lstat(path).st_mtime)
                # An OSError of what is no link, and the end.
                path = os.path.join(os.path.dirname(path), os.readlink(path))
    return last


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


def _may_be_read_by_all(path: str) -> bool:
    """Of what root alone can change; of anything else, who reads it says what is wrong."""
    try:
        with walked(path):
            pass
    except (Failure, OSError):
        return True
    path = os.path.realpath(path)
    enters = all(os.stat(folder).st_mode & stat.S_IXOTH for folder in PurePosixPath(path).parents)
    return enters and bool(os.stat(path).st_mode & stat.S_IROTH)


# ---- What it says ----


def _parsed(text: bytes) -> dict[str, Any]:
    """In the process that this is. Nothing that the text names is loaded: the process has chosen the file."""
    crypto = Libcrypto()
    conf, line, why = crypto.read(text)
    sections = crypto.sections(conf)
    return {"sections": sections, "line": line, "why": why, "folder": crypto.folders()[0]}


def _said_by(path: str, whole: Whole, answer: dict[str, Any]) -> Source:
    found = Read(path, answer["sections"])
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
        not_loaded="" if any(map(os.path.exists, by_the_linker(module))) else printable(f"{module} is not there"),
        changed=changed([path, *whole.files]),
    )


def read(path: str, reader: str) -> Source:
    """By root of what a `reader` reads, and otherwise by who reads it."""
    whole = Whole()
    try:
        # What libcrypto says of a file may have its lines in it.
        if reader and not _may_be_read_by_all(path):
            why = printable(f"not everybody may read {shlex.quote(path)}")
            return Source(path, elsewhere=why, command=printable(as_user(reader, "drng-conf", path)))
        whole.add(b"" if path == os.devnull else read_once(path), (path,))
        return _said_by(path, whole, aside.once(lambda: _parsed(bytes(whole.text)), aside.SECONDS, ROOM))
    except OthersError as error:
        return Source(path, elsewhere=printable(error.said), command=printable(error.command))
    except (FileError, OSError) as error:
        said = f"{path}: {error.strerror}" if isinstance(error, OSError) else str(error)
        return Source(path, True, problem=printable(said))
    except Failure as error:
        return Source(path, elsewhere=printable(f"{path}: {error}"))


def there(path: str, why: str) -> Source:
    """Not with nsenter: root would run the program that its user has put there."""
    command = f"as its user, where it runs: drng-conf {shlex.quote(path)}"
    return Source(path, elsewhere=printable(why), command=printable(command))


class Sources:
    """Each file is read once."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, str], Source] = {}
        self._spent: dict[str, float] = {}

    def of(self, look: Look, path: str) -> Source:
        """What it would read; an OSError where it has ended."""
        began = time.monotonic()
        try:
            return self._of(look, path) if path else Source()
        finally:
            self._spent[look.payer] = self._spent.get(look.payer, 0.0) + time.monotonic() - began

    def _of(self, look: Look, path: str) -> Source:
        if CREDENTIAL.fullmatch(path) and not os.path.lexists(path):
            return Source(path, is_known=True, names_drng=True)
        if not path.startswith("/"):
            return there(path, f"its OPENSSL_CONF, {shlex.quote(path)}, begins in its working directory")
        if self._spent.get(look.payer, 0.0) > SECONDS or sum(self._spent.values()) > aside.ALTOGETHER:
            return there(path, "the files and mounts of its unit take too long")
        # First, since it goes along no folder that others can change: those may never answer.
        key = path, look.owner if os.geteuid() == 0 and look.owner != procfs.owner_name(0) else ""
        if key not in self._read:
            self._read[key] = read(*key)
        found = self._read[key]
        # A process that has ended is a FileNotFoundError, or its kin.
        if found.elsewhere or look.sees_our_files:
            return found
        places = {path, os.path.realpath(path)}
        if all(_place(str(look.pid), each) == _place("self", each) for each in places):
            return found
        return there(path, f"it sees another {path}, in a root directory or a mount of its own")
