"""How things are shown: tables and colours on a terminal, plain text elsewhere, and what monitoring reads."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

from . import clones
from .environment import INSTRUCTIONS
from .processes import SUPERVISES, UNKNOWN, USES_DRNG, USES_LIBCRYPTO, USES_NEITHER, Process
from .stats import CLONE_PROTECTIONS, LOCKED

# Exit statuses of --check, the worst last.
HARDWARE, FALLBACK, NOT_IN_USE, CANNOT_TELL = 0, 1, 2, 3

# Of a process that has drawn nothing from drng. It decides nothing beside others; alone it is CANNOT_TELL.
IDLE = -1
WORST_LAST = (IDLE, HARDWARE, FALLBACK, CANNOT_TELL, NOT_IN_USE)

GREEN, YELLOW, RED, BOLD, PLAIN = "32", "33", "31", "1", "0"
COLOURS = {**dict.fromkeys(INSTRUCTIONS, GREEN), "fallback": YELLOW, "none": RED}

Row = tuple[str, str]


def on_terminal() -> bool:
    return sys.stdout.isatty()


def paint(text: str, colour: str | None) -> str:
    wanted = on_terminal() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return f"\x1b[{colour}m{text}\x1b[{PLAIN}m" if colour and wanted else text


# By how much two clocks may differ, and the last second that has a date of four digits in every time zone.
LATER, LAST_DATE = 60, 253402214400


def ago(seconds: int) -> str:
    """A time, from now; 0 is never."""
    if seconds == 0:
        return "never"
    age = int(time.time()) - seconds
    if age < -LATER:
        return "in the future"
    age = max(0, age)
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if age >= 2 * length:
            return f"{age // length} {unit} ago"
    return f"{age} s ago"


def moment(seconds: int) -> str:
    if seconds == 0:
        return "never"
    if seconds > LAST_DATE:
        return f"{seconds} s after 1970, which is no date"
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(seconds))} ({ago(seconds)})"


def yes(value: bool | None) -> str:
    return "unknown" if value is None else "yes" if value else "no"


# Facts that stand behind others, in their rows.
BEHIND = {"clone-protection": "clone-reason", "claim": "claim-source"}


def fact_row(key: str, facts: dict[str, Any]) -> Row:
    """Of a counter or a parameter, with what stands behind it."""
    value = facts[key]
    if facts.get(BEHIND.get(key, "")):
        return key, f"{value}: {facts[BEHIND[key]]}"
    return key, yes(value) if key == "virtual-machine" else str(value)


def print_rows(rows: Iterable[Row]) -> None:
    rows = list(rows)
    width = max((len(key) for key, _ in rows), default=0)
    for key, value in rows:
        print(f"{key:{width}}  {paint(value, COLOURS.get(value))}")


# ---- The environment ----


def describe(generator: dict[str, str] | None) -> str:
    return f"{generator['name']} of provider {generator['provider']}" if generator else "none"


def instruction_row(name: str, cpu: dict[str, Any]) -> Row:
    facts = cpu[name]
    mask = ", masked by OPENSSL_ia32cap" if facts["masked"] else ""
    return name, f"in the CPU: {yes(facts['in-cpu'])}{mask}, in the kernel's flags: {yes(facts['kernel'])}; " + (
        f"drng: {facts['drng']}"
    )


def environment_rows(status: dict[str, Any]) -> list[Row]:
    rows = [("OpenSSL", status["openssl"]), ("config", status["config"])]
    if status["config-problem"]:
        rows.append(("not read", status["config-problem"]))
    rows.append(("seed", describe(status["seed"]) if status["seed"] else "the operating system, through no provider"))
    rows += [(role, describe(status[role])) for role in ("primary", "public", "private")]
    if status["random_provider"]:
        rows.append(("random_provider", f"{status['random_provider']} (OpenSSL 3.5 and later)"))
    if status["override"]:
        rows.append(("override", f"{status['override']} outranks every provider"))
    rows.append(("RAND_bytes", "works" if status["rand_bytes"] else "fails"))
    rows += [("error", line) for line in status["errors"]]
    cpu = status["cpu"]
    rows += [("CPU", cpu["model"]), ("OPENSSL_ia32cap", cpu["mask"] or "not set")]
    rows += [instruction_row(name, cpu) for name in INSTRUCTIONS]
    if status["drng"] is None:
        rows.append(("drng", "not loaded"))
    else:
        facts = status["drng"]
        hidden = ("name", *BEHIND.values())
        rows += [fact_row(key, facts) for key in facts if key not in hidden and facts[key] != ""]
    return rows


# ---- Processes ----

SERVED_NOTHING = "drng is loaded and has served nothing yet"
SEEDED_BY_OTHERS = "drng's generators serve, with seeds that are not drng's"

COLUMNS = ("PID", "NAME", "SOURCE", "SEEDS", "FAILED", "RESEEDS", "REQUESTS", "BYTES", "LAST SEED")


def instructions(counters: dict[str, Any]) -> list[str]:
    """Those that the process's drng counts."""
    return [key.removesuffix("-retries") for key in counters if key.endswith("-retries")]


