# SPDX-License-Identifier: Apache-2.0
"""How often a server draws, and how long that takes: count_rand.c, preloaded."""

from __future__ import annotations

import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parent / "count_rand.c"
LAYOUT = struct.Struct("=QQQ")


@dataclass(frozen=True)
class Drawn:
    calls: float
    bytes: float
    us: float


def build(directory: Path) -> Path:
    """The library to be preloaded. RAND_set_rand_method() is deprecated, and nothing else sees every call."""
    library = directory / "count_rand.so"
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", str(library), str(SOURCE), "-lcrypto"], check=True)
    return library


class Counters:
    """A file of counters that a server's processes share."""

    def __init__(self, library: Path, path: Path) -> None:
        self._library, self._path = library, path
        path.write_bytes(bytes(LAYOUT.size))

    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self._library), "BENCH_TLS_COUNTERS": str(self._path)}

    def read(self) -> tuple[int, int, int]:
        calls, size, ns = LAYOUT.unpack(self._path.read_bytes())
        return calls, size, ns

    def since(self, before: tuple[int, int, int], requests: int) -> Drawn:
        """For one request."""
        calls, size, ns = (now - then for now, then in zip(self.read(), before, strict=True))
        return Drawn(calls / requests, size / requests, ns / 1000 / requests)
