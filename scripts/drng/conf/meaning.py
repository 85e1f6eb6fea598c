# SPDX-License-Identifier: Apache-2.0
"""What an openssl.cnf names for drng, and what nobody ever asks it for: mistyped keys, and lost sections."""

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..instructions import INSTRUCTIONS
from ..terminal import visible
from .reading import Read, Section

# provider/config.c has the same table.
DRNG_KEYS = {
    "source": ("auto", *INSTRUCTIONS),
    "fallback": ("yes", "no"),
    "os_mixing": ("yes", "no"),
    "request_mixing": ("auto", "yes", "no"),
    "conditioner": ("cbc-mac", "hmac-sha256"),
    "reseed_bytes": ("0", "a number from 1024 to 4294967295"),
    "rdseed_words": ("8", "an even number from 8 to 2048"),
}

OPENSSL_KEYS = ("identity", "module", "activate", "soft_load")

# What OpenSSL knows in the section that openssl_conf names, in the order in which it looks for them. It says itself
# which key it does not know, there and in the section for the generators.
INIT_KEYS = ("oid_section", "stbl_section", "engines", "alg_section", "ssl_conf", "providers", "random")

YES = ("1", "yes", "true", "on")


def allows(key: str, value: str) -> bool:
    """Of a key of drng's."""
    digits = re.fullmatch("0*([0-9]{1,10})", value)
    number = int(digits[1]) if digits else -1
    if key == "reseed_bytes":
        return number == 0 or 1024 <= number < 1 << 32
    if key == "rdseed_words":
        return number in range(8, 2049, 2)
    return value in DRNG_KEYS[key]


Line = tuple[str, str, str]  # a section, a key of it, and its value
Way = tuple[str, ...]


class Named(NamedTuple):
    """The sections that the file names, "" where it names none."""

    init: str
    random: str
    providers: str
    default: str
    drng: str


def known_as(key: str) -> str:
    """The key of INIT_KEYS that OpenSSL takes this one for: the first that begins like it, up to its last dot."""
    stem = key.rpartition(".")[0] if "." in key else key
    return next((known for known in INIT_KEYS if known.startswith(stem)), "")


def undotted(section: Section) -> Section:
    """A provider's keys, and the providers' names: OpenSSL takes what stands behind the first dot."""
    return {key.split(".", 1)[-1]: value for key, value in section.items()}


def _lines_of(conf: Read, module: str) -> list[tuple[str, str]]:
    """Of every section that is named for one of INIT_KEYS: OpenSSL goes through all of them."""
    places = [value for key, value in conf.section(conf.init).items() if known_as(key) == module]
    return [line for place in places for line in conf.section(place).items()]


def providers_of(conf: Read) -> Section:
    """Each provider's section, by the provider's name."""
    return undotted(dict(_lines_of(conf, "providers")))


def generators_of(conf: Read) -> Section:
    """What the generators are; of their keys OpenSSL takes any case of letters for the same."""
    return {key.lower(): value for key, value in _lines_of(conf, "random")}


def named_sections(conf: Read) -> Named:
    """From openssl_conf on."""
    keys = {known_as(key): value for key, value in conf.section(conf.init).items()}
    by_name = providers_of(conf)
    places = keys.get("random", ""), keys.get("providers", ""), by_name.get("default", ""), by_name.get("drng", "")
    return Named(conf.init, *places)


def is_active(conf: Read, name: str) -> bool:
    """Whether OpenSSL is to activate the provider that has this section."""
    return undotted(conf.section(name)).get("activate", "0").lower() in YES


# As many lines as an openssl.cnf has that somebody has written; and init, providers, a provider.
MOST, DEEPEST = 1 << 14, 3


def in_effect(conf: Read) -> list[tuple[Way, Line]]:
    """The lines to which openssl_conf leads, with OpenSSL's names for the keys on the way; not many more than MOST."""
    found: list[tuple[Way, Line]] = []
    to_do: list[tuple[Way, str]] = [((), conf.init)]
    for way, name in to_do:
        for key, value in conf.section(name).items():
            step = key if len(way) > 1 else key.split(".", 1)[-1] if way else known_as(key) or key
            found.append(((*way, step), (name, key, value)))
            if len(way) + 1 < DEEPEST and len(found) < MOST:
                to_do.append(((*way, step), value))
    return found


def lost(before: Read, after: Read) -> list[Line]:
    """What is in effect in the first file and not in the second; but for the generators, which drng is to change."""
    kept = {way: value for way, (_, _, value) in in_effect(after)}
    return [
        line
        for way, line in in_effect(before)
        # What a section's name stands for is compared itself.
        if way[0] != "random" and kept.get(way) != line[2] and (line[2] not in before.sections or len(way) == DEEPEST)
    ]


# ---- What nobody asks for ----


def hint(key: str, known: Sequence[str]) -> str:
    """In any case of letters."""
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(key.lower(), names, n=1)
    return f"; did you mean {names[near[0]]}?" if near and names[near[0]] != key else ""


def never_asked(conf: Read) -> Iterator[str]:
    """Of the lines to which openssl_conf leads: keys of drng's section that nobody knows, and sections that are not
    there. OpenSSL says itself which other keys it does not know."""
    known = [*DRNG_KEYS, *OPENSSL_KEYS]
    begin = [(("default",), ("default", "openssl_conf", conf.init))] * bool(conf.init)
    for way, (name, key, value) in [*begin, *in_effect(conf)]:
        said, depth = "", len(way)
        if way[0] in ("default", *INIT_KEYS) and (depth == 1 or (depth == 2 and way[0] == "providers")):
            near = "" if conf.passed_over else hint(value, list(conf.sections))
            said = "" if value in conf.sections else f"there is no such section{near}"
        elif way[:2] == ("providers", "drng") and depth == 3:
            if key not in known and key.split(".", 1)[-1] not in OPENSSL_KEYS:
                said = f"neither OpenSSL nor drng knows this key, and it is ignored{hint(key, known)}"
            elif key in DRNG_KEYS and not allows(key, value):
                said = f"write one of {', '.join(DRNG_KEYS[key])}"
        if said:
            yield f"[{name}] {key} = {value}: {said}"


def never_reached(conf: Read) -> Iterator[str]:
    """Lines that name drng where nobody asks for them."""
    near = "" if conf.init else next(filter(None, (hint(key, ["openssl_conf"]) for key in conf.section("default"))), "")
    for name in conf.sections:
        value = undotted(conf.section(name)).get("drng", "")
        if value in conf.sections:
            yield f"[{name}] drng = {value}: no openssl_conf leads to this line, and OpenSSL never asks for it{near}"


def warnings_of(conf: Read) -> list[str]:
    ignored = "an .include names a file that cannot be read, and OpenSSL ignores it"
    warnings = [f"{ignored}: {why}" for why in conf.passed_over]
    warnings += [*never_asked(conf), *(() if named_sections(conf).drng else never_reached(conf))]
    return [visible(warning) for warning in dict.fromkeys(warnings)]
