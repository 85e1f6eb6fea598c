"""Which libcrypto a program would load, read from its file: nothing of it is run."""

from __future__ import annotations

import os
import stat
import struct

from ..procfs import UnreadableError
from . import elf

# The openssl command has a megabyte.
MOST_PROGRAM = 64 << 20


def is_trusted(path: str) -> bool:
    """Whether only root and this user may change it, or put another in its place."""
    path = os.path.realpath(path)
    while True:
        try:
            status = os.stat(path)
        except OSError:
            return False
        # In a directory like /tmp others make files, and leave those of their neighbours alone.
        is_shared = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
        if status.st_uid not in (0, os.geteuid()) or (status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not is_shared):
            return False
        if path == "/":
            return True
        path = os.path.dirname(path)


def libcrypto_of(program: str) -> str | None:
    """A name for dlopen(), or None where it has none of its own kind: a script, or linked statically."""
    path = os.path.realpath(program)
    try:
        with open(path, "rb") as file:
            needs = elf.needs(file.read(MOST_PROGRAM))
    except (OSError, ValueError, struct.error, UnreadableError):
        return None
    name = next((name for name in needs.libraries if name.startswith("libcrypto.so") and "/" not in name), None)
    if name is None:
        return None
    for folder in needs.folders:
        there = os.path.join(folder.replace("$ORIGIN", os.path.dirname(path)), name)
        if os.path.isabs(there) and is_trusted(there):
            return there
    return name
