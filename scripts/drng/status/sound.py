"""Each process is evaluated by itself before any is shown: what one of them says cannot keep the others back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import ledger, metrics, output, plugin
from .answers import UNKNOWN, Process

# All that becomes of a process in any form.
EVALUATIONS: tuple[Callable[[Process], Any], ...] = (
    output.table_line,
    output.process_rows,
    output.process_json,
    lambda process: output.check_all([process]),
    lambda process: plugin.performance([process], {}, {}),
    lambda process: metrics.per_unit([process], ledger.Ledger(metrics.counted_keys())),
)


def checked(found: Sequence[Process]) -> list[Process]:
    """The same, of which each can be shown: one that cannot be evaluated becomes one of which nothing is known. Only
    counters are a process's own words."""
    for process in found:
        try:
            for evaluate in EVALUATIONS if process.counters else ():
                evaluate(process)
        except Exception as error:
            process.uses, process.counters, process.restart = UNKNOWN, {}, ""
            process.message = f"its counters cannot be evaluated: {type(error).__name__}"
    return list(found)
