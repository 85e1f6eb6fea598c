"""How things are shown: tables and colours on a terminal, plain text elsewhere, and what monitoring reads."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import clones
from .answers import SUPERVISES, USES_DRNG, USES_LIBCRYPTO, Process
from .instructions import INSTRUCTIONS
from .states import (
    CANNOT_TELL,
    FALLBACK,
    HARDWARE,
    IDLE,
    MOST_SAID,
    NOT_IN_USE,
    SEEDED_BY_OTHERS,
    SERVED_NOTHING,
    WORST_LAST,
    check_process,
    first_of,
    has_drawn,
    is_seeded_by_others,
    restart_text,
    seeds,
    source_status,
    state_of,
    worse,
)

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

COLUMNS = ("PID", "NAME", "SOURCE", "STATE", "SEEDS", "FAILED", "RESEEDS", "REQUESTS", "BYTES", "LAST SEED")


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
    parts = (explanation(process), restart_text(process), clones.warning(process.counters))
    return "; ".join(filter(None, parts))


def table_line(process: Process) -> tuple[str, ...]:
    c = process.counters
    if not c:
        return (str(process.pid), process.name, process.uses, state_of(process) or "-", *("-" for _ in COLUMNS[4:]))
    failed = c["seed-failures"] + c["health-failures"]
    numbers = (seeds(c), failed, c["reseeds"], c["requests"], c["bytes"])
    state = state_of(process)
    return (str(process.pid), process.name, c["active-source"], state, *map(str, numbers), ago(c["last-seed"]))


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
    rows = [("process", f"{process.pid} {process.name}"), ("unit", process.unit), ("owner", process.owner)]
    rows += [("uses", process.uses), ("state", state_of(process) or "-")]
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
        "unit": process.unit,
        "owner": process.owner,
        "uses": process.uses,
        "state": state_of(process),
        "restart": process.restart,
        "message": remark(process),
        **process.counters,
    }


# ---- --check ----


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


def names_of(processes: Sequence[Process]) -> str:
    """The first five."""
    names = ", ".join(f"{process.pid} {process.name}" for process in processes[:MOST_SAID])
    return names + (", ..." if len(processes) > MOST_SAID else "")


def left_out(processes: Sequence[Process]) -> str:
    """Those that do not count, though they use libcrypto without drng."""
    masters = names_of([process for process in processes if process.uses == SUPERVISES])
    return f"; left out, since its children serve: {masters}" if masters else ""


def each_with_its_processes(processes: Sequence[Process], warning_of: Callable[[Process], str]) -> str:
    """The warnings, each with those that it is of."""
    groups: dict[str, list[Process]] = {}
    for process in processes:
        if warning := warning_of(process):
            groups.setdefault(warning, []).append(process)
    warnings = [f"{names_of(members)}: {warning}" for warning, members in sorted(groups.items())]
    return f"; {first_of(warnings)}" if warnings else ""


def warnings_of(processes: Sequence[Process]) -> str:
    """Of what does not decide who serves."""
    alike = each_with_its_processes(processes, lambda process: clones.warning(process.counters))
    return alike + each_with_its_processes(processes, restart_text)


def judge(processes: Sequence[Process]) -> tuple[int, str]:
    """By who serves."""
    if not processes:
        return NOT_IN_USE, "no process uses drng"
    judged = [(check_process(process), process) for process in processes]
    results = [(result, process) for result, process in judged if result is not None]
    if not results:
        return NOT_IN_USE, f"drng is not in use: no libcrypto in {names_of(processes)}"
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
    reasons = first_of(sorted({explanation(process) for process in bad} - {""}))
    return worst, f"{words.get(worst, 'cannot tell')} in {names}" + (f": {reasons}" if reasons else "") + left


def check_processes(processes: Sequence[Process]) -> tuple[int, str]:
    result, line = judge(processes)
    warnings = warnings_of(processes)
    return warned(result, warnings), line + warnings


def check_users(processes: Sequence[Process]) -> tuple[int, str]:
    """By those that use drng; the others would if they were restarted, which is a warning."""
    users = [process for process in processes if process.uses != USES_LIBCRYPTO]
    if not users:
        return check_processes(processes)
    result, line = judge(users)
    warnings = warnings_of(processes)
    return warned(result, warnings), line + warnings


def check_all(processes: Sequence[Process]) -> tuple[int, str]:
    """
    Of everybody's processes. Those that cannot be looked at need not have anything to do with drng, so they are counted
    and decide nothing, unless there are no others. One for which the time did not suffice may be any process.
    """
    seen = [process for process in processes if not process.hidden]
    hidden = len(processes) - len(seen)
    if hidden == 0:
        return check_users(seen)
    missed = sum(process.missed for process in processes)
    unseen = f"processes that could not be looked at: {hidden}" + (f", {missed} for lack of time" if missed else "")
    if not seen:
        return CANNOT_TELL, f"cannot tell: {unseen}, and no other uses drng"
    result, line = check_users(seen)
    return worse(result, CANNOT_TELL if missed else HARDWARE), f"{line}; {unseen}"
