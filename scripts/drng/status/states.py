# SPDX-License-Identifier: Apache-2.0
"""What can be said of one process: who serves its requests, whether it should be restarted, and what its drng says of
copies of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import VERSION, systemd
from ..instructions import INSTRUCTIONS, KNOWN

# What it uses.
USES_DRNG, USES_LIBCRYPTO, USES_NEITHER, UNKNOWN = "drng", "libcrypto without drng", "no libcrypto", "unknown"
SUPERVISES = "libcrypto without drng, its children use drng"

# Why it should be restarted.
REPLACED, OLDER, CONFIGURATION, REBOOT = "replaced", "older", "configuration", "reboot"
RESTART = {
    REPLACED: "the drng.so that it has loaded has been replaced or removed: restart it",
    OLDER: f"it has loaded an older drng than {VERSION}: restart it",
    CONFIGURATION: "it started before openssl.cnf named drng: restart it",
    REBOOT: "needs a reboot",
}

# Who serves it.
DRNG, FALLBACK, OPENSSL, NOBODY, NONE, NOT_KNOWN = "drng", "fallback", "OpenSSL", "nobody", "-", "unknown"

ROLES = ("primary", "public", "private")  # of libcrypto's generators


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
    unit: str = systemd.NONE
    owner: str = ""
    user: int = 0  # who has started it
    ticks: int = 0  # since the machine's start, when it was started; 0 where that is not known
    # OPENSSL_CONF and two others of its environment, None where that cannot be read or has been overwritten.
    variables: dict[str, str] | None = None
    secure: bool = False  # AT_SECURE: libcrypto takes no variable for true
    own_libcrypto: str = ""  # the path of one that is not the system's
    is_foreign: bool = False  # a program of another architecture
    is_static: bool = False  # libcrypto is a part of the program
    view: str = ""  # where it looks for files, and with which rights: two of one view see the same
    restart: str = ""  # a key of RESTART
    reason: str = ""  # why drng does not serve it, a key of who.REASONS; with what to say of it, and what to do
    why: str = ""
    cure: str = ""
    fails: bool = False  # its openssl.cnf lets no other generator serve
    words_alone: bool = False  # its openssl.cnf names the generator that takes no seed, instructions.WORDS
    no_verdict: bool = False  # its drng cannot know which instructions the kernel has switched off

    @property
    def idle(self) -> bool:
        """drng is loaded, and nothing has been drawn from it."""
        return self.uses == USES_DRNG and not self.counters["requests"] and not seeds(self.counters)

    @property
    def served_by(self) -> str:
        if self.uses == USES_DRNG:
            source = {**dict.fromkeys(INSTRUCTIONS, DRNG), "fallback": FALLBACK}.get(self.seeds_from, NOBODY)
            others = source == DRNG and is_seeded_by_others(self.counters) and not self.words_alone
            return FALLBACK if others else source
        if self.uses == USES_LIBCRYPTO:
            return NOBODY if self.fails else OPENSSL
        return NOT_KNOWN if self.uses == UNKNOWN else NONE

    @property
    def seeds_from(self) -> str:
        return str(self.counters.get("active-source", ""))


def seeds(counters: Mapping[str, Any]) -> int:
    """From all sources that the process's drng counts."""
    sources = [name for name in KNOWN if f"{name}-retries" in counters]
    return sum(counters[f"seeds-{source}"] for source in (*sources, "fallback"))


def is_seeded_by_others(counters: Mapping[str, Any]) -> bool:
    """Whether generators of drng's have drawn, and none has had a seed of drng's."""
    return counters["requests"] > 0 and seeds(counters) == 0


# ---- Exit statuses of --check ----

# The worst last.
GOOD, WARNING, CRITICAL, CANNOT_TELL = 0, 1, 2, 3
WORST_LAST = (GOOD, WARNING, CANNOT_TELL, CRITICAL)


rank = WORST_LAST.index


def worst(results: list[int]) -> int:
    return max(results, key=rank)


def check(process: Process) -> int | None:
    """None: it has nothing to do with libcrypto, or leaves that to its children."""
    if process.idle and process.served_by != NOBODY:
        return CANNOT_TELL if process.reason else GOOD
    found = {DRNG: GOOD, FALLBACK: WARNING, OPENSSL: CRITICAL, NOBODY: CRITICAL, NOT_KNOWN: CANNOT_TELL}
    return found.get(process.served_by)


# ---- States, as metrics have them ----

# What becomes of a process's requests. Each process is in one of them; in NEEDS_RESTART, or AT_REBOOT, if nothing worse
# is known.
SERVED, IN_FALLBACK, FAILED, NOTHING_DRAWN = "served", "fallback", "failed", "idle"
NEEDS_RESTART, AT_REBOOT, WITHOUT = "restart", "reboot", "without"
STATES = (SERVED, IN_FALLBACK, FAILED, NOTHING_DRAWN, NEEDS_RESTART, AT_REBOOT, WITHOUT, NOT_KNOWN)


def state_of(process: Process) -> str:
    """One of STATES; none where it has nothing to do with libcrypto."""
    by = process.served_by
    if process.uses == USES_DRNG and by in (NOBODY, FALLBACK) and not (process.idle and by == FALLBACK):
        return FAILED if by == NOBODY else IN_FALLBACK
    if process.restart:
        return AT_REBOOT if process.restart == REBOOT else NEEDS_RESTART
    if process.uses == SUPERVISES or process.idle:
        return NOTHING_DRAWN
    return {DRNG: SERVED, OPENSSL: WITHOUT, NOBODY: FAILED, NOT_KNOWN: NOT_KNOWN}.get(by, "")


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


def warnings(facts: Mapping[str, Any]) -> list[str]:
    """What is to be looked after although drng serves."""
    said = [clone_warning(facts)] if facts else []
    if facts.get("self-tests-failed"):
        name, serves = facts.get("self-test-failed", ""), facts.get("aes-implementation", "")
        said.append(f"{name} gave a wrong answer to a known-answer test at load and is not used; {serves} serves")
    if count := facts.get("seeds-without-kernel-bytes"):
        why = "getrandom() was refused, or it was early in boot; these rest on the CPU alone"
        said.append(f"{count} seeds without bytes of the kernel: {why}")
    return [each for each in said if each]


def last_results(facts: Mapping[str, Any]) -> list[str]:
    """Of instructions that were asked and did not serve."""
    said = []
    for name in INSTRUCTIONS:
        last, words = facts.get(f"{name}-last-result"), facts.get(f"{name}-last-words", 0)
        if last in ("too slow", "dry"):
            said.append(f"{name.upper()}: {last} ({words:,} words in its time)")
    return said
