# SPDX-License-Identifier: Apache-2.0
"""Shows what libcrypto makes of an openssl.cnf, and which of its keys and sections nobody asks for.

libcrypto loads the file, with the modules that it names, in a child process.
"""

import os
import sys
from collections.abc import Iterator
from typing import NoReturn

from .. import VERSION
from ..terminal import USAGE, Failure, Output, Parser, UsageError, complain, open_standard_files, visible
from .meaning import generators_of, is_active, known_as, lost, named_sections, providers_of, warnings_of
from .probe import GENERATORS, Probe, default_file, probe_file
from .reading import Read

NOTHING, WARNINGS, UNREAD, IO_ERROR = 0, 1, 2, 74  # exit statuses


def replaced(found: Probe) -> Iterator[str]:
    """What the file says itself, and an include has put something else in the place of."""
    own = Read(found.path, found.own)
    old, new = own.init, found.init
    gone = lost(own, found)
    for section, key, value in gone:
        yield f"[{section}] {key} = {value}: not in effect, since an .include has replaced it"
    if gone and old != new:
        # A second key of a kind adds to the first. The generators are the include's.
        lines = (f"{known_as(key) or key}.own = {value}" for key, value in own.section(old).items())
        kept = "; ".join(line for line in lines if not line.startswith("random."))
        yield f"openssl_conf = {old}: an .include makes it {new}; write at the end of the file: [{new}] {kept}"


def not_loaded(found: Probe, warnings: list[str]) -> Iterator[str]:
    drng, sections = named_sections(found).drng, providers_of(found)
    for name, why in found.not_loaded.items() if not found.stopped else ():
        # By its name alone it may load: then it is what the file says of it that keeps it from that.
        own = [warning for warning in warnings if warning.startswith(f"[{sections[name]}]")]
        yield f"{name} did not load: {why or '; '.join(own) or 'libcrypto does not say why'}"
    if drng and not is_active(found, drng):
        yield f"drng is not loaded: [{drng}] has no `activate = 1`"


def not_served(found: Probe) -> Iterator[str]:
    """What is not drng's though the file names it."""
    named, random = named_sections(found), generators_of(found)
    if not (named.drng or "provider=drng" in random.get("properties", "")):
        return
    others = ", ".join(role for role in GENERATORS if found.provider(role) != "drng")
    if found.override:
        cure = f"a section that [{found.init}] names as `random` before it names `providers`"
        yield f"{found.override} serves, and not drng; with a FIPS provider, set random_provider = none in {cure}"
    elif others:
        cure = f"name a section with `properties = provider=drng` as `random` in [{found.init}]"
        yield f"the {others} generator is not drng's: {cure}"
    if "provider=drng" in random.get("seed_properties", "") and not found.provider("seed"):
        yield f"[{named.random}] seed = {random.get('seed', '')}: drng has no seed source of this name"
    if not found.ciphers:
        yield "programs have no ciphers: write `activate = 1` in the default provider's section, too"


def not_installed(found: Probe) -> Iterator[str]:
    """The fips provider's own file, where an include of it leads nowhere."""
    for path in (why.rpartition(": ")[0] for why in found.passed_over if "fipsmodule" in why):
        yield f"{path} is made by: openssl fipsinstall -module {found.modules}/fips.so -out {path}"


def mistakes(found: Probe) -> list[str]:
    """What libcrypto says of the file, and what it does not do although the file asks for it."""
    ends, warnings = "OpenSSL reads the file no further: ", warnings_of(found)
    said = [f"{ends}{found.stopped}"] if found.stopped else []
    said += [*not_loaded(found, warnings), *found.errors]
    said += [] if said else not_served(found)
    said += replaced(found)
    said += not_installed(found)
    return [*(each for each in warnings if not any(each in line for line in said)), *said]


def report(found: Probe) -> None:
    for name, section in named_sections(found)._asdict().items():
        print(f"{name:9}  {f'[{visible(section)}]' if section else 'not named'}")
    public = found.rand_bytes and found.generators["public"]
    serves = "{name} of provider {provider}".format(**public) if public else "nobody"
    print(visible(f"{'serves':9}  {found.override or serves}"))


def check(words: list[str]) -> int:
    parser = Parser(prog="drng-conf", description=(__doc__ or "").split("\n")[0], allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"drng-conf {VERSION}")
    parser.add_argument("file", nargs="?", help="an openssl.cnf; by default the one that libcrypto reads")
    arguments = parser.parse_args(words)
    path = default_file() if arguments.file is None else arguments.file
    if not path:
        parser.error("name a file: OPENSSL_CONF, or the argument, is empty, and libcrypto reads none then")
    found = probe_file(path)
    if found.problem:
        raise Failure(found.problem)
    report(found)
    sys.stdout.flush()
    wrong = mistakes(found)
    for line in wrong:
        complain(line)
    return WARNINGS if wrong else NOTHING


def run() -> NoReturn:
    Output.program = "drng-conf"
    open_standard_files()
    try:
        status = check(sys.argv[1:])
    except Failure as error:
        complain(str(error))
        status = USAGE if isinstance(error, UsageError) else UNREAD
    except OSError as error:
        complain(str(error.strerror))
        # Python would try to write the rest once more.
        os._exit(IO_ERROR)
    sys.exit(status)
