# SPDX-License-Identifier: Apache-2.0
"""A change of some files: shown, made as one, and taken back by the same."""

from __future__ import annotations

import contextlib
import difflib
import errno
import glob
import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

from .. import CONF_DIR, TRIAL
from ..files import Place, opened
from ..paths import LIMIT, FileError
from ..terminal import Failure, Output, Unchanged
from .texts import decode

SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}

# Folders that go with the last file in them; and others in which a killed run may have left one.
OURS = ("/etc/systemd/system/*.service.d", "/run/systemd/system/*.service.d", TRIAL, CONF_DIR)
OTHERS = ("/etc/ssl", "/etc/pki/tls", "/etc/pki/tls/openssl.d")

# What to do about it.
HINTS = {
    errno.EPERM: "lsattr(1) says whether it, or its folder, is immutable, and chattr -i lets it be changed",
    errno.EBUSY: "something is mounted on it, as in a container: change the file where it comes from",
    errno.EROFS: "its file system is read-only: remount it, or change the image that it comes from",
    errno.EACCES: "run drng-enable as root",
}


def ignore_signals() -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def explained(path: str, kind: type[Failure] = Unchanged) -> Iterator[None]:
    """An error in here is one of this path, and comes with what to do."""
    try:
        yield
    except OSError as error:
        hint = HINTS.get(error.errno or 0)
        raise kind(f"{path} cannot be changed: {error.strerror}{f' ({hint})' if hint else ''}") from None


@dataclass
class File:
    """One as it is, and as it is to be; None where there is none."""

    path: str
    before: bytes | None
    after: bytes | None
    ours: bool = True  # what is not keeps its owner, mode and attributes

    def back(self) -> File:
        return File(self.path, self.after, self.before, self.ours)


def read(path: str) -> bytes | None:
    """A file's bytes, or None where nothing is there."""
    try:
        with opened(path) as place:
            return place.read()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise Failure(f"{os.path.dirname(path)} is no folder, or is a link or below one") from None
    except FileError as error:
        raise Unchanged(f"{error}: put a file of less than {LIMIT >> 20} MB in its place, or nothing") from None


def difference(files: Sequence[File]) -> str:
    """What is not there is /dev/null."""
    lines: list[str] = []
    for file in files:
        before, after = (decode(data).splitlines() for data in (file.before, file.after))
        was, will_be = ("/dev/null" if data is None else file.path for data in (file.before, file.after))
        lines += difflib.unified_diff(before, after, was, will_be, lineterm="")
    return "\n".join(lines)


def _prepare(file: File, place: Place, stack: contextlib.ExitStack) -> str:
    """The name of what is whole on the disk beside its place; empty for a file that goes."""
    name = ""
    if file.after is not None:
        name = place.prepare(file.after, 0o644 if file.ours or file.before is None else None)
        stack.callback(place.discard, name)
    if place.read() != file.before:
        raise Unchanged(f"{place.path} has just been changed by somebody else")
    return name


def _remove_empty(folders: Sequence[str]) -> None:
    """The last first; one that is not empty, or no folder, stays."""
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def _sweep(folders: set[str]) -> list[str]:
    """Takes away what a killed run has left half written; no other run is at work. Whence."""
    left = [path for folder in folders for path in glob.glob(f"{folder}/.{Output.program}-*.tmp")]
    for path in left:
        with contextlib.suppress(OSError), opened(path) as place:
            place.discard(place.name)
    return [os.path.dirname(path) for path in left]


def make(files: Sequence[File]) -> None:
    """In their order. The names change only when everything is on the disk, so a full one changes nothing. A Failure
    that is not an Unchanged leaves some as they were, and some as they were to be."""
    with contextlib.ExitStack() as stack:
        # A signal waits until files that belong together are all in their places.
        stack.callback(signal.pthread_sigmask, signal.SIG_SETMASK, signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS))
        # Of the folders on the way, those that are empty once everything is over.
        folders: list[str] = []
        stack.callback(_remove_empty, folders)
        steps = []
        # A killed run may have left this one empty.
        gone = [TRIAL, *_sweep({*OURS, *OTHERS, *(glob.escape(os.path.dirname(file.path)) for file in files)})]
        for file in files:
            with explained(file.path):
                place = stack.enter_context(opened(file.path, None if file.after is None else folders))
                steps.append((file, place, _prepare(file, place, stack)))
        for file, place, name in steps:
            with explained(file.path, Failure):
                place.put(name)
        gone += [os.path.dirname(file.path) for file in files if file.after is None]
        folders += sorted(folder for folder in gone if any(fnmatch(folder, ours) for ours in OURS))
