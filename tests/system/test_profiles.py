# SPDX-License-Identifier: Apache-2.0
"""docs/failures.md says in a table what each profile does when something is wrong: here each cell is tried."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scripts.drng.conf.libcrypto import LIBRARIES
from scripts.drng.status import who
from tests.support import clients
from tests.support.builds import CONF, MASKED, RELEASE, ROOT, has_random_provider, need, openssl_version
from tests.support.guide import DRNG, GUIDE, NOBODY, OPENSSL, PROFILES, SEEDED, table
from tests.support.machine import here
from tests.support.servers import APACHE_EVENT, HAPROXY_THREADS, NGINX, Site, new_site, running

CORNER = "what is wrong"
RANDOM_PROVIDER = "drng-random-provider.cnf"
CHECKER = "drng-conf"

NO_NGINX = "OpenSSL without nginx"


@dataclass
class Case:
    """A profile with what is wrong with it."""

    profile: Path
    modules: Path = RELEASE.modules
    masked: bool = False

    def set(self, line: str) -> None:
        text = self.profile.read_text()
        assert text.count("[drng_sect]\n") == 1
        self.profile.write_text(text.replace("[drng_sect]\n", f"[drng_sect]\n{line}\n"))

    @property
    def env(self) -> dict[str, str]:
        env = {"OPENSSL_CONF": str(self.profile), "OPENSSL_MODULES": str(self.modules)}
        return RELEASE.environment(env | ({"OPENSSL_ia32cap": MASKED} if self.masked else {}))


def nothing(case: Case) -> None:
    pass


def module_missing(case: Case) -> None:
    case.modules = case.profile.parent / "modules"
    case.modules.mkdir()


def module_broken(case: Case) -> None:
    module_missing(case)
    (case.modules / "drng.so").write_text("no shared object\n")


def masked_with_fallback(case: Case) -> None:
    case.masked = True
    case.set("fallback = yes")


def masked_without_fallback(case: Case) -> None:
    case.masked = True
    case.set("fallback = no")


def value_mistyped(case: Case) -> None:
    case.set("fallback = mabye")


def key_mistyped(case: Case) -> None:
    case.set("falback = no")


def key_mistyped_elsewhere(case: Case) -> None:
    text = case.profile.read_text()
    assert text.count("\nproperties = ") == 1
    case.profile.write_text(text.replace("\nproperties = ", "\npropertes = "))


def seed_source_mistyped(case: Case) -> None:
    text = case.profile.read_text()
    changed = re.sub(r"\nseed = ([A-Z-]+)\n", r"\nseed = \1X\n", text)
    assert changed != text
    case.profile.write_text(changed)


def file_missing(case: Case) -> None:
    case.profile.unlink()


def include_leads_nowhere(case: Case) -> None:
    case.profile.write_text(f".include {case.profile}.mistyped\n")


def file_does_not_parse(case: Case) -> None:
    case.profile.write_text("this is no openssl.cnf\n" + case.profile.read_text())


ROWS: dict[str, Callable[[Case], None]] = {
    "nothing": nothing,
    "module missing": module_missing,
    "module not a shared object": module_broken,
    "no instruction, `fallback = yes`": masked_with_fallback,
    "no instruction, `fallback = no`": masked_without_fallback,
    "a value mistyped": value_mistyped,
    "a key mistyped": key_mistyped,
    "a key mistyped in another section, OpenSSL 3.0": key_mistyped_elsewhere,
    "a key mistyped in another section, OpenSSL 3.5": key_mistyped_elsewhere,
    "a key mistyped in another section, OpenSSL 4.0": key_mistyped_elsewhere,
    "the seed source's name mistyped, OpenSSL 3": seed_source_mistyped,
    "the seed source's name mistyped, OpenSSL 4": seed_source_mistyped,
    "the file missing": file_missing,
    "an `.include` of it that leads nowhere": include_leads_nowhere,
    "the file does not parse": file_does_not_parse,
    "OpenSSL before 3.5": nothing,
}

# Of which OpenSSL a row is: from the first up to, but not with, the second.
OF_VERSIONS = {
    "a key mistyped in another section, OpenSSL 3.0": ((3, 0), (3, 5)),
    "a key mistyped in another section, OpenSSL 3.5": ((3, 5), (4, 0)),
    "a key mistyped in another section, OpenSSL 4.0": ((4, 0), (5, 0)),
    "the seed source's name mistyped, OpenSSL 3": ((3, 0), (4, 0)),
    "the seed source's name mistyped, OpenSSL 4": ((4, 0), (5, 0)),
    "OpenSSL before 3.5": ((3, 0), (3, 5)),
}

# Where config_diagnostics has the openssl command, and none of the others, end with an error.
TOLD = "a key mistyped in another section"

# Where 3.x and 4.x differ, and Debian's nginx is of 3.x where its openssl is of 4.x.
OF_MAJOR = "the seed source's name mistyped"

# What drng-conf says where the table says that it warns.
WARNINGS = {
    "nothing": None,
    "says why drng did not load": "drng did not load: could not load the shared library: ",
    "says why drng has no seed": "no instruction can seed and fallback = no: ",
    "warns of the value": "drng did not load: [drng_sect] fallback = mabye: write one of yes, no",
    "warns of the key": "neither OpenSSL nor drng knows this key",
    "warns that OpenSSL reads no further": "name=propertes",
    "warns of the seed source": "drng has no seed source of this name",
    "warns of `random_provider`": "name=random_provider, value=drng-random",
    "warns of the include": "an .include names a file that cannot be read",
    "refuses what is not there": "No such file or directory; OpenSSL ignores it",
    "refuses what does not parse": "missing equal sign",
}


# ---- The table ----


def of_version(outcome: str) -> str:
    """What happens with the OpenSSL here: "a; from 3.5 b; from 3.6 c" has a word for each."""
    first, *later = outcome.split("; from ")
    found = first
    for part in later:
        version, _, word = part.partition(" ")
        if openssl_version() >= tuple(map(int, version.split("."))):
            found = word
    return found


TABLE = table(CORNER)


def test_the_table_is_whole() -> None:
    """Every profile, every case, and nothing but words that are explained above it."""
    assert list(TABLE) == list(ROWS)
    text = GUIDE.read_text()
    for row in TABLE.values():
        assert sorted(row) == sorted([*PROFILES, CHECKER])
        assert row[CHECKER] in WARNINGS
        assert all(f"- **{row[profile]}**: " in text for profile in PROFILES if row[profile] != "-")


# ---- What happens ----


ANOTHER = "here the commands ask another libcrypto than openssl's"


def libcrypto_of_the_commands() -> str:
    """The first that the linker knows."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return next(name for name in LIBRARIES if name in known)


