# SPDX-License-Identifier: Apache-2.0
"""Who serves in each of some processes: each is looked at in a child, and some things are told by the others alone, by
systemd, or by openssl.cnf. drng-enable asks of_unit() and of_processes(), and prints lines()."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import zlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from .. import aside, procfs, systemd
from ..conf.probe import default_file
from ..procfs import TargetError, UnreadableError
from ..terminal import Failure
from ..text import printable
from . import services, verdict
from .libraries import Known, Library
from .look import Identity, Look, Module, identify, inspect
from .output import is_served, lines
from .services import Configuration
from .sources import Source, Sources
from .verdict import REBOOT, USES_DRNG, USES_LIBCRYPTO, Process, judge

__all__ = ["Process", "is_served", "lines", "of_processes", "of_unit"]

# What a child calls itself while it looks at somebody's process, for ps and for later runs: 15 characters.
LOOKS = re.compile(r"look (-?[0-9]{1,10})")
PR_SET_NAME = 15

# For what a process has made to be looked at: its mappings and its environment.
ROOM = 1 << 30

HAPROXY = "haproxy"


# ---- Looking ----


def payer(pid: int) -> int:
    """For whom the time to look is divided, and who is given up if it cannot be looked at: the account that has started
    it, which neither a program with the set-user-ID bit nor a container changes; of root's processes the unit, if they
    are of one."""
    with contextlib.suppress(OSError, TargetError, UnreadableError), procfs.process(pid) as entry:
        user, unit = procfs.account_of(procfs.users_of(entry)[0]), systemd.of_cgroup(procfs.read_entry(entry, "cgroup"))
        return user or -(zlib.crc32(unit.encode()) % 10**8 + 10**8 if unit != systemd.NONE else pid)
    return -pid


def _missed(pid: int, failure: aside.Missed) -> Look | None:
    """What its user cannot keep anybody from reading, and why there is no more; None where it has ended."""
    missed = failure.reason in (aside.OUT_OF_TIME, aside.GIVEN_UP, aside.UNENDED)
    why = printable(failure.reason if missed else f"it cannot be looked at: {failure.reason}")
    try:
        with procfs.process(pid) as entry:
            return Look(identify(pid, entry), why, missed)
    except TargetError:
        return None


def look_of(answer: dict[str, Any]) -> Look:
    module = Module(**answer.pop("module")) if answer["module"] else answer.pop("module")
    libraries = tuple(Library(**library) for library in answer.pop("libraries"))
    return Look(Identity(**answer.pop("who")), libraries=libraries, module=module, **answer)


def look_at_each(pids: Sequence[int]) -> list[Look]:
    """Those of them that are there; in other processes, since looking may hang: see aside.py."""
    known: Known = {}

    def work(pid: int) -> Any:
        ctypes.CDLL(None).prctl(PR_SET_NAME, f"look {payer(pid)}".encode())
        try:
            return asdict(inspect(pid, known))
        except TargetError:
            return None

    found: dict[int, Look | None] = {}
    before = [int(user) for user in procfs.unended(LOOKS)]
    for pid, answer in aside.each(pids, work, altogether=aside.ALTOGETHER, owner_of=payer, room=ROOM, unended=before):
        failed = isinstance(answer, aside.Missed)
        found[pid] = _missed(pid, answer) if failed else look_of(answer) if answer else None
    return [look for pid in pids if (look := found[pid]) is not None]


# ---- Judging ----


def _first_of(look: Look, others: dict[int, Look]) -> Look:
    """The one that was started of a program, of which this is, or is a forked child."""
    seen: set[int] = set()
    while look.who.pid not in seen:
        seen.add(look.who.pid)
        parent = others.get(look.parent)
        if parent is not None and look.program and parent.program == look.program:
            look = parent
    return look


def _judged(look: Look, first: Look, now: Configuration, sources: Sources) -> Process | None:
    """By the openssl.cnf that it would read now; None where it has ended."""
    # Who writes titles over its environment hides what the one that was started still shows.
    look = look if look.variables is not None else replace(look, variables=first.variables)
    setting, counters = now.units.get(look.who.unit), look.module.counters if look.module else {}
    own, given = (look.variables or {}).get("OPENSSL_CONF", ""), setting.path if setting else ""
    # One that has drng has read what it was started with; another is told of what it would read.
    path = "" if look.is_secure else (own or given) if counters else (given or own)
    served = bool(counters) and counters["requests"] > 0 and not verdict.is_seeded_by_others(counters)
    asks = not served and (counters or any(library.used for library in look.libraries))
    try:
        source = sources.of(look, path or now.default) if asks else Source()
    except OSError:
        return None
    process = judge(look, setting, source, procfs.started_at(first.who.ticks) if first.who.ticks else 0.0)
    unit = look.who.unit
    if process.restart and (look.who.pid == 1 or unit in now.fixed or systemd.waits_for_reboot(unit)):
        return replace(process, restart=REBOOT, cure="needs a reboot")
    return process


def _without_masters(found: list[Process]) -> list[Process]:
    """HAProxy's master, where HAProxy's configuration and not openssl.cnf loads drng, serves nobody, and the workers
    that do have drng: it is idle. One with an openssl.cnf of its own is to have drng by that, and is not excused."""

    def excused(process: Process) -> bool:
        look = process.look
        if process.uses != USES_LIBCRYPTO or look.program_name != HAPROXY or (look.variables or {}).get("OPENSSL_CONF"):
            return False
        workers = [each for each in found if each.look.parent == process.pid and each.look.program == look.program]
        return bool(workers) and all(worker.uses == USES_DRNG for worker in workers)

    idle = {"served_by": verdict.NONE, "idle": True, "reason": "", "why": "", "cure": "", "restart": ""}
    return [replace(process, **idle) if excused(process) else process for process in found]  # type: ignore[arg-type]


def those(pids: Sequence[int], now: Configuration) -> list[Process]:
    """Those of them that are there."""
    looks, sources = look_at_each(pids), Sources()
    others = {look.who.pid: look for look in looks}
    judged = (_judged(look, _first_of(look, others), now, sources) for look in looks)
    return _without_masters([process for process in judged if process is not None])


def now() -> Configuration:
    try:
        path = default_file(own=False)
    except Failure:
        path = ""  # nobody can tell
    return services.configuration(path)


def family(pid: int, known: Configuration) -> list[Process]:
    """The process, which must be there, and those of its descendants that have libcrypto."""
    with procfs.process(pid):
        found = those(procfs.family(pid), known)
    if not found or found[0].pid != pid:
        raise TargetError(f"process {pid} has ended")
    return found


def everybody(known: Configuration) -> list[Process]:
    return those([pid for pid in procfs.numbers() if pid != os.getpid()], known)


def of_processes(pids: Sequence[int]) -> list[Process]:
    """Those of them that are there."""
    return those(pids, now())


def of_unit(unit: str) -> list[Process]:
    """None where it does not run."""
    return of_processes(services.members_of(unit))
