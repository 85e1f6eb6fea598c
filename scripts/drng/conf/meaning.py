"""What an openssl.cnf means for drng, and what there is to warn of: what OpenSSL ignores, or obeys, without a word."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..instructions import INSTRUCTIONS, WORDS
from ..procfs import is_virtual_machine
from ..text import visible
from .reading import Conf, Section

# provider/config.c has the same table.
DRNG_KEYS = {
    "source": ("auto", *INSTRUCTIONS),
    "fallback": ("yes", "no"),
    "os_mixing": ("yes", "no"),
    "request_mixing": ("auto", "yes", "no"),
    "conditioner": ("cbc-mac", "hmac-sha256"),
    "batch": ("no", "yes"),
    "reseed_bytes": ("0", "a number from 1024 to 4294967295"),
}

OPENSSL_KEYS = ("identity", "module", "activate", "soft_load")

# What OpenSSL knows in the section that openssl_conf names, in the order in which it looks for them, and in the one for
# the generators.
INIT_KEYS = ("oid_section", "stbl_section", "engines", "alg_section", "ssl_conf", "providers", "random")
# What drng has for `seed`, in any case of letters.
SEED_SOURCES = ("DRNG-SEED", "SEED-SRC", WORDS)
RANDOM_KEYS = ("cipher", "digest", "properties", "random", "seed", "seed_properties")
NEWER_RANDOM_KEYS = {"random_provider": (3, 5), "seed_strict": (4, 1)}  # and the version that knows them first

# The provider that gets RAND_bytes as soon as it is loaded, from OpenSSL 3.5 on, unless random_provider names another.
FIPS = "fips"

YES, NO = ("1", "yes", "true", "on"), ("0", "no", "false", "off")

# The values that OpenSSL 3.3 and later know for `activate`; earlier versions activate for any value, 0 as well.
ACTIVATE = {word: True for yes in YES for word in (yes, yes.upper())}
ACTIVATE |= {word: False for no in NO for word in (no, no.upper())}


def allows(key: str, value: str) -> bool:
    if key == "reseed_bytes":
        return value.isascii() and value.isdigit() and (int(value) == 0 or 1024 <= int(value) < 1 << 32)
    return value in DRNG_KEYS[key]


Line = tuple[str, str, str]  # a section, a key of it, and its value


@dataclass
class Meaning:
    """Names of sections, "" where the file names none, and what there is to warn of."""

    init: str = ""
    random: str = ""
    providers: str = ""
    default: str = ""
    fips: str = ""
    drng: str = ""
    warnings: list[str] = field(default_factory=list)


class HasSections(Protocol):
    def section(self, name: str | None) -> Section | None: ...


def known_as(key: str) -> str:
    """The key of INIT_KEYS that OpenSSL takes this one for: the first that begins like it, up to its last dot."""
    stem = key.rpartition(".")[0] if "." in key else key
    return next((known for known in INIT_KEYS if known.startswith(stem)), "")


def undotted(section: Section | None) -> Section:
    """A provider's keys, and the providers' names: OpenSSL takes what stands behind the first dot."""
    return {key.split(".", 1)[-1]: value for key, value in (section or {}).items()}


def folded(section: Section | None) -> Section:
    """The keys for the generators, of which OpenSSL takes any case of letters for the same."""
    return {key.lower(): value for key, value in (section or {}).items()}


def lines_of(conf: HasSections, init: str, module: str) -> list[Line]:
    """Of every section that is named for one of INIT_KEYS: OpenSSL goes through all of them."""
    places = [value for key, value in (conf.section(init) or {}).items() if known_as(key) == module]
    return [(place, key, value) for place in places for key, value in (conf.section(place) or {}).items()]


def providers_of(conf: HasSections, init: str) -> Section:
    """Each provider's section, by the provider's name."""
    return undotted({key: value for _, key, value in lines_of(conf, init, "providers")})


def generators_of(conf: HasSections, init: str) -> Section:
    return folded({key: value for _, key, value in lines_of(conf, init, "random")})


def named_sections(conf: HasSections) -> Meaning:
    """What the file calls the sections, from openssl_conf on."""
    init = (conf.section("default") or {}).get("openssl_conf", "")
    keys = {known_as(key): value for key, value in (conf.section(init) or {}).items()}
    by_name = providers_of(conf, init)
    default, fips, drng = (by_name.get(name, "") for name in ("default", FIPS, "drng"))
    return Meaning(init, keys.get("random", ""), keys.get("providers", ""), default, fips, drng)


def hint(key: str, known: Sequence[str]) -> str:
    """In any case of letters."""
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(key.lower(), names, n=1)
    return f"; did you mean {names[near[0]]}?" if near else ""


def check_keys(conf: Conf, name: str, section: Section) -> list[str]:
    """What OpenSSL and drng would ignore or refuse in the provider's section."""
    warnings = []
    known = [*DRNG_KEYS, *OPENSSL_KEYS]
    for key, value in section.items():
        said = ""
        if key in DRNG_KEYS and not allows(key, value):
            said = f"the provider does not load; write one of {', '.join(DRNG_KEYS[key])}"
        elif key not in known and key.split(".", 1)[-1] not in OPENSSL_KEYS:
            said = f"neither OpenSSL nor drng knows this key, and it is ignored{hint(key, known)}"
        if said:
            warnings.append(f"[{name}] {key} = {value}: {said}")
    # drng then sees no value, and takes the default.
    return warnings + [
        f"[{name}] {key} = {value}: OpenSSL takes this for the section [{value}], and drng does not see it; "
        "give that section another name"
        for key, value in section.items()
        if key in DRNG_KEYS and value in conf.section_names()
    ]