def skip_if_elsewhere(row: str, column: str) -> None:
    """Some rows are of some versions, and some cells take a CPU that has an instruction."""
    first, past = OF_VERSIONS.get(row, ((3, 0), (5, 0)))
    if not first <= openssl_version() < past:
        pytest.skip(f"this is OpenSSL {'.'.join(map(str, openssl_version()))}")
    if row in OF_VERSIONS and f".so.{openssl_version()[0]}" not in libcrypto_of_the_commands():
        pytest.skip(ANOTHER)
    if column == RANDOM_PROVIDER and not has_random_provider() and row != "OpenSSL before 3.5":
        pytest.skip("random_provider needs OpenSSL 3.5 or later")
    if TABLE[row].get(column) == DRNG:
        here().need_instruction()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with new_site() as result:
        yield result


@dataclass(frozen=True)
class Seen:
    """What an operator can see."""

    rand: bool
    status: dict = field(repr=False)
    nginx_starts: bool
    nginx_uses_drng: bool


def workers_crash(site: Site) -> bool:
    """nginx 1.26 and 1.30 go on where OPENSSL_init_ssl() fails, without what their workers need then."""
    end = time.monotonic() + 60
    while (crashed := f"exited on signal {int(signal.SIGSEGV)}") not in site.log.read_text():
        if time.monotonic() > end:
            return False
        select.select([], [], [], 0.05)  # the master writes it once it has heard
    return bool(crashed)


def nginx(case: Case, site: Site) -> tuple[bool, bool]:
    """Whether it starts and serves a page, and whether drng serves its processes."""
    try:
        with running(NGINX, site, case.env) as server:
            if not clients.curl(clients.Visit(site), RELEASE.environment()).page:
                assert workers_crash(site)
                return False, False
            uses = {bool(process.counters) for process in who.of_processes(server.processes())}
            assert len(uses) == 1, "all or none"
            return True, uses == {True}
    except AssertionError as error:
        # With HTTP/3 it draws earlier, and ends without a word where that fails.
        assert str(error) == "" or "SSL_CTX_new() failed" in str(error)
        return False, False


