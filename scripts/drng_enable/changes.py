"""A change of some files: shown, or made as one."""

from __future__ import annotations

import contextlib
import difflib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass

from .block import decode
from .output import Failure, Output
from .tree import Place, Prepared, Tree

SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


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


def show(path: str, old: bytes | None, new: bytes | None) -> None:
    """As they would be; what is not there is /dev/null."""
    texts = [decode(data or b"").splitlines() for data in (old, new)]
    names = [path if old is not None else "/dev/null", f"{path} (new)" if new is not None else "/dev/null"]
    for line in difflib.unified_diff(*texts, *names, lineterm=""):
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
            raise Failure(f"{file.place.path} cannot be written: {error.strerror}; nothing has been changed") from None
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
                raise Failure(f"{each.place.path} cannot be written: {error.strerror}; {result}") from None
        # It is done, and is to end as done: a signal would have it say that nothing has been changed.
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)


def make_place(tree: Tree, path: str) -> Place:
    """A place for a file of ours, with the directories on the way to it."""
    try:
        return tree.place(path, follow=False, make=True)
    except OSError as error:
        tree.unmake()
        raise Failure(f"{os.path.dirname(path)} cannot be made: {error.strerror}; nothing has been changed") from None
