# SPDX-License-Identifier: Apache-2.0
"""What random numbers come from in a program that is started in this environment: libcrypto is asked, in a process of
its own, with what openssl.cnf says; see conf/probe.py."""

from __future__ import annotations

import os
from typing import Any

from ..conf.command import mistakes
from ..conf.meaning import generators_of, understand
from ..conf.probe import Probe, default_file, probe
from ..instructions import INSTRUCTIONS, MASK, WORDS
from ..paths import read_once
from ..procfs import PROC
from ..terminal import Row
from ..text import printable_all
from . import states, stats, verdict
from .output import fact_rows
from .states import CRITICAL, GOOD, SERVERS, WARNING

ROLES = ("seed", "primary", "public", "private")

# The provider's words, in "disabled-reason".
ABSENT = "not in this CPU"


def cpuinfo() -> dict[str, str]:
    """Of the first processor; empty where it cannot be read."""
    try:
        text = (PROC / "cpuinfo").read_text("ascii", "replace").split("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def _cpu(info: dict[str, str], drng: dict[str, Any] | None) -> dict[str, Any]:
    """Of each instruction drng's own words, which know its list of broken parts; without drng, what the kernel says."""
    flags = info.get("flags", "").split()
    parts = str((drng or {}).get("disabled-reason", "")).split("; ")
    denied = {name.lower(): why for name, _, why in (part.partition(": ") for part in parts)}
    answer: dict[str, Any] = {
        "model": info.get("model name") or info.get("cpu") or "unknown",
        "mask": os.environ.get(MASK) if MASK else None,
    }
    for name, place in INSTRUCTIONS.items():
        said = "not loaded" if drng is None else denied.get(name, "may serve")
        listed = name in flags if flags and place else None
        answer[name] = {"in-cpu": listed if drng is None else said != ABSENT, "drng": said}
    return answer


def _served_by(found: Probe, drng: dict[str, Any] | None) -> str:
    if found.refused:
        return verdict.NOT_KNOWN
    if not found.rand_bytes:
        return verdict.NOBODY
    if found.override or not found.served_by_drng or drng is None:
        return found.override or verdict.OPENSSL
    active = drng["active-source"]
    others = verdict.is_seeded_by_others(drng) and active != (WORDS or "").lower()
    return verdict.FALLBACK if active == "fallback" or others else verdict.NOBODY if active == "none" else verdict.DRNG


def collect() -> dict[str, Any]:
    path = default_file()
    text, problem = b"", "" if path else "OPENSSL_CONF is empty"
    try:
        text = b"" if path in ("", os.devnull) else read_once(path)
    except OSError as error:
        problem = f"{path}: {error.strerror}; OpenSSL ignores it"
    found = probe(text, path)
    if found.problem:
        problem, found = found.problem, probe(b"", path)
    read, info, drng = understand(found), cpuinfo(), found.drng
    if drng is not None:
        flags = info.get("flags", "").split()
        drng = {**drng, "status": stats.STATUS[drng["status"] != 0]}
        drng["virtual-machine"] = "hypervisor" in flags if flags else None
        if WORDS and found.public and found.public.name == WORDS:
            drng["active-source"] = WORDS.lower()
    answer: dict[str, Any] = {
        "served-by": _served_by(found, drng),
        "openssl": found.version,
        "library": found.library,
        "config": path,
        "config-problem": problem or found.refused,
        "errors": [] if found.refused else mistakes(found, read),
        "warnings": states.warnings(drng or {}),
        **{role: vars(each) if (each := getattr(found, role)) else None for role in ROLES},
        "random-provider": generators_of(found, read.init).get("random_provider"),
        "override": found.override or None,
        "rand-bytes": found.rand_bytes,
        "cpu": _cpu(info, drng),
        "drng": drng,
    }
    return dict(printable_all(answer))


# ---- As it is shown ----

# Of drng's parameters those that say how it serves; the others are counters.
NOT_LONG = ("version", "active-source", "disabled-reason", "aes-implementation", "status", "clone-protection")


def environment_rows(status: dict[str, Any], *, long: bool = False) -> list[Row]:
    """By the keys that JSON has."""
    drng = {key: value for key, value in (status["drng"] or {}).items() if long or key in NOT_LONG}
    wrong = status["config-problem"] or status["errors"]
    switch = "" if wrong else "; drng-enable(8) switches it on"
    shown = {**status, **status["cpu"], **({"drng": f"not loaded{switch}"} if status["drng"] is None else drng)}
    return fact_rows(shown, "name", "library", "cpu", *([] if status["drng"] is None else ["drng"]))


def check_environment(status: dict[str, Any]) -> tuple[int, str]:
    by, drng = status["served-by"], status["drng"] or {}
    result, said, _ = SERVERS.get(by, (CRITICAL, f"{by} outranks every provider", ""))
    more = [status["config-problem"], *status["errors"]]
    if by in (verdict.DRNG, verdict.FALLBACK):
        said += f", seeds from {drng['active-source']}" if by == verdict.DRNG else ""
        said = verdict.OF_OTHERS if by == verdict.FALLBACK and verdict.is_seeded_by_others(drng) else said
        result = max(result, WARNING if status["warnings"] else GOOD)
        more += states.facts_of(by, drng)
    return result, "; ".join(dict.fromkeys(filter(None, [said, *more])))
