# SPDX-License-Identifier: Apache-2.0
"""A /proc of our own making, with processes that say whatever a test wants them to say."""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

BASE = 0x10000
COUNTERS = 0x400  # where they lie in the module
NAME = b"drng_counters"


def module(counters: bytes, *, base: int = BASE, relocated: bool = True, **changes: int) -> bytes:
    """
    A drng.so as it lies in memory: header, two program headers, the dynamic section, its tables, the counters.
    Changes are of single numbers, so that a test can lie about any of them.
    """
    at = base if relocated else 0
    value = {
        "phoff": 64,
        "phentsize": 56,
        "phnum": 2,
        "load_vaddr": 0,
        "load_memsz": COUNTERS + len(counters),
        "dynamic_vaddr": 0x100,
        "dynamic_memsz": 4 * 16,
        "symtab": at + 0x200,
        "strtab": at + 0x280,
        "strsz": 64,
        "st_name": 1,
        "st_info": 0x11,
        "st_shndx": 1,
        "st_value": COUNTERS,
        "st_size": len(counters),
        **changes,
    }
    v = {key: number & ((1 << 64) - 1) for key, number in value.items()}
    image = bytearray(COUNTERS) + counters
    identity = b"\x7fELF\x02" + (b"\1" if struct.pack("=H", 1) == b"\1\0" else b"\2") + b"\1" + bytes(9)
    struct.pack_into(
        "=16sHHIQQQIHHHHHH", image, 0, identity, 3, 62, 1, 0, v["phoff"], 0, 0, 64, v["phentsize"], v["phnum"], 0, 0, 0
    )
    struct.pack_into("=IIQQQQQQ", image, 64, 1, 6, 0, v["load_vaddr"], 0, 0, v["load_memsz"], 4096)
    struct.pack_into("=IIQQQQQQ", image, 120, 2, 6, 0, v["dynamic_vaddr"], 0, 0, v["dynamic_memsz"], 8)
    dynamic = ((6, v["symtab"]), (5, v["strtab"]), (10, v["strsz"]), (0, 0))
    for i, (tag, number) in enumerate(dynamic):
        struct.pack_into("=QQ", image, 0x100 + 16 * i, tag, number)
    struct.pack_into(
        "=IBBHQQ", image, 0x200 + 24, v["st_name"], v["st_info"], 0, v["st_shndx"], v["st_value"], v["st_size"]
    )
    image[0x281 : 0x281 + len(NAME)] = NAME
    return bytes(image)


def mapping(start: int, end: int, rights: str, offset: int, path: bytes) -> bytes:
    return f"{start:x}-{end:x} {rights} {offset:08x} fe:00 1234 ".encode() + path + b"\n"


def module_maps(length: int, path: bytes = b"/usr/lib/drng.so", base: int = BASE) -> bytes:
    return mapping(base, base + length, "r-xp", 0, path)


@dataclass
class FakeProcess:
    """What is in its files; None: the file is not there."""

    comm: bytes = b"server\n"
    stat: bytes = b"7 (server) S 1 7 7 0"
    maps: bytes | None = b""
    image: bytes = b""  # its memory from BASE
    environ: bytes = b""
    cmdline: bytes = b"server\0"
    status: bytes = b"Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t\n"
    extra: Mapping[str, bytes] = field(default_factory=dict)


def write(proc: Path, pid: int, process: FakeProcess) -> None:
    """Into a directory that stands for /proc."""
    (proc / "self").mkdir(exist_ok=True)
    folder = proc / str(pid)
    folder.mkdir(exist_ok=True)
    names = ("comm", "stat", "environ", "cmdline", "status", "maps")
    for name in names:
        content = getattr(process, name)
        if content is not None:
            (folder / name).write_bytes(content)
    with open(folder / "mem", "wb") as memory:
        memory.seek(BASE)
        memory.write(process.image)
    for name in ("root", "cwd"):
        if not (folder / name).is_symlink():
            os.symlink("/", folder / name)
    for name, content in process.extra.items():
        (folder / name).write_bytes(content)
