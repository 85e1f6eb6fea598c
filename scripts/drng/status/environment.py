# SPDX-License-Identifier: Apache-2.0
"""What random numbers come from in a program that is started in this environment.

libcrypto is asked, in a process of its own, as such a program would ask it: with the same openssl.cnf, libcrypto and
environment variables.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Callable
from typing import Any

from .. import aside, procfs
from ..conf import meaning, reading
from ..conf.libcrypto import Libcrypto
from ..instructions import HAS_VERDICT, INSTRUCTIONS, MASK, NO_VERDICT, WORDS
from ..terminal import Failure, Row
from ..text import printable, printable_all
from . import look, reasons, states, stats
from .output import fact_rows, yes

# A program that has not started by then does not count as one that works.
SECONDS = 60.0

# The provider's words, in "disabled-reason".
ABSENT = "not in this CPU"


def asked(question: Callable[[], Any], **variables: str | None) -> Any:
    """The answer in an environment with these variables, or without them; it may not come, which is a Failure."""

    def ask() -> Any:
        for name, value in variables.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        return question()

    answer = aside.once(ask, SECONDS)
    if isinstance(answer, aside.Failure):
        raise Failure(printable(answer.reason))
    return answer


def default_config(*, own: bool = False) -> str:
    """The openssl.cnf that libcrypto was built to read, or that this environment names; "" where none can tell."""
    try:
        return str(asked(lambda: Libcrypto().default_file(), **({} if own else {"OPENSSL_CONF": None})))
    except Failure:
        return ""


# ---- The CPU ----


def verdict(instruction: str, drng: dict[str, Any] | None) -> str:
    """drng's own words: they include its list of broken parts."""
    if drng is None:
        return "not loaded, so its verdict is not known"
    prefix = f"{instruction.upper()}: "
    reasons = [part for part in str(drng.get("disabled-reason", "")).split("; ") if part.startswith(prefix)]
    return reasons[0].removeprefix(prefix) if reasons else "may serve"


def bit_of(settings: str, place: tuple[int, int]) -> bool | None:
    """Of the first two words of "OPENSSL_ia32cap=0x...:0x...", None where these are not known."""
    words = re.match(r"OPENSSL_ia32cap=(0x[0-9a-f]+):(0x[0-9a-f]+)", settings)
    word, bit = place
    return None if words is None else bool(int(words[1 + word], 16) >> bit & 1)


def cpu(drng: dict[str, Any] | None, masked: str, unmasked: str) -> dict[str, Any]:
    info = procfs.cpuinfo()
    flags = info.get("flags", "").split()
    answer: dict[str, Any] = {
        "model": info.get("model name") or info.get("cpu") or "unknown",
        "mask": os.environ.get(MASK) if MASK else None,
        "verdict-problem": "" if info or not HAS_VERDICT else NO_VERDICT,
    }
    for name, place in INSTRUCTIONS.items():
        said = verdict(name, drng)
        in_cpu = bit_of(unmasked, place) if place else None if drng is None else said != ABSENT
        answer[name] = {
            "in-cpu": in_cpu,
            "masked": bool(in_cpu and place and bit_of(masked, place) is False) or said.startswith("masked by"),
            "kernel": name in flags if flags and place else None,
            "drng": said,
        }
    return answer


# ---- Who serves ----


def facts_of(crypto: Libcrypto, generator: dict[str, str] | None) -> dict[str, Any] | None:
    """The provider's parameters, and what its counters add to them."""
    drng = crypto.provider_params("drng")
    if drng is None:
        return None
    counters = look.own_counters()
    added = {"virtual-machine": counters.get("virtual-machine"), "clone-reason": counters.get("clone-reason", "")}
    facts = {**drng, "status": stats.STATUS[drng["status"] != 0], **added}
    if WORDS and (generator or {}).get("name") == WORDS:
        facts["active-source"] = WORDS.lower()
    return facts


