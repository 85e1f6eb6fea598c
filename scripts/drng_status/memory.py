"""The memory of another process: its mappings and its bytes. All of it is that process's to forge."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

# A name is as long as somebody likes, since directories nest without end: a line keeps its head and its tail.
LINE, HEAD, TAIL = 1 << 16, 256, 1024

# More copies of the module than anybody has.
MOST_MODULES = 32

# drng 0.1.0 had its counters in memory of this name.
OLDER = (b"/memfd:drng-counters", b"[anon:drng-counters]")


ADDRESS = re.compile(rb"[0-9a-f]{1,16}")


class UnreadableError(Exception):
    """There is nothing to read there, or nothing that makes sense."""


class OlderError(UnreadableError):
    """It is what an older drng has left there."""


class Memory:
    """/proc/PID/mem, opened."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def read(self, address: int, length: int) -> bytes:
        """All of it, or an UnreadableError."""
        if not 0 <= address < (1 << 63) - length:
            raise UnreadableError("it gives an address that does not exist")
        raw = b""
        while len(raw) < length:
            try:
                part = os.pread(self.descriptor, length - len(raw), address + len(raw))
            except PermissionError:
                raise
            except OSError as error:
                raise UnreadableError(f"its memory cannot be read: {error.strerror}") from None
            if not part:
                raise UnreadableError("its memory cannot be read: it has ended, or has started another program")
            raw += part
        return raw


# ---- Mappings ----


@dataclass
class Mappings:
    """What /proc/PID/maps says of drng and libcrypto."""

    modules: list[int] = field(default_factory=list)  # where a drng*.so* begins, in the order of addresses
    libcrypto: bool = False
    older: bool = False  # the counters of drng 0.1.0 are there
    replaced: bool = False  # a module that it executes is no longer the file of that name
    any: bool = False


def lines(stream: BinaryIO) -> Iterator[bytes]:
    """Each with its end, and never more of it than fits in LINE."""
    while line := stream.readline(LINE):
        while not line.endswith(b"\n") and (more := stream.readline(LINE)):
            line = line[:HEAD] + (line[HEAD:] + more)[-TAIL:]
        yield line


def file_name(path: bytes) -> bytes:
    """The last component; a file that has been replaced since it was mapped has " (deleted)" behind it."""
    return path.rpartition(b"/")[2].removesuffix(b" (deleted)")


def is_libcrypto(name: bytes) -> bool:
    return name.startswith(b"libcrypto") and b".so" in name


def is_module(name: bytes) -> bool:
    """drng.so, or what an openssl.cnf names by "module =": drng-0.1.0.so, drng.so.1."""
    return name.startswith(b"drng") and b".so" in name


def read_mappings(stream: BinaryIO) -> Mappings:
    """In bounded memory, whatever is mapped."""
    found = Mappings()
    begins: list[tuple[int, bytes]] = []
    executable: set[bytes] = set()
    for line in lines(stream):
        found.any = True
        fields = line.rstrip(b"\n").split(None, 5)
        if len(fields) < 6:
            continue
        addresses, rights, offset, device, inode, path = fields
        start = addresses.partition(b"-")[0]
        name = file_name(path)
        found.older = found.older or path.startswith(OLDER)
        found.libcrypto = found.libcrypto or (path.startswith(b"/") and is_libcrypto(name))
        if not is_module(name) or not path.startswith(b"/"):
            continue
        file = device + b" " + inode
        # A program that reads the file through a mapping has not loaded it.
        if b"x" in rights and len(executable) < MOST_MODULES:
            executable.add(file)
            found.replaced = found.replaced or path.endswith(b" (deleted)")
        if offset.strip(b"0") == b"" and len(begins) < MOST_MODULES and ADDRESS.fullmatch(start):
            begins.append((int(start, 16), file))
    found.modules = [start for start, file in begins if file in executable]
    return found
