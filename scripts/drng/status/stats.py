# SPDX-License-Identifier: Apache-2.0
"""The counters that drng keeps in every process; provider/observe/stats.h has the same layout."""

import struct
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from ..instructions import KNOWN
from ..procfs import UnreadableError
from ..terminal import printable
from .memory import Memory, data_of

MAGIC = b"drngcnt\0"
LAYOUT = 8

HEAD = struct.Struct("=8s6I4QI32s64s32s256s2I128s")
Head = namedtuple(
    "Head",
    "magic layout live_offset counts_offset counts_number counts_size first_source loaded forks healthy tested "
    "instructions version libcrypto aes reason virtual_machine clone_protection clone_reason",
)
NAME = struct.Struct("=16s")  # of an instruction, behind the head
# Behind the names: failed self-tests, where the family's counters are from the head on (0: nowhere), and the fastest
# self-test that has failed; then a denial for each instruction.
BEHIND, DENIAL = struct.Struct("=Ii32s"), struct.Struct("=I")
# What all descendants of the process that has loaded the module share: its number, and for each instruction these, and
# one that is not shown.
OF_FAMILY = ("family-failures", "family-disabled", "family-slow")
FAMILY, IN_FAMILY = struct.Struct("=Q"), struct.Struct("=4Q")

# The counters in their order, by the names of mixing/machine/counters.h.
OF_INSTRUCTION = ("health-failures", "retries", "last-result", "last-words")
OF_SEEDS = ("seeds-fallback", "seed-failures")
OF_ALL = (
    *("reseeds", "fork-reseeds", "clone-reseeds", "last-seed", "kernel-words", "seeds-without-kernel-bytes"),
    "refused-calls",
)
REQUEST_COUNTS = struct.Struct("=2Q")

# How the memory for secrets is, by the labels of the metrics.
MEMORY = {
    "forked": "not locked: a child does not inherit the lock",
    "locked": "locked",
    "limited": "not locked: the limit RLIMIT_MEMLOCK is too low",
}

# Of enum drng_clone_protection in provider/observe/report.h.
CLONE_PROTECTIONS = ("none", "kernel", "instruction", "counter")

# Of enum drng_last_result in mixing/machine/counters.h, and of enum drng_denial, which is said in its place.
FAILED = ("health test failed", "disabled")
LAST_RESULTS = ("not asked", "served", "too slow", "dry", *FAILED)
DENIALS = (
    *("", "not chosen by the source key", "not in this CPU", "masked", "known to be broken on this CPU model"),
    *("the kernel's verdict is not known", "switched off by the kernel"),
)

# Far more than drng writes, so that what are no counters asks for no gigabytes; of a module's data, too.
MOST, MOST_INSTRUCTIONS, MOST_DATA = 1 << 20, 8, 4 << 20

# All that is there, from an offset on and so long, or an UnreadableError.
Read = Callable[[int, int], bytes]


class NotOpenError(UnreadableError):
    """The module is there, and no provider of it."""


NOT_OPEN = "it has loaded drng.so, which serves nothing: drng refused to load, has been unloaded, or is being loaded"


def require(makes_sense: bool) -> None:
    if not makes_sense:
        raise UnreadableError("its counters make no sense")


def text_of(raw: bytes) -> str:
    return printable(raw.split(b"\0", 1)[0])


def one_of(names: Sequence[str], number: int) -> str:
    require(number < len(names))
    return names[number]


def read_head(read: Read) -> Head:
    head = Head._make(HEAD.unpack(read(0, HEAD.size)))
    if head.magic != MAGIC or head.layout == 0:
        raise NotOpenError(NOT_OPEN)
    if head.layout != LAYOUT:
        other = f"its counters have layout {head.layout}, of another version of drng"
        raise UnreadableError(f"{other}; this drng-status reads layout {LAYOUT}")
    require(0 < head.instructions <= MOST_INSTRUCTIONS)
    return head