def tried(module: str | None, warnings: list[str], random: dict[str, str], unmasked: str) -> dict[str, Any]:
    """In the process that this is. `module` is drng's in the file that activates it; None: the file does not."""
    crypto = Libcrypto()
    drawn = crypto.draw()
    errors = crypto.errors()
    generators = {role: crypto.generator(role) for role in states.ROLES}
    drng = facts_of(crypto, generators["public"])
    if drng is None and module is not None:
        # By its name alone it may load: then it is what the file says of it that keeps it from that.
        why = (
            crypto.why_not_loaded(module.removesuffix(".so") or "drng")
            or "; ".join(warnings)
            or "OpenSSL does not come to the line that activates it"
        )
        errors.insert(0, f"drng did not load: {why}")
    # Where another provider's generator is in use, the roles say so.
    passed_by = crypto.passed_by() if (generators["public"] or {}).get("provider") == "drng" else None
    return {
        "openssl": crypto.version(),
        "library": crypto.lib._name,
        "rand-bytes": drawn,
        "errors": errors,
        "override": crypto.override() or passed_by,
        "random-provider": random.get("random_provider"),
        "seed": crypto.seed_source(random.get("seed", "SEED-SRC"), random.get("seed_properties", "")),
        **generators,
        "ciphers": bool(crypto.lib.EVP_CIPHER_fetch(None, b"AES-128-CTR", None)),
        "fips": crypto.wants_fips(),
        "cpu": cpu(drng, crypto.settings(), unmasked),
        "drng": drng,
    }


def tried_twice(path: str) -> dict[str, Any]:
    """What libcrypto says of the file when it is asked to, and whether a second reading, as some programs do, hurts."""
    crypto = Libcrypto()
    return {"config-errors": crypto.configure(path) if os.path.isfile(path) else [], "again": crypto.draw()}


# By what each is masked. Where CPUID announces an instruction that traps, the first draw kills the program.
MASKS = {"RDSEED": ":~0x40000", "RDRAND": "~0x4000000000000000", "both": "~0x4000000000000000:~0x40000"}


def who_traps(variables: dict[str, str]) -> str:
    """Which instruction raises SIGILL, and what to set; "" where no mask helps."""
    for name, mask in MASKS.items() if MASK == "OPENSSL_ia32cap" else ():
        with contextlib.suppress(Failure):
            if asked(lambda: Libcrypto().draw(), **{**variables, MASK: mask}):
                both = "RDSEED and RDRAND" if name == "both" else name
                return f"{both} raised SIGILL though CPUID announces it: mask it by {MASK}={mask}"
    return ""


def served_by(status: dict[str, Any]) -> str:
    """A program that starts now."""
    if not status["rand-bytes"]:
        return states.NOBODY
    if status["override"] or any((status[role] or {}).get("provider") != "drng" for role in states.ROLES):
        return status["override"] or states.OPENSSL
    return states.FALLBACK if status["drng"]["active-source"] == "fallback" else states.DRNG


def collect(config: str = "") -> dict[str, Any]:
    """Of this environment, or of one in which OPENSSL_CONF names this file."""
    path = config or default_config(own=True)
    variables = {"OPENSSL_CONF": config} if config else {}
    problem, module, random, warnings = "", None, {}, []
    try:
        conf = reading.Conf(path)
        found = meaning.understand(conf)
        random, warnings = meaning.generators_of(conf, found.init), found.warnings
        if found.drng and meaning.is_active(conf, found.drng):
            module = meaning.undotted(conf.section(found.drng)).get("module", "")
    except reading.ConfError as error:
        problem, warnings = str(error) if path else "", [str(error)] if path else []
    unmasked = asked(lambda: Libcrypto().settings(), OPENSSL_ia32cap=None)
    try:
        answer = asked(lambda: tried(module, warnings, random, unmasked), **variables)
    except Failure as error:
        trapped = who_traps(variables) if f"signal {signal.SIGILL.value}" in str(error) else ""
        raise Failure(trapped or str(error)) from None
    answer |= {"config": path, "config-problem": problem, **asked(lambda: tried_twice(path), **variables)}
    answer["served-by"] = served_by(answer)
    answer["warnings"] = [*warnings, *states.warnings(answer["drng"] or {})]
    return printable_all(answer)


