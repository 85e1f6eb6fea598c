"""Safe access to the files of a system below a root: this machine's, or an image's.

Every directory on the way is opened from the one above it, without following links by itself. A link is read, and
followed as the system below the root would follow it, so that none leads out of an image. Files take their place in
one step, from a name that could not be guessed and was not there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from .output import Failure, warn

# Left behind by a run that was killed, and taken away by the next.
TEMPORARY = re.compile(r"\.drng-enable-[0-9a-f]{16}\.tmp")

# No openssl.cnf and no unit is as long; a file that is would only fill memory.
LIMIT = 4 << 20
LINKS = 40

KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFLNK: "a link",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def require_file(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise Failure(f"{path} is {KINDS.get(stat.S_IFMT(found.st_mode), 'no file')}, not a file")


@dataclass
class Prepared:
    """A file that is whole on the disk, and not yet in its place."""

    place: Place
    name: str
    was_new: bool = False
    in_place: bool = False

    def commit(self) -> None:
        self.was_new = self.place.stat() is None
        os.rename(self.name, self.place.name, src_dir_fd=self.place.directory, dst_dir_fd=self.place.directory)
        self.in_place = True
        self.place.sync()

    def take_back(self) -> bool:
        """Whether everything is as it was; of a file that was replaced nothing is left to put there."""
        self.discard()
        if not self.in_place:
            return True
        if self.was_new:
            with contextlib.suppress(OSError):
                self.place.unlink()
                return True
        return False

    def discard(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.name, dir_fd=self.place.directory)


@dataclass
class Place:
    """A name in a directory that is held open; nothing need be there."""

    directory: int
    name: str
    path: str

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.directory)

    def stat(self) -> os.stat_result | None:
        try:
            return os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        except FileNotFoundError:
            return None

    @contextlib.contextmanager
    def _open(self) -> Iterator[int]:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        fd = os.open(self.name, flags, dir_fd=self.directory)
        try:
            require_file(self.path, os.fstat(fd))
            yield fd
        finally:
            os.close(fd)

    def read(self) -> bytes | None:
        """The whole file, or None where nothing is there."""
        found = self.stat()
        if found is None:
            return None
        require_file(self.path, found)
        with self._open() as fd, os.fdopen(os.dup(fd), "rb") as file:
            data = file.read(LIMIT + 1)
        if len(data) > LIMIT:
            raise Failure(f"{self.path} is longer than {LIMIT} bytes")
        return data

    def require_ours(self) -> None:
        """Whoever else can put a file or a link here could have us give them what we write."""
        found = self.stat()
        if found is None:
            return
        if not stat.S_ISREG(found.st_mode) or found.st_uid not in (0, os.geteuid()):
            kind = KINDS.get(stat.S_IFMT(found.st_mode), f"a file of user {found.st_uid}")
            raise Failure(f"{self.path} is {kind}, which drng-enable did not make; nothing has been changed")

    def _like(self, fd: int, model: Place | None) -> None:
        """Owner, mode and extended attributes (ACLs, SELinux) of what stands at the model's place."""
        if model is None or model.stat() is None:
            os.fchmod(fd, 0o644)
            return
        with model._open() as old:
            found = os.fstat(old)
            if (found.st_uid, found.st_gid) != (os.fstat(fd).st_uid, os.fstat(fd).st_gid):
                os.fchown(fd, found.st_uid, found.st_gid)
            os.fchmod(fd, stat.S_IMODE(found.st_mode))
            for name in os.listxattr(old):
                # What the file system keeps for itself cannot be set, and is there already.
                with contextlib.suppress(OSError):
                    os.setxattr(fd, name, os.getxattr(old, name))

    def prepare(self, data: bytes, model: Place | None = None) -> Prepared:
        """Writes all of it beside its place; where that fails, nothing is left. It looks like what it replaces."""
        name = f".drng-enable-{os.urandom(8).hex()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(name, flags, 0o600, dir_fd=self.directory)
        prepared = Prepared(self, name)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            self._like(fd, model or self)
            os.fsync(fd)
            if os.fstat(fd).st_size != len(data):
                raise OSError(errno.EIO, "written in part", self.path)
        except BaseException:
            prepared.discard()
            raise
        finally:
            os.close(fd)
        return prepared

    def unlink(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.name, dir_fd=self.directory)
            self.sync()

    def sync(self) -> None:
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.directory)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def sweep(self) -> None:
        """Takes away what a killed run of ours left in this directory."""
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.directory)
        try:
            for name in filter(TEMPORARY.fullmatch, os.listdir(fd)):
                found = os.stat(name, dir_fd=fd, follow_symlinks=False)
                if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
                    os.unlink(name, dir_fd=fd)
        except OSError as error:
            warn(f"{os.path.dirname(self.path)}: temporary files of an earlier run are not removed: {error.strerror}")
        finally:
            os.close(fd)


