# SPDX-License-Identifier: Apache-2.0
"""A /proc of our own making, with processes that say whatever a test wants them to say."""

import contextlib
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from scripts.drng import procfs
from scripts.drng.status import look
from scripts.drng.status.memory import Memory

BASE = 0x10000
COUNTERS = 0x400  # where they lie in the module


def module(counters: bytes, **changes: int) -> bytes:
    """
    A drng.so as it lies in memory: header, two program headers, the counters. Changes are of single numbers, so that a
    test can lie about any of them.
    """
    value = {
        "phoff": 64,
        "phentsize": 56,
        "phnum": 2,
        "load_vaddr": 0,
        "data_vaddr": COUNTERS,
        "data_filesz": len(counters),
        "data_memsz": len(counters),
        "data_flags": 6,
        **changes,
    }
    v = {key: number & ((1 << 64) - 1) for key, number in value.items()}
    image = bytearray(COUNTERS) + counters
    identity = b"\x7fELF\x02" + (b"\1" if struct.pack("=H", 1) == b"\1\0" else b"\2") + b"\1" + bytes(9)
    struct.pack_into(
        "=16sHHIQQQIHHHHHH", image, 0, identity, 3, 62, 1, 0, v["phoff"], 0, 0, 64, v["phentsize"], v["phnum"], 0, 0, 0
    )
    struct.pack_into("=IIQQQQQQ", image, 64, 1, 5, 0, v["load_vaddr"], 0, COUNTERS, COUNTERS, 4096)
    data = (v["data_vaddr"], 0, v["data_filesz"], v["data_memsz"], 4096)
    struct.pack_into("=IIQQQQQQ", image, 120, 1, v["data_flags"], COUNTERS, *data)
    return bytes(image)


def mapping(start: int, end: int, rights: str, offset: int, path: bytes) -> bytes:
    return f"{start:x}-{end:x} {rights} {offset:08x} fe:00 1234 ".encode() + path + b"\n"


def module_maps(length: int, path: bytes = b"/usr/lib/drng.so", base: int = BASE) -> bytes:
    return mapping(base, base + length, "r-xp", 0, path)


@dataclass
class FakeProcess:
    """What is in its files; None: the file is not there."""

    comm: bytes = b"server\n"
    stat: bytes = b"7 (server) S 1 7 7 0" + b" 0" * 46
    maps: bytes | None = b""
    image: bytes = b""  # its memory from BASE
    environ: bytes = b""
    auxv: bytes = bytes(16)
    status: bytes = b"Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t\n"
    extra: Mapping[str, bytes] = field(default_factory=dict)


def write(proc: Path, pid: int, process: FakeProcess) -> None:
    """Into a directory that stands for /proc."""
    (proc / "self").mkdir(exist_ok=True)
    folder = proc / str(pid)
    folder.mkdir(exist_ok=True)
    for name in ("comm", "stat", "environ", "auxv", "status", "maps"):
        content = getattr(process, name)
        if content is not None:
            (folder / name).write_bytes(content)
    with open(folder / "mem", "wb") as memory:
        memory.seek(BASE)
        memory.write(process.image)
    if not (folder / "root").is_symlink():
        os.symlink("/", folder / "root")
    for name, content in process.extra.items():
        (folder / name).write_bytes(content)


@contextlib.contextmanager
def replaced_proc(folder: Path, memory: type[Memory] | None = None) -> Iterator[Path]:
    """A /proc of the test's own."""
    kept = procfs.PROC, look.Memory
    procfs.PROC, look.Memory = folder / "proc", memory or FileMemory  # type: ignore[misc]
    procfs.PROC.mkdir()
    try:
        yield procfs.PROC
    finally:
        procfs.PROC, look.Memory = kept  # type: ignore[misc]


class FileMemory(Memory):
    """Which reads the file `mem` that is there."""

    def some(self, address: int, length: int) -> bytes:
        with os.fdopen(os.open("mem", os.O_RDONLY, dir_fd=self.entry), "rb", buffering=0) as file:
            return os.pread(file.fileno(), length, address)