# ---- As it is shown ----


def describe(generator: dict[str, str] | None) -> str:
    return f"{generator['name']} of provider {generator['provider']}" if generator else "none"


def instruction_row(name: str, facts: dict[str, Any]) -> Row:
    if name == "none":
        return name, f"drng: {facts['drng']}"
    mask = f", masked by {MASK}" if facts["masked"] else ""
    kernel = f", in the kernel's flags: {yes(facts['kernel'])}" if HAS_VERDICT else ""
    place = "announced by the kernel" if os.uname().machine == "aarch64" else "in the CPU"
    return name, f"{place}: {yes(facts['in-cpu'])}{mask}{kernel}; drng: {facts['drng']}"


# Of drng's parameters those that say how it serves; the others are counters.
NOT_LONG = (
    "version",
    "active-source",
    "disabled-reason",
    "aes-implementation",
    "status",
    "clone-protection",
    "clone-reason",
)


def environment_rows(status: dict[str, Any], *, long: bool = False) -> list[Row]:
    """By the keys that JSON has; what is empty has none."""
    cpu, provider, override = status["cpu"], status["random-provider"], status["override"]
    rows = [(key, status[key]) for key in ("served-by", "openssl", "config", "config-problem")]
    rows += [("config-errors", line) for line in status["config-errors"]]
    rows.append(("seed", describe(status["seed"]) if status["seed"] else "the operating system, through no provider"))
    rows += [(role, describe(status[role])) for role in states.ROLES]
    rows.append(("random-provider", f"{provider} (OpenSSL 3.5 and later)" if provider else ""))
    rows.append(("override", f"{override} outranks every provider" if override else ""))
    rows.append(("rand-bytes", "works" if status["rand-bytes"] else "fails"))
    rows += [("errors", line) for line in status["errors"]]
    mask = "" if not MASK else f"{MASK}={cpu['mask']}" if cpu["mask"] else f"{MASK} is not set"
    rows += [("model", cpu["model"]), ("mask", mask), ("verdict-problem", cpu["verdict-problem"])]
    rows += [instruction_row(name, cpu[name]) for name in INSTRUCTIONS]
    drng = {key: value for key, value in (status["drng"] or {}).items() if long or key in NOT_LONG}
    rows += [("drng", "not loaded")] if status["drng"] is None else fact_rows(drng, "name")
    return [row for row in rows if row[1]]


def check_environment(status: dict[str, Any]) -> tuple[int, str]:
    errors = status["errors"] + status["config-errors"]
    if not status["rand-bytes"]:
        return states.CRITICAL, f"RAND_bytes fails: {'; '.join(errors) or 'without a reason'}"
    if status["override"]:
        return states.CRITICAL, f"{status['override']} outranks every provider"
    roles = [role for role in states.ROLES if (status[role] or {}).get("provider") != "drng"]
    if status["drng"] is None or roles:
        others = f": {', '.join(roles)} generator of another provider" if roles else ""
        problem = "".join(f"; {each}" for each in (status["config-problem"], *errors) if each)
        return states.CRITICAL, f"drng is not in use{others}{problem}"
    source, words_alone = status["drng"]["active-source"], status["public"]["name"] == WORDS
    warned, behind = states.warnings(status["drng"]), status["cpu"]["verdict-problem"]
    result, words = states.CRITICAL, "nothing serves"
    if source == "fallback":
        result, words = states.WARNING, "the fallback serves"
    elif source in INSTRUCTIONS:
        others = not words_alone and states.is_seeded_by_others(status["drng"])
        result = states.WARNING if warned or others else states.GOOD
        words = f"{WORDS} serves, by configuration" if words_alone else f"drng serves, seeds from {source}"
        words = reasons.OF_OTHERS if others else words
    said = [words, *states.last_results(status["drng"]), status["drng"]["disabled-reason"], *warned, behind]
    return result, "; ".join(filter(None, said))
