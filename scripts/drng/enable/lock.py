# SPDX-License-Identifier: Apache-2.0
"""One drng-enable at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator

from ..terminal import Unchanged, complain

# Nobody but root can put a file there, or open this one: a lock that any user can take is one that any user can keep.
LOCK = "/run/drng-enable.lock"
SECONDS = 30


def _take() -> int:
    """The file with the lock on it, or -1. One that had the lock before us has unlinked the file: the lock is then on
    one that nobody else finds."""
    try:
        fd = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unchanged(f"{LOCK} cannot be made: {error.strerror}; run drng-enable as root") from None
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(fd).st_nlink:
            return fd
    os.close(fd)
    return -1


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Waits for another one, but not for ever."""
    end = time.monotonic() + SECONDS
    if (fd := _take()) < 0:
        complain("waiting for another drng-enable to end")
    while fd < 0:
        if time.monotonic() > end:
            raise Unchanged(f"another drng-enable has been at work for {SECONDS} seconds; try again later")
        time.sleep(0.05)
        fd = _take()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(LOCK)
        os.close(fd)
