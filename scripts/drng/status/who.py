# SPDX-License-Identifier: Apache-2.0
"""Who serves in each of some processes: each is looked at in a child, and some things are told by the others alone, or
by openssl.cnf. drng-enable asks of_unit() and of_processes(), and prints lines()."""

from __future__ import annotations

import contextlib
import ctypes
import re
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any

from .. import aside, procfs, systemd
from ..procfs import HiddenError, TargetError, UnreadableError
from ..text import printable
from . import config, environment, look, reasons, services, states
from .reasons import REASONS, is_served, lines
from .services import NOTHING_KNOWN, Configuration
from .states import REBOOT, SUPERVISES, UNKNOWN, USES_DRNG, USES_LIBCRYPTO, USES_NEITHER, Process

HAPROXY = "haproxy"

__all__ = ["REASONS", "Served", "is_served", "lines", "of_processes", "of_unit"]


@dataclass(frozen=True)
class Served:
    """Who serves one process, and if it is not drng, why, and what mends it."""

    pid: int
    name: str
    unit: str
    owner: str
    served_by: str
    seeds_from: str
    idle: bool
    reason: str
    why: str
    cure: str


# What a child calls itself while it looks at a user's process, for ps and for later runs: 15 characters.
LOOKS = re.compile(r"look (-?[0-9]{1,10})")
PR_SET_NAME = 15

# For what a process has made to be looked at: its mappings and its environment.
ROOM = 1 << 30


def payer(pid: int) -> int:
    """Who is given up if it cannot be looked at: the user who has started it, which not even a program with the
    set-user-ID bit changes. Of root's processes each is its own."""
    with contextlib.suppress(OSError, TargetError, HiddenError, UnreadableError), procfs.process(pid) as entry:
        return procfs.real_user_of(entry) or -pid
    return -pid


def inspect_aside(pid: int, closely: bool) -> dict[str, Any]:
    ctypes.CDLL(None).prctl(PR_SET_NAME, f"look {payer(pid)}".encode())
    try:
        return asdict(look.inspect(pid, closely=closely))
    except TargetError as error:
        return {"ended": str(error)}


def not_looked_at(pid: int, failure: aside.Failure) -> Process | TargetError:
    """What its user cannot keep anybody from reading, its name, unit and owner, and why there is no more."""
    missed = failure.reason in (aside.OUT_OF_TIME, aside.GIVEN_UP, aside.UNENDED)
    message = printable(failure.reason if missed else f"it cannot be looked at: {failure.reason}")
    try:
        with procfs.process(pid) as entry:
            return look.identify(pid, entry, message, hidden=True, missed=missed)
    except HiddenError:
        return Process(pid, "?", UNKNOWN, message, hidden=True, missed=missed)
    except TargetError as error:
        return error


def inspect_each(pids: list[int], *, closely: bool = False) -> list[Process | TargetError]:
    """In other processes, since looking may hang; see aside.py."""
    found: dict[int, Process | TargetError] = {}
    before = [int(user) for user in procfs.unended(LOOKS)]
    work = partial(inspect_aside, closely=closely)
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
        named = (process.variables or {}).get("OPENSSL_CONF")
        if process.uses != USES_LIBCRYPTO or named or process.program_name != HAPROXY:
            continue
        workers = [other for other in found if other.parent == process.pid and other.program == process.program]
        if workers and all(worker.uses == USES_DRNG for worker in workers):
            process.uses, process.message = SUPERVISES, "it has not loaded drng, and serves nobody: its children serve"


def first_of(process: Process, others: dict[int, Process]) -> Process:
    """The one that was started of a program, of which this is, or is a forked child."""
    seen: set[int] = set()
    while process.pid not in seen:
        seen.add(process.pid)
        parent = others.get(process.parent)
        if parent is not None and process.program and parent.program == process.program:
            process = parent
    return process


def explain(found: list[Process], now: Configuration) -> None:
    """Why drng does not serve those that it does not serve, by the openssl.cnf that each would read now."""
    others = {process.pid: process for process in found}
    asked: dict[int, config.Question] = {}
    for process in found:
        if process.variables is None:
            process.variables = first_of(process, others).variables
        has_drng, setting = process.uses == USES_DRNG, now.units.get(process.unit)
        served = has_drng and not process.idle and not states.is_seeded_by_others(process.counters)
        if process.uses not in (USES_DRNG, USES_LIBCRYPTO) or served:
            continue
        # One that has drng has read what it was started with; another is told of what it would read.
        own, given = (process.variables or {}).get("OPENSSL_CONF", ""), setting.path if setting else ""
        path = "" if process.secure else (own or given) if has_drng else (given or own)
        asked[process.pid] = config.question_of(process, path or now.default, by_system=path in ("", given))
    answers = config.read_each((others[pid], question) for pid, question in asked.items())
    for process in found:
        question = asked.get(process.pid)
        answer = answers.get(question, config.Answer()) if question else config.Answer()
        ticks = first_of(process, others).ticks
        started = procfs.started_at(ticks) if ticks else 0.0
        if process.uses == USES_DRNG:
            reasons.judge(process, question.path if question else "", answer, started)
        elif process.uses == UNKNOWN:
            reasons.give(process, "unknown", why=process.message)
        elif question:
            reasons.explain(process, now.units.get(process.unit), question.path, answer, started)


def mark_reboots(found: list[Process], now: Configuration) -> None:
    """Those that nobody can restart by themselves."""
    for process in found:
        fixed = process.pid == 1 or process.unit in now.fixed or systemd.waits_for_reboot(process.unit)
        if process.restart and fixed:
            process.restart, process.cure = REBOOT, "needs a reboot"


def marked(found: list[Process | TargetError], now: Configuration) -> list[Process]:
    """Those that have not ended meanwhile, with what only the others, and openssl.cnf, tell of each."""
    there = [process for process in found if isinstance(process, Process)]
    mark_supervisors(there)
    explain(there, now)
    mark_reboots(there, now)
    return there


def now() -> Configuration:
    return services.configuration(environment.default_config())


def those(pids: list[int], known: Configuration = NOTHING_KNOWN) -> list[Process]:
    """Those of them that are there."""
    return marked(inspect_each(pids, closely=True), known)


def family(pid: int, known: Configuration = NOTHING_KNOWN) -> list[Process]:
    """The process, which must be there, and those of its descendants that have libcrypto."""
    if pid <= 0:
        raise TargetError(f"there is no process {pid}")
    found = inspect_each(procfs.family(pid), closely=True)
    if isinstance(found[0], TargetError):
        raise found[0]
    first, *others = marked(found, known)
    return [first, *with_libcrypto(others)]


def with_libcrypto(found: list[Process]) -> list[Process]:
    """And those of which that cannot be told."""
    return [process for process in found if process.uses != USES_NEITHER]


def everybody(known: Configuration = NOTHING_KNOWN) -> list[Process]:
    # There is always a process 1: where /proc does not show it, it does not show others either.
    return with_libcrypto(marked(inspect_each(sorted({1, *procfs.numbers()})), known))


def of_processes(pids: list[int]) -> list[Served]:
    """Those of them that are there."""
    names = [each.name for each in fields(Served)]
    return [Served(**{name: getattr(process, name) for name in names}) for process in those(pids, now())]


def of_unit(unit: str) -> list[Served]:
    return of_processes(services.members_of(unit))
