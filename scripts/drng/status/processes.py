"""Many processes: each is looked at in its time, and some things are told only by the others."""

from __future__ import annotations

import contextlib
import ctypes
import re
from dataclasses import asdict
from functools import partial
from typing import Any

from .. import aside, procfs
from ..procfs import HiddenError, TargetError, UnreadableError
from ..text import printable
from . import inspection
from .services import NOTHING_KNOWN, Configuration
from .states import CONFIGURATION, REBOOT, SUPERVISES, UNKNOWN, USES_DRNG, USES_LIBCRYPTO, USES_NEITHER, Process

HAPROXY = "haproxy"

# What a child calls itself while it looks at a process of a user's, for ps and for later runs: 15 characters.
LOOKS = re.compile(r"look ([0-9]{1,10}|others)")
PR_SET_NAME = 15

# For what a process has made to be looked at: its mappings, its environment and its openssl.cnf.
ROOM = 128 << 20


def payer(pid: int) -> int | None:
    """
    Whose share of the time it takes: the user who has started it, which not even a program with the set-user-ID bit
    changes. None for all users together who have no account, since one user may have thousands of such numbers.
    """
    with contextlib.suppress(OSError, TargetError, HiddenError, UnreadableError):
        with procfs.process(pid) as entry:
            uid = procfs.real_user_of(entry)
        return uid if procfs.account(uid) else None
    return None


def inspect_aside(pid: int, configured: str | None, now: Configuration) -> dict[str, Any]:
    owner = payer(pid)
    ctypes.CDLL(None).prctl(PR_SET_NAME, f"look {'others' if owner is None else owner}".encode())
    try:
        return asdict(inspection.inspect(pid, configured, now))
    except TargetError as error:
        return {"ended": str(error)}


def not_looked_at(pid: int, failure: aside.Failure) -> Process | TargetError:
    """What its user cannot keep anybody from reading, its name, unit and owner, and why there is no more."""
    missed = failure.reason in (aside.OUT_OF_TIME, aside.GIVEN_UP)
    message = printable(failure.reason if missed else f"it cannot be looked at: {failure.reason}")
    try:
        with procfs.process(pid) as entry:
            return inspection.identify(pid, entry, message, hidden=True, missed=missed)
    except HiddenError:
        return Process(pid, "?", UNKNOWN, message, hidden=True, missed=missed)
    except TargetError as error:
        return error


def inspect_each(
    pids: list[int], configured: str | None = None, now: Configuration = NOTHING_KNOWN
) -> list[Process | TargetError]:
    """In other processes, since looking may hang; see aside.py."""
    work = partial(inspect_aside, configured=configured, now=now)
    found: dict[int, Process | TargetError] = {}
    before = [None if owner == "others" else int(owner) for owner in procfs.unended(LOOKS)]
    for pid, answer in aside.each(pids, work, altogether=aside.ALTOGETHER, owner_of=payer, room=ROOM, unended=before):
        if isinstance(answer, aside.Failure):
            found[pid] = not_looked_at(pid, answer)
        else:
            found[pid] = TargetError(answer["ended"]) if "ended" in answer else Process(**answer)
    return [found[pid] for pid in pids]


def mark_supervisors(found: list[Process]) -> None:
    """
    HAProxy's master, where HAProxy's configuration and not openssl.cnf loads drng: it serves nobody, and the workers
    that do have drng. One with an openssl.cnf of its own is to have drng by that, and is not excused; nor is any other
    program, whose parent may well serve.
    """
    for process in found:
        if process.uses != USES_LIBCRYPTO or process.config != "" or process.program_name != HAPROXY:
            continue
        workers = [other for other in found if other.parent == process.pid and other.program == process.program]
        if workers and all(worker.uses == USES_DRNG for worker in workers):
            process.uses, process.message = SUPERVISES, "it has not loaded drng, and serves nobody: its children serve"


def first_ticks(process: Process, others: dict[int, Process]) -> int:
    """When the program was started that it is, or is a forked child of."""
    seen: set[int] = set()
    while process.pid not in seen:
        seen.add(process.pid)
        parent = others.get(process.parent)
        if parent is not None and process.program and parent.program == process.program:
            process = parent
    return process.ticks


def mark_restarts(found: list[Process], now: Configuration) -> None:
    """Those that would have drng if they had been started later, and those that nobody can restart by themselves."""
    fixed = {"init.scope"} | now.fixed
    others = {process.pid: process for process in found}
    for process in found:
        if process.uses == USES_LIBCRYPTO and not process.restart and process.drng_since:
            ticks = first_ticks(process, others)
            if ticks and procfs.started_at(ticks) < process.drng_since:
                process.restart = CONFIGURATION
        if process.restart and (process.pid == 1 or process.unit in fixed):
            process.restart = REBOOT


def marked(found: list[Process | TargetError], now: Configuration) -> list[Process]:
    """Those that have not ended meanwhile, with what only the others tell of each."""
    there = [process for process in found if isinstance(process, Process)]
    mark_supervisors(there)
    mark_restarts(there, now)
    return there


def inspect_all(pids: list[int], configured: str | None = None, now: Configuration = NOTHING_KNOWN) -> list[Process]:
    return marked(inspect_each(pids, configured, now), now)


def inspect_family(pid: int, now: Configuration = NOTHING_KNOWN) -> list[Process]:
    """The process, which must be there, and all its descendants."""
    if pid <= 0:
        raise TargetError(f"there is no process {pid}")
    found = inspect_each(procfs.family(pid), now=now)
    if isinstance(found[0], TargetError):
        raise found[0]
    return marked(found, now)


def with_libcrypto(found: list[Process]) -> list[Process]:
    """And those of which that cannot be told."""
    return [process for process in found if process.uses != USES_NEITHER]


def everybody(now: Configuration = NOTHING_KNOWN) -> list[Process]:
    # There is always a process 1: where /proc does not show it, it does not show others either.
    return with_libcrypto(inspect_all(sorted({1, *procfs.numbers()}), now=now))


def concerned(found: list[Process]) -> list[Process]:
    """Those that use drng, may use it, or would use it if they were restarted."""
    return [process for process in found if process.uses in (USES_DRNG, UNKNOWN) or process.restart]
