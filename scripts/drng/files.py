"""Files that take their place in one step, from a name that could not be guessed and was not there: whoever reads them
sees the old one or the new one, whole. What is there and is no regular file stays.

A folder on the way may be another user's. So every one is opened from the one above it, without following links by
itself. In a Tree, this machine's or an image's, a link is read, and followed as the system below the root would follow
it, so that none leads out of an image; but for place(), which follows none.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from .procfs import O_FOLDER, closing, is_mounted_on
from .terminal import Failure, Output, Unchanged, warn

# Left behind by a run that was killed, and taken away by the next that cannot meet one that still writes it.
TEMPORARY = r"\.%s-[0-9a-f]{16}\.tmp"

# No openssl.cnf and no unit is as long; a file that is would only fill memory.
LIMIT = 4 << 20
LINKS = 40
NAMES = 1 << 16

# By then, no run can still be writing its temporary file, where there is no lock that says so.
SWEPT_SECONDS = 3600

KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFLNK: "a link",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class FileError(Failure):
    """It cannot be read or written, and why."""


class TooLongError(FileError):
    """It is longer than any that these commands write."""


def require_file(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise FileError(f"{path} is {KINDS.get(stat.S_IFMT(found.st_mode), 'no file')}, not a file")


@dataclass
class Place:
    """A name in a directory that is held open; nothing need be there."""

    directory: int
    name: str
    path: str  # for messages: an image's has the image's folder in front
    inside: str = ""  # where it is for programs in the image

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.directory)

    def stat(self) -> os.stat_result | None:
        try:
            return os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def link(self) -> str:
        """Where the link leads that is here; empty where there is none."""
        with contextlib.suppress(OSError):
            return os.readlink(self.name, dir_fd=self.directory)
        return ""

    @contextlib.contextmanager
    def _open(self) -> Iterator[int]:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        with closing(os.open(self.name, flags, dir_fd=self.directory)) as fd:
            require_file(self.path, os.fstat(fd))
            yield fd

    def _opened(self) -> contextlib.AbstractContextManager[int]:
        """The directory, to be listed or brought to the disk: it may be held by a mere path."""
        return closing(os.open(".", O_FOLDER, dir_fd=self.directory))

    def read(self, most: int = LIMIT, only_ours: bool = False) -> bytes | None:
        """The whole file, or None where nothing is there."""
        found = self.stat()
        if found is None:
            return None
        require_file(self.path, found)
        with self._open() as fd, os.fdopen(os.dup(fd), "rb") as file:
            if only_ours and os.fstat(fd).st_uid not in (0, os.geteuid()):
                raise FileError(f"{self.path} is not a file of this user's")
            data = file.read(most + 1)
        if len(data) > most:
            raise TooLongError(f"{self.path} is longer than {most} bytes")
        return data

    def require_ours(self, owner: int = 0) -> None:
        """Or this owner's. Whoever else can put a file or a link here could have us give them what we write."""
        found = self.stat()
        if found is None:
            return
        if not stat.S_ISREG(found.st_mode) or found.st_uid not in (0, os.geteuid(), owner):
            kind = KINDS.get(stat.S_IFMT(found.st_mode), f"a file of user {found.st_uid}")
            raise Unchanged(f"{self.path} is {kind}, which drng-enable did not make")

    def _like(self, fd: int, model: Place) -> None:
        """Owner, mode and extended attributes (ACLs, SELinux) of what stands at the model's place."""
        if model.stat() is None:
            os.fchmod(fd, 0o644)
            return
        with model._open() as old:
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

    def prepare(self, data: bytes, model: Place | None = None, mode: int | None = None) -> str:
        """Writes all of it beside its place, under the name that is returned; where that fails, nothing is left. It
        looks like what it replaces, but for a mode of its own."""
        name = f".{Output.program}-{os.urandom(8).hex()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(name, flags, 0o600, dir_fd=self.directory)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            if mode is None:
                self._like(fd, model or self)
            else:
                os.fchmod(fd, mode)
            os.fsync(fd)
            if os.fstat(fd).st_size != len(data):
                raise OSError(errno.EIO, "written in part", self.path)
        except BaseException:
            self.discard(name)
            raise
        finally:
            os.close(fd)
        return name

    def discard(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.directory)

    def rename(self, name: str) -> None:
        """What has been prepared takes its place."""
        os.rename(name, self.name, src_dir_fd=self.directory, dst_dir_fd=self.directory)

    def is_writable(self) -> bool:
        """Whether this user may replace what is here, or take it away; an OSError where nobody can."""
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        # rpm --root runs the scripts of packages where nothing is mounted on /proc.
        if os.path.exists("/proc/self") and is_mounted_on(
            f"{os.readlink(f'/proc/self/fd/{self.directory}')}/{self.name}"
        ):
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        try:
            os.close(os.open(self.name, flags, dir_fd=self.directory))
        except OSError as error:
            if error.errno in (errno.EPERM, errno.EROFS):
                raise
        is_ours = os.access(".", os.W_OK | os.X_OK, dir_fd=self.directory, effective_ids=True)
        if not is_ours and os.statvfs(self.directory).f_flag & os.ST_RDONLY:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        if not is_ours and os.geteuid() == 0:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))
        return is_ours

    def unlink(self) -> None:
        self.discard(self.name)
        self.sync()

    def sync(self) -> None:
        with self._opened() as fd:
            os.fsync(fd)

    def sweep(self, age: float = 0.0) -> None:
        """Takes away what a killed run of ours left in this directory, and has been there for so many seconds."""
        pattern = re.compile(TEMPORARY % re.escape(Output.program))
        with self._opened() as fd:
            try:
                for name in filter(pattern.fullmatch, os.listdir(fd)):
                    with contextlib.suppress(FileNotFoundError):
                        found = os.stat(name, dir_fd=fd, follow_symlinks=False)
                        is_old = age == 0 or abs(time.time() - found.st_mtime) > age
                        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and is_old:
                            os.unlink(name, dir_fd=fd)
            except OSError as error:
                folder = os.path.dirname(self.path)
                warn(f"{folder}: temporary files of an earlier run are not removed: {error.strerror}")

    def write(self, data: bytes, mode: int) -> None:
        """What was there stays where this fails, whenever that is."""
        try:
            self.sweep(SWEPT_SECONDS)
            name = self.prepare(data, mode=mode)
            try:
                self.require_replaceable()
                self.rename(name)
                self.sync()
            finally:
                self.discard(name)
        except OSError as error:
            raise FileError(f"{self.path} cannot be written: {error.strerror}; what was there stays") from None

    def require_replaceable(self) -> None:
        """Whoever names a device or a pipe does not want a file in its place."""
        found = self.stat()
        if found is not None and not stat.S_ISREG(found.st_mode):
            raise FileError(f"{self.path} is no regular file, and is not replaced; name another")

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """By a file that only this user may open: a lock on one that others may read is theirs to keep for ever."""
        name = f".{self.name}.lock"
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        try:
            file = os.open(name, flags, 0o600, dir_fd=self.directory)
        except OSError as error:
            raise FileError(f"{self.path} cannot be locked: {name} beside it: {error.strerror}") from None
        with closing(file):
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
                raise FileError(f"{self.path} cannot be locked: {name} beside it is not a file of this user's")
            os.fchmod(file, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FileError(f"another {Output.program} is writing {self.path}") from None
            yield


@dataclass
class Tree:
    """A system below a root."""

    root: str
    has_links: bool = True  # which are followed; otherwise they are no folders
    fd: int = field(init=False)
    live: bool = field(init=False)
    made: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.fd = os.open(self.root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self.live = os.path.samestat(os.fstat(self.fd), os.stat("/"))

    def shown(self, path: str) -> str:
        """A path for messages, as the operator can type it."""
        return path if self.live else f"{self.root.rstrip('/')}{path}"

    def _link(self, place: Place) -> str:
        """Where the link leads that is there; empty where there is none."""
        if target := place.link():
            owner = os.stat(place.name, dir_fd=place.directory, follow_symlinks=False).st_uid
            # An image may belong to the user who has built it; another of its users may lead us to others' files.
            if owner not in (0, os.geteuid(), os.fstat(self.fd).st_uid):
                raise Failure(
                    f"{place.path}: this is a link that user {owner} made, and it is not followed; name the file itself"
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
                place = Place(directory, part, self.shown(here), here)
                target = self._link(place) if self.has_links and (follow or not last) else ""
                if target:
                    links += 1
                    if links > LINKS:
                        raise Failure(f"{self.shown(path)}: too many links")
                    todo[:0] = target.split("/")
                    while target.startswith("/") and len(stack) > 1:
                        os.close(stack.pop()[0])
                elif last:
                    place.directory = os.dup(directory)
                    return place
                else:
                    stack.append((self._enter(part, directory, here, make), here))
            raise Failure(f"{self.shown(path)} is a directory, not a file")
        except FileNotFoundError:
            out = f"; a link on the way leads out of {self.root}, or nowhere" if links and not self.live else ""
            raise FileNotFoundError(errno.ENOENT, f"there is no such file{out}", self.shown(path)) from None
        except NotADirectoryError:
            raise Failure(f"{self.shown(path)}: a part of the path is not a directory") from None
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

    def names(self, path: str, most: int = NAMES) -> list[str]:
        """What is in a directory; nothing where there is none."""
        try:
            with self.place(f"{path}/.drng-enable") as place, place._opened() as fd, os.scandir(fd) as entries:
                found = sorted(entry.name for entry in itertools.islice(entries, most + 1))
        except (FileNotFoundError, Failure):
            return []
        if len(found) > most:
            raise Unchanged(f"{self.shown(path)} has more than {most} names, which no folder of a system's has")
        return found

    def remove_directory(self, path: str) -> None:
        """Where it is empty, and no link."""
        with contextlib.suppress(OSError, Failure), self.place(path, follow=False) as place:
            os.rmdir(place.name, dir_fd=place.directory)

    def unmake(self) -> None:
        """Takes away the directories that were made for a change that has not come about."""
        while self.made:
            self.remove_directory(self.made.pop())


@contextlib.contextmanager
def place(path: str) -> Iterator[Place]:
    """Of a file that a user names: a link that somebody puts on the way would lead to a folder of theirs."""
    if not path.startswith("/") or not path.strip("/") or "\0" in path:
        raise FileError(f"{path!r} cannot be used: give a path that begins with /")
    tree = Tree("/", has_links=False)
    try:
        with closing(tree.fd):
            found = tree.place(path, follow=False)
    except OSError as error:
        raise FileError(f"{os.path.dirname(path)} cannot be opened: {error.strerror}") from None
    except Failure:
        why = "it is no folder, or is a link or below one; name the folder itself"
        raise FileError(f"{os.path.dirname(path)} cannot be opened: {why}") from None
    with found:
        found.require_replaceable()
        yield found
