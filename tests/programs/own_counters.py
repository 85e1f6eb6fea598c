# SPDX-License-Identifier: Apache-2.0
"""Draws, and reads the counters of this process with what drng-status reads them with; prints them as JSON.

For other architectures under QEMU's user mode, where /proc shows the memory of QEMU. PYTHONPATH is drng's tree.
"""

import ctypes
import json
import sys
from pathlib import Path

from scripts.drng.status.stats import read_counters


class OwnMemory:
    def read(self, address: int, length: int) -> bytes:
        return ctypes.string_at(address, length)


def base_of(name: str) -> int:
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith(f"/{name}"):
            return int(line.split("-")[0], 16)
    sys.exit(f"{name} is not loaded")


def main() -> None:
    libcrypto = ctypes.CDLL("libcrypto.so.3")
    buffer = ctypes.create_string_buffer(16)
    if libcrypto.RAND_bytes(buffer, len(buffer)) != 1:
        sys.exit("RAND_bytes failed")
    print(json.dumps(read_counters(OwnMemory(), base_of("drng.so"))))


main()
