# SPDX-License-Identifier: Apache-2.0
"""Who serves in each of some processes: each is looked at in a child, and some things are told by the others alone, by
systemd, or by openssl.cnf. drng-enable asks of_processes(), and prints lines() or process_json()."""

from __future__ import annotations

import contextlib
import ctypes
import zlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from .. import aside, procfs, systemd
from ..conf.probe import default_file
from ..procfs import TargetError
from ..terminal import Failure, printable
from . import services, verdict
from .libraries import Known, Library
from .look import Look, identify, inspect
from .output import grouped, is_served, lines, process_json
from .services import Setting
from .sources import Source, source_of
from .states import counted
from .verdict import REBOOT, Process, judge

__all__ = ["Process", "counted", "grouped", "is_served", "lines", "of_processes", "process_json"]

# For what a process has made to be looked at, its mappings and its environment: they are as long as it likes. Half of
# what the collector has (MemoryMax=): beyond that the kernel would end all of it.
ROOM = 1 << 28

PR_SET_NAME = 15
UNENDED = "an earlier look at a process of its unit or user has not ended"


def identified(pid: int) -> Look | None:
    """None where it has ended."""
    with contextlib.suppress(TargetError), procfs.process(pid) as entry:
        return identify(pid, entry)
    return None


def child_for(whose: str) -> str:
    """What a child that looks at a process of theirs is called: what a unit is called is too long for that."""
    return f"look {zlib.crc32(whose.encode()):08x}"


def unended() -> set[str]:
    """The names of children that earlier runs in this control group, as the collector's, have left behind: each waits
    where no signal ends it, and one more for each run would come to all that may be there."""
    found = set()
    with contextlib.suppress(*procfs.ERRORS):
        own = (procfs.PROC / "self" / "cgroup").read_bytes()
        for pid in procfs.numbers():
            with contextlib.suppress(*procfs.ERRORS), procfs.process(pid) as entry:
                if procfs.stat_of(entry).state == "D" and procfs.read_entry(entry, "cgroup") == own:
                    found.add(procfs.name_of(entry))
    return found


def process_of(answer: dict[str, Any]) -> Process:
    return Process(**{**answer, "libraries": tuple(Library(**library) for library in answer["libraries"])})


def read_by(look: Look, setting: Setting | None, default: str) -> Source:
    """The openssl.cnf that it would read now, where it must be known."""
    counters, given = look.counters, setting.path if setting else ""
    own = look.conf or ""
    # One that has drng has read what it was started with; another is told of what it would read.
    path = ("" if look.is_secure else (own or given) if counters else (given or own)) or default
    served = bool(counters) and counters["requests"] > 0 and not verdict.is_seeded_by_others(counters)
    asks = not served and (counters or any(library.used for library in look.libraries))
    text = setting.text if setting and path == setting.path else None
    return source_of(look, path, text) if asks and path else Source()


def judged(look: Look, setting: Setting | None = None, source: Source | None = None) -> Process:
    process = judge(look, setting, source or Source(), procfs.started_at(look.ticks) if look.ticks else 0.0)
    waits = process.restart and (look.pid == 1 or systemd.waits_for_reboot(look.unit))
    return replace(process, restart=REBOOT, cure="needs a reboot") if waits else process


def of_processes(pids: Sequence[int]) -> list[Process]:
    """Those of them that are there; each is looked at in another process, since that may hang: see aside.py."""
    known: Known = {}
    settings, left = services.settings(), unended()
    first = {pid: who for pid in dict.fromkeys(pids) if (who := identified(pid))}
    try:
        default = default_file(own=False)
    except Failure:
        default = ""  # nobody can tell

    def work(pid: int) -> Any:
        ctypes.CDLL(None).prctl(PR_SET_NAME, child_for(first[pid].payer).encode())
        with contextlib.suppress(TargetError, FileNotFoundError, ProcessLookupError):
            look = inspect(pid, known)
            setting = settings.get(look.unit)
            return asdict(judged(look, setting, read_by(look, setting, default)))
        return None

    held = {pid for pid, who in first.items() if child_for(who.payer) in left}
    found = {pid: judged(replace(first[pid], problem=UNENDED, missed=True)) for pid in held}
    payers = {pid: who.payer for pid, who in first.items() if pid not in held}
    for pid, answer in aside.each([*payers], work, altogether=aside.ALTOGETHER, unit_of=payers.__getitem__, room=ROOM):
        if not isinstance(answer, aside.Missed):
            found |= {pid: process_of(answer)} if answer else {}
        elif identified(pid):
            why = printable(f"it cannot be looked at: {answer.reason}")
            found[pid] = judged(replace(first[pid], problem=why, missed=answer.reason == aside.OUT_OF_TIME))
    return [found[pid] for pid in first if pid in found]
