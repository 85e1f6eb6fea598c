# SPDX-License-Identifier: Apache-2.0
"""The memory of another process: its bytes, what is mapped there, and what a module may write of it.

All of it is that process's to forge: what is not there cannot be read, and a child that takes too much memory or time
for it ends. No file is opened.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..procfs import UnreadableError

HEADER, SEGMENT = struct.Struct("=16sHHIQQQIHHH"), struct.Struct("=IIQQQQQQ")
IDENTITY = b"\x7fELF" + bytes((2, 1 if sys.byteorder == "little" else 2))
LOADED, WRITABLE = 1, 2  # PT_LOAD, PF_W


READ = ctypes.CDLL(None, use_errno=True).process_vm_readv
READ.restype = ctypes.c_ssize_t


class _Vector(ctypes.Structure):
    """struct iovec."""

    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


@dataclass(frozen=True)
class Memory:
    """
    By process_vm_readv(2). A read of /proc/PID/mem waits for the file that is mapped there with the lock of the
    process's mappings held, and no signal ends it: a user whose file nobody serves would hold up this process, and
    every ps, for ever. process_vm_readv() gives the lock back while it waits for the file. It waits for the lock itself
    where no signal ends it, so that the environment, for which one does, is to be read before.
    """

    pid: int
    entry: int  # the descriptor of /proc/PID

    def some(self, address: int, length: int) -> bytes:
        """As much of it as is there, or an OSError."""
        buffer = ctypes.create_string_buffer(length)
        here, there = _Vector(ctypes.addressof(buffer), length), _Vector(address, length)
        one, none = ctypes.c_ulong(1), ctypes.c_ulong(0)
        done = READ(self.pid, ctypes.byref(here), one, ctypes.byref(there), one, none)
        if done < 0:
            raise OSError(number := ctypes.get_errno(), os.strerror(number))
        # As long as it is there, its number is nobody else's.
        os.stat("stat", dir_fd=self.entry)
        return buffer.raw[:done]

    def read(self, address: int, length: int) -> bytes:
        """All of it, or an UnreadableError."""
        if not 0 <= address < (1 << 63) - length:
            raise UnreadableError("it gives an address that does not exist")
        try:
            raw = self.some(address, length)
        except (PermissionError, FileNotFoundError, ProcessLookupError):
            raise
        except OSError as error:
            raise UnreadableError(f"its memory cannot be read: {error.strerror}") from None
        if len(raw) < length:
            raise UnreadableError("its memory cannot be read: it is not there any more")
        return raw


# ---- Mappings ----


@dataclass
class Mapped:
    """A file that is mapped."""

    path: bytes
    file: bytes  # its device and inode
    base: int = -1  # where its first byte lies; -1: nowhere
    end: int = 0
    is_executable: bool = False
    constant: list[tuple[int, int]] = field(default_factory=list)  # with the code where older linkers put that beside

    @property
    def name(self) -> bytes:
        """The last component; a file that has been replaced since it was mapped has " (deleted)" behind it."""
        return self.path.rpartition(b"/")[2].removesuffix(b" (deleted)")


def mapped_files(lines: Iterable[bytes]) -> list[Mapped]:
    """Those of which something is executable, in the order of addresses. A program that reads a file through a mapping
    has not loaded it."""
    found: dict[tuple[bytes, bytes], Mapped] = {}
    for line in lines:
        addresses, rights, offset, device, inode, *path = line.rstrip(b"\n").split(None, 5)
        if not path or not path[0].startswith(b"/"):
            continue
        file = device + b" " + inode
        each = found.setdefault((file, path[0]), Mapped(path[0], file))
        start, each.end = (int(address, 16) for address in addresses.split(b"-"))
        if offset.strip(b"0") == b"" and each.base < 0:
            each.base = start
        each.is_executable = each.is_executable or b"x" in rights
        if b"r" in rights and b"w" not in rights and (b"x" not in rights or start == each.base):
            each.constant.append((start, each.end))
    return [each for each in found.values() if each.is_executable and each.base >= 0]


def data_of(memory: Memory, base: int) -> list[tuple[int, int, int]]:
    """Of the module that begins there, what it may write: the address, how much of it comes from the file, and the
    length with the zeros behind that (.bss)."""
    identity, *_, offset, _, _, _, size, count = HEADER.unpack(memory.read(base, HEADER.size))
    if identity[:6] != IDENTITY or size != SEGMENT.size or count == 0:
        raise UnreadableError("what it has loaded is no shared object for this machine")
    segments = [each for each in SEGMENT.iter_unpack(memory.read(base + offset, count * size)) if each[0] == LOADED]
    if not segments:
        raise UnreadableError("a module of its has no segments")
    # The first segment begins at offset 0 of the file, so it is the one that lies at the base.
    bias = base - (segments[0][3] & ~0xFFF)
    found = [(bias + at, in_file, length) for _, flags, _, at, _, in_file, length, _ in segments if flags & WRITABLE]
    if any(in_file > length for _, in_file, length in found):
        raise UnreadableError("a module of its has a size that makes no sense")
    return found
