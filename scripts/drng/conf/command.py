# SPDX-License-Identifier: Apache-2.0
"""Shows what libcrypto makes of an openssl.cnf, and which of its keys and sections nobody asks for.

libcrypto loads the file, with the modules that it names, in a child process.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from typing import Any, NoReturn

from .. import VERSION
from ..status import environment
from ..terminal import USAGE, Failure, Output, Parser, UsageError, complain
from ..text import visible
from .meaning import SEED_SOURCES, Meaning, generators_of, hint, is_active, understand
from .reading import Conf, ConfError, Section

NOTHING, WARNINGS, UNREAD, IO_ERROR = 0, 1, 2, 74  # exit statuses

# Each with what is asked of it, in the order in which it is shown.
ROLES = ("primary", "public", "private")


NO_CIPHERS = (
    "write `activate = 1` in the default provider's section, too",
    "the FIPS provider did not load: look for fips.so, and for what `openssl fipsinstall` writes",
)


def lost_by_fips(meaning: Meaning, random: Section, loaded: dict[str, Any]) -> list[str]:
    """The queries that find nothing of drng's, since it has no certificate."""
    found = []
    for key, role in (("properties", "public"), ("seed_properties", "seed")):
        query = random.get(key, "")
        taken_back = re.search(r"-\s*fips|fips\s*=\s*no", query)
        if loaded["fips"] and loaded["drng"] and loaded[role] is None and "provider=drng" in query and not taken_back:
            why = "OpenSSL adds fips=yes, and nothing matches both; write provider=drng,-fips"
            found.append(visible(f"[{meaning.random}] {key} = {query}: {why}"))
    return found


def mistakes(conf: Conf, meaning: Meaning, loaded: dict[str, Any]) -> list[str]:
    """What libcrypto says of the file, and what it does not do although the file names drng for it."""
    found = [f"OpenSSL reads the file no further: {each}" for each in loaded["config-errors"]]
    if meaning.drng and not is_active(conf, meaning.drng):
        found.append(f"drng is not loaded: [{meaning.drng}] has no `activate = 1`")
    found += loaded["errors"]
    random = generators_of(conf, meaning.init)
    found += lost_by_fips(meaning, random, loaded)
    for_drng = meaning.drng or "provider=drng" in random.get("properties", "")
    if not for_drng or found:
        return found
    others = {role: loaded[role] for role in ROLES if (loaded[role] or {}).get("provider") != "drng"}
    if loaded["override"]:
        found.append(f"{loaded['override']} serves, and not drng; with a FIPS provider, set random_provider = none")
    elif others:
        found.append(
            f"drng is loaded, and the {', '.join(others)} generator is another's: name a section with "
            f"`properties = provider=drng` as `random` in [{meaning.init}]"
        )
    seed = random.get("seed", SEED_SOURCES[0])
    if "provider=drng" in random.get("seed_properties", "") and loaded["seed"] is None:
        found.append(
            f"[{meaning.random}] seed = {seed}: drng has no seed source of this name{hint(seed, SEED_SOURCES)}"
        )
    if not others and not loaded["again"]:
        found.append("a program that reads the file twice gets no random bytes: name drng twice, as drng.cnf(5) says")
    if not loaded["ciphers"]:
        found.append(f"programs have no ciphers: {NO_CIPHERS[bool(loaded['fips'] and meaning.fips)]}")
    return found


def who_may_change(path: str) -> str:
    """The file, or a folder on the way, that others than root may change: root loads no module that they name."""
    path = os.path.realpath(path)
    while os.geteuid() == 0:
        found = os.stat(path)
        # In a directory like /tmp others make files, and leave those of their neighbours alone.
        is_shared = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
        if found.st_uid != 0 or (found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not is_shared):
            return path
        if path == "/":
            break
        path = os.path.dirname(path)
    return ""


def report(meaning: Meaning, loaded: dict[str, Any] | None) -> None:
    for name in ("init", "random", "providers", "default", "drng"):
        value = visible(getattr(meaning, name))
        print(f"{name:9}  {f'[{value}]' if value else 'not named'}")
    if loaded is None:
        return
    public = loaded["public"]
    serves = f"{public['name']} of provider {public['provider']}" if public and loaded["rand-bytes"] else "nobody"
    print(f"{'serves':9}  {loaded['override'] or serves}")


def check(words: list[str]) -> int:
    parser = Parser(prog="drng-conf", description=(__doc__ or "").split("\n")[0], allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"drng-conf {VERSION}")
    parser.add_argument("file", nargs="?", help="an openssl.cnf; by default the one that libcrypto reads")
    arguments = parser.parse_args(words)
    path = environment.default_config(own=True) if arguments.file is None else arguments.file
    if not path:
        parser.error("name a file: OPENSSL_CONF, or the argument, is empty, and libcrypto reads none then")
    conf = Conf(path)
    meaning, others = understand(conf), who_may_change(path)
    loaded = None if others else environment.collect(path)
    report(meaning, loaded)
    for remark in meaning.remarks + ([f"not loaded: others may change {visible(others)}"] if others else []):
        print(remark)
    sys.stdout.flush()
    said = mistakes(conf, meaning, loaded) if loaded else []
    warnings = [*said, *(each for each in meaning.warnings if not any(each in line for line in said))]
    for warning in warnings:
        complain(warning)
    return WARNINGS if warnings else NOTHING


def run() -> NoReturn:
    Output.program = "drng-conf"
    try:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        status = check(sys.argv[1:])
    except UsageError as error:
        complain(str(error))
        status = USAGE
    except (ConfError, Failure) as error:
        complain(str(error))
        status = UNREAD
    except MemoryError:
        complain("not read: a limit on memory (ulimit -v) is too low")
        status = UNREAD
    except OSError as error:
        complain(f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error))
        # Python would try to write the rest once more.
        os._exit(IO_ERROR)
    sys.exit(status)
