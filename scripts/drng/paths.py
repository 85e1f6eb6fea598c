# SPDX-License-Identifier: Apache-2.0
"""Files that are read once, along their folders: what was opened is what is judged.

Each folder is opened from the one above it, and links are gone along by hand. Root opens nothing that others can
change: a path whose every folder and link root alone can change leads to the same file when it is named again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pwd
import shlex
import stat
from collections.abc import Iterator

from .procfs import O_FOLDER, closing
from .terminal import Failure

# No openssl.cnf and no unit is as long; a file that is would only fill memory.
LIMIT = 4 << 20
MOST_LINKS = 40  # Linux' own
NOGROUP = 65534

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


class OthersError(FileError):
    """Root leaves it alone, since others can change it: whose it is, and the command that tells more. In what is said,
    only the command is behind a name that others have chosen, and quoted."""

    def __init__(self, path: str, why: str, owner: str, command: str) -> None:
        self.said = f"{shlex.quote(path)}: root does not open what others can change: {why}"
        self.path, self.owner, self.command = path, owner, command
        super().__init__(f"{self.said}; type: {command}")


class MissingError(FileNotFoundError):
    """With the mode of the folder in which it is not."""

    def __init__(self, name: str, mode: int) -> None:
        super().__init__(errno.ENOENT, os.strerror(errno.ENOENT), name)
        self.mode = mode


def as_user(owner: str, *words: str) -> str:
    """What root may type of a user's file, where the user may have chosen each word. On a terminal of its own, or in a
    session that has none, nobody types into root's (TIOCSTI). runuser(1) takes no user that has no name."""
    if owner.isdigit():
        start = f"setsid --wait setpriv --reuid {owner} --regid {NOGROUP} --clear-groups"
    else:
        start = f"runuser --pty -u {shlex.quote(owner)} --"
    return f"{start} {shlex.join(words)}"


def require_file(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise FileError(f"{path} is {KINDS.get(stat.S_IFMT(found.st_mode), 'no file')}, not a file")


def _require_roots(path: str, where: str, found: os.stat_result, named_by: str = "") -> None:
    # What is no file is refused as that.
    if os.geteuid() != 0 or not (
        stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode) or stat.S_ISLNK(found.st_mode)
    ):
        return
    if found.st_uid != 0:
        try:
            owner = pwd.getpwuid(found.st_uid).pw_name
        except KeyError:
            owner = str(found.st_uid)
        why, command = f"{shlex.quote(where)} belongs to {owner}", as_user(owner, "drng-conf", named_by or path)
    # In a directory like /tmp others make files, and leave those of their neighbours alone.
    elif stat.S_ISLNK(found.st_mode) or (stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX):
        return
    elif found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        why, command = f"others may write to {shlex.quote(where)}", f"chmod go-w {shlex.quote(where)}"
        owner = ""
    else:
        return
    raise OthersError(path, why, owner, command)


@contextlib.contextmanager
def walked(path: str, named_by: str = "") -> Iterator[tuple[int, str, os.stat_result]]:
    """The folder, held open, in which what the path leads to is, with its name there, and what it is. An openssl.cnf
    may have named it."""
    if "\0" in path:
        raise FileError(f"{path} is no name of a file")
    held = [os.open("/" if path.startswith("/") else ".", os.O_PATH | os.O_CLOEXEC)]
    parts, links, where = path.split("/")[::-1], 0, "" if path.startswith("/") else os.getcwd()
    try:
        while parts:
            _require_roots(path, where or "/", os.fstat(held[-1]), named_by)
            name = parts.pop() or "."
            try:
                found = os.stat(name, dir_fd=held[-1], follow_symlinks=False)
            except FileNotFoundError:
                raise MissingError(name, os.fstat(held[-1]).st_mode) from None
            _require_roots(path, f"{where}/{name}", found, named_by)
            if stat.S_ISLNK(found.st_mode):
                links += 1
                if links > MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                target = os.readlink(name, dir_fd=held[-1])
                parts += target.split("/")[::-1]
                if target.startswith("/"):
                    held.append(os.open("/", os.O_PATH | os.O_CLOEXEC))
                    where = ""
            elif parts:
                held.append(os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=held[-1]))
                where = os.path.normpath(f"{where}/{name}").rstrip("/")
            else:
                yield held[-1], name, found
    finally:
        for folder in held:
            os.close(folder)


def most_of(found: os.stat_result) -> int:
    """How much of a file is read. What the kernel makes up in /proc has no length: it may be a user's text, never
    answer (/proc/PID/cmdline), or be gone for others once it is read (/proc/kmsg)."""
    return min(found.st_size, LIMIT + 1)


def read_once(path: str, named_by: str = "") -> bytes:
    """The whole of a regular file; an OSError where it is not there or may not be read."""
    with walked(path, named_by) as (folder, name, found):
        require_file(path, found)
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, dir_fd=folder), "rb") as file:
            opened = os.fstat(file.fileno())
            require_file(path, opened)
            _require_roots(path, path, opened)
            data = file.read(most_of(opened))
    if len(data) > LIMIT:
        raise FileError(f"{path} is longer than {LIMIT} bytes")
    return data


def names_in(path: str, named_by: str = "") -> list[str]:
    """Of a folder, in the order in which the file system has them, as libcrypto reads them."""
    with (
        walked(path, named_by) as (above, name, _),
        closing(os.open(name, O_FOLDER | os.O_NOFOLLOW, dir_fd=above)) as fd,
    ):
        return os.listdir(fd)


def who_else(path: str, named_by: str) -> str:
    """Why root does not load what this path leads to; "" where root alone can change that, or put it there."""
    try:
        with walked(path, named_by):
            return ""
    except OthersError as error:
        return str(error)
    except MissingError as error:
        may_make = os.geteuid() == 0 and error.mode & (stat.S_IWGRP | stat.S_IWOTH)
        return f"{path}: not loaded, since others may put it there" if may_make else ""
    except OSError:
        return ""