def nginx_is_of_another_openssl() -> bool:
    linked = (
        subprocess.run(["ldd", need(program)], capture_output=True, text=True, check=False).stdout
        for program in ("openssl", "nginx")
    )
    libraries = {tuple(re.findall(r"libcrypto\.so\S*", said)) for said in linked}
    return len(libraries) > 1


def see(case: Case, site: Site, asks_nginx: bool = True) -> Seen:
    rand = subprocess.run(["openssl", "rand", "-hex", "16"], env=case.env, capture_output=True, text=True, check=False)
    assert (rand.returncode == 0) == bool(re.fullmatch(r"[0-9a-f]{32}\n", rand.stdout)), "all or nothing"
    said = subprocess.run(
        [str(ROOT / "scripts" / "drng-status"), "--json"], env=case.env, capture_output=True, text=True, check=True
    )
    status = json.loads(said.stdout)
    of_nginx = nginx(case, site) if asks_nginx else (status["served-by"] != "nobody",) * 2
    return Seen(rand.returncode == 0, status, *of_nginx)


def in_words(seen: Seen, told: bool) -> str:
    """
    The cell; openssl, RAND_bytes, drng-status and nginx must be of one mind, but where openssl, and perhaps nginx, are
    told of a failure.
    """
    draws = seen.status["served-by"] != "nobody"
    told = told and draws
    alone = told and not seen.nginx_starts
    works = (seen.rand or told, draws, seen.nginx_starts or alone)
    assert len(set(works)) == 1, works
    assert not (told and seen.rand)
    if not draws:
        return NOBODY
    if seen.status["served-by"] == "OpenSSL":
        assert not seen.nginx_uses_drng
        return NO_NGINX if alone else OPENSSL
    assert seen.nginx_uses_drng
    return {"rdseed": DRNG, "rdrand": DRNG, "fallback": SEEDED}[seen.status["active-source"]]


def case_of(row: str, profile: str, directory: Path) -> Case:
    path = directory / profile
    path.write_text((CONF / profile).read_text())
    case = Case(path)
    ROWS[row](case)
    return case


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("row", ROWS)
def test_who_serves(row: str, profile: str, tmp_path: Path, site: Site) -> None:
    skip_if_elsewhere(row, profile)
    told = row.startswith(TOLD) and "config_diagnostics = 1\n" in (CONF / profile).read_text()
    asks_nginx = not row.startswith(OF_MAJOR) or not nginx_is_of_another_openssl()
    assert in_words(see(case_of(row, profile, tmp_path), site, asks_nginx), told) == TABLE[row][profile]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("row", ROWS)
def test_what_drng_conf_says(row: str, profile: str, tmp_path: Path) -> None:
    skip_if_elsewhere(row, profile)
    case = case_of(row, profile, tmp_path)
    result = subprocess.run(
        [str(ROOT / "scripts" / CHECKER), str(case.profile)], env=case.env, capture_output=True, text=True, check=False
    )
    wanted = WARNINGS[TABLE[row][CHECKER]]
    if row == "OpenSSL before 3.5" and profile != RANDOM_PROVIDER:
        wanted = None
    if wanted is None:
        assert (result.returncode, result.stderr) == (0, "")
    else:
        assert result.returncode == (2 if TABLE[row][CHECKER].startswith("refuses") else 1)
        assert wanted in result.stderr


# ---- config_diagnostics: who ends with an error where a configuration fails ----

BY_ITSELF, ERROR, CRASH = "serves by itself", "ends with an error", "its workers crash"
LATER = "serves by itself after an error"
VISITS = 4  # more than there are threads
COMMANDS = {
    "openssl": ["openssl", "rand", "-hex", "8"],
    "RAND_bytes": [RELEASE.program("probe")],
    "Python": ["/usr/bin/python3", "-c", "import ssl; ssl.create_default_context(); ssl.RAND_bytes(8)"],
    "Node.js": ["node", "--openssl-shared-config", "-e", "require('crypto').randomBytes(8)"],
}
SERVERS = {"nginx": NGINX, "Apache": APACHE_EVENT, "HAProxy": HAPROXY_THREADS}
FILES = {
    "mistyped": key_mistyped_elsewhere,
    "the file missing": file_missing,
    "the file does not parse": file_does_not_parse,
}


