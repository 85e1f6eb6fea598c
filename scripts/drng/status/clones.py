"""What keeps copies of this machine from drawing the same bytes, as a process's drng says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Of the counters, or of the provider's parameters with what else is known of the process.
Facts = Mapping[str, Any]

CLONES_ALIKE = "copies of this machine may draw the same bytes"
WHAT_TO_DO = "let the process read /dev/vmclock0, or set request_mixing = auto"


def is_unprotected(facts: Facts) -> bool:
    """A machine that does not say what it is counts as a virtual one; no facts are those of a process without drng."""
    return facts.get("clone-protection") == "none" and facts.get("virtual-machine") is not False


def warning(facts: Facts) -> str:
    """With the reason, and what to do; "" for nothing."""
    if not is_unprotected(facts):
        return ""
    reason = f"{CLONES_ALIKE}: {facts['clone-reason']}" if facts.get("clone-reason") else CLONES_ALIKE
    return f"{reason}; {WHAT_TO_DO}"
