# SPDX-License-Identifier: Apache-2.0
"""Files that take their place in one step, from a name that could not be guessed and was not there: whoever reads them
sees the old one or the new one, whole. What is there and is no regular file stays.

A folder on the way may be another user's. So each one is opened from the one above it, and no link is followed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from .paths import FileError, all_of, opened_file
from .procfs import O_FOLDER, closing
from .terminal import Output

# Whoever may not list a folder on the way may still pass it.
O_WAY = O_FOLDER | os.O_PATH | os.O_NOFOLLOW


@dataclass
class Place:
    """A name in a directory that is held open; nothing need be there."""

    directory: int
    name: str
    path: str

    def stat(self) -> os.stat_result | None:
        try:
            return os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def read(self) -> bytes | None:
        """The whole file, or None where nothing is there."""
        found = self.stat()
        if found is None:
            return None
        with opened_file(self.path, self.directory, self.name, found) as fd:
            return all_of(self.path, fd)

    def _like(self, fd: int) -> None:
        """Owner, mode and extended attributes (ACLs, SELinux) of what is there."""
        with opened_file(self.path, self.directory, self.name, os.fstat(fd)) as old:
            found = os.fstat(old)
            if (found.st_uid, found.st_gid) != (os.fstat(fd).st_uid, os.fstat(fd).st_gid):
                os.fchown(fd, found.st_uid, found.st_gid)
            os.fchmod(fd, stat.S_IMODE(found.st_mode))
            for name in os.listxattr(old):
                try:
                    os.setxattr(fd, name, os.getxattr(old, name))
                except OSError as error:
                    # What the file system keeps for itself cannot be set, and is there already.
                    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENOMEM):
                        raise

    def prepare(self, data: bytes, mode: int | None) -> str:
        """Writes all of it beside its place, under the name that is returned; where that fails, nothing is left. It is
        this user's, with this mode; or with None, looks like what it replaces."""
        name = f".{Output.program}-{os.urandom(8).hex()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(name, flags, 0o600, dir_fd=self.directory)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            if mode is None:
                self._like(fd)
            else:
                os.fchmod(fd, mode)
            os.fsync(fd)
        except BaseException:
            self.discard(name)
            raise
        finally:
            os.close(fd)
        return name

    def discard(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.directory)

    def put(self, name: str) -> None:
        """What has been prepared takes its place; with an empty name, what is there goes."""
        if name:
            os.rename(name, self.name, src_dir_fd=self.directory, dst_dir_fd=self.directory)
        else:
            self.discard(self.name)
        with closing(os.open(".", O_FOLDER, dir_fd=self.directory)) as folder:
            os.fsync(folder)


@contextlib.contextmanager
def opened(path: str, made: list[str] | None = None) -> Iterator[Place]:
    """The place at the end of a path from /, whatever is there. Folders that are missing are made, and added to `made`,
    where that is given."""
    *parts, name = path.strip("/").split("/")
    with contextlib.ExitStack() as held:
        folder, above = held.enter_context(closing(os.open("/", O_WAY))), ""
        for part in parts:
            above += f"/{part}"
            if made is not None:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=folder)
                    made.append(above)
            folder = held.enter_context(closing(os.open(part, O_WAY, dir_fd=folder)))
        yield Place(folder, name, path)


def write(path: str, data: bytes) -> None:
    """A file that a user names, where a link that somebody puts on the way would lead to a folder of theirs. What was
    there stays where this fails, whenever that is."""
    if not path.startswith("/") or not path.strip("/") or "\0" in path:
        raise FileError(f"'{path}' cannot be used: give a path that begins with /")
    try:
        with opened(os.path.normpath(path)) as place:
            found = place.stat()
            # Whoever names a device or a pipe does not want a file in its place.
            if found is not None and not stat.S_ISREG(found.st_mode):
                raise FileError(f"{path} is no regular file, and is not replaced; name another")
            name = place.prepare(data, 0o644)
            try:
                place.put(name)
            finally:
                place.discard(name)
    except OSError as error:
        why = "a part of the path is no folder, or is a link" if error.errno == errno.ENOTDIR else error.strerror
        raise FileError(f"{path} cannot be written: {why}; what was there stays") from None