def check_batch(name: str, section: Section) -> list[str]:
    """What makes `batch = yes` idle: each request takes in a fresh word, which none made in advance has."""
    mixing = section.get("request_mixing", DRNG_KEYS["request_mixing"][0])
    idle = f"[{name}] batch = yes has no effect"
    if section.get("batch") != "yes" or mixing == "no":
        return []
    if mixing == "yes":
        return [f"{idle} beside request_mixing = yes: every request takes in a fresh word"]
    if is_virtual_machine() and not os.access("/dev/vmclock0", os.R_OK):
        return [
            f"{idle} for programs of this user in this virtual machine: they cannot read /dev/vmclock0, "
            "so every request takes in a fresh word"
        ]
    return []


def is_active(conf: Conf, name: str) -> bool:
    """Whether the OpenSSL that is installed here activates the provider that has this section."""
    section = undotted(conf.section(name))
    if not conf.is_since(3, 3):
        return "activate" in section
    return ACTIVATE.get(section.get("activate", "0"), False)


def check_activation(conf: Conf, name: str) -> list[str]:
    """A value other than yes means one thing to this OpenSSL and another to the next."""
    value = undotted(conf.section(name)).get("activate", "1")
    known = ACTIVATE.get(value)
    if known:
        return []
    later = "does not load the provider" if known is False else "reads the file no further"
    earlier = "loads the provider whatever the value is"
    if conf.is_since(3, 3):
        said = f"this OpenSSL {later}, and OpenSSL before 3.3 {earlier}"
    else:
        said = f"this OpenSSL {earlier}, and OpenSSL 3.3 or later {later}"
    return [f"[{name}] activate = {value}: {said}; write activate = 1, or leave the line out to load nothing"]


def wants_fips(conf: Conf, meaning: Meaning) -> bool:
    """Whether OpenSSL adds fips=yes to every query that does not speak of fips itself."""
    algorithms = conf.section((conf.section(meaning.init) or {}).get("alg_section")) or {}
    terms = algorithms.get("default_properties", "").replace(" ", "").split(",")
    return algorithms.get("fips_mode", "").lower() in YES or any(term in (FIPS, "fips=yes") for term in terms)


def speaks_of_fips(query: str) -> bool:
    """And so replaces what the default says; but for the one query that says the same."""
    terms = query.replace(" ", "").split(",")
    return any(re.fullmatch(r"[-?]?fips(!?=.*)?", term) and term not in (FIPS, "fips=yes") for term in terms)


