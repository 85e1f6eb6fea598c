"""The counters that drng keeps in every process; provider/observe/page.h has the same layout."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from .memory import UnreadableError
from .text import printable

MAGIC = b"drngcnt\0"
LAYOUT = 2

HEAD = struct.Struct("=8s6I3Q2I32s64s32s256s")
LIVE = struct.Struct("=14Q")
CELL = struct.Struct("=2Q")

SOURCES = ("none", "rdseed", "rdrand", "fallback")

MEMORY = (
    "not locked: forked after drng was loaded, and a child does not inherit the lock",
    "locked",
    "not locked, or not all: the limit RLIMIT_MEMLOCK refuses",
)
LOCKED = MEMORY[1]

FILTER = ("none", "on when drng was loaded", "unknown")

# Far more than drng writes, so that what is not a page asks for no gigabytes.
MOST = 1 << 20

U64 = (1 << 64) - 1

Read = Callable[[int, int], bytes]


class PageError(UnreadableError):
    """What is there is no page that can be understood."""


def text_of(raw: bytes) -> str:
    return printable(raw.split(b"\0", 1)[0])


def read_head(read: Read) -> tuple[Any, ...]:
    """Read until twice the same: a text may be written meanwhile."""
    before = b""
    for _ in range(10):
        raw = read(0, HEAD.size)
        if raw == before:
            break
        before = raw
    if len(raw) < HEAD.size or raw[:8] not in (MAGIC, bytes(8)):
        raise PageError("what its drng.so exports are no counters of drng's")
    head = HEAD.unpack(raw)
    if head[1] == 0:
        raise PageError("its counters are not filled in: it is loading drng, or has unloaded it")
    if raw[:8] != MAGIC or head[1] != LAYOUT:
        raise PageError(f"counters of layout {head[1]}, of another version of drng; this drng-status reads {LAYOUT}")
    return head


def read_live(read: Read, offset: int, cells_offset: int, count: int, size: int) -> tuple[tuple[int, ...], int, int]:
    """The numbers, and the sums of requests and bytes over all cells."""
    length = cells_offset + count * size
    if cells_offset < LIVE.size or size < CELL.size or not 0 < length <= MOST or not HEAD.size <= offset <= MOST:
        raise PageError("the counters' own description makes no sense")
    raw = read(offset, length)
    if len(raw) < length:
        raise PageError("the counters end before their end")
    cells = [CELL.unpack_from(raw, cells_offset + i * size) for i in range(count)]
    return LIVE.unpack_from(raw), sum(cell[0] for cell in cells) & U64, sum(cell[1] for cell in cells) & U64


def active_source(healthy: int, source: int, failures: int, first: int) -> str:
    """Who made the last seed, or would make the first; nobody once an attempt has failed."""
    if source >= len(SOURCES) or first >= len(SOURCES):
        raise PageError("the counters name a source that does not exist")
    if not healthy:
        return "none"
    return SOURCES[first if source == 0 and failures == 0 else source]


def memory_text(memory: int) -> str:
    """Whether the memory for secrets is locked, and why not."""
    if memory >= len(MEMORY):
        raise PageError("the counters say of the memory what does not exist")
    return MEMORY[memory]


def read_page(read: Read) -> dict[str, Any]:
    """Under the names that the provider's parameters have; `read` takes an offset and a length."""
    head = read_head(read)
    _, _, live_offset, cells_offset, count, size, first, loaded, forks, healthy, filtered, _, *texts = head
    live, requests, served = read_live(read, live_offset, cells_offset, count, size)
    memory, begun, source, rdseed, rdrand, fallback, failures, *rest = live
    rdseed_health, rdseed_retries, rdrand_health, rdrand_retries, reseeds, fork_reseeds, last = rest
    version, libcrypto, aes, reason = map(text_of, texts)
    return {
        "active-source": active_source(healthy, source, failures, first),
        "disabled-reason": reason,
        "version": version,
        "libcrypto": libcrypto,
        "aes-implementation": aes,
        "memory": memory_text(memory),
        "system-call-filter": FILTER[min(filtered, 2)],
        "status": int(healthy != 0),
        "loaded": loaded,
        "forks": forks if begun else min(forks + 1, U64),
        "begun": begun != 0,
        "seeds-rdseed": rdseed,
        "seeds-rdrand": rdrand,
        "seeds-fallback": fallback,
        "seed-failures": failures,
        "health-failures": (rdseed_health + rdrand_health) & U64,
        "rdseed-health-failures": rdseed_health,
        "rdrand-health-failures": rdrand_health,
        "rdseed-retries": rdseed_retries,
        "rdrand-retries": rdrand_retries,
        "reseeds": reseeds,
        "fork-reseeds": fork_reseeds,
        "requests": requests,
        "bytes": served,
        "last-seed": last,
    }
