# SPDX-License-Identifier: Apache-2.0
"""Who serves a process, and if drng does not, which of the known reasons holds, and what mends it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import systemd
from ..instructions import INSTRUCTIONS, KNOWN, WORDS
from ..terminal import printable
from .libraries import Library
from .look import Look
from .services import Setting
from .sources import Source

# Who serves it.
DRNG, FALLBACK, PARTLY, OPENSSL, NOBODY = "drng", "fallback", "partly", "OpenSSL", "nobody"
NONE, NOT_KNOWN = "-", "unknown"

# Why it should be restarted.
REPLACED, CONFIGURATION, REBOOT = "replaced", "configuration", "reboot"
RESTART = {
    REPLACED: "the drng.so that it has loaded has been replaced or removed: restart it",
    CONFIGURATION: "it started before openssl.cnf named drng: restart it",
    REBOOT: "needs a reboot",
}

# For each reason what is said of a process ("it"), and the cure; both have places for what is known of this one.
SECURE = "it runs with another user's rights or with capabilities (AT_SECURE), so libcrypto ignores OPENSSL_CONF"
NO_FILE = (
    "it ignores the line openssl_conf (OPENSSL_INIT_NO_LOAD_CONFIG; Node.js without --openssl-shared-config), draws in "
    "a context of its own, or has another OPENSSL_MODULES or OPENSSLDIR"
)
CLEARED = (
    "its start script, EnvironmentFile= or program clears or changes the environment: set OPENSSL_CONF there "
    "(programs.md), or `drng-enable on --system`"
)
REASONS = {
    "started-before": ("it started before openssl.cnf named drng", "systemctl restart {unit}"),
    "at-secure": (SECURE, "drng-enable on --system"),
    "no-variable": ("its unit sets OPENSSL_CONF, and the process has {}", CLEARED),
    "no-providers": ("it has {}, which has no providers", "another build of the program"),
    "own-libcrypto": ("{} finds no module", "give the whole path of drng.so as `module =` in openssl.cnf"),
    "other-libcrypto": ("{} draws without drng", "drng-enable on {unit}"),
    "own-context": (NO_FILE, "drng-enable on {unit}"),
    "not-readable": ("it cannot read its openssl.cnf: {}", ""),
    "module": ("{}", "drng-conf {file}"),
    "not-named": ("no openssl.cnf that it reads names drng", "drng-enable on {unit}"),
    "not-asked": ("openssl.cnf names no generator of drng's", "drng-conf {file}"),
    "elsewhere": ("{}", "{there}"),
    "fallback": ("{}", ""),
    "nothing": ("{}", ""),
    "unknown": ("{}", ""),
}

OF_OTHERS = "drng's generators serve, with seeds that are not drng's"


@dataclass(frozen=True)
class Process(Look):
    """With the verdict."""

    served_by: str = NONE
    idle: bool = False  # nothing has been drawn, neither from drng nor, as far as its data say, from a libcrypto
    seeds_from: str = ""
    reason: str = ""  # why drng does not serve it, a key of REASONS; with what to say of it, and what to do
    why: str = ""
    cure: str = ""
    restart: str = ""  # a key of RESTART


def short(unit: str) -> str:
    return unit.removesuffix(".service")


# ---- Counters ----


def seeds(counters: Mapping[str, Any]) -> int:
    """From all sources that the process's drng counts."""
    sources = [name for name in KNOWN if f"{name}-retries" in counters]
    return sum(counters[f"seeds-{source}"] for source in (*sources, "fallback"))


def is_seeded_by_others(counters: Mapping[str, Any]) -> bool:
    """Whether generators of drng's have drawn, and none has had a seed of drng's."""
    return bool(counters) and counters["requests"] > 0 and seeds(counters) == 0


def unserved(libraries: Sequence[Library], counters: Mapping[str, Any]) -> list[Library]:
    """Those that have been used, and have not loaded drng: it has the versions of those that have."""
    used = [library for library in libraries if library.used]
    if not counters:
        return used
    loaded = [version.removeprefix("OpenSSL ") for version in str(counters["libcrypto"]).split(", ")]
    likely = sorted(used, key=lambda each: (each.version.removeprefix("OpenSSL ") in loaded, each.is_systems))
    return likely[: max(0, len(used) - len(loaded))]


# ---- One process ----


def _named(libraries: Sequence[Library]) -> str:
    return printable(str(libraries[0])) if libraries else ""


def _overruled(look: Look, setting: Setting | None) -> str:
    """What it has in the place of its unit's OPENSSL_CONF; empty where it has that, or none can be seen."""
    if setting is None or look.is_secure or look.conf in (None, setting.path):
        return ""
    return f"OPENSSL_CONF={printable(look.conf)}" if look.conf else "none"