def check_fips(conf: Conf, meaning: Meaning) -> list[str]:
    """What takes the random numbers from drng where the FIPS provider is beside it."""
    name, random = meaning.random, generators_of(conf, meaning.init)
    warnings = []
    if wants_fips(conf, meaning):
        warnings += [
            f"[{name}] {key} = {random[key]}: OpenSSL adds the default property fips=yes, which drng does not have; "
            f"write {'?' if '?provider=drng' in random[key] else ''}provider=drng,-fips"
            for key in ("properties", "seed_properties")
            if "provider=drng" in random.get(key, "") and not speaks_of_fips(random[key])
        ]
    taken = conf.is_since(3, 5) and random.get("random_provider", FIPS) == FIPS
    if taken and is_active(conf, meaning.fips):
        warnings.append(
            f"[{name}] has no random_provider = none: "
            "OpenSSL takes random numbers from the fips provider, and not from drng"
        )
    return warnings


def in_circles(conf: Conf, names: Sequence[str]) -> set[str]:
    """
    The providers' sections that lead back to themselves: OpenSSL goes into each section that a value names. Each is
    gone through once, since in a hostile file the ways to one section may be more than can be counted, and as long.
    """
    leads: dict[str, bool] = {}
    for name in names:
        way = {} if name in leads else {name: iter((conf.section(name) or {}).values())}
        while way:
            here = next(reversed(way))
            there = next((value for value in way[here] if leads.get(value, True)), None)
            if there is None:
                leads[here] = False
                del way[here]
            elif there in way or there in leads:
                leads.update(dict.fromkeys(way, True))
                way = {}
            else:
                way[there] = iter((conf.section(there) or {}).values())
    return {name for name in names if leads[name]}


def check_end(conf: Conf, meaning: Meaning) -> list[str]:
    """The lines at which OpenSSL's reading ends, without an error, and why."""
    init, default = conf.section(meaning.init) or {}, conf.section("default") or {}
    random, providers = (lines_of(conf, meaning.init, module) for module in ("random", "providers"))
    names = [("default", key, value) for key, value in default.items() if key == "openssl_conf"]
    names += [(meaning.init, key, value) for key, value in init.items() if known_as(key)]
    circles = in_circles(conf, [value for _, _, value in providers])
    unknown = "OpenSSL does not know this key, and"
    ends = [
        (meaning.init, key, value, unknown, hint(key, INIT_KEYS))
        for key, value in init.items()
        # It may be a module of somebody's own, whose section says where it is.
        if not known_as(key) and "path" not in (conf.section(value) or {})
    ]
    ends += [
        (*line, unknown, hint(line[1], RANDOM_KEYS))
        for line in random
        if line[1].lower() not in (*RANDOM_KEYS, *NEWER_RANDOM_KEYS)
    ]
    ends += [
        (*line, "there is no such section, and OpenSSL", hint(line[2], conf.section_names()))
        for line in (*names, *providers)
        if conf.section(line[2]) is None
    ]
    ends += [(*line, "this section leads back to itself, and OpenSSL", "") for line in providers if line[2] in circles]
    return [
        *(f"[{name}] {key} = {value}: {why} reads the file no further{near}" for name, key, value, why, near in ends),
        *(
            f"[{name}] {known} needs OpenSSL {major}.{minor} or later: this OpenSSL reads the file no further"
            for name, key, _ in random
            for known, (major, minor) in NEWER_RANDOM_KEYS.items()
            if key.lower() == known and not conf.is_since(major, minor)
        ),
    ]


def check_names(conf: Conf, meaning: Meaning) -> list[str]:
    """What is mistyped before drng is named: OpenSSL then has no drng, and says nothing."""
    names = {}
    if not meaning.drng:
        names = {meaning.providers: "drng"} if meaning.init else {"default": "openssl_conf"}
    return [
        f"[{section}] {key} = {value}: OpenSSL takes this for no {name}; did you mean {name}?"
        for section, name in names.items()
        for key, value in undotted(conf.section(section)).items()
        if key != name and hint(key, (name,))
    ]


def check_unread(conf: Conf) -> list[str]:
    """Sections that name drng, of a file that does not."""
    return [
        f"[{name}] {key} = {value}: openssl_conf does not lead to this line, and drng is not loaded"
        for name in conf.section_names()
        for key, value in undotted(conf.section(name)).items()
        if key == "drng" and conf.section(value) is not None
    ]


