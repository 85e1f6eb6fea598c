# SPDX-License-Identifier: Apache-2.0
"""Who serves a process, and if drng does not, which of the known reasons holds, and what mends it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..instructions import INSTRUCTIONS, KNOWN, WORDS
from ..text import printable
from .libraries import Library
from .look import Look
from .services import Setting
from .sources import Source

# Who serves it.
DRNG, FALLBACK, PARTLY, OPENSSL, NOBODY = "drng", "fallback", "partly", "OpenSSL", "nobody"
NONE, NOT_KNOWN = "-", "unknown"

# What it uses, as JSON has it.
USES_DRNG, USES_LIBCRYPTO, USES_NEITHER = "drng", "libcrypto without drng", "no libcrypto"

# Why it should be restarted.
REPLACED, CONFIGURATION, REBOOT = "replaced", "configuration", "reboot"
RESTART = {
    REPLACED: "the drng.so that it has loaded has been replaced or removed: restart it",
    CONFIGURATION: "it started before openssl.cnf named drng: restart it",
    REBOOT: "needs a reboot",
}

WITH_PATH = "give the whole path of drng.so as `module =` in openssl.cnf"

# For each reason what is said of a process ("it"), short for a table, and the cure, into which the unit's name is put.
REASONS = {
    "started-before": ("it started before openssl.cnf named drng", "not restarted since", "systemctl restart {unit}"),
    "at-secure": (
        "it runs with another user's rights or with capabilities (AT_SECURE), so libcrypto ignores OPENSSL_CONF",
        *("AT_SECURE", "drng-enable on --system"),
    ),
    "no-variable": ("the unit sets OPENSSL_CONF, but the process does not have it", "OPENSSL_CONF is not in it", ""),
    "no-providers": ("it has {library}, which has no providers", "no providers", "another build of the program"),
    "own-libcrypto": ("its own libcrypto, {library}, finds no module", "a libcrypto of its own", WITH_PATH),
    "static-libcrypto": ("{library} finds no module", "libcrypto is linked into it", WITH_PATH),
    "other-libcrypto": ("{library} draws without drng", "another libcrypto", "drng-enable on --system"),
    "own-context": (
        "it reads no openssl.cnf (OPENSSL_INIT_NO_LOAD_CONFIG), or draws in a context of its own",
        *("reads no openssl.cnf", ""),
    ),
    "architecture": ("it is a program of another architecture", "another architecture", "install drng for that, too"),
    "not-readable": ("it cannot read its openssl.cnf", "openssl.cnf cannot be read", ""),
    "module": ("drng did not load", "drng did not load", "drng-conf {file}"),
    "not-named": ("no openssl.cnf that it reads names drng", "no openssl.cnf names drng", "drng-enable on {unit}"),
    "not-asked": ("openssl.cnf names no generator of drng's", "no generator of drng's", "drng-conf {file}"),
    "elsewhere": ("only it knows why", "knows only itself", ""),
    "fallback": ("the fallback serves", "the fallback serves", ""),
    "nothing": ("drng has no source of seeds", "no source of seeds", ""),
    "unknown": ("it cannot be looked at", "not known", ""),
}

OF_OTHERS = "drng's generators serve, with seeds that are not drng's"

# What starts its programs with the variables alone that a file of its own names.
IMPORTS = {
    "postgresql": "put OPENSSL_CONF into the cluster's file `environment`",
    "postfix": "add OPENSSL_CONF to import_environment in main.cf",
    "dovecot": "add OPENSSL_CONF to import_environment in dovecot.conf",
}
SCRIPT = "its start script or its program clears the environment: set OPENSSL_CONF there, or `drng-enable on --system`"

# Has libcrypto linked into it as a rule, and asks openssl.cnf for a section of its own.
NODE = "node"
NODE_READS = "libcrypto is linked into it; Node.js reads what openssl_conf names with --openssl-shared-config only"


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
    """Those that have been used, and have not loaded drng: it knows by their versions which have."""
    used = [library for library in libraries if library.used]
    if not counters or len(used) < 2:
        return [] if counters else used
    first, *more = str(counters["libcrypto"]).split(", ")
    loaded = [first, *(f"OpenSSL {version}" for version in more)]
    left = []
    # The system's come first, and one that does not say its version takes what is left.
    for library in sorted(used, key=lambda each: (not each.version, not each.is_systems)):
        if library.version in loaded:
            loaded.remove(library.version)
        elif not library.version and loaded:
            loaded.pop()
        else:
            left.append(library)
    return left


# ---- One process ----


@dataclass(frozen=True)
class Process:
    """With the verdict."""

    look: Look
    counters: Mapping[str, Any] = field(default_factory=dict)
    served_by: str = NONE
    idle: bool = False  # nothing has been drawn, neither from drng nor, as far as its data say, from a libcrypto
    seeds_from: str = ""
    reason: str = ""  # why drng does not serve it, a key of REASONS; with what to say of it, and what to do
    why: str = ""
    cure: str = ""
    restart: str = ""  # a key of RESTART
    words_alone: bool = False  # its openssl.cnf names the generator that takes no seed, instructions.WORDS

    @property
    def pid(self) -> int:
        return self.look.who.pid

    @property
    def name(self) -> str:
        return self.look.who.name

    @property
    def unit(self) -> str:
        return self.look.who.unit

    @property
    def owner(self) -> str:
        return self.look.who.owner

    @property
    def uses(self) -> str:
        if self.look.problem or self.served_by == NOT_KNOWN:
            return NOT_KNOWN
        if self.counters:
            return USES_DRNG
        return USES_LIBCRYPTO if self.look.libraries else USES_NEITHER


@dataclass(frozen=True)
class _Reason:
    reason: str
    why: str = ""
    cure: str = ""
    library: Library | None = None


def _why_openssl(look: Look, setting: Setting | None, source: Source, started: float) -> _Reason:
    """The first that holds of a process whose libcrypto has been used, and has not loaded drng. `source` is the
    openssl.cnf that it would read now."""
    variables = look.variables
    known = next((name for name in IMPORTS if look.who.unit.startswith(name) or look.program_name == name), "")
    # Who writes titles over the environment hides whether the variable was there.
    dropped = setting is not None and (not variables["OPENSSL_CONF"] if variables is not None else bool(known))
    named = bool(setting or (variables or {}).get("OPENSSL_CONF"))
    used = [library for library in look.libraries if library.used]
    late = 0 < started < max(source.changed, setting.changed if setting and not look.is_secure else 0.0)
    if look.module and not look.module.is_open:
        return _Reason("module", look.module.problem)
    if any(library.is_foreign for library in used):
        return _Reason("architecture")
    if old := [library for library in used if not library.has_providers]:
        return _Reason("no-providers", library=old[0])
    if source.elsewhere:
        return _Reason("elsewhere", source.elsewhere, source.command)
    if look.is_secure and named and not source.names_drng:
        return _Reason("at-secure")
    if source.problem and not (source.names_drng and late):
        return _Reason("not-readable", f"it cannot read its openssl.cnf: {source.problem}")
    if not source.names_drng:
        return _Reason("not-named")
    if late:
        return _Reason("started-before")
    if dropped and not look.is_secure:
        return _Reason("no-variable", cure=IMPORTS.get(known, SCRIPT))
    is_static = not any(library.is_shared for library in used)
    if is_static and look.program_name == NODE:
        return _Reason("static-libcrypto", NODE_READS, "start it with --openssl-shared-config")
    folder = "" if look.is_secure else (variables or {}).get("OPENSSL_MODULES", "")
    own = [library for library in used if not library.is_systems]
    if own and not source.module.startswith("/"):
        return _Reason("static-libcrypto" if is_static else "own-libcrypto", library=own[0])
    if folder and not source.module.startswith("/") and folder != source.folder:
        return _Reason("module", f"drng did not load: OPENSSL_MODULES names {printable(folder)}", WITH_PATH)
    if source.not_loaded:
        return _Reason("module", f"drng did not load: {source.not_loaded}")
    return _Reason("own-context")


def _told(look: Look, found: _Reason, file: str = "") -> dict[str, Any]:
    said, _, todo = REASONS[found.reason]
    why = found.why or said.format(library=printable(str(found.library)))
    cure = found.cure or todo.format(unit=shlex.quote(short(look.who.unit)), file=printable(shlex.quote(file)))
    if look.who.unit == "none" and "{unit}" in todo and not found.cure:
        cure = "restart it" if found.reason == "started-before" else "drng-enable on --system"
    return {"reason": found.reason, "why": why, "cure": cure}


def _judge_drng(look: Look, counters: Mapping[str, Any], source: Source, started: float) -> Process:
    """Of a process whose drng counts. A file that has changed since it started tells nothing of what it has read."""
    idle = not counters["requests"] and not seeds(counters)
    others = is_seeded_by_others(counters)
    words_alone = bool(WORDS) and others and source.generator.upper() == WORDS
    active = (WORDS or "").lower() if words_alone else str(counters["active-source"])
    served_by = {**dict.fromkeys((*INSTRUCTIONS, (WORDS or "").lower()), DRNG), "fallback": FALLBACK}.get(
        active, NOBODY
    )
    if others and served_by == DRNG and not words_alone:
        served_by = FALLBACK
    found = None
    if left := unserved(look.libraries, counters):
        served_by, idle = PARTLY, False
        found = _Reason("no-providers" if not left[0].has_providers else "other-libcrypto", library=left[0])
    elif served_by == NOBODY:
        found = _Reason("nothing", str(counters["disabled-reason"]))
    elif served_by == FALLBACK and not idle:
        found = _Reason("fallback", OF_OTHERS if others else str(counters["disabled-reason"]))
    # Where a title hides its variables, it has drng from another file than one that does not name drng.
    elif idle and source.is_known and not source.asks_drng and not 0 < started < source.changed:
        found = _Reason("not-asked") if source.names_drng or look.variables else None
    restart = REPLACED if look.module and look.module.is_replaced else ""
    shown = {**counters, "active-source": active}
    told = _told(look, found, source.path) if found else {}
    return Process(look, shown, served_by, idle, active, restart=restart, words_alone=words_alone, **told)


def judge(look: Look, setting: Setting | None, source: Source, started: float) -> Process:
    module = look.module
    restart = REPLACED if module and module.is_replaced else ""
    # Without a libcrypto that could have loaded it, the module may be anything.
    no_answer = module and not module.counters and (module.is_open or not look.libraries)
    if look.problem or no_answer:
        why = look.problem or (module.problem if module else "")
        return Process(look, {}, NOT_KNOWN, restart=restart, **_told(look, _Reason("unknown", why)))
    if module and module.counters:
        return _judge_drng(look, module.counters, source, started)
    used = [library for library in look.libraries if library.used]
    if not used:
        return Process(look, idle=bool(look.libraries))
    found = _why_openssl(look, setting, source, started)
    # Its openssl.cnf lets no other generator serve; Node.js need not have read it.
    fails = source.is_strict and found.reason in ("module", "own-libcrypto", "static-libcrypto")
    fails = fails and found.why != NODE_READS
    restart = CONFIGURATION if found.reason == "started-before" else restart
    return Process(look, {}, NOBODY if fails else OPENSSL, restart=restart, **_told(look, found, source.path))