@dataclass
class Tree:
    """A system below a root."""

    root: str
    fd: int = field(init=False)
    live: bool = field(init=False)
    made: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.fd = os.open(self.root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self.live = os.path.samestat(os.fstat(self.fd), os.stat("/"))

    def _link(self, part: str, directory: int, path: str) -> str | None:
        """Where a link leads, or None where there is no link."""
        try:
            target = os.readlink(part, dir_fd=directory)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno == errno.EINVAL:
                return None
            raise
        owner = os.stat(part, dir_fd=directory, follow_symlinks=False).st_uid
        if self.live and owner not in (0, os.geteuid()):
            raise Failure(
                f"{path}: this is a link that user {owner} made, and it is not followed; name the file itself"
            )
        return target

    def _enter(self, part: str, directory: int, path: str, make: bool) -> int:
        flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(part, flags, dir_fd=directory)
        except FileNotFoundError:
            if not make:
                raise
        os.mkdir(part, 0o755, dir_fd=directory)
        self.made.append(path)
        return os.open(part, flags, dir_fd=directory)

    def place(self, path: str, follow: bool = True, make: bool = False) -> Place:
        """Where a path leads; fails where a directory on the way is missing, unless they are to be made."""
        stack = [(os.dup(self.fd), "")]
        todo = path.split("/")
        links = 0
        try:
            while todo:
                part = todo.pop(0)
                directory, above = stack[-1]
                here = f"{above}/{part}"
                if part in ("", "."):
                    continue
                if part == "..":
                    if len(stack) > 1:
                        os.close(stack.pop()[0])
                    continue
                last = not any(todo)
                target = self._link(part, directory, here) if follow or not last else None
                if target is not None:
                    links += 1
                    if links > LINKS:
                        raise Failure(f"{path}: too many links")
                    todo[:0] = target.split("/")
                    while target.startswith("/") and len(stack) > 1:
                        os.close(stack.pop()[0])
                elif last:
                    return Place(os.dup(directory), part, here)
                else:
                    stack.append((self._enter(part, directory, here, make), here))
            raise Failure(f"{path} is a directory, not a file")
        except FileNotFoundError:
            out = f"; a link on the way leads out of {self.root}, or nowhere" if links and not self.live else ""
            raise FileNotFoundError(errno.ENOENT, f"there is no such file{out}", path) from None
        except NotADirectoryError:
            raise Failure(f"{path}: a part of the path is not a directory") from None
        finally:
            for fd, _ in stack:
                os.close(fd)

    def read(self, path: str, follow: bool = True) -> bytes | None:
        """A file's bytes, or None where nothing is there."""
        try:
            with self.place(path, follow) as place:
                return place.read()
        except FileNotFoundError:
            return None

    def names(self, path: str) -> list[str]:
        """What is in a directory; nothing where there is none."""
        try:
            with self.place(f"{path}/.drng-enable") as place:
                fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=place.directory)
        except (FileNotFoundError, Failure):
            return []
        try:
            return sorted(os.listdir(fd))
        finally:
            os.close(fd)

    def remove_directory(self, path: str) -> None:
        """Where it is empty, and no link."""
        with contextlib.suppress(OSError, Failure), self.place(path, follow=False) as place:
            os.rmdir(place.name, dir_fd=place.directory)

    def unmake(self) -> None:
        """Takes away the directories that were made for a change that has not come about."""
        while self.made:
            self.remove_directory(self.made.pop())
