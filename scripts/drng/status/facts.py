# SPDX-License-Identifier: Apache-2.0
"""What drng's counters, or the provider's parameters, say beside who serves: what there is to warn of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..instructions import INSTRUCTIONS

Facts = Mapping[str, Any]


def is_unprotected(facts: Facts) -> bool:
    """Whether copies of this machine may draw the same bytes. A machine that does not say what it is counts as a
    virtual one."""
    return facts.get("clone-protection") == "none" and facts.get("virtual-machine") is not False


def verdict_on(instruction: str, facts: Facts) -> str:
    """drng's own words: they include its list of broken parts."""
    prefix = f"{instruction.upper()}: "
    reasons = [part for part in str(facts.get("disabled-reason", "")).split("; ") if part.startswith(prefix)]
    return reasons[0].removeprefix(prefix) if reasons else "may serve"


def failed_tests(facts: Facts) -> list[str]:
    """The instructions that a process, or one of its family, has disabled for their failed health tests."""
    return [
        name
        for name in INSTRUCTIONS
        if facts.get(f"{name}-family-disabled") or verdict_on(name, facts).startswith("disabled after")
    ]


def warnings(facts: Facts) -> list[str]:
    """What is to be looked after although drng serves."""
    said = []
    for name in failed_tests(facts):
        where = " in a process of this family" if facts.get(f"{name}-family-disabled") else ""
        said.append(f"{name.upper()} has failed its health tests{where}: the CPU may be defective")
    if is_unprotected(facts):
        reason = f": {facts['clone-reason']}" if facts.get("clone-reason") else ""
        said.append(
            f"copies of this machine may draw the same bytes{reason}; let the process read /dev/vmclock0, or set "
            "request_mixing = auto"
        )
    if facts.get("self-tests-failed"):
        name, serves = facts.get("self-test-failed", ""), facts.get("aes-implementation", "")
        said.append(f"{name} gave a wrong answer to a known-answer test at load and is not used; {serves} serves")
    if count := facts.get("seeds-without-kernel-bytes"):
        why = "getrandom() was refused, or it was early in boot; these rest on the CPU alone"
        said.append(f"{count} seeds without bytes of the kernel: {why}")
    if count := facts.get("refused-calls"):
        said.append(f"{count} draws were refused, with zeros: a signal handler drew while its thread did")
    return said


def last_results(facts: Facts) -> list[str]:
    """Of instructions that were asked and did not serve."""
    return [
        f"{name.upper()}: {last} ({facts.get(f'{name}-last-words', 0):,} words in its time)"
        for name in INSTRUCTIONS
        if (last := facts.get(f"{name}-last-result")) in ("too slow", "dry")
    ]