def seeds(counters: dict[str, Any]) -> int:
    return sum(counters[f"seeds-{source}"] for source in (*instructions(counters), "fallback"))


def has_drawn(process: Process) -> bool:
    """Whether anything was ever drawn from the drng that it has loaded; without that, nobody knows who serves it."""
    return process.counters["requests"] > 0 or seeds(process.counters) > 0


def is_seeded_by_others(counters: dict[str, Any]) -> bool:
    """Whether generators of drng's have drawn, and none has had a seed of drng's."""
    return counters["requests"] > 0 and seeds(counters) == 0


def explanation(process: Process) -> str:
    """Why that serves which serves."""
    parts = [process.message]
    if process.uses == USES_DRNG and not process.counters["begun"]:
        parts.append("it was forked and has drawn nothing yet")
    elif process.uses == USES_DRNG:
        if process.counters["active-source"] != "none" and not has_drawn(process):
            parts.append(SERVED_NOTHING)
        if is_seeded_by_others(process.counters):
            parts.append(SEEDED_BY_OTHERS)
        parts.append(str(process.counters["disabled-reason"]))
    return "; ".join(filter(None, parts))


def remark(process: Process) -> str:
    """What the numbers do not say."""
    return "; ".join(filter(None, (explanation(process), clones.warning(process.counters))))


def table_line(process: Process) -> tuple[str, ...]:
    c = process.counters
    if not c:
        return (str(process.pid), process.name, process.uses, *("-" for _ in COLUMNS[3:]))
    failed = c["seed-failures"] + c["health-failures"]
    numbers = (seeds(c), failed, c["reseeds"], c["requests"], c["bytes"])
    return (str(process.pid), process.name, c["active-source"], *map(str, numbers), ago(c["last-seed"]))


def print_table(processes: Sequence[Process]) -> None:
    lines = [COLUMNS, *map(table_line, processes)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    for number, line in enumerate(lines):
        cells = [f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)]
        cells[2] = paint(cells[2], COLOURS.get(line[2], None if number == 0 else RED))
        print(paint("  ".join(cells), BOLD) if number == 0 else "  ".join(cells))
    for process in processes:
        if note := remark(process):
            print(f"{process.pid} {process.name}: {note}")


def process_rows(process: Process) -> list[Row]:
    rows = [("process", f"{process.pid} {process.name}"), ("uses", process.uses)]
    if note := remark(process):
        rows.append(("remark", note))
    for key, value in process.counters.items():
        if key in ("loaded", "last-seed"):
            rows.append((key, moment(value)))
        elif key not in ("begun", "disabled-reason", *BEHIND.values()):
            rows.append(fact_row(key, process.counters))
    return rows


def print_processes(processes: Sequence[Process]) -> None:
    if on_terminal() and len(processes) != 1:
        print_table(processes)
        return
    for number, process in enumerate(processes):
        if number > 0:
            print()
        print_rows(process_rows(process))


def process_json(process: Process) -> dict[str, Any]:
    return {
        "pid": process.pid,
        "name": process.name,
        "uses": process.uses,
        "message": remark(process),
        **process.counters,
    }


# ---- --check ----


def source_status(source: str) -> int:
    return {**dict.fromkeys(INSTRUCTIONS, HARDWARE), "fallback": FALLBACK}.get(source, NOT_IN_USE)


def warned(result: int, warning: str) -> int:
    """What monitoring takes for a warning is the status of the fallback."""
    return FALLBACK if result == HARDWARE and warning else result


def check_environment(status: dict[str, Any]) -> tuple[int, str]:
    if not status["rand_bytes"]:
        return NOT_IN_USE, f"RAND_bytes fails: {'; '.join(status['errors']) or 'without a reason'}"
    if status["override"]:
        return NOT_IN_USE, f"{status['override']} outranks every provider"
    roles = [role for role in ("primary", "public", "private") if (status[role] or {}).get("provider") != "drng"]
    if status["drng"] is None or roles:
        others = f": {', '.join(roles)} generator of another provider" if roles else ""
        problem = f"; {status['config-problem']}" if status["config-problem"] else ""
        return NOT_IN_USE, f"drng is not in use{others}{problem}"
    source, reason = status["drng"]["active-source"], status["drng"]["disabled-reason"]
    result = source_status(source)
    alike = clones.warning(status["drng"])
    if result == HARDWARE and is_seeded_by_others(status["drng"]):
        return FALLBACK, "; ".join(filter(None, (SEEDED_BY_OTHERS, alike)))
    words = {HARDWARE: f"hardware serves: {source}", FALLBACK: "the fallback serves"}.get(result, "nothing serves")
    return warned(result, alike), "; ".join(filter(None, (words, reason, alike)))


