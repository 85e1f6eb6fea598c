"""A change of some files: shown, or made as one."""

from __future__ import annotations

import contextlib
import difflib
import errno
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass

from ..files import Place, Prepared, Tree
from ..terminal import Failure, Output, Unchanged, warn
from .block import decode

SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}

# What to do about it.
HINTS = {
    errno.EPERM: "lsattr(1) says whether it, or its folder, is immutable, and chattr -i lets it be changed",
    errno.EBUSY: "something is mounted on it, as in a container: change the file where it comes from",
    errno.EROFS: "its file system is read-only: remount it, or change the image that it comes from",
    errno.EACCES: "run drng-enable as root",
}


def why(error: OSError) -> str:
    """In words, with what to do."""
    hint = HINTS.get(error.errno or 0)
    return f"{error.strerror} ({hint})" if hint else str(error.strerror)


@contextlib.contextmanager
def explained(path: str) -> Iterator[None]:
    """An error in here is one of this path."""
    try:
        yield
    except OSError as error:
        raise Unchanged(f"{path} cannot be changed: {why(error)}") from None


def require_writable(tree: Tree, paths: list[str]) -> None:
    """That files can be made, replaced or removed there, and folders on the way: by root, who alone need be able to."""
    for path in paths:
        there = path
        while True:
            try:
                with tree.place(there, follow=False) as place, explained(place.path):
                    if not place.is_writable():
                        warn(f"{place.path}: {why(OSError(errno.EACCES, 'you may not change it'))}")
                break
            except FileNotFoundError:
                # The folder that is to be made is a name in the one above.
                there = os.path.dirname(there)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """A signal waits until files that belong together are all in their places."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass
class File:
    """One to be written, in the order in which they are listed; the model lends it owner and mode."""

    place: Place
    data: bytes
    model: Place | None = None


def show(tree: Tree, files: dict[str, tuple[bytes | None, bytes | None]]) -> None:
    """As they are and as they would be, where that can be written; what is not there is /dev/null."""
    require_writable(tree, list(files))
    for path, both in files.items():
        texts = [decode(data or b"").splitlines() for data in both]
        names = (tree.shown(path), f"{tree.shown(path)} (new)")
        shown = ["/dev/null" if data is None else name for data, name in zip(both, names)]
        for line in difflib.unified_diff(*texts, *shown, lineterm=""):
            Output.line(line)


def prepare(files: list[File]) -> list[Prepared]:
    """All of them whole on the disk, or none."""
    for file in files:
        file.place.sweep()
    prepared: list[Prepared] = []
    try:
        for file in files:
            prepared.append(file.place.prepare(file.data, file.model))
    except BaseException as error:
        for each in prepared:
            each.discard()
        if isinstance(error, OSError):
            raise Unchanged(f"{file.place.path} cannot be written: {why(error)}") from None
        raise
    return prepared


def write(files: list[File]) -> None:
    """The names change only when everything is on the disk, so a full one changes nothing."""
    with uninterrupted():
        prepared = prepare(files)
        for each in prepared:
            try:
                each.commit()
            except OSError as error:
                changed = [rest.place.path for rest in reversed(prepared) if not rest.take_back()]
                result = f"{', '.join(changed)} is the new one" if changed else "nothing has been changed"
                raise Failure(f"{each.place.path} cannot be written: {why(error)}; {result}") from None
        # It is done, and is to end as done: a signal would have it say that nothing has been changed.
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)


def make_place(tree: Tree, path: str) -> Place:
    """A place for a file of ours, with the directories on the way to it."""
    try:
        return tree.place(path, follow=False, make=True)
    except OSError as error:
        tree.unmake()
        raise Unchanged(f"{tree.shown(os.path.dirname(path))} cannot be made: {why(error)}") from None
