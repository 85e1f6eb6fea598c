"""A change of some files: shown, or made as one."""

from __future__ import annotations

import contextlib
import difflib
import errno
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass

from ..files import Place, Tree
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


@dataclass
class File:
    """One as it is, and as it is to be; None where there is none."""

    path: str
    before: bytes | None
    after: bytes | None
    # What lends it owner and mode. Without, it is one that drng-enable makes, and takes away where nothing is in it.
    model: str = ""

    @property
    def goes(self) -> bool:
        return not self.after and not self.model

    def back(self) -> File:
        return File(self.path, self.after, self.before, self.model)


def require_writable(place: Place) -> None:
    """By root, who alone need be able to."""
    if not place.is_writable():
        warn(f"{place.path}: {why(OSError(errno.EACCES, 'you may not change it'))}")


def show(tree: Tree, files: list[File]) -> None:
    """Where all of it can be written, with the folders on the way; what is not there is /dev/null."""
    for path in (file.path for file in files):
        while True:
            try:
                with tree.place(path, follow=False) as place, explained(place.path):
                    require_writable(place)
                break
            except FileNotFoundError:
                # The folder that is to be made is a name in the one above.
                path = os.path.dirname(path)
    for file in files:
        name = tree.shown(file.path)
        texts = [decode(data or b"").splitlines() for data in (file.before, file.after)]
        names = ["/dev/null" if file.before is None else name, "/dev/null" if file.after is None else f"{name} (new)"]
        for line in difflib.unified_diff(*texts, *names, lineterm=""):
            Output.line(line)


def _prepare(tree: Tree, file: File, place: Place, stack: contextlib.ExitStack) -> str:
    """The name of what is whole on the disk beside its place; empty for a file that goes."""
    name = ""
    if file.goes:
        require_writable(place)
    else:
        model = stack.enter_context(tree.place(file.model, follow=False)) if file.model else place
        found = model.stat()
        place.require_ours(found.st_uid if file.model and found else 0)
        name = place.prepare(file.after or b"", model)
        stack.callback(place.discard, name)
    if place.read() != file.before:
        raise Unchanged(f"{place.path} has just been changed by somebody else")
    return name


def _take_back(file: File, place: Place) -> bool:
    """Whether everything is as it was; of a file that was replaced nothing is left to put there."""
    with contextlib.suppress(OSError):
        if file.before is None:
            place.unlink()
            return True
    return False


def make(tree: Tree, files: list[File]) -> None:
    """In their order. The names change only when everything is on the disk, so a full one changes nothing."""
    with contextlib.ExitStack() as stack:
        # A signal waits until files that belong together are all in their places.
        stack.callback(signal.pthread_sigmask, signal.SIG_SETMASK, signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS))
        # Of the folders on the way, those that are empty once everything is over.
        stack.callback(tree.unmake)
        places: list[Place] = []
        names: list[str] = []
        done: list[tuple[File, Place]] = []
        for file in files:
            with explained(tree.shown(file.path)):
                places.append(stack.enter_context(tree.place(file.path, follow=False, make=not file.goes)))
                places[-1].sweep()
        for file, place in zip(files, places):
            with explained(place.path):
                names.append(_prepare(tree, file, place, stack))
        for file, place, name in zip(files, places, names):
            try:
                place.rename(name) if name else place.discard(place.name)
                done.append((file, place))
                place.sync()
            except OSError as error:
                left = [step for step in reversed(done) if not _take_back(*step)]
                said = ", ".join(f"{at.path} is {'gone' if of.goes else 'the new one'}" for of, at in left)
                raise Failure(
                    f"{place.path} cannot be written: {why(error)}; {said or 'nothing has been changed'}"
                ) from None
        # It is done, and is to end as done: a signal would have it say that nothing has been changed.
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
