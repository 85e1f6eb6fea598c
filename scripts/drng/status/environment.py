# SPDX-License-Identifier: Apache-2.0
"""What random numbers come from in a program that is started in this environment: libcrypto is asked, in a process of
its own, with what openssl.cnf says; see conf/probe.py."""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any

from ..conf.command import mistakes
from ..conf.meaning import generators_of
from ..conf.probe import GENERATORS, Probe, default_file, probe_file
from ..instructions import INSTRUCTIONS, MASK
from ..procfs import PROC
from ..terminal import Row
from ..text import printable_all
from . import states, verdict
from .look import Look
from .output import fact_rows
from .sources import Source
from .verdict import Process, judge

# The provider's words, in "disabled-reason".
ABSENT = "not in this CPU"


def _cpu(drng: dict[str, Any]) -> dict[str, Any]:
    """Of each instruction drng's own words, which know its list of broken parts; without drng, what the kernel says."""
    text = ""
    with contextlib.suppress(OSError):
        text = (PROC / "cpuinfo").read_text("ascii", "replace")
    model, found = (re.search(rf"^(?:{key})\s*: (.*)", text, re.M) for key in ("model name|cpu", "flags"))
    flags = found[1].split() if found else []
    parts = (part.partition(": ") for part in drng.get("disabled-reason", "").split("; "))
    denied = {name.lower(): why for name, _, why in parts}
    answer: dict[str, Any] = {"model": model[1] if model else "unknown", "mask": os.environ.get(MASK) if MASK else None}
    for name, place in INSTRUCTIONS.items():
        said = denied.get(name, "may serve") if drng else "not loaded"
        listed = name in flags if flags and place else None
        answer[name] = {"in-cpu": said != ABSENT if drng else listed, "drng": said}
    return answer


def _program(found: Probe, generator: str) -> Process:
    """As one that runs would be judged."""
    if found.served_by_drng and found.drng:
        source = Source(found.path, True, names_drng=True, asks_drng=True, generator=generator)
        return judge(Look(0, "a new program", counters=found.drng), None, source, 0.0)
    unknown = found.refused or found.served_by_drng
    by = verdict.NOT_KNOWN if unknown else verdict.OPENSSL if found.rand_bytes else verdict.NOBODY
    return Process(0, "a new program", served_by=found.override if found.rand_bytes and found.override else by)


def collect() -> tuple[dict[str, Any], Process]:
    path = default_file()
    found = probe_file(path)
    problem = found.problem or found.refused or ("" if path else "OPENSSL_CONF is empty")
    random = generators_of(found)
    process = _program(found, random.get("random", ""))
    drng = process.counters or found.drng
    answer: dict[str, Any] = {
        "served-by": process.served_by,
        "openssl": found.version,
        "library": found.library,
        "config": path,
        "config-problem": problem,
        "errors": [] if found.refused else mistakes(found),
        "warnings": states.warnings(drng),
        **{role: found.generators.get(role) for role in ("seed", *GENERATORS)},
        "random-provider": random.get("random_provider"),
        "override": found.override or None,
        "rand-bytes": found.rand_bytes,
        "cpu": _cpu(drng),
        "drng": drng or None,
    }
    return dict(printable_all(answer)), process


# ---- As it is shown ----

# Of drng's parameters those that say how it serves; the others are counters.
SHOWN = ("version", "active-source", "disabled-reason", "aes-implementation", "status", "clone-protection")


def environment_rows(status: dict[str, Any], *, long: bool) -> list[Row]:
    """By the keys that JSON has."""
    loaded, drng = status["drng"] is not None, status["drng"] or {}
    switch = "" if status["config-problem"] or status["errors"] else "; drng-enable(8) switches it on"
    shown = {**status, **status["cpu"], "drng": f"not loaded{switch}"}
    shown |= {key: value for key, value in drng.items() if long or key in SHOWN}
    return fact_rows(shown, "name", "library", "cpu", *["drng"] * loaded)


def check_environment(status: dict[str, Any], process: Process) -> tuple[int, str]:
    by = process.served_by
    result, said, _ = states.SERVERS.get(by, (states.CRITICAL, f"{by} outranks every provider", ""))
    said += f", seeds from {process.seeds_from}" if by == verdict.DRNG else ""
    result = max(result, states.WARNING if status["warnings"] else states.GOOD)
    return result, "; ".join(
        filter(None, [said, status["config-problem"], *status["errors"], *states.remarks(process)])
    )
