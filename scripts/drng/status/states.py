# SPDX-License-Identifier: Apache-2.0
"""The state of a process, as metrics have it, and its exit status in --check."""

from __future__ import annotations

from collections.abc import Sequence

from . import facts, verdict
from .verdict import REBOOT, Process

# Exit statuses of --check, the worst last.
GOOD, WARNING, CRITICAL, CANNOT_TELL = 0, 1, 2, 3
WORST_LAST = (GOOD, WARNING, CANNOT_TELL, CRITICAL)

SERVERS = {
    verdict.DRNG: (GOOD, "drng serves"),
    verdict.FALLBACK: (WARNING, "the fallback serves"),
    verdict.PARTLY: (CANNOT_TELL, "drng serves in part"),
    verdict.NOT_KNOWN: (CANNOT_TELL, "not known who serves"),
    verdict.NOBODY: (CRITICAL, "nothing serves"),
    verdict.OPENSSL: (CRITICAL, "OpenSSL serves"),
}


def rank(result: int) -> int:
    return WORST_LAST.index(result)


def worst(results: Sequence[int]) -> int:
    return max(results, key=rank, default=GOOD)


# ---- States, as metrics have them ----

# What becomes of a process's requests. Each process is in one of them; in "restart", or "reboot", if nothing worse is
# known.
STATES = ("served", "fallback", "partly", "failed", "idle", "restart", "reboot", "without", "unknown")
OF_SERVERS = {
    verdict.DRNG: "served",
    verdict.OPENSSL: "without",
    verdict.NOBODY: "failed",
    verdict.NOT_KNOWN: "unknown",
    verdict.FALLBACK: "fallback",
    verdict.PARTLY: "partly",
}


def state_of(process: Process) -> str:
    """One of STATES; "" where it has nothing to do with libcrypto."""
    state = "idle" if process.idle and process.served_by != verdict.NOBODY else OF_SERVERS.get(process.served_by, "")
    milder = state in ("served", "idle", "without", "unknown") or (state == "failed" and not process.counters)
    return "reboot" if process.restart == REBOOT and milder else "restart" if process.restart and milder else state


def counted(processes: Sequence[Process]) -> list[Process]:
    """Those that have libcrypto, or of which that cannot be told."""
    return [process for process in processes if process.served_by != verdict.NONE or process.idle]


def check(process: Process) -> int:
    if process.idle and process.served_by != verdict.NOBODY:
        return CANNOT_TELL if process.reason else GOOD
    result = SERVERS[process.served_by][0]
    warned = facts.warnings(process.counters) or process.restart not in ("", REBOOT)
    return worst([result, WARNING if warned else GOOD])
