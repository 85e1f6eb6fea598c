"""Which libcrypto a program would load, read from its file: nothing of it is run."""

from __future__ import annotations

import os
import stat
import struct
import sys
from dataclasses import dataclass

ELF_HEADER = struct.Struct("=16sHHIQQQIHHHHHH")
PROGRAM_HEADER = struct.Struct("=IIQQQQQQ")
DYNAMIC = struct.Struct("=qQ")

CLASS_64, DATA = 2, 1 if sys.byteorder == "little" else 2
PT_LOAD, PT_DYNAMIC = 1, 2
DT_NULL, DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 0, 1, 5, 15, 29

# The openssl command has a megabyte.
MOST_PROGRAM = 64 << 20


@dataclass(frozen=True)
class Needs:
    """Names of libraries, and where a program looks for them first."""

    libraries: list[str]
    folders: list[str]


def of_file(data: bytes) -> Needs:
    """Of an ELF file; a struct.error or a ValueError where it is none, or makes no sense."""
    identity, _, _, _, _, offset, _, _, _, size, count, *_ = ELF_HEADER.unpack_from(data)
    if identity[:4] != b"\x7fELF" or identity[4:6] != bytes((CLASS_64, DATA)) or size != PROGRAM_HEADER.size:
        raise ValueError("not a program for this machine")
    headers = [PROGRAM_HEADER.unpack_from(data, offset + i * size) for i in range(count)]
    loads = [(address, start, length) for kind, _, start, address, _, length, _, _ in headers if kind == PT_LOAD]
    entries: list[tuple[int, int]] = []
    for kind, _, start, _, _, length, _, _ in headers:
        if kind == PT_DYNAMIC:
            entries += DYNAMIC.iter_unpack(data[start : start + length // DYNAMIC.size * DYNAMIC.size])
    table = next((value for tag, value in entries if tag == DT_STRTAB), 0)
    strings = next((table - address + start for address, start, length in loads if 0 <= table - address < length), None)
    if strings is None:
        raise ValueError("no table of strings")

    def text(at: int) -> str:
        return os.fsdecode(data[strings + at : data.index(b"\0", strings + at)])

    found = Needs([], [])
    for tag, value in entries:
        if tag == DT_NULL:
            break
        if tag == DT_NEEDED:
            found.libraries.append(text(value))
        elif tag in (DT_RPATH, DT_RUNPATH):
            found.folders.extend(text(value).split(":"))
    return found


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
            needs = of_file(file.read(MOST_PROGRAM))
    except (OSError, ValueError, struct.error):
        return None
    name = next((name for name in needs.libraries if name.startswith("libcrypto.so") and "/" not in name), None)
    if name is None:
        return None
    for folder in needs.folders:
        there = os.path.join(folder.replace("$ORIGIN", os.path.dirname(path)), name)
        if os.path.isabs(there) and is_trusted(there):
            return there
    return name
