# SPDX-License-Identifier: Apache-2.0
"""Counters as drng keeps them in memory, but for what a test changes."""

import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scripts.drng.status import stats
from scripts.drng.status.libraries import Library
from scripts.drng.status.look import Look
from scripts.drng.status.sources import Source
from scripts.drng.status.verdict import Process, judge

LIVE = ("memory", "begun", "source", "rdseed", "rdrand", "fallback", "failures", "rdseed_health", "rdseed_retries")
LIVE += ("rdseed_last", "rdseed_words", "rdrand_health", "rdrand_retries", "rdrand_last", "rdrand_words")
LIVE += ("reseeds", "fork_reseeds", "clone_reseeds", "last_seed", "kernel_words", "seeds_without_kernel")
LIVE += ("refused_calls",)

NAMES = (b"rdseed", b"rdrand")

# Behind the head and the names of the instructions.
LIVE_OFFSET = 1024

HEAD: dict[str, Any] = {
    "magic": stats.MAGIC,
    "layout": stats.LAYOUT,
    "live_offset": LIVE_OFFSET,
    "request_counts_offset": 256,
    "request_counts_number": 4,
    "request_counts_size": 64,
    "first_source": 1,
    "loaded": 1,
    "forks": 0,
    "healthy": 1,
    "tested": 1,
    "instruction_count": 2,
    "version": b"99",
    "libcrypto": b"2",
    "aes": b"3",
    "reason": b"",
    "virtual_machine": 0,
    "clone_protection": 0,
    "clone_reason": b"this is no virtual machine",
}


def forged(requests: int = 3, served: int = 48, names: Sequence[bytes] = NAMES, **changes: Any) -> bytes:
    family = changes.pop("family", ())  # of each instruction: failures, disabled, slow, and until when
    place = LIVE_OFFSET + 512 if family else 0
    behind = [changes.pop("self_tests_failed", 0), place, changes.pop("self_test_failed", b"")]
    live = {**dict.fromkeys(LIVE, 0), "memory": 1, "begun": 1, "source": 1, "rdseed": 1}
    unknown = set(changes) - set(HEAD) - set(live)
    assert not unknown, unknown
    live.update((key, changes.pop(key)) for key in LIVE if key in changes)
    head = stats.HEAD.pack(*{**HEAD, **changes}.values()) + b"".join(map(stats.NAME.pack, names))
    head += stats.BEHIND.pack(*behind) + bytes(len(names) * stats.DENIAL.size)
    numbers = struct.pack(f"={len(live)}Q", *live.values())
    return (
        head.ljust(LIVE_OFFSET, b"\0")
        + numbers.ljust(256, b"\0")
        + stats.REQUEST_COUNTS.pack(requests, served).ljust(256, b"\0")
        + struct.pack(f"={1 + len(family)}Q", 4711, *family)
    )


# ---- Processes that nobody runs ----

LIBRARY = Library("/usr/lib/libcrypto.so.3", "OpenSSL 3.0.19", True, True, True)

COUNTERS = {
    "active-source": "rdseed",
    "requests": 1,
    "bytes": 0,
    "seeds-rdseed": 1,
    "seeds-fallback": 0,
    "rdseed-retries": 0,
    "last-seed": 1,
    "memory": "locked",
    "disabled-reason": "",
    "version": "1",
    "libcrypto": "OpenSSL 3.0.19",
}


def made_up(
    pid: int = 1,
    *,
    unit: str = "a.service",
    owner: str = "o",
    ticks: int = 1,
    is_replaced: bool = False,
    libraries: tuple[Library, ...] = (LIBRARY,),
    **changes: Any,
) -> Process:
    """One that drng serves, but for what a test changes in its counters."""
    counters = {**COUNTERS, **{key.replace("_", "-"): value for key, value in changes.items()}}
    known = {"counters": counters, "is_replaced": is_replaced, "libraries": libraries}
    look = Look(pid, "x", unit, owner, ticks=ticks, **known)
    return judge(look, None, Source("/x.cnf", True, asks_drng=True), 0.0)


def without_drng(pid: int = 1, *, unit: str = "a.service", source: Source | None = None, **changes: Any) -> Process:
    look = Look(pid, "x", unit, "o", ticks=1, libraries=(LIBRARY,))
    return judge(replace(look, **changes), None, source or Source("/x.cnf", True), 1.0)
