# SPDX-License-Identifier: Apache-2.0
"""Counters as drng keeps them in memory, but for what a test changes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from scripts.drng.status import stats

LIVE = ("memory", "begun", "source", "rdseed", "rdrand", "fallback", "failures", "rdseed_health", "rdseed_retries")
LIVE += ("rdseed_last", "rdseed_words", "rdrand_health", "rdrand_retries", "rdrand_last", "rdrand_words")
LIVE += ("reseeds", "fork_reseeds", "clone_reseeds", "last_seed", "kernel_words", "seeds_without_kernel")

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
    behind = [changes.pop("self_tests_failed", 0), 0, changes.pop("self_test_failed", b"")]
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
    )
