# SPDX-License-Identifier: Apache-2.0
"""Files that are read once, along their folders: what was opened is what is judged.

Each folder is opened from the one above it, and links are gone along by hand. Root opens nothing that others can
change: a path whose every folder and link root alone can change leads to the same file when it is named again.
"""

import contextlib
import errno
import os
import re
import shlex
import stat
from collections.abc import Iterator

from .procfs import O_FOLDER, closing, owner_name
from .terminal import Failure

# No openssl.cnf and no unit is as long; a file that is would only fill memory.
LIMIT = 4 << 20
MOST_LINKS = 40  # Linux' own
NOGROUP = 65534

O_PATH = os.O_PATH | os.O_CLOEXEC
O_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class FileError(Failure):
    """It cannot be read or written, and why."""


class OthersError(FileError):
    """Root leaves it alone, since others can change it; and the command that tells more. In what is said, only the
    command is behind a name that others have chosen, and quoted."""

    def __init__(self, path: str, why: str, command: str) -> None:
        self.said, self.command = f"{shlex.quote(path)}: root does not open what others can change: {why}", command
        super().__init__(f"{self.said}; type: {command}")


def by_the_linker(path: str) -> list[str]:
    """Where the dynamic linker may find it: glibc puts a folder's name in the place of $LIB."""
    folders = ("lib", "lib64", f"lib/{os.uname().machine}-linux-gnu") if "$" in path else ("",)
    return [re.sub(r"[$][{]?LIB\b[}]?", folder, path) for folder in folders]


def as_user(owner: str, *words: str) -> str:
    """What root may type of a user's file, where the user may have chosen each word. On a terminal of its own, or in a
    session that has none, nobody types into root's (TIOCSTI). runuser(1) takes no user that has no name."""
    if owner.isdigit():
        start = f"setsid --wait setpriv --reuid {owner} --regid {NOGROUP} --clear-groups"
    else:
        start = f"runuser --pty -u {shlex.quote(owner)} --"
    return f"{start} {shlex.join(words)}"


def _require_roots(path: str, where: str, found: os.stat_result, named_by: str = "") -> None:
    kind = stat.S_IFMT(found.st_mode)
    # What is no file is refused as that.
    if os.geteuid() != 0 or kind not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
        return
    shown = shlex.quote(where)
    if found.st_uid != 0:
        owner = owner_name(found.st_uid)
        raise OthersError(path, f"{shown} belongs to {owner}", as_user(owner, "drng-conf", named_by or path))
    # In a directory like /tmp others make files, and leave those of their neighbours alone.
    is_shared = kind == stat.S_IFDIR and found.st_mode & stat.S_ISVTX
    if kind != stat.S_IFLNK and not is_shared and found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise OthersError(path, f"others may write to {shown}", f"chmod go-w {shown}")


@contextlib.contextmanager
def walked(path: str, named_by: str = "", *, is_code: bool = False) -> Iterator[tuple[int, str, os.stat_result]]:
    """The folder, held open, in which what the path leads to is, with its name there, and what it is. An openssl.cnf
    may have named it."""
    if "\0" in path:
        raise FileError(f"{path} is no name of a file")
    held = [os.open("/" if path.startswith("/") else ".", O_PATH)]
    parts, links, where = path.split("/")[::-1], 0, "" if path.startswith("/") else os.getcwd()
    try:
        while parts:
            _require_roots(path, where or "/", os.fstat(held[-1]), named_by)
            name = parts.pop() or "."
            try:
                found = os.stat(name, dir_fd=held[-1], follow_symlinks=False)
            except FileNotFoundError:
                # It may come later, where others make files.
                if is_code and os.geteuid() == 0 and os.fstat(held[-1]).st_mode & stat.S_ISVTX:
                    why = f"others may make files in {shlex.quote(where or '/')}"
                    raise OthersError(path, why, as_user("nobody", "drng-conf", named_by)) from None
                raise
            _require_roots(path, f"{where}/{name}", found, named_by)
            if stat.S_ISLNK(found.st_mode):
                links += 1
                if links > MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                target = os.readlink(name, dir_fd=held[-1])
                parts += target.split("/")[::-1]
                if target.startswith("/"):
                    held.append(os.open("/", O_PATH))
                    where = ""
            elif parts:
                held.append(os.open(name, O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY, dir_fd=held[-1]))
                where = os.path.normpath(f"{where}/{name}").rstrip("/")
            else:
                yield held[-1], name, found
    finally:
        for folder in held:
            os.close(folder)


@contextlib.contextmanager
def opened_file(path: str, folder: int, name: str, found: os.stat_result) -> Iterator[int]:
    """What is known to be a file, and still is one when it has been opened: to open a device may do something."""
    no_file = FileError(f"{path} is no regular file")
    if not stat.S_ISREG(found.st_mode):
        raise no_file
    with closing(os.open(name, O_FILE, dir_fd=folder)) as fd:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise no_file
        yield fd


def all_of(path: str, fd: int) -> bytes:
    """What the kernel makes up in /proc has no length, and is not read: it may be a user's text, never answer
    (/proc/PID/cmdline), or be gone for others once it is read (/proc/kmsg)."""
    with os.fdopen(os.dup(fd), "rb") as file:
        data = file.read(min(os.fstat(fd).st_size, LIMIT + 1))
    if len(data) > LIMIT:
        raise FileError(f"{path} is longer than {LIMIT} bytes")
    return data


def read_once(path: str, named_by: str = "") -> bytes:
    """The whole of a regular file; an OSError where it is not there or may not be read."""
    with walked(path, named_by) as (folder, name, found), opened_file(path, folder, name, found) as fd:
        _require_roots(path, path, os.fstat(fd), named_by)
        return all_of(path, fd)


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
        with walked(path, named_by, is_code=True):
            return ""
    except OthersError as error:
        return str(error)
    except OSError:
        return ""