def check_random(conf: Conf, meaning: Meaning) -> list[str]:
    """What the generators are, without drng or with a provider that gets RAND_bytes by itself."""
    name, section = meaning.random, generators_of(conf, meaning.init)
    warnings = []
    query = section.get("properties", "").replace(" ", "").split(",")
    strict = "provider=drng" in query
    if not meaning.drng and (strict or "?provider=drng" in query):
        served = "programs get no random numbers" if strict else "OpenSSL's own generator serves"
        warnings.append(
            f"[{name}] properties = {','.join(query)}: the file activates no provider drng, so that {served}"
        )
    named = section.get("random_provider")
    if named is not None:
        by_name = providers_of(conf, meaning.init)
        if meaning.drng and by_name.get(named) == meaning.drng and list(by_name.values()).count(meaning.drng) == 1:
            warnings.append(
                f"[{name}] random_provider = {named}: OpenSSL deactivates this provider in a program that reads the "
                "file twice, which then gets no random bytes; give drng a second name for it, as "
                "drng-random-provider.cnf does"
            )
        order = [known_as(key) for key in conf.section(meaning.init) or {}]
        if "providers" in order and order.index("random") > order.index("providers"):
            warnings.append(f"[{meaning.init}] random must come before providers where random_provider is set")
    return warnings


def check_seed_source(meaning: Meaning, random: dict[str, str]) -> list[str]:
    """OpenSSL 3 goes on without a seed source that it does not find; OpenSSL 4 gives no random bytes."""
    seed = random.get("seed", SEED_SOURCES[0])
    if "provider=drng" not in random.get("seed_properties", "") or seed.upper() in SEED_SOURCES:
        return []
    return [
        f"[{meaning.random}] seed = {seed}: drng has no seed source of this name, and from OpenSSL 4.0 on there are "
        f"no random bytes then{hint(seed, SEED_SOURCES)}"
    ]


def check_drng(conf: Conf, meaning: Meaning, is_read: bool) -> list[str]:
    """What keeps the provider from loading, or leaves it idle."""
    section, random = conf.section(meaning.drng) or {}, generators_of(conf, meaning.init)
    warnings = check_keys(conf, meaning.drng, section) + check_batch(meaning.drng, section)
    warnings += check_seed_source(meaning, random) + check_fips(conf, meaning)
    for name in dict.fromkeys(providers_of(conf, meaning.init).values()):
        warnings += check_activation(conf, name)
    if not is_read:
        return warnings
    if "activate" not in undotted(section):
        warnings.append(f"[{meaning.drng}] has no `activate = 1`: drng is not loaded")
    elif is_active(conf, meaning.drng) and not (is_active(conf, meaning.default) or is_active(conf, meaning.fips)):
        warnings.append("the default provider is not activated beside drng: programs have no ciphers")
    if random.get("random_provider") != "drng" and "provider=drng" not in random.get("properties", ""):
        warnings.append(
            f"[{meaning.init}] random names no section with `properties = provider=drng`: "
            "drng is loaded, and no generator uses it"
        )
    return warnings


def understand(conf: Conf) -> Meaning:
    """With what there is to warn of."""
    meaning = named_sections(conf)
    end = check_end(conf, meaning)
    warnings = check_names(conf, meaning) + end
    if meaning.drng:
        warnings += check_drng(conf, meaning, is_read=not end)
    if meaning.random:
        warnings += check_random(conf, meaning)
    if not meaning.drng:
        warnings = warnings or check_unread(conf)
    warnings += [
        f"an .include names a file that cannot be read, and OpenSSL ignores it: {why}" for why in conf.passed_over
    ]
    meaning.warnings = [visible(warning) for warning in warnings]
    return meaning


def compare(before: Conf, after: Conf) -> list[str]:
    """What the first file says and the second does not; but for the generators, which drng is to change."""
    init = named_sections(before).init
    warnings = []
    for name in before.section_names():
        kept = after.section(name) or {}
        for key, value in (before.section(name) or {}).items():
            if (name, key) != (init, "random") and kept.get(key) != value:
                warnings.append(visible(f"[{name}] {key} = {value} no longer holds"))
    return warnings
