# SPDX-License-Identifier: Apache-2.0
"""The memory of another process: its mappings and its bytes. All of it is that process's to forge."""

from __future__ import annotations

import ctypes
import errno
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from ..procfs import UnreadableError
from ..text import printable

# A name is as long as somebody likes, since directories nest without end: a line keeps its head and its tail.
LINE, HEAD, TAIL = 1 << 16, 256, 1024

# More copies of the module than anybody has.
MOST_MODULES = 32

ADDRESS = re.compile(rb"[0-9a-f]{1,16}")


class OlderError(UnreadableError):
    """It is what an older drng has left there."""


class _Vector(ctypes.Structure):
    """struct iovec."""

    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Memory:
    """
    Of a process or a thread, by process_vm_readv(2). A read of /proc/PID/mem waits for the file that is mapped there
    with the lock of the process's mappings held, and no signal ends it: a user whose file nobody serves would hold up
    this process, and every ps, for ever. process_vm_readv() gives the lock back while it waits for the file. It waits
    for the lock itself where no signal ends it, and who is looked at can keep that: see aside.UNENDED.
    """

    LIBC = ctypes.CDLL(None, use_errno=True)

    def __init__(self, pid: int, entry: int, where: str = ".") -> None:
        """`entry` is a descriptor of /proc/PID: it stands for this process, and for none that gets its number later.
        `where` in it is the process or the thread that has the number."""
        self.pid, self.entry, self.where = pid, entry, where

    def some(self, address: int, length: int) -> bytes:
        """One byte at least, or an OSError."""
        buffer = ctypes.create_string_buffer(length)
        here, there = _Vector(ctypes.addressof(buffer), length), _Vector(address, length)
        one, none = ctypes.c_ulong(1), ctypes.c_ulong(0)
        self.LIBC.process_vm_readv.restype = ctypes.c_ssize_t
        done = self.LIBC.process_vm_readv(self.pid, ctypes.byref(here), one, ctypes.byref(there), one, none)
        if done < 0:
            raise OSError(number := ctypes.get_errno(), os.strerror(number))
        # As long as it is there, its number is nobody else's.
        os.stat(f"{self.where}/stat", dir_fd=self.entry)
        return buffer.raw[:done]

    def read(self, address: int, length: int) -> bytes:
        """All of it, or an UnreadableError."""
        if not 0 <= address < (1 << 63) - length:
            raise UnreadableError("it gives an address that does not exist")
        raw = b""
        while len(raw) < length:
            try:
                part = self.some(address + len(raw), length - len(raw))
            except (PermissionError, FileNotFoundError, ProcessLookupError):
                raise
            except OSError as error:
                missing = ", which this kernel does not have (process_vm_readv)" if error.errno == errno.ENOSYS else ""
                raise UnreadableError(f"its memory cannot be read: {error.strerror}{missing}") from None
            if not part:
                raise UnreadableError("its memory cannot be read: it has ended, or has started another program")
            raw += part
        return raw


class OwnMemory(Memory):
    """Of the process that this is, in which no stranger has mapped a file. QEMU's user mode knows no other way."""

    def some(self, address: int, length: int) -> bytes:
        with os.fdopen(os.open("mem", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.entry), "rb", buffering=0) as file:
            return os.pread(file.fileno(), length, address)


# ---- Mappings ----


# A library of the system, in whatever architecture's folder.
SYSTEMS = re.compile(
    rb"/(usr/)?lib\w*/([a-z0-9_]+-linux-\w+/)?(glibc-hwcaps/[\w.-]+/)?libcrypto\.so\.\d+( \(deleted\))?"
)


@dataclass
class Mappings:
    """What /proc/PID/maps says of drng and libcrypto."""

    modules: list[int] = field(default_factory=list)  # where a drng*.so* begins, in the order of addresses
    libcrypto: bytes = b""  # its path, the system's where there are several
    replaced: bool = False  # a module that it executes is no longer the file of that name

    def add_libcrypto(self, path: bytes) -> None:
        if path != self.libcrypto and (not self.libcrypto or SYSTEMS.fullmatch(path)):
            self.libcrypto = path

    @property
    def own_libcrypto(self) -> str:
        """The path of one that is not the system's."""
        return "" if SYSTEMS.fullmatch(self.libcrypto) else printable(self.libcrypto)


def lines(stream: BinaryIO) -> Iterator[bytes]:
    """Each with its end, and never more of it than fits in LINE."""
    while line := stream.readline(LINE):
        while not line.endswith(b"\n") and (more := stream.readline(LINE)):
            line = line[:HEAD] + (line[HEAD:] + more)[-TAIL:]
        yield line


def file_name(path: bytes) -> bytes:
    """The last component; a file that has been replaced since it was mapped has " (deleted)" behind it."""
    return path.rpartition(b"/")[2].removesuffix(b" (deleted)")


def read_mappings(stream: BinaryIO) -> Mappings:
    """In bounded memory, whatever is mapped. A module is drng.so, or what an openssl.cnf names by "module =":
    drng-0.1.0.so, drng.so.1."""
    found = Mappings()
    begins: list[tuple[int, bytes]] = []
    executable: set[bytes] = set()
    for line in lines(stream):
        # Most lines are of other files.
        if b"drng" not in line and b"libcrypto" not in line:
            continue
        fields = line.rstrip(b"\n").split(None, 5)
        if len(fields) < 6:
            continue
        addresses, rights, offset, device, inode, path = fields
        name = file_name(path)
        if not path.startswith(b"/") or b".so" not in name:
            continue
        if name.startswith(b"libcrypto"):
            found.add_libcrypto(path)
        if not name.startswith(b"drng"):
            continue
        start, file = addresses.partition(b"-")[0], device + b" " + inode
        # A program that reads the file through a mapping has not loaded it.
        if b"x" in rights and len(executable) < MOST_MODULES:
            executable.add(file)
            found.replaced = found.replaced or path.endswith(b" (deleted)")
        if offset.strip(b"0") == b"" and len(begins) < MOST_MODULES and ADDRESS.fullmatch(start):
            begins.append((int(start, 16), file))
    found.modules = [start for start, file in begins if file in executable]
    return found
