# SPDX-License-Identifier: Apache-2.0
"""How things are shown: a line a unit, rows a process, JSON, and the line that monitoring reads."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..instructions import INSTRUCTIONS, NO_VERDICT, WORDS
from ..terminal import GREEN, RED, YELLOW, Row, print_rows, print_table
from . import reasons, states
from .reasons import counted, grouped, names_of, short, summary
from .states import REBOOT, RESTART, Process
from .stats import LIMITED

COLUMNS = ("unit", "processes", "served by", "seeds from", "requests", "note")

SERVERS = {states.DRNG: GREEN, states.FALLBACK: YELLOW, states.OPENSSL: RED, states.NOBODY: RED}
OF_STATES = {
    **dict.fromkeys((states.SERVED,), GREEN),
    **dict.fromkeys((states.IN_FALLBACK, states.NEEDS_RESTART, states.AT_REBOOT), YELLOW),
    **dict.fromkeys((states.FAILED, states.WITHOUT), RED),
}
BAD = {("rand-bytes", "fails"), ("drng", "not loaded"), ("status", "failed")}


def colour_of(key: str, value: str) -> str | None:
    """Of a row, or of a cell in a column of that name."""
    if key in ("served-by", "served by"):
        return SERVERS.get(value.strip(), RED if states.OPENSSL in value else None)
    if key == "active-source":
        return GREEN if value in INSTRUCTIONS else YELLOW if value == "fallback" else RED
    if key == "state":
        return OF_STATES.get(value)
    if key in ("config-problem", "errors", "override") or (key, value) in BAD:
        return RED
    if key.endswith("-failures"):
        return RED if value.strip("0-") else None
    return YELLOW if key == "memory" and value == LIMITED else None


# ---- Values ----

# By how much two clocks may differ, and the last second that has a date of four digits in every time zone.
LATER, LAST_DATE = 60, 253402214400


def moment(seconds: int) -> str:
    if seconds == 0:
        return "never"
    if seconds > LAST_DATE:
        return f"{seconds} s after 1970, which is no date"
    age = max(0, int(time.time()) - seconds)
    unit, length = next(((u, n) for u, n in (("d", 86400), ("h", 3600), ("min", 60)) if age >= 2 * n), ("s", 1))
    ago = "in the future" if seconds > time.time() + LATER else f"{age // length} {unit} ago"
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(seconds))} ({ago})"


def yes(value: bool | None) -> str:
    return "unknown" if value is None else "yes" if value else "no"


def fact_rows(facts: dict[str, Any], *hidden: str) -> list[Row]:
    """What JSON has of a process or of drng, by the same keys; a reason stands behind what it is of."""
    rows = []
    for key, value in facts.items():
        if key in (*hidden, "clone-reason") or value == "":
            continue
        if key == "clone-protection" and facts.get("clone-reason"):
            rows.append((key, f"{value}: {facts['clone-reason']}"))
        elif key in ("loaded", "last-self-test", "last-seed"):
            rows.append((key, moment(value)))
        else:
            rows.append((key, yes(value) if key in ("virtual-machine", "idle") else str(value)))
    return rows


# ---- Processes ----


@dataclass
class Group:
    """Of a unit, or of a process that was asked for and its children."""

    label: str
    processes: list[Process]
    asked: bool = True

    def result(self) -> int:
        members = counted(self.processes)
        if not members:
            return states.CRITICAL
        warned = any(states.warnings(p.counters) or p.restart not in ("", REBOOT) for p in members)
        return states.worst([*map(states.check, members), states.WARNING if warned else states.GOOD])


def by_unit(processes: Sequence[Process]) -> list[Group]:
    """Of everybody's processes; those for which nobody has named drng are left out where others are of the unit."""
    groups = []
    for unit, members in sorted(grouped(processes, lambda p: p.unit).items()):
        concerned = [process for process in members if process.reason != "not-named" and counted([process])]
        groups.append(Group(short(unit), concerned or members, asked=bool(concerned)))
    return groups


def remarks(process: Process) -> list[str]:
    """What the numbers do not say, each of it in a sentence."""
    said = ["; ".join(filter(None, (process.why or process.message, reasons.advice(process))))]
    if process.restart and process.reason != "started-before":
        said.append(RESTART[process.restart])
    if process.counters:
        said += [
            process.message if process.why else "",
            f"{WORDS} serves, by configuration" if process.words_alone else "",
        ]
        said += [*states.last_results(process.counters), process.counters["disabled-reason"]]
        said += states.warnings(process.counters)
        said.append(NO_VERDICT if process.no_verdict else "")
    return list(dict.fromkeys(filter(None, said)))


def note(group: Group) -> str:
    """The first thing to know, short."""
    if not group.asked:
        return "no libcrypto with drng"
    members = counted(group.processes)
    if not members:
        return "no libcrypto"
    for process in members:
        if process.reason not in ("", "fallback", "nothing"):
            return ": ".join(filter(None, (reasons.REASONS[process.reason][1], reasons.advice(process))))
    found = ["idle: no request yet"] if all(process.idle for process in members) else []
    found += [said for process in members for said in remarks(process)][:1]
    return "; ".join(found)


