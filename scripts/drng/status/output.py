# SPDX-License-Identifier: Apache-2.0
"""How processes are shown: a line a unit, rows a process, JSON, and the line that monitoring reads."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..terminal import Row, print_rows, print_table
from . import verdict
from .states import CANNOT_TELL, CRITICAL, GOOD, SERVERS, check, counted, reasons, remarks, state_of, worst
from .verdict import Process, short

COLUMNS = ("unit", "processes", "served by", "seeds from", "requests", "note")
MOST_NAMED = 5
TIMES = ("loaded", "last-self-test", "last-seed")


def value_of(key: str, value: Any) -> str:
    """As a row has it."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {value_of(name, inner)}" for name, inner in value.items())
    if value is None or isinstance(value, bool):
        return "-" if value is None else "yes" if value else "no"
    if key not in TIMES:
        return str(value)
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(value)) if value else "never"
    except (OSError, OverflowError, ValueError):
        return f"{value} s after 1970, which is no date"


def fact_rows(known: dict[str, Any], *hidden: str) -> list[Row]:
    """What JSON has, by the same keys; what is empty has no row, and a list one for each item."""
    each = [(key, item) for key, value in known.items() for item in (value if isinstance(value, list) else [value])]
    return [(key, value_of(key, item)) for key, item in each if key not in hidden and item not in ("", None)]


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
    """How many, and their names with the first numbers."""
    names = [
        f"{name}, PID{'s'[: len(members) - 1]} {', '.join(shortened([str(each.pid) for each in members]))}"
        for name, members in grouped(processes, lambda process: [process.name]).items()
    ]
    return f"{len(processes)} process{'es' * (len(processes) > 1)} ({'; '.join(shortened(names))})"


def sources(processes: Sequence[Process]) -> str:
    return ", ".join(sorted({process.seeds_from for process in processes if process.seeds_from}))


def summary(processes: Sequence[Process], seeds: str = "seeds from ") -> str:
    """Who serves, in one line; the worst first."""
    members = counted(processes)
    if not members:
        return "no libcrypto in any process now" if processes else "stopped"
    busy = [process for process in members if not process.idle]
    idle = len(members) - len(busy)
    if not busy:
        return f"idle: no request yet in {idle} of {idle} processes"
    by = max((process.served_by for process in busy), key=[*SERVERS].index)
    found = [process for process in busy if process.served_by == by]
    if by != verdict.DRNG:
        return f"{SERVERS[by][1]} {len(found)} of {len(members)} processes"
    more = f", {idle} of them idle" if idle else ""
    return f"drng serves {len(members)} of {len(members)} processes, {seeds}{sources(found)}{more}"


def said_of(processes: Sequence[Process], of_one: Callable[[Process], Iterable[str]] = remarks) -> list[str]:
    """Each sentence once, with whom it is of where it is not of all."""
    members = counted(processes)
    found = grouped(members, of_one)
    return shortened([s if len(whose) == len(members) else f"{count_of(whose)}: {s}" for s, whose in found.items()])


def lines(processes: Sequence[Process]) -> list[str]:
    """Who serves, and why drng does not, with what to do."""
    members = counted(processes)
    served = [process for process in members if process.served_by == verdict.DRNG]
    partly = f"drng serves {len(served)} of {len(members)} processes, seeds from {sources(served)}"
    return [partly if 0 < len(served) < len(members) else summary(processes), *said_of(processes, reasons)]


def is_served(processes: Sequence[Process]) -> bool:
    """Whether drng serves every process that has libcrypto, or will serve it."""
    return all(each.served_by in (verdict.DRNG, verdict.NONE) and not each.reason for each in counted(processes))


# ---- Units ----


