# SPDX-License-Identifier: Apache-2.0
"""What a server spends: CPU time in nanoseconds, and instructions where this machine counts them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import struct
from collections.abc import Iterable
from pathlib import Path

# perf_event_open(2): the number of the call, and of what is counted.
CALL = {"x86_64": 298, "aarch64": 241, "ppc64le": 319, "s390x": 331, "riscv64": 241}
HARDWARE, INSTRUCTIONS = 0, 1
ATTRIBUTE_SIZE = 64  # PERF_ATTR_SIZE_VER0


def threads(pids: Iterable[int]) -> list[int]:
    found: list[int] = []
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found += [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
    return found


def cpu_ns(pids: Iterable[int]) -> int:
    """Of all living threads, by the scheduler's own account: /proc/PID/stat counts in hundredths of a second."""
    total = 0
    for tid in threads(pids):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            total += int(Path(f"/proc/{tid}/schedstat").read_text().split()[0])
    return total


def _open(tid: int) -> int:
    """A descriptor that counts a thread's instructions; -1: this machine, or its administrator, does not let us."""
    attribute = struct.pack("=IIQ", HARDWARE, ATTRIBUTE_SIZE, INSTRUCTIONS).ljust(ATTRIBUTE_SIZE, b"\0")
    number = CALL.get(platform.machine())
    if number is None:
        return -1
    close_on_exec = 8
    return ctypes.CDLL(None, use_errno=True).syscall(number, attribute, tid, -1, -1, close_on_exec)


class Instructions:
    """Counts those of the threads that live now; None where they cannot be counted."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._files = [_open(tid) for tid in threads(pids)]
        self.counts = bool(self._files) and min(self._files) >= 0
        if not self.counts:
            self.close()

    def read(self) -> int | None:
        if not self.counts:
            return None
        return sum(int.from_bytes(os.read(file, 8), "little") for file in self._files)

    def close(self) -> None:
        for file in self._files:
            if file >= 0:
                os.close(file)
        self._files = []
