# SPDX-License-Identifier: Apache-2.0
"""What Prometheus reads, by unit: numbers of processes, and the sums of the counters that drng keeps in them.

No label is taken from what a process says of itself, and none is without bound: see systemd.label().
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from .. import VERSION, systemd
from ..instructions import INSTRUCTIONS
from .states import STATES, has_failed, is_unprotected, state_of
from .stats import DENIALS, MEMORY
from .verdict import RESTART, Process

Labels = dict[str, str]
# Counters by the extra label; for each value of that, the key. What a process calls its instructions is not believed.
PLAIN = (
    *("seed-failures", "reseeds", "fork-reseeds", "clone-reseeds", "kernel-words", "seeds-without-kernel-bytes"),
    *("refused-calls", "requests", "bytes"),
)
COUNTERS: list[tuple[str, str, dict[str, str]]] = [
    ("seeds", "source", {name: f"seeds-{name}" for name in (*INSTRUCTIONS, "fallback")}),
    *((key, "instruction", {name: f"{name}-{key}" for name in INSTRUCTIONS}) for key in ("health-failures", "retries")),
    *((key, "", {"": key}) for key in PLAIN),
]

# Why an instruction that the CPU has may not serve, by its last result.
DENIED = {"masked": DENIALS[3], "broken": DENIALS[4], "kernel": DENIALS[6], "health": ""}


def is_denied(process: Process, instruction: str, reason: str) -> bool:
    if reason == "health":
        return has_failed(instruction, process.counters)
    return process.counters.get(f"{instruction}-last-result") == DENIED[reason]


def labels(key: str, values: Iterable[str]) -> list[Labels]:
    return [{key: value} for value in values]


# Name, help, the extra labels with their values, and whether a process counts for them.
COUNTS: tuple[tuple[str, str, Sequence[Labels], Callable[..., bool]], ...] = (
    ("processes", "By what becomes of their requests.", labels("state", STATES), lambda p, state: state_of(p) == state),
    ("restart_needed_processes", "By the reason.", labels("reason", RESTART), lambda p, reason: p.restart == reason),
    (
        *("memory_processes", "By whether their memory for secrets is locked.", labels("memory", MEMORY)),
        lambda p, memory: p.counters.get("memory") == MEMORY[memory],
    ),
    ("unprotected_processes", "Of which copies may draw the same bytes.", [{}], lambda p: is_unprotected(p.counters)),
    (
        *("instruction_denied_processes", "That may not use an instruction which the CPU has."),
        *([{"instruction": each, "reason": reason} for each in INSTRUCTIONS for reason in DENIED], is_denied),
    ),
    (
        *("self_test_failed_processes", "In which an implementation of AES failed its self-test at load.", [{}]),
        lambda p: p.counters.get("self-tests-failed", 0) > 0,
    ),
)


def metric(name: str, text: str, samples: Iterable[tuple[Labels, int]]) -> list[str]:
    lines = [f"# HELP {name} {text}", f"# TYPE {name} gauge"]
    for labels, value in samples:
        escaped = ((key, label.replace("\\", "\\\\").replace('"', '\\"')) for key, label in labels.items())
        inside = ",".join(f'{key}="{label}"' for key, label in escaped)
        lines.append(f"{name}{{{inside}}} {value}" if inside else f"{name} {value}")
    return lines


def metrics_of(found: Iterable[Process]) -> str:
    """Each with all its values for each unit. Sums of counters are gauges: they become less with each process that
    ends."""
    units: dict[str, list[Process]] = {}
    for process in sorted(found, key=lambda process: process.unit):
        if state_of(process):
            units.setdefault(systemd.label(process.unit), []).append(process)
    served = {unit: [each.counters for each in members if each.counters] for unit, members in units.items()}
    served = {unit: members for unit, members in served.items() if members}
    lines = metric("drng_build_info", "The version of drng-status, as a label.", [({"version": VERSION}, 1)])
    for name, text, all_labels, counts in COUNTS:
        samples = [
            ({"unit": unit, **extra}, sum(counts(process, **extra) for process in members))
            for unit, members in units.items()
            for extra in all_labels
        ]
        lines += metric(f"drng_{name}", text, samples)
    for key, label, keys in COUNTERS:
        samples = [
            ({"unit": unit, **({label: value} if label else {})}, sum(counters.get(place, 0) for counters in members))
            for unit, members in served.items()
            for value, place in keys.items()
        ]
        text = f"drng's {key.replace('-', ' ')}, of the processes that run."
        lines += metric(f"drng_{key.replace('-', '_')}", text, samples)
    last = [({"unit": unit}, max(each["last-seed"] for each in members)) for unit, members in served.items()]
    lines += metric("drng_last_seed_timestamp_seconds", "When the last seed was made, 0 for never.", last)
    lines += metric("drng_collector_timestamp_seconds", "When drng-status looked.", [({}, int(time.time()))])
    return "\n".join(lines) + "\n"