def _why_openssl(look: Look, setting: Setting | None, source: Source, started: float) -> tuple[str, str]:
    """The first key of REASONS that holds of a process whose libcrypto has been used, and has not loaded drng, and what
    is known of this one. `source` is the openssl.cnf that it would read now."""
    used = [library for library in look.libraries if library.used]
    own = [library for library in used if not library.is_systems]
    old = [library for library in used if not library.has_providers]
    late = 0 < started < max(source.changed, setting.changed if setting and not look.is_secure else 0.0)
    dropped = _overruled(look, setting)
    rows: tuple[tuple[object, str, str], ...] = (
        (look.uncounted, "module", look.uncounted),
        (old, "no-providers", _named(old)),
        (source.elsewhere and not (late or dropped), "elsewhere", source.elsewhere),
        (look.is_secure and (setting or look.conf) and not source.names_drng, "at-secure", ""),
        (source.problem and not (source.names_drng and late), "not-readable", source.problem),
        # Where the file cannot be read here, only what the unit sets is known.
        (not source.names_drng and not source.elsewhere, "not-named", ""),
        (late, "started-before", ""),
        (dropped, "no-variable", dropped),
        (own and not source.module.startswith("/"), "own-libcrypto", _named(own)),
        (source.not_loaded, "module", f"drng did not load: {source.not_loaded}"),
        # Who writes titles over the environment hides its variable.
        (setting and not look.is_secure and look.conf is None, "no-variable", "none that can be seen"),
    )
    return next(((reason, detail) for holds, reason, detail in rows if holds), ("own-context", ""))


def told(look: Look, source: Source, reason: str, detail: str = "") -> dict[str, Any]:
    said, todo = REASONS[reason]
    is_service = systemd.can_be_restarted(look.unit)
    if reason in ("other-libcrypto", "own-context"):
        # Whose libcrypto looks for openssl.cnf elsewhere, as a wheel's does, is led to one by the variable, unless it
        # ignores that, or has it.
        own = any(library.used and not library.is_systems for library in look.libraries)
        todo *= own and is_service and look.conf == "" and not look.is_secure
    elif "{unit}" in todo and (not is_service or (look.is_secure and reason == "not-named")):
        todo = "restart it" if reason == "started-before" else "drng-enable on --system"
    file, unit = printable(shlex.quote(source.path)), shlex.quote(short(look.unit))
    return {"reason": reason, "why": said.format(detail), "cure": todo.format(unit=unit, file=file, there=source.there)}


def _by_drng(look: Look, source: Source, started: float) -> Process:
    """Of a process whose drng counts. A file that has changed since it started tells nothing of what it has read."""
    counters, words, found = look.counters, (WORDS or "").lower(), None
    idle, others = not counters["requests"] and not seeds(counters), is_seeded_by_others(counters)
    words_alone = bool(words) and others and source.generator.lower() == words
    active = words if words_alone else str(counters["active-source"])
    # Where a title hides its variable, it has drng from another file than one that does not name drng.
    is_read = source.is_known and (source.names_drng or look.conf is not None) and not 0 < started < source.changed
    if left := unserved(look.libraries, counters):
        served_by, found = PARTLY, ("other-libcrypto" if left[0].has_providers else "no-providers", _named(left))
    elif active not in (*INSTRUCTIONS, words, "fallback"):
        served_by, found = NOBODY, ("nothing", str(counters["disabled-reason"]))
    elif active == "fallback" or (others and not words_alone):
        served_by = FALLBACK
        found = None if idle else ("fallback", OF_OTHERS if others else str(counters["disabled-reason"]))
    else:
        served_by = DRNG
    idle = idle and served_by in (DRNG, FALLBACK)
    if found is None and idle and is_read and not source.asks_drng:
        found = ("not-asked", "")
    known = told(look, source, *found) if found else {}
    look = replace(look, counters={**counters, "active-source": active})
    return Process(**vars(look), served_by=served_by, idle=idle, seeds_from=active, **known)


def judge(look: Look, setting: Setting | None, source: Source, started: float) -> Process:
    """`source` is the openssl.cnf that it would read now, `setting` what systemd would give it."""
    restart = REPLACED if look.is_replaced else ""
    # Without a libcrypto that could have loaded it, the module may be anything.
    no_answer = look.uncounted and not (look.serves_nothing and look.libraries)
    if why := look.problem or (look.uncounted if no_answer else ""):
        return Process(**vars(look), served_by=NOT_KNOWN, restart=restart, **told(look, source, "unknown", why))
    if look.counters:
        return replace(_by_drng(look, source, started), restart=restart)
    if not any(library.used for library in look.libraries):
        # One that began before the unit's files were written is idle, and has what they said then.
        dropped = _overruled(look, setting) if look.libraries and setting and started >= setting.changed else ""
        known = told(look, source, "no-variable", dropped) if dropped else {}
        return Process(**vars(look), idle=bool(look.libraries), **known)
    found = _why_openssl(look, setting, source, started)
    # Its openssl.cnf lets no other generator serve; a program with libcrypto linked into it, as Node.js, need not have
    # read that.
    fails = source.is_strict and found[0] in ("module", "own-libcrypto")
    fails = fails and any(library.used and library.is_shared for library in look.libraries)
    restart = CONFIGURATION if found[0] == "started-before" else restart
    by = NOBODY if fails else OPENSSL
    return Process(**vars(look), served_by=by, restart=restart, **told(look, source, *found))