def read_live(read: Read, head: Head, names: Sequence[str]) -> dict[str, int]:
    """The numbers in their order, with the sums of requests and bytes over all generators behind them."""
    keys = ["memory", "begun", "source", *(f"seeds-{name}" for name in names), *OF_SEEDS]
    keys += [f"{name}-{counted}" for name in names for counted in OF_INSTRUCTION]
    keys += OF_ALL
    numbers = struct.Struct(f"={len(keys)}Q")
    length = head.counts_offset + head.counts_number * head.counts_size
    require(head.counts_offset >= numbers.size and head.counts_size >= REQUEST_COUNTS.size)
    require(head.counts_number > 0 and length <= MOST and HEAD.size <= head.live_offset)
    raw = read(head.live_offset, length)
    places = range(head.counts_offset, length, head.counts_size)
    requests, served = zip(*(REQUEST_COUNTS.unpack_from(raw, place) for place in places))
    return {**dict(zip(keys, numbers.unpack_from(raw))), "requests": sum(requests), "bytes": sum(served)}


def read_stats(read: Read) -> dict[str, Any]:
    """Under the names that the provider's parameters have."""
    head = read_head(read)
    names = [text_of(name) for (name,) in NAME.iter_unpack(read(HEAD.size, head.instructions * NAME.size))]
    # The names of the counters are made of these: one of a user's choice could take the place of another counter.
    require(len(set(names)) == len(names) and KNOWN.issuperset(names))
    live: dict[str, Any] = read_live(read, head, names)
    place = HEAD.size + len(names) * NAME.size
    failed, family, fastest = BEHIND.unpack(read(place, BEHIND.size))
    denials = DENIAL.iter_unpack(read(place + BEHIND.size, len(names) * DENIAL.size))
    counted = read(family + FAMILY.size, len(names) * IN_FAMILY.size) if family else b""
    behind: dict[str, Any] = {"self-tests-failed": failed, "self-test-failed": text_of(fastest)}
    for name, (denial,) in zip(names, denials):
        last = one_of(LAST_RESULTS, live[f"{name}-last-result"])
        live[f"{name}-last-result"] = one_of(DENIALS, denial) or last
    for name, shared in zip(names, IN_FAMILY.iter_unpack(counted)):
        behind |= {f"{name}-{key}": number for key, number in zip(OF_FAMILY, shared)}
    memory, _, source = (live.pop(key) for key in ("memory", "begun", "source"))
    made, would_make = (one_of(("none", *names, "fallback"), number) for number in (source, head.first_source))
    # Who made the last seed, or would make the first; nobody once an attempt has failed.
    active = would_make if source == 0 and live["seed-failures"] == 0 else made
    return {
        "active-source": active if head.healthy else "none",
        "disabled-reason": text_of(head.reason),
        "version": text_of(head.version),
        "libcrypto": text_of(head.libcrypto),
        "aes-implementation": text_of(head.aes),
        "memory": one_of([*MEMORY.values()], memory),
        "virtual-machine": head.virtual_machine != 0,
        "clone-protection": one_of(CLONE_PROTECTIONS, head.clone_protection),
        "clone-reason": text_of(head.clone_reason),
        "health-failures": sum(live[f"{name}-health-failures"] for name in names),
        **behind,
        **live,
    }


def reader(memory: Memory, base: int) -> Read:
    return lambda offset, size: memory.read(base + offset, size)


def read_counters(memory: Memory, base: int) -> dict[str, Any]:
    """Of the module that begins there: in what it may write, they begin with their magic."""
    for start, _, length in data_of(memory, base):
        raw = memory.read(start, min(length, MOST_DATA))
        place = raw.find(MAGIC)
        while place % 8 and place > 0:
            place = raw.find(MAGIC, place + 1)
        if place >= 0:
            return read_stats(reader(memory, start + place))
    raise NotOpenError(NOT_OPEN)
