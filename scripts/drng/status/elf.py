"""Where a shared object that a process has loaded has a symbol of a given name, from that process's memory alone.

No file is opened, so it makes no difference whether the file has been replaced, or lies in another mount namespace or
in a chroot. Every number read is checked before it is used: each step reads a bounded piece, and there is a bounded
number of steps.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from ..procfs import UnreadableError
from .memory import Memory

ELF_HEADER = struct.Struct("=16sHHIQQQIHHHHHH")
PROGRAM_HEADER = struct.Struct("=IIQQQQQQ")
DYNAMIC = struct.Struct("=qQ")
SYMBOL = struct.Struct("=IBBHQQ")
WORD = struct.Struct("=I")

CLASS_64, DATA = 2, 1 if sys.byteorder == "little" else 2
ET_DYN, PT_LOAD, PT_DYNAMIC = 3, 1, 2
DT_NULL, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_GNU_HASH = 0, 4, 5, 6, 0x6FFFFEF5
STT_OBJECT = 1

# Far more than a module of drng's has.
MOST_HEADERS, MOST_DYNAMIC, MOST_SYMBOLS, MOST_SPAN = 64, 512, 4096, 1 << 32


@dataclass(frozen=True)
class Symbol:
    """Where it is, and how long; and the addresses that its module takes up."""

    address: int
    size: int
    module: range


class Image:
    """A loaded module. What is wrong with it is an UnreadableError."""

    def __init__(self, memory: Memory, base: int) -> None:
        self.memory = memory
        self.base = base
        self.dynamic: dict[int, int] = {}
        headers = list(self._program_headers())
        loads = [(address, size) for kind, address, size in headers if kind == PT_LOAD]
        if not loads:
            raise UnreadableError("its drng.so has no segments")
        # The first segment begins at offset 0 of the file, so it is the one that lies at the base.
        self.bias = base - (loads[0][0] & ~0xFFF)
        end = max(self.bias + address + size for address, size in loads)
        if not base < end <= base + MOST_SPAN:
            raise UnreadableError("its drng.so has a size that makes no sense")
        self.range = range(base, end)
        for kind, address, size in headers:
            if kind == PT_DYNAMIC:
                self._read_dynamic(self.bias + address, size)

    def _read(self, address: int, length: int) -> bytes:
        if address not in self.range or address + length > self.range.stop:
            raise UnreadableError("its drng.so has an address outside of itself")
        return self.memory.read(address, length)

    def _program_headers(self) -> Iterator[tuple[int, int, int]]:
        """Kind, address and size in memory."""
        header = ELF_HEADER.unpack(self.memory.read(self.base, ELF_HEADER.size))
        identity, kind, _, _, _, offset, _, _, _, size, count, *_ = header
        if identity[:4] != b"\x7fELF" or identity[4:6] != bytes((CLASS_64, DATA)) or kind != ET_DYN:
            raise UnreadableError("its drng.so is not a shared object for this machine")
        if size != PROGRAM_HEADER.size or not 0 < count <= MOST_HEADERS or offset > MOST_SPAN:
            raise UnreadableError("its drng.so has program headers that make no sense")
        raw = self.memory.read(self.base + offset, count * size)
        for kind, _, _, address, _, _, length, _ in PROGRAM_HEADER.iter_unpack(raw):
            yield kind, address, length

    def _read_dynamic(self, address: int, size: int) -> None:
        raw = self._read(address, min(size, MOST_DYNAMIC * DYNAMIC.size) // DYNAMIC.size * DYNAMIC.size)
        for tag, value in DYNAMIC.iter_unpack(raw):
            if tag == DT_NULL:
                return
            self.dynamic.setdefault(tag, value)

    def _pointer(self, tag: int) -> int | None:
        """glibc's loader puts addresses in place of the file's; musl's, and some architectures', leaves them alone."""
        value = self.dynamic.get(tag)
        if value is None:
            return None
        return value if value >= self.base else self.bias + value

    def _words(self, address: int, count: int) -> tuple[int, ...]:
        return struct.unpack(f"={count}I", self._read(address, count * WORD.size))

    def _of_gnu_hash(self, table: int, name: bytes) -> Iterator[int]:
        """The symbols that may have this name, by their indices."""
        buckets, first, bloom, _ = self._words(table, 4)
        value = 5381
        for byte in name:
            value = (value * 33 + byte) & 0xFFFFFFFF
        if buckets == 0:
            return
        bucket = table + 16 + bloom * 8
        (index,) = self._words(bucket + value % buckets * 4, 1)
        for _ in range(MOST_SYMBOLS):
            if index < first:
                return
            (entry,) = self._words(bucket + (buckets + index - first) * 4, 1)
            if entry | 1 == value | 1:
                yield index
            if entry & 1:
                return
            index += 1

    def _of_hash(self, table: int, name: bytes) -> Iterator[int]:
        buckets, _ = self._words(table, 2)
        value = 0
        for byte in name:
            value = (value << 4) + byte
            value = (value ^ (value >> 24 & 0xF0)) & 0x0FFFFFFF
        if buckets == 0:
            return
        (index,) = self._words(table + 8 + value % buckets * 4, 1)
        for _ in range(MOST_SYMBOLS):
            if index == 0:
                return
            yield index
            (index,) = self._words(table + 8 + (buckets + index) * 4, 1)

    def _candidates(self, name: bytes) -> Iterator[int]:
        table = self._pointer(DT_GNU_HASH)
        if table is not None:
            yield from self._of_gnu_hash(table, name)
            return
        table = self._pointer(DT_HASH)
        if table is not None:
            yield from self._of_hash(table, name)

    def find(self, name: str) -> Symbol | None:
        """The data symbol of this name, or None where the module exports none."""
        symbols, strings = self._pointer(DT_SYMTAB), self._pointer(DT_STRTAB)
        if symbols is None or strings is None:
            raise UnreadableError("its drng.so has no table of symbols")
        wanted = name.encode() + b"\0"
        for index in self._candidates(wanted[:-1]):
            raw = self._read(symbols + index * SYMBOL.size, SYMBOL.size)
            text, info, _, section, value, size = SYMBOL.unpack(raw)
            if info & 0xF != STT_OBJECT or section == 0 or self._read(strings + text, len(wanted)) != wanted:
                continue
            address = self.bias + value
            if address not in self.range:
                raise UnreadableError("its drng.so has an address outside of itself")
            return Symbol(address, size, self.range)
        return None
