# SPDX-License-Identifier: Apache-2.0
"""ELF: where a loaded module has a symbol, from its process's memory alone.

Of a process no file is opened, so it makes no difference whether the module's has been replaced, or lies in another
mount namespace. Every number read is checked before it is used: each step reads a bounded piece, and there is a bounded
number of steps.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from typing import NamedTuple

from ..procfs import UnreadableError
from .memory import Memory

ELF_HEADER = struct.Struct("=16sHHIQQQIHHHHHH")
PROGRAM_HEADER = struct.Struct("=IIQQQQQQ")
DYNAMIC = struct.Struct("=qQ")
SYMBOL = struct.Struct("=IBBHQQ")

CLASS_64, DATA = 2, 1 if sys.byteorder == "little" else 2
PT_LOAD, PT_DYNAMIC = 1, 2
DT_NULL, DT_STRTAB, DT_SYMTAB, DT_STRSZ = 0, 5, 6, 10
STT_OBJECT = 1

# Far more than a module of drng's has.
MOST_HEADERS, MOST_DYNAMIC, MOST_SYMBOLS, MOST_TEXT, MOST_SPAN = 64, 512, 4096, 1 << 16, 1 << 32


class Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    in_file: int
    in_memory: int


def segments(read: Callable[[int, int], bytes]) -> list[Segment]:
    """`read` takes an offset and a length."""
    identity, *_, offset, _, _, _, size, count, _, _, _ = ELF_HEADER.unpack(read(0, ELF_HEADER.size))
    if identity[:4] != b"\x7fELF" or identity[4:6] != bytes((CLASS_64, DATA)):
        raise UnreadableError("its drng.so is not a shared object for this machine")
    if size != PROGRAM_HEADER.size or not 0 < count <= MOST_HEADERS or offset > MOST_SPAN:
        raise UnreadableError("its drng.so has program headers that make no sense")
    headers = PROGRAM_HEADER.iter_unpack(read(offset, count * size))
    return [Segment(kind, at, address, *lengths) for kind, _, at, address, _, *lengths, _ in headers]


def dynamic(raw: bytes) -> list[tuple[int, int]]:
    """Tags and values, up to the end of either."""
    entries = list(DYNAMIC.iter_unpack(raw[: len(raw) // DYNAMIC.size * DYNAMIC.size]))
    tags = [tag for tag, _ in entries]
    return entries[: tags.index(DT_NULL)] if DT_NULL in tags else entries


class Image:
    """A loaded module. What is wrong with it is an UnreadableError."""

    def __init__(self, memory: Memory, base: int) -> None:
        self.memory, self.base = memory, base
        found = segments(lambda offset, length: memory.read(base + offset, length))
        loads = [each for each in found if each.kind == PT_LOAD]
        if not loads:
            raise UnreadableError("its drng.so has no segments")
        # The first segment begins at offset 0 of the file, so it is the one that lies at the base.
        self.bias = base - (loads[0].address & ~0xFFF)
        end = max(self.bias + each.address + each.in_memory for each in loads)
        if not base < end <= base + MOST_SPAN:
            raise UnreadableError("its drng.so has a size that makes no sense")
        self.range = range(base, end)
        places = [each for each in found if each.kind == PT_DYNAMIC]
        sizes = [min(each.in_memory, MOST_DYNAMIC * DYNAMIC.size) for each in places]
        raw = [self._read(self.bias + each.address, size) for each, size in zip(places, sizes)]
        self.dynamic = dict(reversed(dynamic(b"".join(raw[:1]))))

    def _read(self, address: int, length: int) -> bytes:
        if address not in self.range or address + length > self.range.stop:
            raise UnreadableError("its drng.so has an address outside of itself")
        return self.memory.read(address, length)

    def _pointer(self, tag: int) -> int:
        """glibc's loader puts addresses in place of the file's; musl's, and some architectures', leaves them alone."""
        value = self.dynamic.get(tag)
        if value is None:
            raise UnreadableError("its drng.so has no table of symbols")
        return value if value >= self.base else self.bias + value

    def find(self, name: str) -> int | None:
        """Where the data symbol of this name is, or None where the module exports none."""
        symbols, strings = self._pointer(DT_SYMTAB), self._pointer(DT_STRTAB)
        # Nothing says how many symbols there are, but linkers put their names behind them.
        count = max(0, min((strings - symbols) // SYMBOL.size, MOST_SYMBOLS))
        raw = self._read(symbols, count * SYMBOL.size)
        texts = self._read(strings, min(self.dynamic.get(DT_STRSZ, 0), MOST_TEXT))
        wanted = texts.find(b"\0" + name.encode() + b"\0") + 1
        for text, info, _, section, value, _ in SYMBOL.iter_unpack(raw):
            if wanted and text == wanted and info & 0xF == STT_OBJECT and section != 0:
                if self.bias + value not in self.range:
                    raise UnreadableError("its drng.so has an address outside of itself")
                return self.bias + value
        return None
