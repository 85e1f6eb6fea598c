# SPDX-License-Identifier: Apache-2.0
"""What Prometheus reads, by unit: numbers of processes, and the sums of the counters that drng keeps in them.

No label is taken from what a process says of itself, and none is without bound: see systemd.label().
"""

import time
from collections.abc import Iterable, Iterator, Sequence

from .. import VERSION, systemd
from ..instructions import INSTRUCTIONS
from .states import STATES, has_failed, is_unprotected, state_of
from .stats import MEMORY
from .verdict import RESTART, Process

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


def samples_of(members: Sequence[Process]) -> Iterator[tuple[str, dict[str, str], int]]:
    """Each with all its values: the name, the extra label, the value."""
    counted = [process.counters for process in members if process.counters]
    states = [state_of(process) for process in members]
    yield from (("processes", {"state": state}, states.count(state)) for state in STATES)
    for reason in RESTART:
        yield "restart_needed_processes", {"reason": reason}, sum(process.restart == reason for process in members)
    for memory, said in MEMORY.items():
        yield "memory_processes", {"memory": memory}, sum(each.get("memory") == said for each in counted)
    yield "unprotected_processes", {}, sum(map(is_unprotected, counted))
    for name in INSTRUCTIONS:
        yield "instruction_disabled_processes", {"instruction": name}, sum(has_failed(name, each) for each in counted)
    yield "self_test_failed_processes", {}, sum(each.get("self-tests-failed", 0) > 0 for each in counted)
    for key, label, keys in COUNTERS if counted else ():
        for value, place in keys.items():
            total = sum(each.get(place, 0) for each in counted)
            yield key.replace("-", "_"), {label: value} if label else {}, total
    if counted:
        yield "last_seed_timestamp_seconds", {}, max(each["last-seed"] for each in counted)


def metrics_of(found: Iterable[Process]) -> str:
    """Sums of counters are gauges: they become less with each process that ends."""
    units: dict[str, list[Process]] = {}
    for process in sorted(found, key=lambda process: process.unit):
        if state_of(process):
            units.setdefault(systemd.label(process.unit), []).append(process)
    lines: dict[str, list[str]] = {}

    def add(name: str, labels: dict[str, str], value: int) -> None:
        escaped = ((key, label.replace("\\", "\\\\").replace('"', '\\"')) for key, label in labels.items())
        inside = ",".join(f'{key}="{label}"' for key, label in escaped)
        head = [f"# HELP drng_{name} See drng-status-json(5).", f"# TYPE drng_{name} gauge"]
        lines.setdefault(name, head).append(f"drng_{name}{f'{{{inside}}}' * bool(inside)} {value}")

    for unit, members in units.items():
        for name, extra, value in samples_of(members):
            add(name, {"unit": unit, **extra}, value)
    add("build_info", {"version": VERSION}, 1)
    add("collector_timestamp_seconds", {}, int(time.time()))
    return "".join(f"{line}\n" for of_name in lines.values() for line in of_name)
