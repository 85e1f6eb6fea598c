# SPDX-License-Identifier: Apache-2.0
"""What random numbers come from in a program that is started in this environment: libcrypto is asked, in a process of
its own, with what openssl.cnf says; see conf/probe.py."""

from __future__ import annotations

import os
import re
from typing import Any

from .. import procfs
from ..conf import meaning
from ..conf.command import not_loaded
from ..conf.probe import Probe, default_file, probe
from ..instructions import INSTRUCTIONS, MASK, WORDS
from ..terminal import Row
from ..text import printable_all
from . import facts, stats, verdict
from .output import fact_rows, yes
from .sources import text_of
from .states import CANNOT_TELL, CRITICAL, GOOD, WARNING

ROLES = ("primary", "public", "private")

# The provider's words, in "disabled-reason".
ABSENT = "not in this CPU"

# A word that is not given is all zeros for libcrypto, which has five since 3.4, and two before.
NO_MASK = "~0:~0:~0:~0:~0"


# ---- The CPU ----


def _bit_of(settings: str, place: tuple[int, int]) -> bool | None:
    """Of the first two words of "OPENSSL_ia32cap=0x...:0x...", None where these are not known."""
    words = re.match(r"OPENSSL_ia32cap=(0x[0-9a-f]+):(0x[0-9a-f]+)", settings)
    word, bit = place
    return None if words is None else bool(int(words[1 + word], 16) >> bit & 1)


def _cpu(drng: dict[str, Any] | None, masked: str, unmasked: str) -> dict[str, Any]:
    info = procfs.cpuinfo()
    flags = info.get("flags", "").split()
    answer: dict[str, Any] = {
        "model": info.get("model name") or info.get("cpu") or "unknown",
        "mask": os.environ.get(MASK) if MASK else None,
    }
    for name, place in INSTRUCTIONS.items():
        said = facts.verdict_on(name, drng) if drng is not None else "not loaded, so its verdict is not known"
        in_cpu = _bit_of(unmasked, place) if place else None if drng is None else said != ABSENT
        answer[name] = {
            "in-cpu": in_cpu,
            "masked": bool(in_cpu and place and _bit_of(masked, place) is False) or said.startswith("masked by"),
            "kernel": name in flags if flags and place else None,
            "drng": said,
        }
    return answer


def against_the_kernel(cpu: dict[str, Any]) -> list[str]:
    """Instructions that drng uses although the kernel has switched them off: it asks the kernel for listed parts."""
    others = {name: next((other for other in INSTRUCTIONS if other != name), "") for name in INSTRUCTIONS}
    return [
        f"the kernel has switched {name.upper()} off, and drng may use it: set source = {others[name]} to obey it"
        for name in INSTRUCTIONS
        if cpu[name]["kernel"] is False and cpu[name]["in-cpu"] and cpu[name]["drng"] == "may serve"
    ]


# ---- Who serves ----


def _served_by(found: Probe, drng: dict[str, Any] | None) -> str:
    if found.refused:
        return verdict.NOT_KNOWN
    if not found.rand_bytes:
        return verdict.NOBODY
    if found.override or not found.served_by_drng or drng is None:
        return found.override or verdict.OPENSSL
    return verdict.FALLBACK if drng["active-source"] == "fallback" else verdict.DRNG


def _facts_of(found: Probe) -> dict[str, Any] | None:
    """The provider's parameters, in words."""
    if found.drng is None:
        return None
    flags = procfs.cpuinfo().get("flags", "").split()
    drng = {**found.drng, "status": stats.STATUS[found.drng["status"] != 0]}
    drng["virtual-machine"] = "hypervisor" in flags if flags else None
    if WORDS and found.public and found.public.name == WORDS:
        drng["active-source"] = WORDS.lower()
    return drng


