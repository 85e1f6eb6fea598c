"""What Prometheus reads: counts by unit and owner, and counters that outlive the processes; or each process by itself.

No label is taken from what a process says of itself, but for its name in the form for each process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from .. import VERSION
from ..instructions import INSTRUCTIONS
from . import clones
from .answers import RESTART, UNKNOWN, USES_DRNG, Process
from .environment import verdict
from .ledger import Ledger, Pair, named, pair_of
from .states import STATES, state_of
from .stats import CLONE_PROTECTIONS, LOCKED, MEMORY

SOURCES = (*INSTRUCTIONS, "fallback", "none")

Sample = tuple[dict[str, str], int]


def escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def metric(name: str, kind: str, text: str, samples: Iterable[Sample]) -> list[str]:
    lines = [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
    for labels, value in samples:
        inside = ",".join(f'{key}="{escaped(label)}"' for key, label in labels.items())
        lines.append(f"{name}{{{inside}}} {value}" if inside else f"{name} {value}")
    return lines


# Name, type, help, the extra label, and the counter; what stands for * in the counter's name is the label's value.
METRICS: tuple[tuple[str, str, str, str, str], ...] = (
    (
        "drng_seeds_total",
        "counter",
        "Seeds made, by source.",
        "source",
        "seeds-*",
    ),
    (
        "drng_seed_failures_total",
        "counter",
        "Requests for a seed that no source could serve.",
        "",
        "seed-failures",
    ),
    (
        "drng_health_failures_total",
        "counter",
        "Failed health tests, including those after which the retry passed.",
        "instruction",
        "*-health-failures",
    ),
    (
        "drng_retries_total",
        "counter",
        "Executions of the instruction that returned no word.",
        "instruction",
        "*-retries",
    ),
    ("drng_reseeds_total", "counter", "How often a generator replaced its seed.", "", "reseeds"),
    (
        "drng_fork_reseeds_total",
        "counter",
        "How often a generator took a new seed because it was in a forked process.",
        "",
        "fork-reseeds",
    ),
    (
        "drng_clone_reseeds_total",
        "counter",
        "How often a generator took a new seed because its virtual machine had been copied.",
        "",
        "clone-reseeds",
    ),
    ("drng_requests_total", "counter", "Requests served.", "", "requests"),
    ("drng_bytes_total", "counter", "Bytes served.", "", "bytes"),
    ("drng_last_seed_timestamp_seconds", "gauge", "When the last seed was made, 0 for never.", "", "last-seed"),
    ("drng_healthy", "gauge", "Whether all self-tests have passed.", "", "status"),
    ("drng_memory_locked", "gauge", "Whether the memory for secrets is kept out of swap.", "", "memory-locked"),
    ("drng_virtual_machine", "gauge", "Whether this is a virtual machine, or may be one.", "", "virtual-machine"),
)


def matching(process: Process, pattern: str) -> list[tuple[str, str]]:
    """What stands for * in the names of the process's counters, and those names."""
    before, star, after = pattern.partition("*")
    if not star:
        return [("", pattern)]
    inside = re.compile(re.escape(before) + "(.+)" + re.escape(after))
    return [(match[1], key) for key in process.counters if (match := inside.fullmatch(key))]


def sample_value(process: Process, counter: str) -> int:
    if counter == "memory-locked":
        return int(process.counters["memory"] == LOCKED)
    return int(process.counters[counter])


# ---- By process ----


def per_process(processes: Sequence[Process]) -> str:
    """Each process by itself."""
    live = [process for process in processes if process.uses == USES_DRNG]
    labels = {process.pid: {"pid": str(process.pid), "process": process.name} for process in live}
    lines: list[str] = []
    for name, kind, text, label, pattern in METRICS:
        samples = [
            ({**labels[process.pid], **({label: value} if label else {})}, sample_value(process, counter))
            for process in live
            for value, counter in matching(process, pattern)
        ]
        lines += metric(name, kind, text, samples)
    active = [
        ({**labels[process.pid], "source": source}, int(process.counters["active-source"] == source))
        for process in live
        for source in SOURCES
    ]
    lines += metric("drng_active_source", "gauge", "1 for the source that serves, 0 for the others.", active)
    protection = [
        ({**labels[process.pid], "protection": name}, int(process.counters["clone-protection"] == name))
        for process in live
        for name in CLONE_PROTECTIONS
    ]
    text = "1 for what keeps copies of the machine from drawing the same bytes, 0 for the others."
    lines += metric("drng_clone_protection", "gauge", text, protection)
    info = [
        ({**labels[process.pid], **{key: str(process.counters[key]) for key in ("version", "libcrypto")}}, 1)
        for process in live
    ]
    lines += metric("drng_info", "gauge", "Versions, as labels.", info)
    unknown = sum(process.uses == UNKNOWN for process in processes)
    lines += metric("drng_unreadable_processes", "gauge", "Processes that could not be looked at.", [({}, unknown)])
    return "\n".join(lines) + "\n"


# ---- By unit and owner ----

COUNTERS = tuple(row for row in METRICS if row[1] == "counter")

# How the memory for secrets is, in stats.MEMORY's order.
LOCKS = ("forked", "locked", "limited")

# Why an instruction that the CPU has may not serve: how drng's words for it begin.
DENIALS = {
    "health": "disabled after",
    "broken": "known to be broken",
    "kernel": "switched off by the kernel",
    "masked": "masked by",
}


