# SPDX-License-Identifier: Apache-2.0
"""When files came to be what is there."""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
from collections.abc import Iterable, Iterator

MOST_LINKS = 40

# linux/stat.h: of struct statx the mask, and the time of birth.
BTIME, MASK, BORN = 0x800, struct.Struct("=I"), struct.Struct("=80xqI")
NO_FOLLOW, HERE = 0x100, -100


def _born(path: str) -> float:
    """A file that was put in another's place was made shortly before, whatever its own times say. 0: not known."""
    buffer = ctypes.create_string_buffer(256)
    if ctypes.CDLL(None).statx(HERE, os.fsencode(path), NO_FOLLOW, BTIME, buffer) != 0:
        return 0.0
    seconds, nanoseconds = BORN.unpack_from(buffer)
    return float(seconds + nanoseconds / 1e9) if MASK.unpack_from(buffer)[0] & BTIME else 0.0


def _changed(path: str) -> float:
    last = 0.0
    for _ in range(MOST_LINKS):
        found = os.lstat(path)
        last = max(last, found.st_mtime, _born(path))
        if not stat.S_ISLNK(found.st_mode):
            break
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return last


def changed(paths: Iterable[str]) -> Iterator[float]:
    """When each, or a link to it, was written or made, as far as it is there. A new owner or mode is no change, and
    another file in its folder is none."""
    for path in filter(None, paths):
        with contextlib.suppress(OSError, ValueError):
            yield _changed(path)
