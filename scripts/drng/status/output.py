# SPDX-License-Identifier: Apache-2.0
"""How processes are shown: a line a unit, which monitoring reads, too; rows a process; JSON."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from . import verdict
from .states import CANNOT_TELL, CRITICAL, GOOD, SERVERS, check, counted, reasons, remarks, state_of, worst
from .verdict import Process, short

MOST_NAMED = 5
# What the message says in words.
IN_WORDS = ("reason", "cure", "restart", "disabled-reason")


def print_rows(known: dict[str, Any]) -> None:
    """What JSON has, by the same keys; what is empty has no row, and a list one for each item."""
    each = [(key, item) for key, value in known.items() for item in (value if isinstance(value, list) else [value])]
    rows = [(key, item if isinstance(item, str) else json.dumps(item)) for key, item in each if item != ""]
    width = max(len(key) for key, _ in rows)
    for key, value in rows:
        print(f"{key:{width}}  {value}")


# ---- What is said of several ----


def grouped(processes: Iterable[Process], keys_of: Callable[[Process], Iterable[str]]) -> dict[str, list[Process]]:
    """The keys that there are, each with those that it is of."""
    groups: dict[str, list[Process]] = {}
    for process in processes:
        for key in filter(None, keys_of(process)):
            groups.setdefault(key, []).append(process)
    return groups


def shortened(said: list[str]) -> list[str]:
    return said[:MOST_NAMED] + ([f"and {len(said) - MOST_NAMED} more"] if len(said) > MOST_NAMED else [])


def count_of(processes: Sequence[Process]) -> str:
    names = shortened([f"{process.name}, PID {process.pid}" for process in processes])
    return f"{len(processes)} process{'es' * (len(processes) > 1)} ({'; '.join(names)})"


def said_of(processes: Sequence[Process], of_one: Callable[[Process], Iterable[str]] = remarks) -> list[str]:
    """Each sentence once, with whom it is of where it is not of all."""
    found = grouped(processes, of_one)
    return shortened([s if len(whose) == len(processes) else f"{count_of(whose)}: {s}" for s, whose in found.items()])


def sources(processes: Sequence[Process]) -> str:
    return ", ".join(sorted({process.seeds_from for process in processes if process.seeds_from}))


def is_served(processes: Sequence[Process]) -> bool:
    """Whether drng serves every process that has libcrypto, or will serve it."""
    return all(each.served_by in (verdict.DRNG, verdict.NONE) and not each.reason for each in counted(processes))


@dataclass(frozen=True)
class Group:
    """Of a unit, or of a process that was asked for and its children."""

    label: str
    processes: Sequence[Process]

    @property
    def members(self) -> list[Process]:
        return counted(self.processes)

    def summary(self, seeds: str = "") -> str:
        """Who serves, in a few words: drng, if it serves any of them, or the worst."""
        members, busy = self.members, [process for process in self.members if not process.idle]
        if not members:
            return "no libcrypto in any process now" if self.processes else "stopped"
        if not busy:
            return f"idle: no request yet in {len(members)} of {len(members)} processes"
        by = {process.served_by for process in busy}
        serves = verdict.DRNG if verdict.DRNG in by else max(by, key=[*SERVERS].index)
        count, unused = (sum(each.served_by == who for each in members) for who in (serves, verdict.NONE))
        said = f"{SERVERS[serves][1]} {count} of {len(members)} processes"
        said += f", {seeds}{sources(busy)}" if serves == verdict.DRNG else ""
        return f"{said}, {unused} idle" if unused else said

    def checked(self) -> tuple[int, str]:
        """The status, and a line: who serves, and what decides that or should be known of it."""
        who = "no unit" if self.label == "none" else self.label
        line = ": ".join(filter(None, (who, self.summary(), "; ".join(said_of(self.members)))))
        return worst([check(process) for process in self.members]), line


def lines(processes: Sequence[Process]) -> list[str]:
    """Who serves, and why drng does not, with what to do."""
    group = Group("", processes)
    return [group.summary("seeds from "), *said_of(group.members, reasons)]


def by_unit(processes: Sequence[Process]) -> list[Group]:
    """Of everybody's processes."""
    units = grouped(counted(processes), lambda each: [each.unit])
    return [Group(short(unit), members) for unit, members in sorted(units.items())]


def unseen(processes: Sequence[Process]) -> list[str]:
    """Those that could not be looked at, with the reasons, of which there may be one for each user."""
    found = grouped(processes, lambda process: [process.problem])
    return shortened([f"not looked at: {count_of(members)}: {reason}" for reason, members in found.items()])


def check_all(processes: Sequence[Process]) -> list[tuple[int, str]]:
    """
    Of everybody's processes those for which somebody has named drng, by unit. Those that cannot be looked at, or whose
    openssl.cnf cannot, need not have anything to do with it: they decide nothing, unless there are no others, or they
    were not even tried.
    """
    hidden = [process for process in processes if process.problem]
    named = [
        each for each in processes if each.reason not in ("not-named", "elsewhere") and (each.counters or not each.idle)
    ]
    found = [group.checked() for group in by_unit([each for each in named if not each.problem])]
    if not found:
        found.append((CANNOT_TELL if hidden or os.geteuid() != 0 else CRITICAL, "all processes: none uses drng"))
    if hidden:
        missed = [process for process in hidden if process.missed]
        units = ", ".join(shortened(sorted({short(process.unit) for process in missed})))
        tried = f", {len(missed)} of them not tried: {units}" if missed else ""
        count = f"{len(hidden)} process{'es'[: 2 * len(hidden) - 2]}"
        found.append((CANNOT_TELL if missed else GOOD, f"not looked at: {count}{tried}"))
    return found


# ---- Processes ----


def process_json(process: Process) -> dict[str, Any]:
    return {
        **{key: getattr(process, key) for key in ("pid", "name", "unit", "owner")},
        "served-by": process.served_by,
        "state": state_of(process),
        **{key: getattr(process, key) for key in ("reason", "cure", "restart")},
        "message": "; ".join([*remarks(process), *(["no request yet"] if process.idle else [])]),
        "libcryptos": [library.as_json() for library in process.libraries],
        **process.counters,
    }


def print_processes(processes: Sequence[Process]) -> None:
    for number, process in enumerate(processes):
        known = {key: value for key, value in process_json(process).items() if key not in IN_WORDS}
        known["libcryptos"] = [f"{each}{'' if each.used else ', not used'}" for each in process.libraries]
        print(end="\n" if number > 0 else "")
        print_rows(known)
