# SPDX-License-Identifier: Apache-2.0
"""A change of some files: shown, made as one, and taken back by the same."""

from __future__ import annotations

import contextlib
import difflib
import errno
import os
import re
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .. import CONF_DIR
from ..files import Place, opened
from ..terminal import Failure, Unchanged
from .texts import decode

SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}

# Folders that go with the last file in them.
OURS = re.compile(rf"/(etc|run)/systemd/system/.*\.service\.d|/run/drng|{re.escape(CONF_DIR)}")

# What to do about it.
HINTS = {
    errno.EPERM: "lsattr(1) says whether it, or its folder, is immutable, and chattr -i lets it be changed",
    errno.EBUSY: "something is mounted on it, as in a container: change the file where it comes from",
    errno.EROFS: "its file system is read-only: remount it, or change the image that it comes from",
    errno.EACCES: "run drng-enable as root",
}


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


def remove_empty(folders: Sequence[str]) -> None:
    """The last first; one that is not empty, or no folder, stays."""
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def make(files: Sequence[File]) -> None:
    """In their order. The names change only when everything is on the disk, so a full one changes nothing. A Failure
    that is not an Unchanged leaves some as they were, and some as they were to be."""
    with contextlib.ExitStack() as stack:
        # A signal waits until files that belong together are all in their places.
        stack.callback(signal.pthread_sigmask, signal.SIG_SETMASK, signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS))
        # Of the folders on the way, those that are empty once everything is over.
        folders: list[str] = []
        stack.callback(remove_empty, folders)
        places, steps = [], []
        for file in files:
            with explained(file.path):
                places.append(stack.enter_context(opened(file.path, None if file.after is None else folders)))
                places[-1].sweep()
        for file, place in zip(files, places):
            with explained(file.path):
                steps.append((file, place, _prepare(file, place, stack)))
        for file, place, name in steps:
            with explained(file.path, Failure):
                place.put(name)
        gone = {os.path.dirname(file.path) for file in files if file.after is None}
        folders += sorted(folder for folder in gone if OURS.fullmatch(folder))
