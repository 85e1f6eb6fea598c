"""The counters that drng keeps in every process; provider/observe/stats.h has the same layout."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from ..instructions import KNOWN
from ..procfs import UnreadableError
from ..text import printable
from .memory import OlderError

MAGIC = b"drngcnt\0"
LAYOUT = 6

HEAD = struct.Struct("=8s6I4Q2I32s64s32s256s2I128s")
NAME = struct.Struct("=16s")  # of an instruction, behind the head
REQUEST_COUNTS = struct.Struct("=2Q")

MEMORY = (
    "not locked: forked under a filter of system calls, and a child does not inherit the lock",
    "locked",
    "not locked, or only in part: the limit RLIMIT_MEMLOCK is too low",
)
LOCKED = MEMORY[1]

# Of enum drng_clone_protection in provider/observe/report.h.
CLONE_PROTECTIONS = ("none", "kernel", "instruction", "counter")

# What every self-test has passed is healthy.
STATUS = ("failed", "healthy")

FILTER = ("none", "on when drng was loaded", "unknown")

# Far more than drng writes, so that what are no counters asks for no gigabytes.
MOST = 1 << 20
MOST_INSTRUCTIONS = 8

U64 = (1 << 64) - 1

Read = Callable[[int, int], bytes]


class StatsError(UnreadableError):
    """What is there are no counters that can be understood."""


class NotOpenError(UnreadableError):
    """The module is there, and no provider of it."""


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
        raise StatsError("the symbol drng_counters of its drng.so does not hold counters of drng")
    head = HEAD.unpack(raw)
    if head[1] == 0:
        raise NotOpenError(
            "it has loaded drng.so, which serves nothing: drng refused to load, has been unloaded, or is being loaded"
        )
    if raw[:8] != MAGIC or head[1] != LAYOUT:
        kind = OlderError if head[1] < LAYOUT else StatsError
        raise kind(
            f"its counters have layout {head[1]}, of another version of drng; this drng-status reads layout {LAYOUT}"
        )
    return head


def read_names(read: Read, count: int) -> list[str]:
    """Of the instructions, in the order of their counters."""
    if not 0 < count <= MOST_INSTRUCTIONS:
        raise StatsError("the description of its counters makes no sense")
    raw = read(HEAD.size, count * NAME.size)
    if len(raw) < count * NAME.size:
        raise StatsError("its counters are cut short")
    names = [text_of(name) for (name,) in NAME.iter_unpack(raw)]
    if len(set(names)) < count:
        raise StatsError("the description of its counters makes no sense")
    # The names of the counters are made of these: one of a user's choice could take the place of another counter.
    if not KNOWN.issuperset(names):
        raise StatsError("its counters are of an instruction that this drng-status does not know")
    return names


def read_live(
    read: Read, live: struct.Struct, offset: int, counts_offset: int, number: int, size: int
) -> tuple[tuple[int, ...], int, int]:
    """The numbers, and the sums of requests and bytes over all generators."""
    length = counts_offset + number * size
    if (
        counts_offset < live.size
        or size < REQUEST_COUNTS.size
        or not 0 < length <= MOST
        or not HEAD.size <= offset <= MOST
    ):
        raise StatsError("the description of its counters makes no sense")
    raw = read(offset, length)
    if len(raw) < length:
        raise StatsError("its counters are cut short")
    counts = [REQUEST_COUNTS.unpack_from(raw, counts_offset + i * size) for i in range(number)]
    return live.unpack_from(raw), sum(n for n, _ in counts) & U64, sum(served for _, served in counts) & U64


def one_of(names: Sequence[str], number: int, what: str) -> str:
    if number >= len(names):
        raise StatsError(f"its counters {what}")
    return names[number]


def read_stats(read: Read) -> dict[str, Any]:
    """Under the names that the provider's parameters have; `read` takes an offset and a length."""
    head = read_head(read)
    _, _, live_offset, counts_offset, number, size, first, loaded, forks, healthy, tested, *rest = head
    filtered, instructions, *rest = rest
    *texts, virtual_machine, protection, clone_reason = rest
    names = read_names(read, instructions)
    n = len(names)
    layout = struct.Struct(f"={10 + 3 * n}Q")
    live, requests, served = read_live(read, layout, live_offset, counts_offset, number, size)
    memory, begun, source, *rest = live
    seeds, (fallback, failures, *rest) = rest[:n], rest[n:]
    # Health failures and retries of each instruction.
    pairs, (reseeds, fork_reseeds, clone_reseeds, last, kernel_words) = rest[: 2 * n], rest[2 * n :]
    health, retries = pairs[::2], pairs[1::2]
    version, libcrypto, aes, reason = map(text_of, texts)
    sources = ("none", *names, "fallback")
    made, would_make = (one_of(sources, each, "name a source that does not exist") for each in (source, first))
    # Who made the last seed, or would make the first; nobody once an attempt has failed.
    active = would_make if source == 0 and failures == 0 else made
    return {
        "active-source": active if healthy else "none",
        "disabled-reason": reason,
        "version": version,
        "libcrypto": libcrypto,
        "aes-implementation": aes,
        "memory": one_of(MEMORY, memory, "hold an unknown state of the memory"),
        "system-call-filter": FILTER[min(filtered, 2)],
        "virtual-machine": virtual_machine != 0,
        "clone-protection": one_of(CLONE_PROTECTIONS, protection, "hold an unknown protection from clones"),
        "clone-reason": text_of(clone_reason),
        "status": STATUS[healthy != 0],
        "loaded": loaded,
        "last-self-test": tested,
        "forks": forks if begun else min(forks + 1, U64),
        "begun": begun != 0,
        **{f"seeds-{name}": n for name, n in zip(names, seeds)},
        "health-failures": sum(health) & U64,
        **{f"{name}-health-failures": n for name, n in zip(names, health)},
        **{f"{name}-retries": n for name, n in zip(names, retries)},
        "seeds-fallback": fallback,
        "seed-failures": failures,
        "reseeds": reseeds,
        "fork-reseeds": fork_reseeds,
        "clone-reseeds": clone_reseeds,
        "kernel-words": kernel_words,
        "requests": requests,
        "bytes": served,
        "last-seed": last,
    }
