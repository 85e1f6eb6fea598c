"""--check as monitoring plugins have it: thresholds for counts, and performance data behind the line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .. import systemd
from .states import FALLBACK, NOT_IN_USE, STATES, USES_DRNG, Process, first_of, grouped, seeds, state_of

FALLBACK_SEEDS, FAILURES = "fallback-seeds", "failures"
WORDS = {FALLBACK_SEEDS: "seeds from the fallback", FAILURES: "failures"}

# More than 64 bits have is no number of seeds.
MOST_DIGITS = 19

Thresholds = dict[str, int]


def thresholds(text: str) -> Thresholds:
    """Of NAME=N,NAME=N; a ValueError where it is something else."""
    found: Thresholds = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        if name in found:
            raise ValueError(f"{name} is there twice")
        if name not in WORDS or not re.fullmatch(rf"[0-9]{{1,{MOST_DIGITS}}}", number):
            raise ValueError(f"write {FALLBACK_SEEDS}=N, {FAILURES}=N or both with a comma between them")
        found[name] = int(number)
    return found


def by_unit(processes: Sequence[Process]) -> list[tuple[str, list[Process]]]:
    return grouped(processes, lambda process: systemd.label(process.unit) if state_of(process) else "")


def counts_of(processes: Sequence[Process]) -> dict[str, int]:
    """Of all together, since each was started."""
    counters = [process.counters for process in processes if process.uses == USES_DRNG]
    return {
        FALLBACK_SEEDS: sum(c["seeds-fallback"] for c in counters),
        FAILURES: sum(c["seed-failures"] + c["health-failures"] for c in counters),
        "seeds": sum(map(seeds, counters)),
        "requests": sum(c["requests"] for c in counters),
    }


def exceeded(processes: Sequence[Process], warning: Thresholds, critical: Thresholds) -> tuple[int, str]:
    """The worst that a count of a unit amounts to, and what to say of each that is above a threshold."""
    worst, said = 0, []
    for unit, members in by_unit(processes):
        counts = counts_of(members)
        for name, words in WORDS.items():
            for result, limits in ((NOT_IN_USE, critical), (FALLBACK, warning)):
                if name in limits and counts[name] > limits[name]:
                    said.append(f"{unit}: {counts[name]} {words}, above {limits[name]}")
                    worst = max(worst, result)
                    break
    return worst, f"; {first_of(said)}" if said else ""


def datum(unit: str, name: str, value: int, limits: str = ";") -> str:
    """'label'=value;warning;critical;minimum"""
    label = re.sub(r"['=|]", "_", f"{unit} {name}".strip())
    return f"'{label}'={value};{limits};0"


def performance(processes: Sequence[Process], warning: Thresholds, critical: Thresholds) -> str:
    """Behind a bar; the unit's name is part of each label where there are several."""
    groups = by_unit(processes)
    data = []
    for unit, members in groups:
        name = unit if len(groups) > 1 else ""
        states = [state_of(process) for process in members]
        data += [datum(name, state, states.count(state)) for state in STATES]
        for key, value in counts_of(members).items():
            limits = ";".join(str(found[key]) if key in found else "" for found in (warning, critical))
            data.append(datum(name, key, value, limits))
    return f" | {' '.join(data)}" if data else ""
