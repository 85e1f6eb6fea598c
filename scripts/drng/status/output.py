# SPDX-License-Identifier: Apache-2.0
"""How things are shown: a line a unit, rows a process, JSON, and the line that monitoring reads."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..instructions import WORDS
from ..terminal import Row, print_rows, print_table
from . import facts, verdict
from .states import CANNOT_TELL, CRITICAL, GOOD, SERVERS, check, counted, state_of, worst
from .verdict import REASONS, RESTART, Process, short

COLUMNS = ("unit", "processes", "served by", "seeds from", "requests", "note")
MOST_NAMED = 5

# ---- Values ----

# The last second that has a date of four digits in every time zone.
LAST_DATE = 253402214400


def moment(seconds: int) -> str:
    if seconds == 0:
        return "never"
    if seconds > LAST_DATE:
        return f"{seconds} s after 1970, which is no date"
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def yes(value: bool | None) -> str:
    return "unknown" if value is None else "yes" if value else "no"


def fact_rows(known: dict[str, Any], *hidden: str) -> list[Row]:
    """What JSON has of a process or of drng, by the same keys; a reason stands behind what it is of."""
    rows = []
    for key, value in known.items():
        if key in (*hidden, "clone-reason") or value in ("", []):
            continue
        if key == "clone-protection" and known.get("clone-reason"):
            rows.append((key, f"{value}: {known['clone-reason']}"))
        elif key in ("loaded", "last-self-test", "last-seed"):
            rows.append((key, moment(value)))
        else:
            rows.append((key, yes(value) if key in ("virtual-machine", "idle") else str(value)))
    return rows


# ---- What is said of several ----


def grouped(processes: Sequence[Process], key_of: Callable[[Process], str]) -> dict[str, list[Process]]:
    """The keys that there are, each with those that it is of."""
    groups: dict[str, list[Process]] = {}
    for process in processes:
        if key := key_of(process):
            groups.setdefault(key, []).append(process)
    return groups


def names_of(processes: Sequence[Process]) -> str:
    """One of each name, with the first numbers."""
    said = []
    for name, members in grouped(processes, lambda process: process.name).items():
        numbers = ", ".join(str(each.pid) for each in members[:MOST_NAMED]) + ", ..." * (len(members) > MOST_NAMED)
        said.append(f"{name}, PID{'s'[: len(members) - 1]} {numbers}")
    return "; ".join(said[:MOST_NAMED]) + ("; ..." if len(said) > MOST_NAMED else "")


def sources(processes: Sequence[Process]) -> str:
    return ", ".join(sorted({process.seeds_from for process in processes if process.seeds_from}))


def advice(process: Process) -> str:
    """What to type, or to do."""
    is_command = process.cure.startswith(("systemctl ", "drng-", "runuser "))
    return f"use `{process.cure}`" if is_command else process.cure


def summary(processes: Sequence[Process], seeds: str = "seeds from ") -> str:
    """Who serves, in one line; the worst first."""
    members = counted(processes)
    if not members:
        return "no libcrypto in any process now" if processes else "stopped"
    idle = [process for process in members if process.idle and process.served_by != verdict.NOBODY]
    if len(idle) == len(members):
        return f"idle: no request yet in {len(idle)} of {len(members)} processes"
    for by in reversed(SERVERS):
        if found := [process for process in members if process.served_by == by and process not in idle]:
            more = f", {len(idle)} of them idle" if idle and by == verdict.DRNG else ""
            behind = f", {seeds}{sources(found)}" if by == verdict.DRNG else ""
            count = len(found) + (len(idle) if more else 0)
            return f"{SERVERS[by][1]} {count} of {len(members)} processes{behind}{more}"
    return ""


def lines(processes: Sequence[Process]) -> list[str]:
    """The summary, and for each reason whom it is of, and what to do."""
    members = counted(processes)
    served = [process for process in members if process.served_by == verdict.DRNG]
    found = [summary(processes)]
    if 0 < len(served) < len(members):
        found = [f"drng serves {len(served)} of {len(members)} processes, seeds from {sources(served)}"]
    for why, of_one in grouped(processes, lambda process: process.why).items():
        count = f"{len(of_one)} process{'es' if len(of_one) > 1 else ''}"
        found += [f"{count} ({names_of(of_one)}): {why}", *filter(None, [advice(of_one[0])])]
    return found


def is_served(processes: Sequence[Process]) -> bool:
    """Whether drng serves every process that has libcrypto, or will serve it."""
    return all(each.served_by in (verdict.DRNG, verdict.NONE) and not each.reason for each in counted(processes))


def remarks(process: Process) -> list[str]:
    """What the numbers do not say, each of it in a sentence."""
    said = ["; ".join(filter(None, (process.why, advice(process))))]
    if process.restart and process.reason != "started-before":
        said.append(RESTART[process.restart])
    if process.counters:
        said += [f"{WORDS} serves, by configuration"] if process.words_alone else []
        said += [*facts.last_results(process.counters), process.counters["disabled-reason"]]
        said += facts.warnings(process.counters)
    return list(dict.fromkeys(filter(None, said)))


# ---- Units ----


@dataclass(frozen=True)
class Group:
    """Of a unit, or of a process that was asked for and its children."""

    label: str
    processes: Sequence[Process]
    asked: bool = True

    def result(self) -> int:
        return worst([check(process) for process in counted(self.processes)])

    def note(self) -> str:
        """The first thing to know, short."""
        members = counted(self.processes)
        if not self.asked or not members:
            return "no libcrypto with drng" if not self.asked else "no libcrypto now" if self.processes else "stopped"
        for process in members:
            if process.reason not in ("", "fallback", "nothing"):
                return ": ".join(filter(None, (REASONS[process.reason][1], advice(process))))
        found = ["idle: no request yet"] if all(process.idle for process in members) else []
        return "; ".join(found + [said for process in members for said in remarks(process)][:1])

    def servers(self) -> dict[str, int]:
        members = [each for each in counted(self.processes) if each.served_by != verdict.NONE]
        return {by: len(found) for by, found in grouped(members, lambda each: each.served_by).items()}

    def table_line(self) -> tuple[str, ...]:
        members, servers = counted(self.processes), self.servers() if self.asked else {}
        by = "-".join(servers) if len(servers) < 2 else ", ".join(f"{name} {count}" for name, count in servers.items())
        requests = sum(process.counters.get("requests", 0) for process in members)
        shown = f"{requests:,}" if any(process.counters for process in members) else "-"
        count = str(len(members) or len(self.processes))
        return self.label, count, by or "-", sources(members) or "-", shown, self.note()

    def check_line(self) -> tuple[int, str]:
        """Who serves, and what decides that or should be known of it."""
        members = counted(self.processes)
        found: dict[str, list[Process]] = {}
        for process in members:
            for remark in remarks(process):
                found.setdefault(remark, []).append(process)
        said = [
            remark if len(whose) == len(members) else f"{names_of(whose)}: {remark}"
            for remark, whose in [*found.items()][:MOST_NAMED]
        ]
        said += [f"and {len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
        return self.result(), f"{self.label}: {summary(self.processes, '')}" + (f": {'; '.join(said)}" if said else "")

    def as_json(self) -> dict[str, Any]:
        return {
            "unit": self.label,
            "processes": len(counted(self.processes)),
            "served-by": self.servers(),
            "status": self.result(),
            "note": self.note(),
            "pids": [process.pid for process in self.processes],
        }


def by_unit(processes: Sequence[Process]) -> list[Group]:
    """Of everybody's processes; those for which nobody has named drng are left out where others are of the unit."""
    groups = []
    for unit, members in sorted(grouped(counted(processes), lambda each: each.unit).items()):
        concerned = [each for each in members if each.reason != "not-named" and (each.counters or not each.idle)]
        groups.append(Group(short(unit), concerned or members, asked=bool(concerned)))
    return groups


