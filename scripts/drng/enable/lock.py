"""One drng-enable at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator

from ..terminal import Failure, say

# Nobody but root can put a file there, or open this one: a lock that any user can take is one that any user can keep.
LOCK = "/run/drng-enable.lock"
SECONDS = 30


def _open() -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(LOCK, flags, 0o600)
    except (PermissionError, FileNotFoundError):
        # Somebody who is not root works on files of their own.
        return os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) if os.geteuid() else _nowhere()


def _nowhere() -> int:
    raise Failure(f"{LOCK} cannot be created, so another drng-enable could be at work; nothing has been changed")


def _take(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Waits for another one, but not for ever."""
    end = time.monotonic() + SECONDS
    fd = _open()
    waited = False
    # One that had the lock before us has unlinked the file: the lock is then on one that nobody else finds.
    while not _take(fd) or (os.fstat(fd).st_nlink == 0):
        if not waited:
            say("waiting for another drng-enable to end")
            waited = True
        if time.monotonic() > end:
            os.close(fd)
            raise Failure(
                f"another drng-enable has been at work for {SECONDS} seconds; nothing has been changed; try again later"
            )
        time.sleep(0.05)
        os.close(fd)
        fd = _open()
    try:
        yield
    finally:
        if os.geteuid() == 0:
            with contextlib.suppress(OSError):
                os.unlink(LOCK)
        os.close(fd)
