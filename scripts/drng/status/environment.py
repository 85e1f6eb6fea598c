# SPDX-License-Identifier: Apache-2.0
"""What random numbers come from in a program that is started in this environment: libcrypto is asked, in a process of
its own, with what openssl.cnf says; see conf/probe.py."""

from __future__ import annotations

import os
from typing import Any

from ..conf import meaning
from ..conf.command import not_loaded
from ..conf.probe import Probe, default_file, probe
from ..instructions import INSTRUCTIONS, MASK, WORDS
from ..paths import read_once
from ..procfs import PROC
from ..terminal import Row
from ..text import printable_all
from . import states, stats, verdict
from .output import fact_rows, yes
from .states import CRITICAL, GOOD, SERVERS, WARNING

ROLES = ("primary", "public", "private")

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
    flags = info.get("flags", "").split()
    answer: dict[str, Any] = {
        "model": info.get("model name") or info.get("cpu") or "unknown",
        "mask": os.environ.get(MASK) if MASK else None,
    }
    for name, place in INSTRUCTIONS.items():
        said = states.verdict_on(name, drng) if drng is not None else "not loaded, so its verdict is not known"
        answer[name] = {
            "in-cpu": None if drng is None else said != ABSENT,
            "masked": said.startswith("masked by"),
            "kernel": name in flags if flags and place else None,
            "drng": said,
        }
    return answer


def _served_by(found: Probe, drng: dict[str, Any] | None) -> str:
    if found.refused:
        return verdict.NOT_KNOWN
    if not found.rand_bytes:
        return verdict.NOBODY
    if found.override or not found.served_by_drng or drng is None:
        return found.override or verdict.OPENSSL
    return {"fallback": verdict.FALLBACK, "none": verdict.NOBODY}.get(drng["active-source"], verdict.DRNG)


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
    read, info, drng = meaning.understand(found), cpuinfo(), found.drng
    if drng is not None:
        flags = info.get("flags", "").split()
        drng = {**drng, "status": stats.STATUS[drng["status"] != 0]}
        drng["virtual-machine"] = "hypervisor" in flags if flags else None
        if WORDS and found.public and found.public.name == WORDS:
            drng["active-source"] = WORDS.lower()
    answer: dict[str, Any] = {
        "openssl": found.version,
        "library": found.library,
        "config": path,
        "config-problem": problem or found.refused,
        "config-errors": found.stopped,
        "errors": [*not_loaded(found, read), *found.errors],
        "warnings": [*filter(None, [problem]), *read.warnings, *states.warnings(drng or {})],
        "rand-bytes": found.rand_bytes,
        "again": found.again,
        "ciphers": found.ciphers,
        "fips": found.fips,
        "override": found.override or None,
        "random-provider": meaning.generators_of(found, read.init).get("random_provider"),
        **{role: vars(each) if (each := getattr(found, role)) else None for role in ("seed", *ROLES)},
        "served-by": _served_by(found, drng),
        "cpu": _cpu(info, drng),
        "drng": drng,
    }
    return dict(printable_all(answer))


# ---- As it is shown ----

# Of drng's parameters those that say how it serves; the others are counters.
NOT_LONG = ("version", "active-source", "disabled-reason", "aes-implementation", "status", "clone-protection")


def environment_rows(status: dict[str, Any], *, long: bool = False) -> list[Row]:
    """By the keys that JSON has."""
    shown = {key: status[key] for key in ("served-by", "openssl", "config", "config-problem", "config-errors")}
    for role in ("seed", *ROLES):
        shown[role] = "{name} of provider {provider}".format(**status[role]) if status[role] else "none"
    shown |= {key: status[key] or "" for key in ("random-provider", "override")}
    shown |= {key: status[key] for key in ("rand-bytes", "errors")}
    shown |= {key: status["cpu"][key] or "none" for key in ("model", "mask")}
    for name in INSTRUCTIONS:
        known = {key: yes(value) if key != "drng" else value for key, value in status["cpu"][name].items()}
        shown[name] = ", ".join(f"{key}: {value}" for key, value in known.items())
    drng = {key: value for key, value in (status["drng"] or {}).items() if long or key in NOT_LONG}
    wrong = status["config-problem"] or status["errors"] or status["config-errors"]
    switch = "" if wrong else "; drng-enable(8) switches it on"
    return fact_rows({**shown, **({"drng": f"not loaded{switch}"} if status["drng"] is None else drng)}, "name")


def check_environment(status: dict[str, Any]) -> tuple[int, str]:
    by, drng = status["served-by"], status["drng"] or {}
    result, said, _ = SERVERS.get(by, (CRITICAL, f"{by} outranks every provider", ""))
    more = [status["config-problem"], *status["errors"], *status["config-errors"]]
    if by in (verdict.DRNG, verdict.FALLBACK):
        if status["public"]["name"] == WORDS:
            said = f"{WORDS} serves, by configuration"
        elif by == verdict.DRNG:
            others = verdict.is_seeded_by_others(drng)
            result = WARNING if others else result
            said = verdict.OF_OTHERS if others else f"{said}, seeds from {drng['active-source']}"
        warned = states.warnings(drng)
        result = max(result, WARNING if warned else GOOD)
        more = [*states.last_results(drng), drng["disabled-reason"], *warned]
    return result, "; ".join(filter(None, [said, *more]))
