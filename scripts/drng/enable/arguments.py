"""The command line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from .. import VERSION
from ..terminal import Parser, UsageError

USAGE = """\
usage: drng-enable on     --system | --service NAME  [--profile PROFILE] [--dry-run] [...]
       drng-enable on     --system --try TIME  [--profile PROFILE] [...]
       drng-enable confirm
       drng-enable off    --system | --service NAME  [--dry-run] [...]
       drng-enable status --system | --service NAME  [...]

on      puts the profile into effect: strict, permissive, or, with OpenSSL 3.5 and later, random-provider or fips
        (beside the FIPS provider)
off     removes what `on` wrote, and nothing else
confirm ends a trial of on --try: drng stays on
status  says whether drng is on and which generator would serve; exits with 0 if drng would, else with 1

--system        the system's openssl.cnf, which programs read unless OPENSSL_CONF names another
--service NAME  one systemd service, by a drop-in that sets OPENSSL_CONF
--try TIME      switch off again after 10m, 90s or 2h, or when the machine is restarted, unless confirm comes first
--profile P     strict, permissive, random-provider or fips; without it, the one that is on, or else strict
--dry-run       check everything and print the changes, but write nothing
--conf FILE     use this openssl.cnf in place of the system's
--profiles DIR  read the profiles from here, not from /etc/ssl/drng
--root DIR      work on the system image under DIR, and run nothing in it
--version       print the version
"""

# The last two are about what is on trial, which is the system. systemd says the last.
VERBS = ("on", "off", "status", "confirm", "end-trial")


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

    verb: str = ""  # one of VERBS
    system: bool = False
    service: str | None = None
    profile: str = ""  # one of PROFILES, or "" for what is on
    dry_run: bool = False
    conf: str | None = None
    profiles: str = "/etc/ssl/drng"
    root: str = "/"
    trial: int = 0  # seconds, 0 for none


class Words(Parser):
    def format_help(self) -> str:
        return USAGE


# ---- The values of options ----


def seconds(text: str) -> int:
    """Of 10m, 90s or 2h."""
    found = re.fullmatch(r"([0-9]{1,6})([smh])", text)
    length = int(found[1]) * UNITS[found[2]] if found else 0
    if not 0 < length <= LONGEST:
        raise UsageError(
            f"--try takes a time like 10m, 90s or 2h, and {LONGEST // 86400} days at the most; not '{text}'"
        )
    return length


def service(text: str) -> str:
    name = text.removesuffix(".service")
    if not re.fullmatch(SERVICE, name):
        raise UsageError(f"'{name}' is not the name of a service")
    return name


def profile(text: str) -> str:
    if text not in PROFILES:
        raise UsageError(f"there is no profile '{text}': choose strict, permissive, random-provider or fips")
    return text


def path(text: str) -> str:
    """One that is written into files that have quoting of their own."""
    if text and not re.fullmatch(r"/[A-Za-z0-9/._+-]*", text):
        raise UsageError(
            f"'{text}' cannot be used: give a path that begins with / and has only letters, digits and / . _ + -"
        )
    return text


def _check(request: Request) -> None:
    """What goes together."""
    for name in ("conf", "profiles", "root"):
        if getattr(request, name) == "":
            raise UsageError(f"--{name} is empty: give it a path, or leave it out")
    if request.verb not in VERBS:
        raise UsageError(f"'{request.verb}' is no command: say on, off, status or confirm; see drng-enable --help")
    if request.verb in VERBS[-2:]:
        if request.service is not None or request.dry_run or request.root != "/":
            raise UsageError(f"{request.verb} takes no options: what is on trial is the system")
    elif not request.system and request.service is None:
        raise UsageError("say --system or --service NAME; see drng-enable --help")
    if request.trial and (request.verb != "on" or not request.system):
        raise UsageError("--try is an option of on --system only")
    if request.profile and request.verb != "on":
        raise UsageError("--profile is an option of on only")


def parse(words: list[str]) -> Request:
    parser = Words(prog="drng-enable", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"drng-enable {VERSION}")
    parser.add_argument("verb", metavar="on, off, status or confirm")
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--system", action="store_true")
    scope.add_argument("--service", type=service)
    parser.add_argument("--profile", type=profile)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--try", dest="trial", type=seconds)
    parser.add_argument("--conf", type=path)
    parser.add_argument("--profiles", type=path)
    parser.add_argument("--root")
    request = parser.parse_args(words, Request())
    _check(request)
    return request