@dataclass(frozen=True)
class Group:
    """Of a unit, or of a process that was asked for and its children."""

    label: str
    processes: Sequence[Process]
    asked: bool = True  # an openssl.cnf names drng for one of them

    def result(self) -> int:
        return worst([check(process) for process in counted(self.processes)])

    def said(self) -> list[str]:
        """What there is to know, the first thing first."""
        if not self.asked:
            return ["drng is not on for it"]
        drawn = any(not process.idle for process in counted(self.processes))
        return [*([] if drawn else [summary(self.processes)]), *said_of(self.processes)]

    def servers(self) -> dict[str, int]:
        by = grouped(counted(self.processes), lambda each: [each.served_by] if each.served_by != verdict.NONE else [])
        return {name: len(found) for name, found in by.items()}

    def table_line(self) -> tuple[str, ...]:
        members, servers = counted(self.processes), self.servers() if self.asked else {}
        by = "-".join(servers) if len(servers) < 2 else ", ".join(f"{name} {count}" for name, count in servers.items())
        requests = sum(process.counters.get("requests", 0) for process in members)
        shown = f"{requests:,}" if any(process.counters for process in members) else "-"
        count = str(len(members) or len(self.processes))
        return self.label, count, by or "-", sources(members) or "-", shown, "".join(self.said()[:1])

    def check_line(self) -> tuple[int, str]:
        """Who serves, and what decides that or should be known of it."""
        who = "no unit" if self.label == "none" else self.label
        said = "; ".join(said_of(self.processes))
        return self.result(), ": ".join(filter(None, (who, summary(self.processes, ""), said)))

    def as_json(self) -> dict[str, Any]:
        return {
            "unit": self.label,
            "processes": len(counted(self.processes)),
            "served-by": self.servers(),
            "status": self.result(),
            "note": "; ".join(self.said()),
            "pids": [process.pid for process in self.processes],
        }


def by_unit(processes: Sequence[Process]) -> list[Group]:
    """Of everybody's processes; those for which nobody has named drng are left out where others are of the unit."""
    groups = []
    for unit, members in sorted(grouped(counted(processes), lambda each: [each.unit]).items()):
        concerned = [each for each in members if each.reason != "not-named" and (each.counters or not each.idle)]
        groups.append(Group(short(unit), concerned or members, asked=bool(concerned)))
    return groups


def print_groups(groups: Sequence[Group], *, all_said: bool) -> None:
    """A line a unit, and below, of those that were asked for, what has no place in it."""
    print_table([COLUMNS, *(group.table_line() for group in groups)])
    for group in groups if all_said else ():
        for line in group.said()[1:]:
            print(f"{group.label}: {line}")


def unseen(processes: Sequence[Process]) -> list[str]:
    """Those that could not be looked at, with the reasons, of which there may be one for each user."""
    found = grouped(processes, lambda process: [process.problem])
    return shortened([f"not looked at: {count_of(members)}: {reason}" for reason, members in found.items()])


def check_all(processes: Sequence[Process]) -> list[tuple[int, str]]:
    """
    Of everybody's processes: a line for each unit that is not well, and one for the others. Processes that cannot be
    looked at need not have anything to do with drng, so they decide nothing, unless there are no others, or they were
    not even tried.
    """
    hidden = [process for process in processes if process.problem]
    groups = [group for group in by_unit([each for each in processes if not each.problem]) if group.asked]
    found = [group.check_line() for group in groups if group.result() != GOOD]
    if good := [group for group in groups if group.result() == GOOD]:
        who = "all other processes" if found else "all processes"
        served = summary([process for group in good for process in group.processes], "")
        found.append((GOOD, f"{who}: {served} in {len(good)} unit{'s' * (len(good) > 1)}"))
    if not groups:
        found.append((CANNOT_TELL if hidden or os.geteuid() != 0 else CRITICAL, "all processes: none uses drng"))
    if hidden:
        missed = sum(process.missed for process in hidden)
        tried = f", {missed} of them not tried" if missed else ""
        count = f"{len(hidden)} process{'es'[: 2 * len(hidden) - 2]}"
        found.append((CANNOT_TELL if missed else GOOD, f"not looked at: {count}{tried}"))
    return found


# ---- Processes ----


def process_json(process: Process) -> dict[str, Any]:
    return {
        **{key: getattr(process, key) for key in ("pid", "name", "unit", "owner", "uses")},
        "served-by": process.served_by,
        "state": state_of(process),
        **{key: getattr(process, key) for key in ("reason", "cure", "restart")},
        "message": "; ".join([*remarks(process), *(["no request yet"] if process.idle else [])]),
        "libcryptos": [library.as_json() for library in process.libraries],
        **process.counters,
    }


def print_processes(processes: Sequence[Process]) -> None:
    """Rows, without what the message says in words."""
    for number, process in enumerate(processes):
        known = process_json(process)
        known["libcryptos"] = [f"{each}{'' if each.used else ', not used'}" for each in process.libraries]
        print(end="\n" if number > 0 else "")
        print_rows(fact_rows(known, "reason", "cure", "restart", "begun", "disabled-reason"))
