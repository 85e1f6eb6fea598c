# SPDX-License-Identifier: Apache-2.0
"""What the openssl.cnf says that a process would read now. Only what root alone can change is read, and only where the
process sees the same file; of any other the answer is `elsewhere`, with the command to type there."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import shlex
import stat
from collections.abc import Iterable
from dataclasses import dataclass

from .. import OWN, TRIED
from ..conf import meaning
from ..conf.probe import probe
from ..paths import FileError, OthersError, by_the_linker, read_once
from ..terminal import Failure, printable
from .look import Look

MOST_MOUNTS = 8 << 20

# What drng-enable has systemd write when the service starts, and take away when it stops.
CREDENTIAL = re.compile(r"/run/credentials/[^/]+/drng\.cnf")

# Includes of drng-enable's that a trial which is over, or a removed package, has left: they name nothing.
LEFT = [f"{path}: {os.strerror(errno.ENOENT)}" for path in (OWN, TRIED)]


@dataclass(frozen=True)
class Source:
    path: str = ""
    is_known: bool = False
    elsewhere: str = ""  # why it is not known here
    there: str = ""  # the command that tells there
    problem: str = ""  # why libcrypto goes on without this file or one that it includes
    names_drng: bool = False  # it activates drng
    generator: str = ""  # what it takes as the generator
    asks_drng: bool = False  # the generators are to be drng's
    is_strict: bool = False  # and nobody else's
    module: str = ""
    not_loaded: str = ""  # why the module cannot be loaded
    changed: float = 0.0  # when the file, or what it includes, was written


def changed(paths: Iterable[str]) -> float:
    """When the last of them, or a link there, was written. A new owner or mode is no change, and another file in its
    folder is none."""
    last = 0.0
    for path in filter(None, paths):
        with contextlib.suppress(OSError, ValueError):
            last = max(last, os.lstat(path).st_mtime, os.stat(path).st_mtime)
    return last


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


def _there(path: str, why: str) -> Source:
    """Not with nsenter: root would run the program that its user has put there."""
    command = f"as its user, where it runs: drng-conf {shlex.quote(path)}"
    return Source(path, elsewhere=printable(why), there=printable(command))


@functools.cache
def read(path: str, text: bytes | None = None) -> Source:
    """Of the file, or of the text that it has."""
    own = [path] if text is None else []
    try:
        if text is None:
            text = b"" if path == os.devnull else read_once(path)
            # What libcrypto says of a file may have its lines in it.
            if os.geteuid() == 0 and not os.stat(path).st_mode & stat.S_IROTH:
                return _there(path, f"not everybody may read {shlex.quote(path)}")
        found = probe(text, path, load=False)
    except OthersError as error:
        return Source(path, elsewhere=printable(error.said), there=printable(error.command))
    except (FileError, OSError) as error:
        said = f"{path}: {error.strerror}" if isinstance(error, OSError) else str(error)
        return Source(path, True, problem=printable(said))
    except Failure as error:
        return _there(path, str(error))
    drng, random = meaning.named_sections(found).drng, meaning.generators_of(found)
    query = random.get("properties", "").replace(" ", "").split(",")
    lost = [why for why in found.passed_over if why not in LEFT]
    included = f"{path}, which includes what cannot be read: {lost[0]}" if lost else ""
    module = meaning.undotted(found.section(drng)).get("module", "")
    file = os.path.join(found.modules, module or "drng.so")
    return Source(
        path=path,
        is_known=True,
        problem=printable(found.problem or included),
        names_drng=meaning.is_active(found, drng),
        generator=random.get("random", ""),
        asks_drng="provider=drng" in query or "?provider=drng" in query or random.get("random_provider") == "drng",
        is_strict="provider=drng" in query,
        module=module,
        not_loaded="" if any(map(os.path.exists, by_the_linker(file))) else printable(f"{file} is not there"),
        changed=changed([*own, *found.files]),
    )


def source_of(look: Look, path: str, text: bytes | None) -> Source:
    """What it would read, with `text` in a file that systemd writes; an OSError where it has ended."""
    if text is not None or path == os.devnull:
        return read(path, text)
    if not path.startswith("/"):
        return _there(path, f"its OPENSSL_CONF, {shlex.quote(path)}, begins in its working directory")
    if CREDENTIAL.fullmatch(path) and not os.path.lexists(path):
        return Source(path, is_known=True, names_drng=True)
    # First, since it goes along no folder that others can change: those may never answer.
    found = read(path)
    # A process that has ended is a FileNotFoundError, or its kin.
    places = () if found.elsewhere else {path, os.path.realpath(path)}
    if all(_place(str(look.mounts_of), each) == _place("self", each) for each in places):
        return found
    return _there(path, f"it sees another {path}, in a root directory or a mount of its own")
