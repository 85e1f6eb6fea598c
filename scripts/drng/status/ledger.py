"""Counters that outlive the processes that counted: what those have counted that have ended, by unit and owner.

What a process counts between the last look at it and its end is lost, and so is all of a process that begins and ends
between two looks. No count ever becomes less, and none is taken twice: a process that cannot be read at one look keeps
what it had at the one before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import systemd
from ..text import LONGEST
from .states import UNKNOWN, USES_DRNG, Process

FORMAT = 1

# Groups with names of their own. What is beyond has one name for all of it.
MOST = 64
OTHERS = ("other", "other")

# The owner of all processes of users without an account: whoever has a range of such numbers for containers could have
# groups without bound by them. Below this, a number is a service's even if nobody has named it.
NO_ACCOUNT = "other"
FIRST_OF_USERS = 1000

# A group of which no process has been seen for so long is forgotten.
KEPT_SECONDS = 7 * 86400

# More than a machine has processes, so that a state that somebody has spoilt asks for no gigabytes.
MOST_LIVE = 1 << 16
MOST_COUNT = 1 << 80
MOST_STATE = 64 << 20
MOST_NAME = LONGEST + len("...")

Pair = tuple[str, str]  # unit and owner
Counts = dict[str, int]


class StateError(Exception):
    """What is there is no state of a collector."""


@dataclass
class Group:
    """Of a unit and an owner: what its ended processes have counted, and when one was seen last."""

    seen: float = 0.0
    served: bool = False  # drng has served a process of it
    last_seed: int = 0
    sums: Counts = field(default_factory=dict)


@dataclass
class Live:
    """One process at the last look."""

    pair: Pair
    counts: Counts


def pair_of(process: Process) -> Pair:
    owner = process.owner or "unknown"
    if owner.isdigit() and int(owner) >= FIRST_OF_USERS:
        owner = NO_ACCOUNT
    return systemd.label(process.unit), owner


def in_order(pairs: Iterable[Pair]) -> list[Pair]:
    """Those with an account first."""
    return sorted(pairs, key=lambda pair: (pair[1] == NO_ACCOUNT, pair))


def identity(process: Process) -> str:
    """Not its number alone, which the kernel gives again."""
    return f"{process.pid}:{process.ticks}:{process.counters['loaded']}"


def named(found: Iterable[Process], known: dict[Pair, Group]) -> dict[Pair, Pair]:
    """For each pair the one that it is shown as: those that drng serves come first, and those that are known."""
    users = {pair_of(process) for process in found if process.uses == USES_DRNG}
    served = {pair for pair, group in known.items() if group.served}
    rest = {pair_of(process) for process in found} | set(known)
    order = [*in_order(served), *in_order(users - served), *in_order(rest - served - users)]
    own = [pair for pair in order if pair != OTHERS][:MOST]
    return {**dict.fromkeys(order, OTHERS), **{pair: pair for pair in own}}


def add(sums: Counts, counts: Counts) -> None:
    for key, count in counts.items():
        sums[key] = min(sums.get(key, 0) + count, MOST_COUNT)


class Ledger:
    """`keys` are the counters that are kept."""

    def __init__(self, keys: Iterable[str]) -> None:
        self.keys = tuple(keys)
        self.boot = ""
        self.groups: dict[Pair, Group] = {}
        self.live: dict[str, Live] = {}

    # ---- A look ----

    def _retire(self, identity: str) -> None:
        ended = self.live.pop(identity)
        add(self.groups.setdefault(ended.pair, Group()).sums, ended.counts)

    def _see(self, process: Process, names: dict[Pair, Pair]) -> str:
        """A process that can be read; whatever it says, no count of its group becomes less."""
        this = identity(process)
        counts = {key: int(process.counters[key]) for key in self.keys if key in process.counters}
        before = self.live.get(this)
        if before is not None and any(counts.get(key, 0) < count for key, count in before.counts.items()):
            self._retire(this)
            before = None
        pair = before.pair if before is not None else names[pair_of(process)]
        self.live[this] = Live(pair, counts)
        group = self.groups.setdefault(pair, Group())
        group.served = group.served or counts.get("requests", 0) > 0
        group.last_seed = max(group.last_seed, int(process.counters["last-seed"]))
        return this

    def look(self, found: Sequence[Process], now: float, boot: str) -> dict[Pair, Pair]:
        """Takes in what there is now; the answer is what each pair is shown as."""
        names = named(found, self.groups)
        if boot != self.boot:
            for identity in list(self.live):
                self._retire(identity)
        # One whose number is that of a process that cannot be read may be that process.
        unread = {str(process.pid) for process in found if process.uses == UNKNOWN}
        alive = {self._see(process, names) for process in found if process.uses == USES_DRNG}
        for identity in [name for name in self.live if name not in alive and name.partition(":")[0] not in unread]:
            self._retire(identity)
        for pair in {names[pair_of(process)] for process in found} | {live.pair for live in self.live.values()}:
            self.groups.setdefault(pair, Group()).seen = now
        shown = {*names.values(), *(live.pair for live in self.live.values())}
        # A clock that has been set back does not make a group stay for ever.
        self.groups = {
            pair: group
            for pair, group in self.groups.items()
            if abs(now - group.seen) < KEPT_SECONDS and (group.served or pair in shown)
        }
        self.boot = boot
        return names

    def totals(self, pair: Pair) -> Counts:
        """Of those that have ended and those that live."""
        sums = dict(self.groups[pair].sums)
        for live in self.live.values():
            if live.pair == pair:
                add(sums, live.counts)
        return sums

    # ---- Kept in a file ----

    def to_json(self) -> str:
        groups = [{"pair": pair, **vars(group)} for pair, group in self.groups.items()]
        live = [{"identity": name, "pair": live.pair, "counts": live.counts} for name, live in self.live.items()]
        return json.dumps({"format": FORMAT, "boot": self.boot, "groups": groups, "live": live}) + "\n"

    @staticmethod
    def _pair(raw: Any) -> Pair:
        unit, owner = raw
        for name in (unit, owner):
            if not (
                isinstance(name, str) and name and len(name) <= MOST_NAME and name.isascii() and name.isprintable()
            ):
                raise StateError("its groups have no names, or none that drng-status gives")
        return unit, owner

    def _checked(self, raw: Any) -> Counts:
        counts = {key: raw[key] for key in self.keys if key in raw}
        if not all(isinstance(count, int) and 0 <= count <= MOST_COUNT for count in counts.values()):
            raise StateError("its counts are no counts")
        return counts

    def _fill(self, raw: Any) -> None:
        if raw["format"] != FORMAT:
            raise StateError(f"its format is {raw['format']!r}, and this drng-status writes {FORMAT}")
        if len(raw["groups"]) > 4 * MOST or len(raw["live"]) > MOST_LIVE:
            raise StateError("it is larger than any that drng-status writes")
        self.boot = str(raw["boot"])
        for group in raw["groups"]:
            seen, last_seed = float(group["seen"]), int(group["last_seed"])
            if not 0 <= last_seed <= MOST_COUNT:
                raise StateError("its times are no times")
            sums = self._checked(group["sums"])
            self.groups[self._pair(group["pair"])] = Group(seen, bool(group["served"]), last_seed, sums)
        for live in raw["live"]:
            self.live[str(live["identity"])] = Live(self._pair(live["pair"]), self._checked(live["counts"]))

    @classmethod
    def from_json(cls, keys: Iterable[str], text: bytes) -> Ledger:
        """A StateError where it is not what to_json() has written."""
        ledger = cls(keys)
        try:
            ledger._fill(json.loads(text))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise StateError(f"it cannot be understood: {type(error).__name__}") from None
        return ledger