def how_it_goes(host: str, case: Case, site: Site) -> str:
    """Who serves is not asked here."""
    if host in COMMANDS:
        result = subprocess.run(COMMANDS[host], env=case.env, capture_output=True, check=False)
        failed = result.returncode != 0 or (host == "RAND_bytes" and json.loads(result.stdout)["rand_bytes"] != 1)
        return ERROR if failed else BY_ITSELF
    try:
        with running(SERVERS[host], site, case.env):
            pages = [clients.curl(clients.Visit(site), RELEASE.environment()).page for _ in range(VISITS)]
            if pages[-1]:
                return BY_ITSELF if all(pages) else LATER
            return CRASH if host == "nginx" and workers_crash(site) else ERROR
    except AssertionError:
        return ERROR


# A mistyped key without config_diagnostics, and with it; the file missing; the file does not parse.
OUTCOMES = {
    "openssl": ("serves by itself; from 4.0 ends with an error", ERROR, BY_ITSELF, BY_ITSELF),
    "RAND_bytes": (
        "serves by itself; from 4.0 ends with an error",
        "serves by itself; from 4.0 ends with an error",
        BY_ITSELF,
        BY_ITSELF,
    ),
    "Python": (BY_ITSELF, "serves by itself; from 3.5 ends with an error", BY_ITSELF, BY_ITSELF),
    "nginx": (BY_ITSELF, "serves by itself; from 3.5 its workers crash", BY_ITSELF, BY_ITSELF),
    "Apache": (BY_ITSELF, "serves by itself; from 3.5.9 ends with an error", BY_ITSELF, BY_ITSELF),
    "HAProxy": (BY_ITSELF, "serves by itself; from 3.5.9 serves by itself after an error", BY_ITSELF, BY_ITSELF),
    "Node.js": (ERROR, ERROR, BY_ITSELF, ERROR),
}


@pytest.mark.parametrize("wrong", FILES)
@pytest.mark.parametrize("diagnostics", [False, True], ids=["without", "with"])
@pytest.mark.parametrize("host", [*COMMANDS, *SERVERS])
def test_who_asks_how_the_configuration_went(
    host: str, diagnostics: bool, wrong: str, tmp_path: Path, site: Site
) -> None:
    if host == "Node.js" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    if host == "RAND_bytes" and f".so.{openssl_version()[0]}" not in libcrypto_of_the_commands():
        pytest.skip(ANOTHER)
    case = Case(tmp_path / "drng.cnf")
    text = (CONF / "drng.cnf").read_text()
    assert text.count("config_diagnostics = 1\n") == 1
    case.profile.write_text(text if diagnostics else text.replace("config_diagnostics = 1\n", ""))
    assert how_it_goes(host, case, site) == BY_ITSELF
    FILES[wrong](case)
    column = list(FILES).index(wrong) + (wrong != "mistyped" or diagnostics)
    assert how_it_goes(host, case, site) == of_version(OUTCOMES[host][column])


@pytest.mark.parametrize("key", ["random = CTR-DRBG", "seed = ", "seed_properties = ", "providers = "])
def test_with_other_keys_mistyped_nobody_serves(key: str, tmp_path: Path, site: Site) -> None:
    """Of a strict profile: the generator is to be drng's by then, and drng is not loaded any more."""
    case = Case(tmp_path / "drng.cnf")
    text = (CONF / "drng.cnf").read_text()
    assert text.count(f"\n{key}") == 1
    case.profile.write_text(text.replace(f"\n{key}", f"\nx{key}"))
    assert how_it_goes("RAND_bytes", case, site) == ERROR


def test_a_file_that_may_not_be_read_is_as_one_that_is_missing(tmp_path: Path) -> None:
    """By somebody else than root, whom permissions do not stop."""
    profile = Path("/tmp") / f"drng-unreadable-{os.getpid()}.cnf"
    profile.write_text((CONF / "drng.cnf").read_text())
    profile.chmod(0)
    user = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
    env = {"OPENSSL_CONF": str(profile), "PATH": "/usr/bin:/bin"}
    try:
        served = subprocess.run(["openssl", "rand", "-hex", "8"], env=env, capture_output=True, check=False, **user)
        named = subprocess.run(["openssl", "list", "-providers"], env=env, capture_output=True, check=False, **user)
    finally:
        profile.unlink()
    assert served.returncode == 0, "OpenSSL serves by itself"
    assert b"drng" not in named.stdout, "and this is what the check before a service's start sees"
