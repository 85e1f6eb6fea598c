# SPDX-License-Identifier: Apache-2.0
"""The command line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from .. import VERSION
from ..terminal import Parser, UsageError

USAGE = """\
usage: drng-enable
       drng-enable on  (--system | SERVICE ...) [--profile PROFILE] [--set KEY=VALUE] [--restart] [--try TIME]
                       [--dry-run] [--json]
       drng-enable off (--system | SERVICE ... | --all) [--restart] [--dry-run] [--json]
       drng-enable confirm

Without a word it says what is on, where, and who serves in the processes that run; `status SERVICE ...` says it of
these.
on      puts the profile into effect; with --restart, proves it: restarts what has changed and runs, looks at each
        process, and puts all back where a service does not come up
off     removes what `on` wrote, and nothing else
confirm ends a trial of on --try: drng stays on

--system          the system's openssl.cnf, which programs read unless OPENSSL_CONF names another
SERVICE           a systemd service, by a drop-in that sets OPENSSL_CONF
--all             the system and every service
--profile PROFILE strict (without drng no random numbers), permissive (without drng OpenSSL's), or, with OpenSSL 3.5
                  and later, random-provider or fips (beside the FIPS provider); a service's is strict, unless named
--set KEY=VALUE   a setting of drng's, see drng.cnf(5); without a value, its default again
--restart         restart the services, and see who serves them
--try TIME        switch off again after 10m, 90s or 2h, or when the machine restarts, unless confirm comes first
--dry-run         check everything and print the changes, but write nothing
--json            one answer for programs
--version         print the version

Exit status: 0 done, or nothing to do; 1 refused or undone, nothing is changed; 3 done, and a process is not served by
drng; 64 wrong arguments.
"""

VERBS = ("on", "off", "status", "confirm")


class Profile(NamedTuple):
    file: str
    section: str  # for the generators
    names: tuple[str, ...] = ("drng",)  # under which it activates the module
    since_3_5: bool = False  # OpenSSL before that does not understand it


PROFILES = {
    "strict": Profile("drng.cnf", "drng_strict"),
    "permissive": Profile("drng-permissive.cnf", "drng_permissive"),
    "random-provider": Profile("drng-random-provider.cnf", "drng_random_provider", ("drng", "drng-random"), True),
    "fips": Profile("drng-fips.cnf", "drng_fips", since_3_5=True),
}

UNITS = {"s": 1, "m": 60, "h": 3600}
LONGEST = 7 * 86400

# With what systemd-escape(1) makes of other characters.
SERVICE = r"(?:[A-Za-z0-9:_@]|\\x[0-9a-f]{2})(?:[A-Za-z0-9:_.@-]|\\x[0-9a-f]{2})*"


@dataclass
class Request:
    """What the operator asks for."""

    verb: str = "status"  # one of VERBS
    services: list[str] = field(default_factory=list)
    system: bool = False
    all: bool = False
    profile: str = ""  # one of PROFILES, or "" for what is on
    settings: list[tuple[str, str]] = field(default_factory=list)
    restart: bool = False
    trial: int = 0  # seconds, 0 for none
    dry_run: bool = False
    json: bool = False


class Words(Parser):
    def format_help(self) -> str:
        return USAGE


# ---- The values of options ----


def seconds(text: str) -> int:
    """Of 10m, 90s or 2h."""
    found = re.fullmatch(r"([0-9]{1,6})([smh])", text)
    length = int(found[1]) * UNITS[found[2]] if found else 0
    if not 0 < length <= LONGEST:
        raise UsageError(f"--try takes a time like 10m, 90s or 2h, of {LONGEST // 86400} days at most; not '{text}'")
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
    if not equals or not re.fullmatch(r"[a-z_]+=[a-z0-9-]*", text):
        raise UsageError(f"--set takes KEY=VALUE, like fallback=no; not '{text}'; drng.cnf(5) has the keys")
    return key, value


def _check(request: Request) -> None:
    """What goes together."""
    scopes = [request.system, request.all, bool(request.services)]
    changes = request.verb in ("on", "off")
    if request.verb not in VERBS:
        raise UsageError(f"'{request.verb}' is no command: say on, off, status or confirm; see drng-enable --help")
    if request.verb == "confirm" and any(scopes):
        raise UsageError("confirm takes no service: one trial at a time is under way")
    if (changes and sum(scopes) != 1) or (request.all and request.verb == "on"):
        raise UsageError(f"{request.verb} takes --system, or the names of services; see drng-enable --help")
    if request.verb != "on" and (request.profile or request.settings or request.trial):
        raise UsageError("--profile, --set and --try are options of on only")
    if not changes and (request.restart or request.dry_run):
        raise UsageError("--restart and --dry-run are options of on and off only")


def parse(words: list[str]) -> Request:
    parser = Words(prog="drng-enable", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"drng-enable {VERSION}")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--system", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--profile", choices=PROFILES)
    parser.add_argument("--set", dest="settings", type=setting, action="append")
    parser.add_argument("--restart", action="store_true")
    parser.add_argument("--try", dest="trial", type=seconds)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--json", action="store_true")
    request = parser.parse_intermixed_args(words, Request())
    request.verb, *names = vars(request).pop("words") or ["status"]
    request.services = list(dict.fromkeys(map(service, names)))
    _check(request)
    return request
