"""How things are shown: tables and colours on a terminal, plain text elsewhere, and what monitoring reads."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from ..instructions import INSTRUCTIONS, NO_VERDICT, WORDS
from ..terminal import GREEN, RED, YELLOW, Row, on_terminal, print_rows, print_table
from . import states
from .states import REBOOT, SUPERVISES, USES_DRNG, USES_LIBCRYPTO, Process
from .stats import LOCKED

# What a process uses in place of drng stands there, too: the colour of that is its state's.
SOURCES = {**dict.fromkeys(INSTRUCTIONS, GREEN), "fallback": YELLOW, **dict.fromkeys(states.WITHOUT_DRNG)}
OF_STATES = {
    states.SERVED: GREEN,
    states.IN_FALLBACK: YELLOW,
    states.NEEDS_RESTART: YELLOW,
    states.AT_REBOOT: YELLOW,
    states.FAILED: RED,
    states.WITHOUT: RED,
}
BAD = {("rand-bytes", "fails"), ("drng", "not loaded"), ("status", "failed")}


def colour_of(key: str, value: str) -> str | None:
    """Of a row, or of a cell in a column of that name."""
    if key in ("active-source", "SOURCE"):
        return SOURCES.get(value, RED)
    if key in ("state", "STATE"):
        return OF_STATES.get(value)
    if key in ("config-problem", "errors", "override") or (key, value) in BAD:
        return RED
    if key == "FAILED" or key.endswith("-failures"):
        return RED if value.strip("0-") else None
    return YELLOW if key == "memory" and value != LOCKED else None


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


def fact_rows(facts: dict[str, Any], *hidden: str) -> list[Row]:
    """What JSON has of a process or of drng, by the same keys; a reason stands behind what it is of."""
    rows = []
    for key, value in facts.items():
        if key in (*hidden, "clone-reason") or value == "":
            continue
        if key == "clone-protection" and facts.get("clone-reason"):
            rows.append((key, f"{value}: {facts['clone-reason']}"))
        elif key in ("loaded", "last-self-test", "last-seed"):
            rows.append((key, moment(value)))
        else:
            rows.append((key, yes(value) if key == "virtual-machine" else str(value)))
    return rows


# ---- The environment ----


def describe(generator: dict[str, str] | None) -> str:
    return f"{generator['name']} of provider {generator['provider']}" if generator else "none"


def instruction_row(name: str, facts: dict[str, Any]) -> Row:
    mask = ", masked by OPENSSL_ia32cap" if facts["masked"] else ""
    said = f"in the CPU: {yes(facts['in-cpu'])}{mask}, in the kernel's flags: {yes(facts['kernel'])}"
    return name, f"{said}; drng: {facts['drng']}"


def environment_rows(status: dict[str, Any]) -> list[Row]:
    """By the keys that JSON has; what is empty has none."""
    cpu, provider, override = status["cpu"], status["random-provider"], status["override"]
    rows = [(key, status[key]) for key in ("openssl", "config", "config-problem")]
    rows.append(("seed", describe(status["seed"]) if status["seed"] else "the operating system, through no provider"))
    rows += [(role, describe(status[role])) for role in ("primary", "public", "private")]
    rows.append(("random-provider", f"{provider} (OpenSSL 3.5 and later)" if provider else ""))
    rows.append(("override", f"{override} outranks every provider" if override else ""))
    rows.append(("rand-bytes", "works" if status["rand-bytes"] else "fails"))
    rows += [("errors", line) for line in status["errors"]]
    mask = f"OPENSSL_ia32cap={cpu['mask']}" if cpu["mask"] else "OPENSSL_ia32cap is not set"
    rows += [("model", cpu["model"]), ("mask", mask), ("verdict-problem", cpu["verdict-problem"])]
    rows += [instruction_row(name, cpu[name]) for name in INSTRUCTIONS]
    rows += [(key, cpu[key]) for key in ("amd-sb-7055", "srbds")]
    rows += [("drng", "not loaded")] if status["drng"] is None else fact_rows(status["drng"], "name")
    return [row for row in rows if row[1]]


# ---- Processes ----

COLUMNS = ("PID", "NAME", "SOURCE", "STATE", "SEEDS", "FAILED", "RESEEDS", "REQUESTS", "BYTES", "LAST SEED")


def explanation(process: Process) -> str:
    """Why that serves which serves."""
    parts = [process.message]
    if process.uses == USES_DRNG and not process.counters["begun"]:
        parts.append("it was forked and has drawn nothing yet")
    elif process.uses == USES_DRNG:
        if process.counters["active-source"] != "none" and not states.has_drawn(process):
            parts.append(states.SERVED_NOTHING)
        if states.is_seeded_by_others(process.counters):
            parts.append(states.WORDS_ALONE if process.words_alone else states.SEEDED_BY_OTHERS)
        parts.append(str(process.counters["disabled-reason"]))
    return "; ".join(filter(None, parts))


def remark(process: Process) -> str:
    """What the numbers do not say."""
    no_verdict = NO_VERDICT if process.no_verdict else ""
    parts = (explanation(process), states.restart_text(process), states.clone_warning(process.counters), no_verdict)
    return "; ".join(filter(None, parts))


def table_line(process: Process) -> tuple[str, ...]:
    c = process.counters
    uses = c["active-source"] if c else process.uses
    first = (str(process.pid), process.name, uses, states.state_of(process) or "-")
    if not c:
        return (*first, *("-" for _ in COLUMNS[len(first) :]))
    failed = c["seed-failures"] + c["health-failures"]
    numbers = (states.seeds(c), failed, c["reseeds"], c["requests"], c["bytes"])
    return (*first, *map(str, numbers), ago(c["last-seed"]))


def show_table(processes: Sequence[Process]) -> None:
    print_table([COLUMNS, *map(table_line, processes)], colour_of)
    for process in processes:
        if note := remark(process):
            print(f"{process.pid} {process.name}: {note}")


def process_json(process: Process) -> dict[str, Any]:
    return {
        "pid": process.pid,
        "name": process.name,
        "unit": process.unit,
        "owner": process.owner,
        "uses": process.uses,
        "state": states.state_of(process),
        "restart": process.restart,
        "message": remark(process),
        **process.counters,
    }


def process_rows(process: Process) -> list[Row]:
    """Without what the message says in words."""
    return fact_rows(process_json(process), "restart", "begun", "disabled-reason")


def print_processes(processes: Sequence[Process], long: bool = False) -> None:
    if on_terminal() and len(processes) != 1 and not long:
        show_table(processes)
        return
    for number, process in enumerate(processes):
        if number > 0:
            print()
        print_rows(process_rows(process), colour_of)


# ---- --check ----


def check_environment(status: dict[str, Any]) -> tuple[int, str]:
    if not status["rand-bytes"]:
        return states.NOT_IN_USE, f"RAND_bytes fails: {'; '.join(status['errors']) or 'without a reason'}"
    if status["override"]:
        return states.NOT_IN_USE, f"{status['override']} outranks every provider"
    roles = [role for role in ("primary", "public", "private") if (status[role] or {}).get("provider") != "drng"]
    if status["drng"] is None or roles:
        others = f": {', '.join(roles)} generator of another provider" if roles else ""
        problem = "".join(f"; {each}" for each in (status["config-problem"], *status["errors"]) if each)
        return states.NOT_IN_USE, f"drng is not in use{others}{problem}"
    source, reason = status["drng"]["active-source"], status["drng"]["disabled-reason"]
    words_alone = status["public"]["name"] == WORDS
    result = states.source_status(source)
    alike = states.clone_warning(status["drng"])
    if result == states.HARDWARE and not words_alone and states.is_seeded_by_others(status["drng"]):
        return states.FALLBACK, "; ".join(filter(None, (states.SEEDED_BY_OTHERS, alike)))
    words = {
        states.HARDWARE: states.WORDS_ALONE if words_alone else f"hardware serves: {source}",
        states.FALLBACK: "the fallback serves",
    }.get(result, "nothing serves")
    line = "; ".join(filter(None, (words, reason, alike, status["cpu"]["verdict-problem"])))
    return (states.FALLBACK if result == states.HARDWARE and alike else result), line


def names_of(processes: Sequence[Process]) -> str:
    """The first five."""
    names = ", ".join(f"{process.pid} {process.name}" for process in processes[: states.MOST_SAID])
    return names + (", ..." if len(processes) > states.MOST_SAID else "")


def left_out(processes: Sequence[Process]) -> str:
    """Those that do not count, though they use libcrypto without drng."""
    masters = names_of([process for process in processes if process.uses == SUPERVISES])
    return f"; left out, since its children serve: {masters}" if masters else ""


def each_with_its_processes(processes: Sequence[Process], warning_of: Callable[[Process], str]) -> str:
    warnings = [f"{names_of(members)}: {warning}" for warning, members in states.grouped(processes, warning_of)]
    return f"; {states.first_of(warnings)}" if warnings else ""


def judge(processes: Sequence[Process]) -> tuple[int, str]:
    """By who serves."""
    if not processes:
        return states.NOT_IN_USE, "no process uses drng"
    judged = [(states.check_process(process), process) for process in processes]
    results = [(result, process) for result, process in judged if result is not None]
    if not results:
        return states.NOT_IN_USE, f"drng is not in use: no libcrypto in {names_of(processes)}"
    worst = max((result for result, _ in results), key=states.WORST_LAST.index)
    bad = [process for result, process in results if result == worst]
    names, left = names_of(bad), left_out(processes)
    if worst == states.IDLE:
        return (
            states.CANNOT_TELL,
            f"{states.SERVED_NOTHING}: {names}; OpenSSL's own generator serves where openssl.cnf has no random ={left}",
        )
    if worst == states.HARDWARE:
        sources = sorted({process.counters["active-source"] for process in bad})
        idle = sum(result == states.IDLE for result, _ in results)
        nothing = f"; {idle} of them drew nothing so far" if idle else ""
        nothing += f"; {states.WORDS_ALONE}" if any(process.words_alone for process in bad) else ""
        return worst, f"hardware serves: {', '.join(sources)} in {len(bad)} of {len(results)} ({names}){nothing}{left}"
    words = {states.FALLBACK: "the fallback serves", states.NOT_IN_USE: "drng is not in use, or serves nothing"}
    reasons = states.first_of(sorted({explanation(process) for process in bad} - {""}))
    return worst, f"{words.get(worst, 'cannot tell')} in {names}" + (f": {reasons}" if reasons else "") + left


def check_processes(processes: Sequence[Process], judged: Sequence[Process] = ()) -> tuple[int, str]:
    """Who serves, by those that are judged, or by all; and of all what does not decide that."""
    result, line = judge(judged or processes)
    later = [process for process in processes if process.restart == REBOOT]
    others = [process for process in processes if process.restart != REBOOT]
    warnings = each_with_its_processes(processes, lambda process: states.clone_warning(process.counters))
    warnings += each_with_its_processes(others, states.restart_text)
    line += warnings
    # Nobody need be warned of what waits for the next reboot, or of what drng has done without.
    if later:
        line += f"; at the next reboot: {names_of(later)}"
    if blind := [process for process in processes if process.no_verdict]:
        line += f"; {names_of(blind)}: {NO_VERDICT}"
    # What monitoring takes for a warning is the status of the fallback.
    return (states.FALLBACK if result == states.HARDWARE and warnings else result), line


def unseen(processes: Sequence[Process]) -> list[str]:
    """Those that could not be looked at, with the reasons, of which there may be one for each user."""
    lines = [
        f"processes that could not be looked at: {len(members)} ({names_of(members)}): {reason}"
        for reason, members in states.grouped(processes, lambda process: process.message if process.hidden else "")
    ]
    most = states.MOST_SAID
    return lines[:most] + ([f"and {len(lines) - most} more reasons"] if len(lines) > most else [])


def check_all(processes: Sequence[Process]) -> tuple[int, str]:
    """
    Of everybody's processes. Those that cannot be looked at need not have anything to do with drng, so they are counted
    and decide nothing, unless there are no others. One for which the time did not suffice may be any process.
    """
    seen = [process for process in processes if not process.hidden]
    hidden, missed = len(processes) - len(seen), sum(process.missed for process in processes)
    unseen = f"processes that could not be looked at: {hidden}" + (f", {missed} of them not tried" if missed else "")
    if hidden and not seen:
        return states.CANNOT_TELL, f"cannot tell: {unseen}, and no other uses drng"
    # Those that have libcrypto alone would use drng if they were restarted, which is a warning.
    result, line = check_processes(seen, [process for process in seen if process.uses != USES_LIBCRYPTO])
    result = states.worse(result, states.CANNOT_TELL if missed else states.HARDWARE)
    return result, f"{line}; {unseen}" if hidden else line