def table_line(group: Group) -> tuple[str, ...]:
    members = counted(group.processes)
    servers = {by: len(found) for by, found in grouped(members, lambda p: p.served_by).items()} if group.asked else {}
    by = "-".join(servers) if len(servers) < 2 else ", ".join(f"{name} {count}" for name, count in servers.items())
    requests = sum(process.counters.get("requests", 0) for process in members)
    shown = f"{requests:,}" if any(process.counters for process in members) else "-"
    count = str(len(members) or len(group.processes))
    return group.label, count, by or "-", reasons.sources(members) or "-", shown, note(group)


def process_json(process: Process) -> dict[str, Any]:
    return {
        "pid": process.pid,
        "name": process.name,
        "unit": process.unit,
        "owner": process.owner,
        "uses": process.uses,
        "served-by": process.served_by,
        "state": states.state_of(process),
        "reason": process.reason,
        "cure": process.cure,
        "restart": process.restart,
        "message": "; ".join([*remarks(process), *(["no request yet"] if process.idle else [])]),
        **process.counters,
    }


def group_json(group: Group) -> dict[str, Any]:
    members = counted(group.processes)
    return {
        "unit": group.label,
        "processes": len(members),
        "served-by": {by: len(found) for by, found in grouped(members, lambda p: p.served_by).items()},
        "status": group.result(),
        "note": note(group),
        "pids": [process.pid for process in group.processes],
    }


def process_rows(process: Process) -> list[Row]:
    """Without what the message says in words."""
    return fact_rows(process_json(process), "reason", "cure", "restart", "begun", "disabled-reason")


def print_groups(groups: Sequence[Group], *, reasons_too: bool) -> None:
    """A line a unit, and the reasons of those that were asked for."""
    print_table([COLUMNS, *map(table_line, groups)], colour_of)
    for group in groups if reasons_too else ():
        for line in reasons.lines(group.processes)[1:]:
            print(f"{group.label}: {line}")


def print_processes(processes: Sequence[Process]) -> None:
    for number, process in enumerate(processes):
        if number > 0:
            print()
        print_rows(process_rows(process), colour_of)


# ---- --check ----


def check_line(group: Group) -> tuple[int, str]:
    """Who serves, and what decides that or should be known of it."""
    members, result = counted(group.processes), group.result()
    if not members:
        return result, f"{group.label}: no libcrypto in {names_of(group.processes)}"
    found: dict[str, list[Process]] = {}
    for process in members:
        for remark in remarks(process):
            found.setdefault(remark, []).append(process)
    said = [
        remark if len(whose) == len(members) else f"{names_of(whose)}: {remark}"
        for remark, whose in [*found.items()][: reasons.MOST_NAMED]
    ]
    more = f"; and {len(found) - reasons.MOST_NAMED} more" if len(found) > reasons.MOST_NAMED else ""
    return result, f"{group.label}: {summary(members, '')}" + (f": {'; '.join(said)}{more}" if said else "")


def unseen(processes: Sequence[Process]) -> list[str]:
    """Those that could not be looked at, with the reasons, of which there may be one for each user."""
    hidden = [process for process in processes if process.hidden]
    said = [
        f"not looked at: {len(members)} process{'es'[: 2 * len(members) - 2]} ({names_of(members)}): {reason}"
        for reason, members in grouped(hidden, lambda process: process.message).items()
    ]
    most = reasons.MOST_NAMED
    return said[:most] + ([f"and {len(said) - most} more reasons"] if len(said) > most else [])


def check_all(processes: Sequence[Process]) -> list[tuple[int, str]]:
    """
    Of everybody's processes: a line for each unit that is not well, and one for the others. Processes that cannot be
    looked at need not have anything to do with drng, so they decide nothing, unless there are no others, or they were
    not even tried.
    """
    hidden = [process for process in processes if process.hidden]
    groups = [group for group in by_unit([process for process in processes if not process.hidden]) if group.asked]
    lines = [check_line(group) for group in groups if group.result() != states.GOOD]
    if good := [group for group in groups if group.result() == states.GOOD]:
        who = "all other processes" if lines else "all processes"
        served = summary([process for group in good for process in group.processes], "")
        lines.append((states.GOOD, f"{who}: {served} in {len(good)} units"))
    if not groups:
        lines.append((states.CANNOT_TELL if hidden else states.CRITICAL, "all processes: none uses drng"))
    if hidden:
        missed = sum(process.missed for process in hidden)
        tried = f", {missed} of them not tried" if missed else ""
        lines.append((states.CANNOT_TELL if missed else states.GOOD, f"not looked at: {len(hidden)} processes{tried}"))
    return lines
