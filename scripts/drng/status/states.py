# SPDX-License-Identifier: Apache-2.0
"""What there is to say of a process: its state, as metrics have it, its exit status in --check, and facts in words, of
which each form of the output takes what it has room for."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..instructions import INSTRUCTIONS, WORDS
from . import stats, verdict
from .verdict import REBOOT, RESTART, Process

Facts = Mapping[str, Any]  # drng's counters, or the provider's parameters

# Exit statuses of --check, the worst last.
GOOD, WARNING, CRITICAL, CANNOT_TELL = 0, 1, 2, 3
WORST_LAST = (GOOD, WARNING, CANNOT_TELL, CRITICAL)

# By who serves, the best first: the status, what is said, and the state.
SERVERS = {
    verdict.DRNG: (GOOD, "drng serves", "served"),
    verdict.FALLBACK: (WARNING, "the fallback serves", "fallback"),
    verdict.PARTLY: (CANNOT_TELL, "drng serves in part", "partly"),
    verdict.NOT_KNOWN: (CANNOT_TELL, "not known who serves", "unknown"),
    verdict.NOBODY: (CRITICAL, "nothing serves", "failed"),
    verdict.OPENSSL: (CRITICAL, "OpenSSL serves", "without"),
}

# What becomes of a process's requests. Each process is in one of them.
STATES = (*(state for _, _, state in SERVERS.values()), "idle")


def worst(results: Sequence[int]) -> int:
    return max(results, key=WORST_LAST.index, default=GOOD)


def state_of(process: Process) -> str:
    """One of STATES; "" where it has nothing to do with libcrypto."""
    return "idle" if process.idle else SERVERS.get(process.served_by, (0, "", ""))[2]


def counted(processes: Sequence[Process]) -> list[Process]:
    """Those that have libcrypto, or of which that cannot be told."""
    return [process for process in processes if process.served_by != verdict.NONE or process.idle]


def check(process: Process) -> int:
    if process.idle:
        return CANNOT_TELL if process.reason else GOOD
    warned = warnings(process.counters) or process.restart not in ("", REBOOT)
    return worst([SERVERS[process.served_by][0], WARNING if warned else GOOD])


# ---- Facts in words ----


def is_unprotected(facts: Facts) -> bool:
    """Whether copies of this machine may draw the same bytes. A machine that does not say what it is counts as a
    virtual one."""
    return facts.get("clone-protection") == "none" and facts.get("virtual-machine") is not False


def has_failed(instruction: str, facts: Facts) -> bool:
    """Whether a process, or one of its family, has disabled it for its failed health tests."""
    return bool(facts.get(f"{instruction}-family-disabled")) or facts.get(f"{instruction}-last-result") in stats.FAILED


def warnings(facts: Facts) -> list[str]:
    """What is to be looked after although drng serves."""
    failed = [name.upper() for name in INSTRUCTIONS if has_failed(name, facts)]
    said = [f"{name} has failed its health tests in this family: the CPU may be defective" for name in failed]
    if is_unprotected(facts):
        reason = f": {facts['clone-reason']}" if facts.get("clone-reason") else ""
        todo = "let the process read /dev/vmclock0, or set request_mixing = auto"
        said.append(f"copies of this machine may draw the same bytes{reason}; {todo}")
    if facts.get("self-tests-failed"):
        name, serves = facts.get("self-test-failed", ""), facts.get("aes-implementation", "")
        said.append(f"{name} gave a wrong answer to a known-answer test at load and is not used; {serves} serves")
    if count := facts.get("seeds-without-kernel-bytes"):
        why = "getrandom() was refused, or it was early in boot; these rest on the CPU alone"
        said.append(f"{count} seeds without bytes of the kernel: {why}")
    if count := facts.get("refused-calls"):
        said.append(f"{count} draws were refused, and gave zeros: a signal handler drew while its thread was in a draw")
    return said


def reasons(process: Process) -> list[str]:
    """Why drng does not serve, and the cure: what to type, or to do."""
    is_command = process.cure.startswith(("systemctl ", "drng-", "runuser "))
    return ["; ".join(filter(None, (process.why, f"use `{process.cure}`" if is_command else process.cure)))]


def remarks(process: Process) -> list[str]:
    """All that its numbers do not say, the reason first; then why instructions do not serve."""
    facts, late = process.counters, process.restart and process.reason != "started-before"
    said = [*reasons(process), RESTART[process.restart] if late else ""]
    if process.served_by == verdict.DRNG and verdict.is_seeded_by_others(facts):
        said.append(f"{WORDS} serves, by configuration")
    for name in INSTRUCTIONS:
        if (last := facts.get(f"{name}-last-result")) in ("too slow", "dry"):
            said.append(f"{name.upper()}: {last} ({facts.get(f'{name}-last-words', 0):,} words in its time)")
    said += [str(facts.get("disabled-reason", "")), *warnings(facts)]
    return list(dict.fromkeys(filter(None, said)))