def process_json(process: Process) -> dict[str, Any]:
    return {
        "pid": process.pid,
        "name": process.name,
        "unit": process.unit,
        "owner": process.owner,
        "uses": process.uses,
        "served-by": process.served_by,
        "state": state_of(process),
        "reason": process.reason,
        "cure": process.cure,
        "restart": process.restart,
        "message": "; ".join([*remarks(process), *(["no request yet"] if process.idle else [])]),
        "libcryptos": [library.as_json() for library in process.look.libraries],
        **process.counters,
    }


def process_rows(process: Process) -> list[Row]:
    """Without what the message says in words."""
    rows = fact_rows(process_json(process), "reason", "cure", "restart", "begun", "disabled-reason", "libcryptos")
    return rows + [("libcryptos", f"{each}{'' if each.used else ', not used'}") for each in process.look.libraries]


def print_groups(groups: Sequence[Group], *, reasons_too: bool) -> None:
    """A line a unit, and the reasons of those that were asked for."""
    print_table([COLUMNS, *(group.table_line() for group in groups)])
    for group in groups if reasons_too else ():
        for line in lines(group.processes)[1:]:
            print(f"{group.label}: {line}")


def print_processes(processes: Sequence[Process]) -> None:
    for number, process in enumerate(processes):
        if number > 0:
            print()
        print_rows(process_rows(process))


# ---- --check over all ----


def unseen(processes: Sequence[Process]) -> list[str]:
    """Those that could not be looked at, with the reasons, of which there may be one for each user."""
    hidden = [process for process in processes if process.look.problem]
    said = [
        f"not looked at: {len(members)} process{'es'[: 2 * len(members) - 2]} ({names_of(members)}): {reason}"
        for reason, members in grouped(hidden, lambda process: process.look.problem).items()
    ]
    return said[:MOST_NAMED] + ([f"and {len(said) - MOST_NAMED} more reasons"] if len(said) > MOST_NAMED else [])


def check_all(processes: Sequence[Process]) -> list[tuple[int, str]]:
    """
    Of everybody's processes: a line for each unit that is not well, and one for the others. Processes that cannot be
    looked at need not have anything to do with drng, so they decide nothing, unless there are no others, or they were
    not even tried.
    """
    hidden = [process for process in processes if process.look.problem]
    groups = [group for group in by_unit([each for each in processes if not each.look.problem]) if group.asked]
    found = [group.check_line() for group in groups if group.result() != GOOD]
    if good := [group for group in groups if group.result() == GOOD]:
        who = "all other processes" if found else "all processes"
        served = summary([process for group in good for process in group.processes], "")
        found.append((GOOD, f"{who}: {served} in {len(good)} units"))
    if not groups:
        found.append((CANNOT_TELL if hidden or os.geteuid() != 0 else CRITICAL, "all processes: none uses drng"))
    if hidden:
        missed = sum(process.look.missed for process in hidden)
        tried = f", {missed} of them not tried" if missed else ""
        found.append((CANNOT_TELL if missed else GOOD, f"not looked at: {len(hidden)} processes{tried}"))
    return found
