"""Files that take their place in one step: whoever reads them sees the old one or the new one, whole.

The folder may be another user's. No link is followed on the way there, and nothing that is there already is written to.
What is there and is no regular file stays: whoever names a device or a pipe does not want a file in its place.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass

# Left behind by a run that was killed, and taken away by a later one: by then, no run can still be writing it.
SWEPT_SECONDS = 3600
TEMPORARY = re.compile(r"\.drng-status-[0-9a-f]{16}\.tmp")


class FileError(Exception):
    """It cannot be read or written, and why."""


class TooLongError(FileError):
    """It is longer than any that drng-status writes."""


def _open_folder(path: str) -> int:
    """From the root down: a link that somebody puts on the way would lead to a folder of theirs."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    folder = os.open("/", flags)
    for name in filter(None, path.split("/")):
        above = folder
        try:
            folder = os.open(name, flags, dir_fd=above)
        finally:
            os.close(above)
    return folder


@dataclass
class Place:
    """A name in a folder that is held open."""

    path: str
    name: str
    folder: int

    def require_file(self) -> None:
        """A FileError where something else is in its place than a regular file or nothing."""
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(self.name, dir_fd=self.folder, follow_symlinks=False).st_mode):
                raise FileError(f"{self.path} is no regular file, and is not replaced; name another")

    def _sweep(self) -> None:
        """Takes away what a killed run of this user has left."""
        for name in filter(TEMPORARY.fullmatch, os.listdir(self.folder)):
            with contextlib.suppress(OSError):
                file = os.stat(name, dir_fd=self.folder, follow_symlinks=False)
                is_old = abs(time.time() - file.st_mtime) > SWEPT_SECONDS
                if stat.S_ISREG(file.st_mode) and file.st_uid == os.geteuid() and is_old:
                    os.unlink(name, dir_fd=self.folder)

    def _fill(self, name: str, data: bytes, mode: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(name, flags, 0o600, dir_fd=self.folder)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(file, rest) :]
            os.fchmod(file, mode)
            os.fsync(file)
        finally:
            os.close(file)

    def write(self, data: bytes, mode: int) -> None:
        """What was there stays where this fails, whenever that is."""
        name = f".drng-status-{os.urandom(8).hex()}.tmp"
        try:
            self._sweep()
            try:
                self._fill(name, data, mode)
                self.require_file()
                os.rename(name, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=self.folder)
                raise
            os.fsync(self.folder)
        except OSError as error:
            raise FileError(f"{self.path} cannot be written: {error.strerror}; what was there stays") from None

    def read(self, most: int) -> bytes | None:
        """None where nothing is there."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(self.name, flags, dir_fd=self.folder), "rb") as file:
                found = os.fstat(file.fileno())
                if not stat.S_ISREG(found.st_mode) or found.st_uid not in (0, os.geteuid()):
                    raise FileError(f"{self.path} is not a file of this user's")
                data = file.read(most + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError(f"{self.path} cannot be read: {error.strerror}") from None
        if len(data) > most:
            raise TooLongError(f"{self.path} is longer than {most} bytes")
        return data

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """By a file that only this user may open: a lock on one that others may read is theirs to keep for ever."""
        name = f".{self.name}.lock"
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        try:
            file = os.open(name, flags, 0o600, dir_fd=self.folder)
        except OSError as error:
            raise FileError(f"{self.path} cannot be locked: {name} beside it: {error.strerror}") from None
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
                raise FileError(f"{self.path} cannot be locked: {name} beside it is not a file of this user's")
            os.fchmod(file, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FileError(f"another drng-status is writing {self.path}") from None
            yield
        finally:
            os.close(file)


@contextlib.contextmanager
def place(path: str) -> Iterator[Place]:
    folder, _, name = os.path.normpath(path).rpartition("/")
    if not path.startswith("/") or not name or "\0" in path:
        raise FileError(f"{path!r} cannot be used: give a path that begins with /")
    try:
        opened = _open_folder(folder)
    except OSError as error:
        why = "it is a link, or below one; name the folder itself" if error.errno == errno.ELOOP else error.strerror
        if error.errno == errno.ENOTDIR:
            why = "it is no folder, or is a link or below one; name the folder itself"
        raise FileError(f"{folder or '/'} cannot be opened: {why}") from None
    try:
        found = Place(path, name, opened)
        found.require_file()
        yield found
    finally:
        os.close(opened)
