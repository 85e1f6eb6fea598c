"""What can be said of one process: who serves its requests, whether it should be restarted, and what its drng says of
copies of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import VERSION, systemd
from ..instructions import INSTRUCTIONS, KNOWN, WORDS

# What it uses.
USES_DRNG, USES_LIBCRYPTO, USES_NEITHER, UNKNOWN = "drng", "libcrypto without drng", "no libcrypto", "unknown"
SUPERVISES = "libcrypto without drng, its children use drng"
WITHOUT_DRNG = (USES_LIBCRYPTO, USES_NEITHER, UNKNOWN, SUPERVISES)

# Why it should be restarted.
REPLACED, OLDER, CONFIGURATION, REBOOT = "replaced", "older", "configuration", "reboot"
RESTART = {
    REPLACED: "the drng.so that it has loaded has been replaced or removed: restart it",
    OLDER: f"it has loaded an older drng than {VERSION}: restart it",
    CONFIGURATION: "its openssl.cnf names drng, but did not when it started: restart it",
    REBOOT: "it gets the drng, or the openssl.cnf, that is there now when the machine is started again",
}


@dataclass
class Process:
    """One process; `counters` are there where it uses drng, `message` where there is more to say."""

    pid: int
    name: str
    uses: str
    message: str = ""
    hidden: bool = False  # nothing can be told, not even whether it uses drng
    missed: bool = False  # it was not looked at, since the time for all of them was over
    counters: dict[str, Any] = field(default_factory=dict)
    parent: int = 0
    program: str = ""  # device and inode of what it executes
    program_name: str = ""  # the last component of its path
    config: str | None = None  # OPENSSL_CONF in its environment, None where that cannot be read
    unit: str = systemd.NONE
    owner: str = ""
    ticks: int = 0  # since the machine's start, when it was started; 0 where that is not known
    drng_since: float = 0.0  # when the openssl.cnf that it would read now was changed to load drng, 0 for never
    restart: str = ""  # a key of RESTART
    words_alone: bool = False  # its openssl.cnf names the generator that takes no seed, instructions.WORDS
    no_verdict: bool = False  # its drng cannot know which instructions the kernel has switched off


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


def grouped(processes: Iterable[Process], key_of: Callable[[Process], str]) -> list[tuple[str, list[Process]]]:
    """The keys that there are, in their order, each with those that it is of."""
    groups: dict[str, list[Process]] = {}
    for process in processes:
        if key := key_of(process):
            groups.setdefault(key, []).append(process)
    return sorted(groups.items())


def seeds(counters: dict[str, Any]) -> int:
    """From all sources that the process's drng counts."""
    sources = [name for name in KNOWN if f"{name}-retries" in counters]
    return sum(counters[f"seeds-{source}"] for source in (*sources, "fallback"))


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


# ---- Copies of this machine ----


def is_unprotected(facts: Mapping[str, Any]) -> bool:
    """By the counters, none without drng, or by the provider's parameters with what else is known of the process. A
    machine that does not say what it is counts as a virtual one."""
    return facts.get("clone-protection") == "none" and facts.get("virtual-machine") is not False


def clone_warning(facts: Mapping[str, Any]) -> str:
    """With the reason, and what to do; "" for nothing."""
    if not is_unprotected(facts):
        return ""
    reason = f": {facts['clone-reason']}" if facts.get("clone-reason") else ""
    return (
        f"copies of this machine may draw the same bytes{reason}; let the process read /dev/vmclock0, or set "
        "request_mixing = auto"
    )