def values_of(pattern: str) -> list[str]:
    """What may stand for * in the name of a counter: what a process calls its instructions is not believed."""
    return [*INSTRUCTIONS, "fallback"] if pattern == "seeds-*" else list(INSTRUCTIONS)


def keys_of(pattern: str) -> dict[str, str]:
    """Counters, by the values of the label."""
    if "*" not in pattern:
        return {"": pattern}
    return {value: pattern.replace("*", value) for value in values_of(pattern)}


def counted_keys() -> list[str]:
    return [key for *_, pattern in COUNTERS for key in keys_of(pattern).values()]


def denied(process: Process, instruction: str, reason: str) -> bool:
    return bool(process.counters) and verdict(instruction, process.counters).startswith(DENIALS[reason])


def is_unprotected(process: Process) -> bool:
    return clones.is_unprotected(process.counters)


# Name, help, the extra label, its values, and whether a process counts for a value.
COUNTS: tuple[tuple[str, str, str, Sequence[str], Callable[[Process, str], bool]], ...] = (
    (
        "drng_processes",
        "Processes that have libcrypto, by what becomes of their requests for random bytes.",
        "state",
        STATES,
        lambda process, state: state_of(process) == state,
    ),
    (
        "drng_restart_needed_processes",
        "Processes that should be restarted, by the reason.",
        "reason",
        tuple(RESTART),
        lambda process, reason: process.restart == reason,
    ),
    (
        "drng_memory_processes",
        "Processes that use drng, by whether their memory for secrets is locked.",
        "memory",
        LOCKS,
        lambda process, lock: process.counters.get("memory") == MEMORY[LOCKS.index(lock)],
    ),
    (
        "drng_unprotected_processes",
        "Processes in a virtual machine of which copies may draw the same bytes.",
        "",
        ("",),
        lambda process, _: is_unprotected(process),
    ),
)


def count(found: Sequence[Process], names: dict[Pair, Pair], counts: Callable[[Process], bool]) -> dict[Pair, int]:
    """By group, those for which it holds."""
    numbers: dict[Pair, int] = {}
    for process in filter(counts, found):
        pair = names[pair_of(process)]
        numbers[pair] = numbers.get(pair, 0) + 1
    return numbers


def labels_of(pair: Pair, **more: str) -> dict[str, str]:
    return {"unit": pair[0], "owner": pair[1], **{key: value for key, value in more.items() if value}}


def counts_of(found: Sequence[Process], names: dict[Pair, Pair], pairs: Sequence[Pair]) -> list[str]:
    lines: list[str] = []
    for name, text, label, values, holds in COUNTS:
        numbers = {value: count(found, names, partial(_holds, holds, value)) for value in values}
        samples = [
            (labels_of(pair, **{label or "none": value}), numbers[value].get(pair, 0))
            for pair in pairs
            for value in values
        ]
        lines += metric(name, "gauge", text, samples)
    return lines


def _holds(holds: Callable[[Process, str], bool], value: str, process: Process) -> bool:
    return holds(process, value)


def denials_of(found: Sequence[Process], names: dict[Pair, Pair], pairs: Sequence[Pair]) -> list[str]:
    samples = []
    for instruction in INSTRUCTIONS:
        for reason in DENIALS:
            numbers = count(found, names, partial(denied, instruction=instruction, reason=reason))
            samples += [
                (labels_of(pair, instruction=instruction, reason=reason), numbers.get(pair, 0)) for pair in pairs
            ]
    text = "Processes that may not use an instruction which the CPU has, by the reason."
    return metric("drng_instruction_denied_processes", "gauge", text, samples)


def totals_of(ledger: Ledger) -> list[str]:
    """Of the groups that drng has served."""
    served = {pair: ledger.totals(pair) for pair, group in sorted(ledger.groups.items()) if group.served}
    lines: list[str] = []
    for name, kind, text, label, pattern in COUNTERS:
        samples = [
            (labels_of(pair, **{label or "none": value}), totals.get(key, 0))
            for pair, totals in served.items()
            for value, key in keys_of(pattern).items()
        ]
        lines += metric(name, kind, text, samples)
    last = [(labels_of(pair), ledger.groups[pair].last_seed) for pair in served]
    lines += metric("drng_last_seed_timestamp_seconds", "gauge", "When the last seed was made, 0 for never.", last)
    expected = [(labels_of(pair), int(group.served)) for pair, group in sorted(ledger.groups.items())]
    text = "Whether drng has served a process of the unit and the owner, of which one lived in the last seven days."
    return lines + metric("drng_served_before", "gauge", text, expected)


def per_unit(found: Sequence[Process], ledger: Ledger | None = None, now: float = 0.0, boot: str = "") -> str:
    """Counts, each with all its values for each group; with a ledger also counters, and the groups that it knows."""
    found = [process for process in found if state_of(process)]
    names = ledger.look(found, now, boot) if ledger is not None else named(found, {})
    pairs = sorted({*names.values(), *(ledger.groups if ledger is not None else ())})
    lines = metric("drng_build_info", "gauge", "The version of drng-status, as a label.", [({"version": VERSION}, 1)])
    lines += counts_of(found, names, pairs) + denials_of(found, names, pairs)
    if ledger is not None:
        lines += totals_of(ledger)
        text = "When drng-status looked last."
        lines += metric("drng_collector_timestamp_seconds", "gauge", text, [({}, int(now))])
    return "\n".join(lines) + "\n"