def collect() -> dict[str, Any]:
    path = default_file()
    text, problem = b"", "" if path else "OPENSSL_CONF is empty"
    try:
        text = text_of(path) if path else b""
    except OSError as error:
        problem = f"{path}: {error.strerror}; OpenSSL ignores it"
    found = probe(text, path)
    unmasked = probe(b"", "", {MASK: NO_MASK}).settings if MASK and MASK in os.environ else found.settings
    if found.problem:
        problem, found = found.problem, probe(b"", path)
    read = meaning.understand(found)
    drng = _facts_of(found)
    cpu = _cpu(drng, found.settings, unmasked)
    answer: dict[str, Any] = {
        "openssl": found.version,
        "library": found.library,
        "config": path,
        "config-problem": problem or found.refused,
        "config-errors": found.stopped,
        "errors": [*not_loaded(found, read), *found.errors],
        "warnings": [*filter(None, [problem]), *read.warnings, *facts.warnings(drng or {}), *against_the_kernel(cpu)],
        "rand-bytes": found.rand_bytes,
        "again": found.again,
        "ciphers": found.ciphers,
        "fips": found.fips,
        "override": found.override or None,
        "random-provider": meaning.generators_of(found, read.init).get("random_provider"),
        **{role: vars(each) if (each := getattr(found, role)) else None for role in ("seed", *ROLES)},
        "served-by": _served_by(found, drng),
        "cpu": cpu,
        "drng": drng,
    }
    return dict(printable_all(answer))


# ---- As it is shown ----


def _described(generator: dict[str, str] | None) -> str:
    return f"{generator['name']} of provider {generator['provider']}" if generator else "none"


def _instruction_row(name: str, known: dict[str, Any]) -> Row:
    if name == "none":
        return name, f"drng: {known['drng']}"
    mask = f", masked by {MASK}" if known["masked"] else ""
    kernel = f", in the kernel's flags: {yes(known['kernel'])}" if INSTRUCTIONS[name] else ""
    place = "in the CPU" if INSTRUCTIONS[name] else "announced by the kernel"
    return name, f"{place}: {yes(known['in-cpu'])}{mask}{kernel}; drng: {known['drng']}"


# Of drng's parameters those that say how it serves; the others are counters.
NOT_LONG = ("version", "active-source", "disabled-reason", "aes-implementation", "status", "clone-protection")


def environment_rows(status: dict[str, Any], *, long: bool = False) -> list[Row]:
    """By the keys that JSON has; what is empty has none."""
    cpu, provider, override = status["cpu"], status["random-provider"], status["override"]
    rows = [(key, status[key]) for key in ("served-by", "openssl", "config", "config-problem")]
    rows += [("config-errors", line) for line in status["config-errors"]]
    rows.append(("seed", _described(status["seed"]) if status["seed"] else "the operating system, through no provider"))
    rows += [(role, _described(status[role])) for role in ROLES]
    rows.append(("random-provider", f"{provider} (OpenSSL 3.5 and later)" if provider else ""))
    rows.append(("override", f"{override} outranks every provider" if override else ""))
    rows.append(("rand-bytes", "works" if status["rand-bytes"] else "fails"))
    rows += [("errors", line) for line in status["errors"]]
    mask = "" if not MASK else f"{MASK}={cpu['mask']}" if cpu["mask"] else f"{MASK} is not set"
    rows += [("model", cpu["model"]), ("mask", mask)]
    rows += [_instruction_row(name, cpu[name]) for name in INSTRUCTIONS]
    drng = {key: value for key, value in (status["drng"] or {}).items() if long or key in NOT_LONG}
    rows += [("drng", "not loaded")] if status["drng"] is None else fact_rows(drng, "name")
    return [row for row in rows if row[1]]


def check_environment(status: dict[str, Any]) -> tuple[int, str]:
    by, drng = status["served-by"], status["drng"]
    errors = "".join(
        f"; {each}" for each in (status["config-problem"], *status["errors"], *status["config-errors"]) if each
    )
    if by == verdict.NOT_KNOWN:
        return CANNOT_TELL, f"not known who serves{errors}"
    if by == verdict.NOBODY:
        return CRITICAL, f"RAND_bytes fails{errors or ': without a reason'}"
    if by not in (verdict.DRNG, verdict.FALLBACK):
        roles = [role for role in ROLES if (status[role] or {}).get("provider") != "drng"]
        others = f": {', '.join(roles)} generator of another provider" if roles else f": {by} outranks every provider"
        return CRITICAL, f"drng is not in use{others}{errors}"
    source, words_alone = drng["active-source"], status["public"]["name"] == WORDS
    said = [f"{WORDS} serves, by configuration" if words_alone else f"drng serves, seeds from {source}"]
    result = WARNING if facts.warnings(drng) else GOOD
    if by == verdict.FALLBACK:
        result, said = WARNING, ["the fallback serves"]
    elif source == "none":
        result, said = CRITICAL, ["nothing serves"]
    elif not words_alone and verdict.is_seeded_by_others(drng):
        result, said = WARNING, [verdict.OF_OTHERS]
    said += [*facts.last_results(drng), drng["disabled-reason"], *facts.warnings(drng)]
    return result, "; ".join(filter(None, said))
