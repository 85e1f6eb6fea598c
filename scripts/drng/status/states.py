"""What becomes of each process's requests: who serves them, and whether it should be restarted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..instructions import INSTRUCTIONS, KNOWN, WORDS
from .answers import OLDER, REBOOT, RESTART, SUPERVISES, UNKNOWN, USES_DRNG, USES_LIBCRYPTO, USES_NEITHER, Process

# Exit statuses of --check, the worst last.
HARDWARE, FALLBACK, NOT_IN_USE, CANNOT_TELL = 0, 1, 2, 3

# Of a process that has drawn nothing from drng. It decides nothing beside others; alone it is CANNOT_TELL.
IDLE = -1
WORST_LAST = (IDLE, HARDWARE, FALLBACK, CANNOT_TELL, NOT_IN_USE)

# What becomes of a process's requests. Each process is in one of them; in NEEDS_RESTART, or AT_REBOOT, if nothing worse
# is known.
SERVED, IN_FALLBACK, FAILED, NOTHING_DRAWN = "served", "fallback", "failed", "idle"
NEEDS_RESTART, AT_REBOOT, WITHOUT, NOT_KNOWN = "restart", "reboot", "without", "unknown"
STATES = (SERVED, IN_FALLBACK, FAILED, NOTHING_DRAWN, NEEDS_RESTART, AT_REBOOT, WITHOUT, NOT_KNOWN)

SERVED_NOTHING = "drng is loaded and has served nothing yet"
WORDS_ALONE = f"{WORDS} serves, by configuration"
SEEDED_BY_OTHERS = "drng's generators serve, with seeds that are not drng's"


# Of a kind, in the one line of --check: what many processes say, each with words of its own, would fill megabytes.
MOST_SAID = 5


def first_of(said: Sequence[str]) -> str:
    more = f"; and {len(said) - MOST_SAID} more" if len(said) > MOST_SAID else ""
    return "; ".join(said[:MOST_SAID]) + more


def worse(one: int, other: int) -> int:
    return max(one, other, key=WORST_LAST.index)


def instructions(counters: dict[str, Any]) -> list[str]:
    """Those that the process's drng counts."""
    return [name for name in sorted(KNOWN) if f"{name}-retries" in counters]


def seeds(counters: dict[str, Any]) -> int:
    return sum(counters[f"seeds-{source}"] for source in (*instructions(counters), "fallback"))


def has_drawn(process: Process) -> bool:
    """Whether anything was ever drawn from the drng that it has loaded; without that, nobody knows who serves it."""
    return process.counters["requests"] > 0 or seeds(process.counters) > 0


def is_seeded_by_others(counters: dict[str, Any]) -> bool:
    """Whether generators of drng's have drawn, and none has had a seed of drng's."""
    return counters["requests"] > 0 and seeds(counters) == 0


def source_status(source: str) -> int:
    return {**dict.fromkeys(INSTRUCTIONS, HARDWARE), "fallback": FALLBACK}.get(source, NOT_IN_USE)


def check_process(process: Process) -> int | None:
    """None: it has nothing to do with libcrypto, or leaves that to its children."""
    if process.uses == USES_DRNG:
        result = source_status(process.counters["active-source"])
        if result == HARDWARE and is_seeded_by_others(process.counters) and not process.words_alone:
            return FALLBACK
        return IDLE if result in (HARDWARE, FALLBACK) and not has_drawn(process) else result
    return {USES_LIBCRYPTO: NOT_IN_USE, USES_NEITHER: None, SUPERVISES: None, UNKNOWN: CANNOT_TELL}[process.uses]


def restart_text(process: Process) -> str:
    """Why it should be restarted; not twice where that is why nothing can be told."""
    said = process.uses == UNKNOWN and process.restart == OLDER
    return "" if said else RESTART.get(process.restart, "")


def state_of(process: Process) -> str:
    """One of STATES; none where it has nothing to do with libcrypto."""
    result = check_process(process)
    if process.uses == USES_DRNG and result in (NOT_IN_USE, FALLBACK):
        return FAILED if result == NOT_IN_USE else IN_FALLBACK
    if process.restart:
        return AT_REBOOT if process.restart == REBOOT else NEEDS_RESTART
    if result is None:
        return NOTHING_DRAWN if process.uses == SUPERVISES else ""
    return {HARDWARE: SERVED, IDLE: NOTHING_DRAWN, NOT_IN_USE: WITHOUT}.get(result, NOT_KNOWN)
