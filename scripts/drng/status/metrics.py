"""What Prometheus reads: counts by unit and owner, and counters that outlive the processes.

No label is taken from what a process says of itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .. import VERSION
from ..instructions import INSTRUCTIONS
from .environment import verdict
from .ledger import Ledger, Pair, named, pair_of
from .states import RESTART, STATES, Process, is_unprotected, state_of
from .stats import MEMORY

Sample = tuple[dict[str, str], int]


def escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def metric(name: str, kind: str, text: str, samples: Iterable[Sample]) -> list[str]:
    lines = [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
    for labels, value in samples:
        inside = ",".join(f'{key}="{escaped(label)}"' for key, label in labels.items())
        lines.append(f"{name}{{{inside}}} {value}" if inside else f"{name} {value}")
    return lines


# Counters that have the name of their key, with their help.
PLAIN = {
    "seed-failures": "Requests for a seed that no source could serve.",
    "reseeds": "How often a generator replaced its seed.",
    "fork-reseeds": "How often a generator took a new seed because it was in a forked process.",
    "clone-reseeds": "How often a generator took a new seed because its virtual machine had been copied.",
    "kernel-words": "Requests that took in bytes of the kernel in place of a fresh word, as no instruction gave one.",
    "requests": "Requests served.",
    "bytes": "Bytes served.",
}

# Name, help, the extra label, and for each value of that label the counter. What a process calls its instructions is
# not believed.
COUNTERS: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    (
        "drng_seeds_total",
        "Seeds made, by source.",
        "source",
        {source: f"seeds-{source}" for source in (*INSTRUCTIONS, "fallback")},
    ),
    (
        "drng_health_failures_total",
        "Failed health tests, including those after which the retry passed.",
        "instruction",
        {name: f"{name}-health-failures" for name in INSTRUCTIONS},
    ),
    (
        "drng_retries_total",
        "Executions of the instruction that returned no word.",
        "instruction",
        {name: f"{name}-retries" for name in INSTRUCTIONS},
    ),
    *((f"drng_{key.replace('-', '_')}_total", text, "", {"": key}) for key, text in PLAIN.items()),
)

# Why an instruction that the CPU has may not serve: how drng's words for it begin.
DENIALS = {
    "health": "disabled after",
    "broken": "known to be broken",
    "kernel": "switched off by the kernel",
    "masked": "masked by",
}


def counted_keys() -> list[str]:
    return [key for *_, keys in COUNTERS for key in keys.values()]


def is_denied(process: Process, instruction: str, reason: str) -> bool:
    return bool(process.counters) and verdict(instruction, process.counters).startswith(DENIALS[reason])


# Name, help, the extra labels with their values, and whether a process counts for them.
COUNTS: tuple[tuple[str, str, Sequence[dict[str, str]], Callable[..., bool]], ...] = (
    (
        "drng_processes",
        "Processes that have libcrypto, by what becomes of their requests for random bytes.",
        [{"state": state} for state in STATES],
        lambda process, state: state_of(process) == state,
    ),
    (
        "drng_restart_needed_processes",
        "Processes that should be restarted, by the reason.",
        [{"reason": reason} for reason in RESTART],
        lambda process, reason: process.restart == reason,
    ),
    (
        "drng_memory_processes",
        "Processes that use drng, by whether their memory for secrets is locked.",
        [{"memory": lock} for lock in MEMORY],
        lambda process, memory: process.counters.get("memory") == MEMORY[memory],
    ),
    (
        "drng_unprotected_processes",
        "Processes in a virtual machine of which copies may draw the same bytes.",
        [{}],
        lambda process: is_unprotected(process.counters),
    ),
    (
        "drng_instruction_denied_processes",
        "Processes that may not use an instruction which the CPU has, by the reason.",
        [{"instruction": instruction, "reason": reason} for instruction in INSTRUCTIONS for reason in DENIALS],
        is_denied,
    ),
)


def labels_of(pair: Pair) -> dict[str, str]:
    return {"unit": pair[0], "owner": pair[1]}


def counts_of(found: Sequence[Process], names: dict[Pair, Pair], pairs: Sequence[Pair]) -> list[str]:
    members: dict[Pair, list[Process]] = {pair: [] for pair in pairs}
    for process in found:
        members[names[pair_of(process)]].append(process)
    lines: list[str] = []
    for name, text, all_labels, counts in COUNTS:
        samples = [
            ({**labels_of(pair), **labels}, sum(counts(process, **labels) for process in members[pair]))
            for pair in pairs
            for labels in all_labels
        ]
        lines += metric(name, "gauge", text, samples)
    return lines


def totals_of(ledger: Ledger) -> list[str]:
    """Of the groups that drng has served."""
    served = {pair: ledger.totals(pair) for pair, group in sorted(ledger.groups.items()) if group.served}
    lines: list[str] = []
    for name, text, label, keys in COUNTERS:
        samples = [
            ({**labels_of(pair), **({label: value} if label else {})}, totals.get(key, 0))
            for pair, totals in served.items()
            for value, key in keys.items()
        ]
        lines += metric(name, "counter", text, samples)
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
    lines += counts_of(found, names, pairs)
    if ledger is not None:
        lines += totals_of(ledger)
        text = "When drng-status looked last."
        lines += metric("drng_collector_timestamp_seconds", "gauge", text, [({}, int(now))])
    return "\n".join(lines) + "\n"
