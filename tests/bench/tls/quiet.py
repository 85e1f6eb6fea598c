# SPDX-License-Identifier: Apache-2.0
"""How quiet the machine is: what others take of its CPUs, and what its host takes from it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LOOK_SECONDS = 0.5


@dataclass(frozen=True)
class Ticks:
    """Of all CPUs since boot, from the first line of /proc/stat."""

    all: int
    busy: int
    stolen: int


@dataclass(frozen=True)
class Noise:
    """Fractions of all CPU time while nothing of the benchmark ran, and the load average."""

    busy: float
    stolen: float
    load: float

    @property
    def most(self) -> float:
        return self.busy + self.stolen


def parse(line: str) -> Ticks:
    """user nice system idle iowait irq softirq steal; what guests take is in user and nice."""
    user, nice, system, idle, iowait, irq, softirq, steal = (int(word) for word in line.split()[1:9])
    busy = user + nice + system + irq + softirq
    return Ticks(busy + idle + iowait + steal, busy, steal)


def ticks() -> Ticks:
    with Path("/proc/stat").open() as file:
        return parse(file.readline())


def between(before: Ticks, after: Ticks, load: float) -> Noise:
    whole = max(after.all - before.all, 1)
    return Noise((after.busy - before.busy) / whole, (after.stolen - before.stolen) / whole, load)


def look() -> Noise:
    before = ticks()
    time.sleep(LOOK_SECONDS)
    return between(before, ticks(), os.getloadavg()[0])


def wait(limit: float, patience: float, looking: Callable[[], Noise] = look) -> Noise:
    """Until others take less than `limit`, or for `patience` seconds; the last look says which."""
    end = time.monotonic() + patience
    noise = looking()
    while noise.most > limit and time.monotonic() < end:
        noise = looking()
    return noise
