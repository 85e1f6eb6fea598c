# SPDX-License-Identifier: Apache-2.0
"""If drng does not serve a process, which of the known reasons holds, and what mends it; and what to say of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import systemd
from ..instructions import WORDS
from . import states
from .config import Answer
from .services import Setting
from .states import Process

WITH_PATH = "give the whole path of drng.so as `module =` in openssl.cnf"

# For each reason what is said of a process ("it"), short for a table, and the cure, into which the unit's name is put.
REASONS = {
    "started-before": ("it started before openssl.cnf named drng", "not restarted since", "systemctl restart {unit}"),
    "at-secure": (
        "it runs with another user's rights or with capabilities (AT_SECURE), so libcrypto ignores OPENSSL_CONF",
        *("AT_SECURE", "drng-enable on --system"),
    ),
    "no-variable": ("the unit sets OPENSSL_CONF, but the process does not have it", "OPENSSL_CONF is not in it", ""),
    "own-libcrypto": ("its own libcrypto finds no module", "a libcrypto of its own", WITH_PATH),
    "static-libcrypto": ("libcrypto is linked into it, and finds no module", "libcrypto is linked into it", WITH_PATH),
    "own-context": (
        "it has read no openssl.cnf yet, or reads none (OPENSSL_INIT_NO_LOAD_CONFIG), or draws in a context of its own",
        *("reads no openssl.cnf", ""),
    ),
    "architecture": ("it is a program of another architecture", "another architecture", "install drng for that, too"),
    "not-readable": ("it cannot read its openssl.cnf", "openssl.cnf cannot be read", ""),
    "module": ("drng did not load", "drng did not load", "drng-conf {file}"),
    "not-named": ("no openssl.cnf that it reads names drng", "no openssl.cnf names drng", "drng-enable on {unit}"),
    "not-asked": ("openssl.cnf names no generator of drng's", "no generator of drng's", "drng-conf {file}"),
    "fallback": ("the fallback serves", "the fallback serves", ""),
    "nothing": ("drng has no source of seeds", "no source of seeds", ""),
    "unknown": ("it cannot be looked at", "not known", ""),
}

# What starts its programs with the variables alone that a file of its own names.
IMPORTS = {
    "postgresql": "put OPENSSL_CONF into the cluster's file `environment`",
    "postfix": "add OPENSSL_CONF to import_environment in main.cf",
    "dovecot": "add OPENSSL_CONF to import_environment in dovecot.conf",
}
SCRIPT = "its start script or its program clears the environment: set OPENSSL_CONF there, or `drng-enable on --system`"

# Has libcrypto linked into it as a rule, and asks openssl.cnf for a section of its own.
NODE = "node"
NODE_READS = "libcrypto is linked into it; Node.js reads what openssl_conf names with --openssl-shared-config only"

MOST_NAMED = 5

OF_OTHERS = "drng's generators serve, with seeds that are not drng's"


def short(unit: str) -> str:
    return unit.removesuffix(".service")


# ---- The reason ----


def give(process: Process, reason: str, file: str = "", why: str = "", cure: str = "") -> None:
    said, _, todo = REASONS[reason]
    process.reason, process.why = reason, why or said
    process.cure = cure or todo.format(unit=short(process.unit), file=file)
    if process.unit == systemd.NONE and "{unit}" in todo:
        process.cure = "restart it" if reason == "started-before" else "drng-enable on --system"


def explain(process: Process, setting: Setting | None, path: str, answer: Answer, started: float) -> None:
    """Of a process that has libcrypto without drng: the first that holds. `path` is what it would read now."""
    named = bool(setting or (process.variables or {}).get("OPENSSL_CONF"))
    changed = max(answer.changed, setting.changed if setting and not process.secure else 0.0)
    known = next((name for name in IMPORTS if process.unit.startswith(name) or process.program_name == name), "")
    # Who writes titles over the environment hides whether the variable was there.
    dropped = not process.variables["OPENSSL_CONF"] if process.variables is not None else bool(known)
    dropped = dropped and setting is not None
    late = 0 < started < changed
    if process.reason == "module":
        give(process, "module", path, process.message)
    elif process.is_foreign:
        give(process, "architecture")
    elif not answer.known:
        give(process, "unknown", why=f"why drng does not serve it is not known: {path}: {answer.failure}")
    elif process.secure and named and not answer.names_drng:
        give(process, "at-secure")
    elif answer.problem and not (answer.names_drng and late):
        give(process, "not-readable", why=f"{'OPENSSL_CONF names' if named else 'it reads'} {answer.problem}")
    elif not answer.names_drng:
        give(process, "not-named")
    elif late:
        give(process, "started-before")
        process.restart = process.restart or states.CONFIGURATION
    elif dropped and not process.secure:
        give(process, "no-variable", cure=IMPORTS.get(known, SCRIPT))
    elif process.is_static and process.program_name == NODE:
        give(process, "static-libcrypto", why=NODE_READS, cure="start it with --openssl-shared-config")
    elif process.is_static or process.own_libcrypto:
        own = f"its own libcrypto, {process.own_libcrypto}, finds no module"
        give(process, "static-libcrypto") if process.is_static else give(process, "own-libcrypto", why=own)
        process.fails = answer.is_strict and named
    elif answer.module:
        cure = "install openssl-provider-drng, or chmod a+rX"
        give(process, "module", path, f"drng did not load: {answer.module}", cure)
        process.fails = answer.is_strict
    else:
        give(process, "own-context")


def judge(process: Process, path: str, answer: Answer, started: float = 0.0) -> None:
    """Of a process that has drng: what its openssl.cnf adds to the counters, and why another source serves. A file that
    has changed since the process started tells nothing of what it has read."""
    if states.is_seeded_by_others(process.counters):
        process.words_alone = answer.generator.upper() == WORDS
        if WORDS and process.words_alone:
            process.counters["active-source"] = WORDS.lower()
    said = str(process.counters["disabled-reason"])
    # Where a title hides its variables, it has drng from another file than one that does not name drng.
    concerns = (answer.names_drng or bool(process.variables)) and not 0 < started < answer.changed
    if process.served_by == states.FALLBACK and not process.idle:
        give(process, "fallback", why=OF_OTHERS if states.is_seeded_by_others(process.counters) else said)
    elif process.served_by == states.NOBODY:
        give(process, "nothing", why=said)
    elif process.idle and answer.known and not answer.asks_drng and concerns:
        give(process, "not-asked", path)


# ---- What is said of several ----


def advice(process: Process) -> str:
    """What to type, or to do."""
    is_command = process.cure.startswith(("systemctl ", "drng-"))
    return f"use `{process.cure}`" if is_command else process.cure


def names_of(processes: Sequence[Process]) -> str:
    """One of each name, with the first numbers."""
    by_name: dict[str, list[str]] = {}
    for process in processes:
        by_name.setdefault(process.name, []).append(str(process.pid))
    said = [
        f"{name}, PID{'s'[: len(pids) - 1]} {', '.join(pids[:MOST_NAMED])}{', ...' if len(pids) > MOST_NAMED else ''}"
        for name, pids in by_name.items()
    ]
    return "; ".join(said[:MOST_NAMED]) + ("; ..." if len(said) > MOST_NAMED else "")


def grouped(processes: Sequence[Process], key_of: Callable[[Process], str]) -> dict[str, list[Process]]:
    """The keys that there are, each with those that it is of."""
    groups: dict[str, list[Process]] = {}
    for process in processes:
        if key := key_of(process):
            groups.setdefault(key, []).append(process)
    return groups


def counted(processes: Sequence[Process]) -> list[Process]:
    """Those that have libcrypto, or of which that cannot be told."""
    return [process for process in processes if process.served_by != states.NONE]


def sources(processes: Sequence[Process]) -> str:
    return ", ".join(sorted({process.seeds_from for process in processes if process.seeds_from}))


def summary(processes: Sequence[Process], seeds: str = "seeds from ") -> str:
    """Who serves, in one line; the worst first."""
    members = counted(processes)
    if not members:
        return "no libcrypto in any process, so nothing draws from OpenSSL"
    idle = [process for process in members if process.idle and process.served_by != states.NOBODY]
    if len(idle) == len(members):
        return f"idle: no request yet, drng is loaded in {len(idle)} of {len(members)} processes"
    words = {
        states.OPENSSL: "OpenSSL serves",
        states.NOBODY: "nothing serves",
        states.NOT_KNOWN: "not known who serves",
        states.FALLBACK: "the fallback serves",
        states.DRNG: "drng serves",
    }
    for by, said in words.items():
        found = [process for process in members if process.served_by == by and process not in idle]
        if found:
            count = len(found) + (len(idle) if by == states.DRNG else 0)
            more = f", {len(idle)} of them idle" if idle and by == states.DRNG else ""
            behind = f", {seeds}{sources(found)}" if by == states.DRNG else ""
            return f"{said} {count} of {len(members)} processes{behind}{more}"
    return "no libcrypto"


def lines(processes: Sequence[Process]) -> list[str]:
    """The summary, and for each reason whom it is of, and what to do."""
    served = [process for process in counted(processes) if process.served_by == states.DRNG]
    found = [summary(processes)]
    if 0 < len(served) < len(counted(processes)):
        found = [f"drng serves {len(served)} of {len(counted(processes))} processes, seeds from {sources(served)}"]
    for why, members in grouped(processes, lambda process: process.why).items():
        count = f"{len(members)} process{'es' if len(members) > 1 else ''}"
        found.append(f"{count} ({names_of(members)}): {why}")
        found += filter(None, [advice(members[0])])
    return found


def is_served(processes: Sequence[Process]) -> bool:
    """Whether drng serves every process that has libcrypto, or will serve it."""
    return all(each.served_by == states.DRNG and not each.reason for each in counted(processes))