def check_process(process: Process) -> int | None:
    """None: it has nothing to do with libcrypto, or leaves that to its children."""
    if process.uses == USES_DRNG:
        result = source_status(process.counters["active-source"])
        if result == HARDWARE and is_seeded_by_others(process.counters):
            return FALLBACK
        return IDLE if result in (HARDWARE, FALLBACK) and not has_drawn(process) else result
    return {USES_LIBCRYPTO: NOT_IN_USE, USES_NEITHER: None, SUPERVISES: None, UNKNOWN: CANNOT_TELL}[process.uses]


def names_of(processes: Sequence[Process]) -> str:
    """The first five."""
    names = ", ".join(f"{process.pid} {process.name}" for process in processes[:5])
    return names + (", ..." if len(processes) > 5 else "")


def left_out(processes: Sequence[Process]) -> str:
    """Those that do not count, though they use libcrypto without drng."""
    masters = names_of([process for process in processes if process.uses == SUPERVISES])
    return f"; left out, since its children serve: {masters}" if masters else ""


def clones_alike(processes: Sequence[Process]) -> str:
    """The warnings of the processes, each with those that it is of."""
    warnings = sorted({clones.warning(process.counters) for process in processes} - {""})
    return "".join(
        f"; {names_of([p for p in processes if clones.warning(p.counters) == warning])}: {warning}"
        for warning in warnings
    )


def judge(processes: Sequence[Process]) -> tuple[int, str]:
    """By who serves."""
    if not processes:
        return NOT_IN_USE, "no process uses drng"
    judged = [(check_process(process), process) for process in processes]
    results = [(result, process) for result, process in judged if result is not None]
    if not results:
        return NOT_IN_USE, "drng is not in use: no libcrypto in " + ", ".join(f"{p.pid} {p.name}" for p in processes)
    worst = max((result for result, _ in results), key=WORST_LAST.index)
    bad = [process for result, process in results if result == worst]
    names, left = names_of(bad), left_out(processes)
    if worst == IDLE:
        return (
            CANNOT_TELL,
            f"{SERVED_NOTHING}: {names}; OpenSSL's own generator serves where openssl.cnf has no random ={left}",
        )
    if worst == HARDWARE:
        sources = sorted({process.counters["active-source"] for process in bad})
        idle = sum(result == IDLE for result, _ in results)
        nothing = f"; {idle} of them drew nothing so far" if idle else ""
        return worst, f"hardware serves: {', '.join(sources)} in {len(bad)} of {len(results)} ({names}){nothing}{left}"
    words = {FALLBACK: "the fallback serves", NOT_IN_USE: "drng is not in use, or serves nothing"}
    reasons = "; ".join(sorted({explanation(process) for process in bad} - {""}))
    return worst, f"{words.get(worst, 'cannot tell')} in {names}" + (f": {reasons}" if reasons else "") + left


def check_processes(processes: Sequence[Process]) -> tuple[int, str]:
    result, line = judge(processes)
    alike = clones_alike(processes)
    return warned(result, alike), line + alike


def check_all(processes: Sequence[Process]) -> tuple[int, str]:
    """
    Of everybody's processes. Those that cannot be looked at need not have anything to do with drng, so they are counted
    and decide nothing, unless there are no others.
    """
    seen = [process for process in processes if not process.hidden]
    hidden = len(processes) - len(seen)
    if hidden == 0:
        return check_processes(seen)
    unseen = f"processes that could not be looked at: {hidden}"
    if not seen:
        return CANNOT_TELL, f"cannot tell: {unseen}, and no other uses drng"
    result, line = check_processes(seen)
    return result, f"{line}; {unseen}"


# ---- --prometheus ----

Sample = tuple[dict[str, str], int]


def escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def metric(name: str, kind: str, text: str, samples: Iterable[Sample]) -> list[str]:
    lines = [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
    for labels, value in samples:
        inside = ",".join(f'{key}="{escaped(label)}"' for key, label in labels.items())
        lines.append(f"{name}{{{inside}}} {value}")
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


def prometheus(processes: Sequence[Process]) -> str:
    """In node_exporter's textfile format."""
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
        for source in COLOURS
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
    lines += metric_alone("drng_unreadable_processes", "gauge", "Processes that could not be looked at.", unknown)
    return "\n".join(lines) + "\n"


def metric_alone(name: str, kind: str, text: str, value: int) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}", f"{name} {value}"]
