# SPDX-License-Identifier: Apache-2.0
"""The command line."""

import argparse
import re

from .. import VERSION
from ..conf.meaning import DRNG_KEYS, allows, hint
from ..terminal import Parser, UsageError

DESCRIPTION = "Turns drng on and off. Without a command: what is on, and who serves in the processes that run."
SYNOPSIS = """\
drng-enable [status] [SERVICE ...]
       drng-enable on  (--system | SERVICE ...) [--profile PROFILE] [--set KEY=VALUE] [--try TIME] [OPTION ...]
       drng-enable off (--system | SERVICE ... | --all) [OPTION ...]
       drng-enable confirm"""
Request = argparse.Namespace

# Each with its file. OpenSSL before 3.5 says of the last two that it does not know random_provider.
PROFILES = {
    "strict": "drng.cnf",
    "permissive": "drng-permissive.cnf",
    "random-provider": "drng-random-provider.cnf",
    "fips": "drng-fips.cnf",
}

UNITS = {"s": 1, "m": 60, "h": 3600}
DAYS = 7

# With what systemd-escape(1) makes of other characters.
SERVICE = r"(?:[A-Za-z0-9:_@]|\\x[0-9a-f]{2})(?:[A-Za-z0-9:_.@-]|\\x[0-9a-f]{2})*"


def seconds(text: str) -> int:
    """Of 10m, 90s or 2h."""
    found = re.fullmatch(r"([0-9]{1,6})([smh])", text)
    length = int(found[1]) * UNITS[found[2]] if found else 0
    if not 0 < length <= DAYS * 24 * 3600:
        raise UsageError(f"--try takes a time like 10m, 90s or 2h, of {DAYS} days at most; not '{text}'")
    return length


def service(text: str) -> str:
    name = text.removesuffix(".service")
    if found := re.search(r"\.(socket|timer|target|path|mount|slice|scope|device)$", name):
        raise UsageError(f"'{text}' is a {found[1]}: name the service")
    if not re.fullmatch(SERVICE, name):
        raise UsageError(f"'{name}' is not the name of a service")
    return name


def setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set takes KEY=VALUE, like fallback=no; not '{text}'; drng.cnf(5) has the keys")
    if key not in DRNG_KEYS:
        raise UsageError(f"--set {key}: drng has no such key{hint(key, list(DRNG_KEYS))}")
    if value and not allows(key, value):
        raise UsageError(f"--set {text}: write one of {', '.join(DRNG_KEYS[key])}")
    return key, value


def parse(words: list[str]) -> Request:
    parser = Parser(prog="drng-enable", usage=SYNOPSIS, description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"drng-enable {VERSION}")
    parser.add_argument("words", nargs="*", metavar="SERVICE", help="a systemd service, by a drop-in")
    for name, said in {
        "--system": "the system's openssl.cnf, which programs read unless OPENSSL_CONF names another",
        "--all": "the system and every service",
        "--restart": "restart changed services that run, show who serves, and put all back if one does not come up",
        "--dry-run": "check everything and print the changes, but write nothing",
        "--json": "print one JSON object",
    }.items():
        parser.add_argument(name, action="store_true", help=said)
    profile = f"{', '.join(PROFILES)}; the last two need OpenSSL 3.5, and for a service strict is the default"
    parser.add_argument("--profile", choices=PROFILES, metavar="PROFILE", help=profile)
    keys = "a setting of drng's, see drng.cnf(5); KEY= restores its default"
    parser.add_argument("--set", dest="settings", type=setting, action="append", metavar="KEY=VALUE", help=keys)
    end = "switch off again after 10m, 90s or 2h, or when the machine restarts, unless confirm comes first"
    parser.add_argument("--try", dest="trial", type=seconds, metavar="TIME", help=end)
    # What a trial's timer types: of what is on trial then.
    parser.add_argument("--tried", action="store_true", help=argparse.SUPPRESS)
    request = parser.parse_intermixed_args(words)
    request.verb, *names = request.words or ["status"]
    request.services, request.settings = list(dict.fromkeys(map(service, names))), request.settings or []
    scopes = request.system or request.all or request.tried or bool(names)
    changes = request.verb in ("on", "off")
    only_on = request.profile or request.settings or request.trial
    if request.verb not in ("on", "off", "status", "confirm"):
        parser.error(f"'{request.verb}' is none of on, off, status, confirm")
    if request.verb == "confirm" and scopes:
        parser.error("confirm takes no service: one trial at a time is under way")
    if changes and (not scopes or ((request.all or request.tried) and (names or request.verb == "on"))):
        parser.error("name --system, or services")
    if only_on and request.verb != "on":
        parser.error("--profile, --set and --try are options of on only")
    if (request.restart or request.dry_run) and not changes:
        parser.error("--restart and --dry-run are options of on and off only")
    return request
