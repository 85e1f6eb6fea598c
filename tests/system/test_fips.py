# SPDX-License-Identifier: Apache-2.0
"""conf/drng-fips.cnf: drng beside OpenSSL's FIPS provider, by counts of seeds and requests, and with each part missing.

Where the FIPS provider is not installed most of this is skipped; scripts/ci/test-matrix.sh has it on later releases.
"""

import ctypes
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import clients, typed
from tests.support.builds import CONF, MASKED, RELEASE, ROOT, has_random_provider, said_by
from tests.support.image import Image
from tests.support.machine import here
from tests.support.servers import NGINX, PROGRAMS, SYSTEM_PYTHON, Site, maps, new_site, running

PROFILE = CONF / "drng-fips.cnf"
GUIDE = ROOT / "docs" / "fips.md"
MODULE = RELEASE.modules / "drng.so"
INSTALLED = "/etc/ssl/fipsmodule.cnf"
LIBRARIES = ("libcrypto.so.3", "libcrypto.so.4")


@dataclass
class Case:
    """The profile in a folder of its own, where it finds both modules."""

    folder: Path
    masked: bool = False

    @property
    def profile(self) -> Path:
        return self.folder / "drng-fips.cnf"

    @property
    def modules(self) -> Path:
        return self.folder / "modules"

    @property
    def env(self) -> dict[str, str]:
        env = {"OPENSSL_CONF": str(self.profile), "OPENSSL_MODULES": str(self.modules)}
        return RELEASE.environment(env | ({"OPENSSL_ia32cap": MASKED} if self.masked else {}))

    def replace(self, old: str, new: str) -> None:
        text = self.profile.read_text()
        assert text.count(old) == 1, old
        self.profile.write_text(text.replace(old, new))

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=120, check=False)

    def draw(self, *steps: str, library: str = LIBRARIES[0]) -> dict[str, Any]:
        return json.loads(said_by(SYSTEM_PYTHON, PROGRAMS / "fips_draw.py", library, *steps, env=self.env))

    def status(self) -> dict[str, Any]:
        return json.loads(said_by(ROOT / "scripts" / "drng-status", "--json", env=self.env))


@pytest.fixture(scope="session")
def fips() -> Path:
    """The FIPS provider of this machine's OpenSSL."""
    said = said_by("openssl", "version", "-m")
    module = Path(said.split('"')[1]) / "fips.so"
    if not module.exists():
        pytest.skip(f"{module} is not there (Debian: openssl-provider-fips, from trixie on)")
    if not has_random_provider():
        pytest.skip("OpenSSL before 3.5 has no random_provider")
    return module


def new_case(fips: Path, folder: Path) -> Case:
    result = Case(folder)
    result.modules.mkdir()
    for module in (fips, MODULE):
        (result.modules / module.name).symlink_to(module)
    own = folder / "fipsmodule.cnf"
    subprocess.run(["openssl", "fipsinstall", "-out", str(own), "-module", str(fips)], capture_output=True, check=True)
    result.profile.write_text(PROFILE.read_text())
    result.replace(f"\n.include {INSTALLED}\n", f"\n.include {own}\n")
    return result


@pytest.fixture
def case(fips: Path, tmp_path: Path) -> Case:
    return new_case(fips, tmp_path)


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> str:
    try:
        ctypes.CDLL(request.param)
    except OSError:
        pytest.skip(f"{request.param} is not installed")
    return request.param


@pytest.fixture
def site() -> Iterator[Site]:
    with new_site() as result:
        yield result


# ---- Who serves, by what drng counts ----


@pytest.mark.parametrize("way", ["bytes", "private"])
def test_drng_serves_each_request(case: Case, library: str, way: str) -> None:
    answer = case.draw(way, way, library=library)
    first, second = answer["steps"]
    assert answer["active"] == ["base", "fips", "drng"]
    assert first["works"] and second["works"]
    assert first["seeds"] == 1
    assert second["seeds"] == 1
    assert second["requests"] == first["requests"] + 1


@pytest.mark.parametrize("way", ["bytes", "primary"])
def test_the_fips_providers_own_generators_take_their_seed_from_drng(case: Case, library: str, way: str) -> None:
    """The first key makes them; later keys find them made."""
    before, first, second = case.draw(way, "key", "key", library=library)["steps"]
    assert before["seeds"] == 1
    assert (first["works"], first["seeds"]) == ("fips", 2)
    assert (second["works"], second["seeds"]) == ("fips", 2)
    assert second["requests"] == before["requests"], "no key is drawn from drng's generators"


def test_a_key_before_the_first_byte_is_seeded_by_the_system(case: Case, library: str) -> None:
    """What docs/fips.md says of programs that begin with a key."""
    key, drawn = case.draw("key", "bytes", library=library)["steps"]
    assert (key["works"], key["seeds"]) == ("fips", 0)
    assert drawn["works"] and drawn["seeds"] == 1


@pytest.mark.parametrize("step", ["seed", "add"])
def test_a_program_that_begins_with_bytes_of_its_own(case: Case, library: str, step: str) -> None:
    """RAND_seed and RAND_add make the primary generator, so the first key is seeded from drng as after a draw."""
    added, drawn, key = case.draw(step, "bytes", "key", library=library)["steps"]
    assert drawn["works"] and drawn["requests"] > added["requests"]
    assert added["seeds"] > 0
    assert (key["works"], key["seeds"]) == ("fips", drawn["seeds"] + 1)


def test_no_seed_no_bytes_and_no_keys(case: Case, library: str) -> None:
    no_instruction_and_no_fallback(case)
    drawn, key = case.draw("bytes", "key", library=library)["steps"]
    assert not drawn["works"]
    assert not key["works"]


def test_without_random_provider_the_fips_provider_takes_the_requests(case: Case, library: str) -> None:
    """Why the profile has the line: nothing else shows it."""
    random_provider_left_out(case)
    drawn, private, key = case.draw("bytes", "private", "key", library=library)["steps"]
    assert drawn["works"] and private["works"] and key["works"]
    assert key["seeds"] == key["requests"] == 0


def test_drng_status_says_that_the_fips_provider_takes_them(case: Case) -> None:
    assert case.status()["served-by"] in ("drng", "fallback")
    random_provider_left_out(case)
    check = case.run(str(ROOT / "scripts" / "drng-status"), "--check")
    assert (check.returncode, "the fips provider" in check.stdout) == (2, True)


# ---- Programs ----


def test_the_openssl_command(case: Case) -> None:
    assert re.fullmatch(r"[0-9a-f]{32}\n", case.run("openssl", "rand", "-hex", "16").stdout)
    key = ("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "group:P-256", "-quiet")
    assert "BEGIN PRIVATE KEY" in case.run(*key).stdout
    assert case.run("openssl", "dgst", "-sha256", "/dev/null").returncode == 0
    assert case.run("openssl", "dgst", "-md5", "/dev/null").returncode != 0, "not in the FIPS provider"
    no_instruction_and_no_fallback(case)
    assert case.run("openssl", "rand", "-hex", "16").returncode != 0
    assert case.run(*key).returncode != 0, "its seed would have come from drng"


def counts_of(pid: int) -> tuple[int, int]:
    """Seeds and requests of a process by itself."""
    result = subprocess.run(
        [str(ROOT / "scripts" / "drng-status"), "--json", "--pid", str(pid)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = [process for process in json.loads(result.stdout)["processes"] if "requests" in process]
    seeds = sum(process[f"seeds-{way}"] for process in found for way in ("rdseed", "rdrand", "fallback"))
    return seeds, sum(process["requests"] for process in found)


STRICT = CONF / "drng.cnf"


@pytest.mark.parametrize("version", clients.VERSIONS)
def test_nginx(case: Case, site: Site, version: str) -> None:
    with running(NGINX, site, case.env) as process:
        assert all(counts_of(pid) == (0, 0) for pid in process.workers())
        outcome = clients.curl(clients.Visit(site, version=version), RELEASE.environment())
        assert outcome.page, outcome.said
        assert all(maps(pid, MODULE) for pid in process.workers())
        counts = [counts_of(pid) for pid in process.workers()]
        assert any(requests > 0 for _, requests in counts)
        assert max(seeds for seeds, _ in counts) > 1, "the worker's own, and those of the FIPS provider in it"


# ---- docs/fips.md: its commands, and its table ----


@pytest.mark.usefixtures("fips")
def test_the_commands_of_the_guide(tmp_path: Path) -> None:
    said = typed.type_in([*typed.commands(GUIDE, "Switch it on"), "drng-enable status nginx --json"], tmp_path)
    assert "INSTALL PASSED" in said
    answer = re.search(r'^\{"changed": .*', said, flags=re.MULTILINE)
    assert answer, said
    (nginx,) = json.loads(answer[0])["targets"]
    assert (nginx["name"], nginx["on"], nginx["profile"]) == ("nginx", True, "fips")


def nothing(case: Case) -> None:
    pass


def module_missing(case: Case) -> None:
    (case.modules / "drng.so").unlink()


def fips_missing(case: Case) -> None:
    (case.modules / "fips.so").unlink()


def section_missing(case: Case) -> None:
    (case.folder / "fipsmodule.cnf").unlink()


def no_instruction_and_no_fallback(case: Case) -> None:
    case.masked = True
    case.replace("[drng_sect]\n", "[drng_sect]\nfallback = no\n")


def value_mistyped(case: Case) -> None:
    case.replace("[drng_sect]\n", "[drng_sect]\nfallback = mabye\n")


def fips_not_taken_back(case: Case) -> None:
    case.replace("\nproperties = provider=drng,-fips\n", "\nproperties = provider=drng\n")


def random_provider_left_out(case: Case) -> None:
    case.replace("\nrandom_provider = none\n", "\n")


def key_mistyped_elsewhere(case: Case) -> None:
    case.replace("\nproperties = ", "\npropertes = ")


def file_missing(case: Case) -> None:
    case.profile.unlink()


ROWS: dict[str, Callable[[Case], None]] = {
    "nothing": nothing,
    "`drng.so` missing": module_missing,
    "`fips.so` missing": fips_missing,
    "`fipsmodule.cnf` missing": section_missing,
    "no instruction, `fallback = no`": no_instruction_and_no_fallback,
    "a value mistyped": value_mistyped,
    "`-fips` left out": fips_not_taken_back,
    "`random_provider` left out": random_provider_left_out,
    "a key mistyped in another section": key_mistyped_elsewhere,
    "the file missing": file_missing,
}
WARNINGS = {
    "nothing": "",
    "says why drng did not load": "drng did not load: could not load the shared library: ",
    "says why drng has no seed": "no instruction can seed and fallback = no: ",
    "says why `fips.so` did not load": "fips did not load: could not load the shared library: ",
    "warns of the include": "an .include names a file that cannot be read",
    "warns of the value": "drng did not load: [drng_sect] fallback = mabye: write one of yes, no",
    "names the query": "Properties (provider=drng",
    "warns of `random_provider`": "the fips provider serves, and not drng; with a FIPS provider, set random_provider",
    "warns that OpenSSL reads no further": "name=propertes",
    "refuses what is not there": "No such file or directory",
}


def table() -> dict[str, list[str]]:
    text = GUIDE.read_text().partition("\n| under `drng-fips.cnf` |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    return {row[0]: row[1:] for row in rows}


def test_the_table_is_whole() -> None:
    assert list(table()) == list(ROWS)


def bytes_by(case: Case) -> str:
    """Who serves RAND_bytes."""
    answer = case.draw("bytes")
    drawn = answer["steps"][0]
    if not drawn["works"]:
        return "nobody"
    if drawn["requests"]:
        return "drng"
    return "the FIPS provider" if "fips" in answer["active"] else "OpenSSL"


def keys_by(case: Case) -> str:
    made_by = case.draw("bytes", "key")["steps"][1]["works"]
    return {"fips": "the FIPS provider", "default": "OpenSSL", "": "nobody"}[made_by]


def nginx_serves(case: Case, site: Site) -> str:
    try:
        with running(NGINX, site, case.env):
            return "yes" if clients.curl(clients.Visit(site), RELEASE.environment()).page else "no"
    except AssertionError:
        return "no"


@pytest.mark.parametrize("row", ROWS)
def test_who_serves(case: Case, site: Site, row: str) -> None:
    here().need_instruction()
    ROWS[row](case)
    told = case.run(str(ROOT / "scripts" / "drng-conf"), str(case.profile))
    wanted = table()[row]
    assert [bytes_by(case), keys_by(case), nginx_serves(case, site)] == wanted[:3]
    warning = WARNINGS[wanted[3]]
    assert warning in told.stderr
    assert (told.returncode == 0) == (warning == "") == (told.stderr == "")


# ---- drng-conf: what it says of the file, by what libcrypto makes of it ----


def drng_conf(case: Case) -> tuple[int, str]:
    told = case.run(str(ROOT / "scripts" / "drng-conf"), str(case.profile))
    return told.returncode, told.stderr


@pytest.mark.parametrize("query", ["provider=drng,fips=no", "-fips, provider=drng", "provider=drng,?fips=yes"])
def test_drng_conf_takes_other_ways_to_take_it_back(case: Case, query: str) -> None:
    case.profile.write_text(case.profile.read_text().replace("provider=drng,-fips", query))
    assert drng_conf(case) == (0, "")


RANDOM, PROVIDERS = "random = drng_fips\n", "providers = provider_sect\n"
TAKES_THE_REQUESTS = {
    "left out": ("\nrandom_provider = none\n", "\n"),
    "fips": ("\nrandom_provider = none\n", "\nrandom_provider = fips\n"),
    "behind the providers": (f"\n{RANDOM}", f"\n{PROVIDERS}{RANDOM}[unused]\n"),
}


@pytest.mark.parametrize("name", TAKES_THE_REQUESTS)
def test_drng_conf_says_who_takes_the_requests(case: Case, name: str) -> None:
    case.replace(*TAKES_THE_REQUESTS[name])
    assert bytes_by(case) == "the FIPS provider"
    status, said = drng_conf(case)
    assert (status, WARNINGS["warns of `random_provider`"] in said) == (1, True)


def test_drng_conf_before_3_5_names_the_key(tmp_path: Path) -> None:
    """With the FIPS provider or without."""
    if has_random_provider():
        pytest.skip("this is OpenSSL 3.5 or later")
    case = Case(tmp_path)
    case.profile.write_text(PROFILE.read_text())
    result = RELEASE.run([str(ROOT / "scripts" / "drng-conf"), str(case.profile)])
    assert result.returncode == 1
    assert "random_provider" in result.stderr


# ---- drng-enable ----

ON = ("on", "--system", "--profile", "fips")

# As fips_module(7) has it, with the names of its sections changed.
OWN_NAMES = f"""\
openssl_conf = my_init
.include {INSTALLED}
[my_init]
providers = my_providers
alg_section = algorithm_sect
[my_providers]
fips = fips_sect
base = base_sect
[base_sect]
activate = 1
[algorithm_sect]
default_properties = fips=yes
"""


@pytest.fixture
def with_fips(image: Image, fips: Path) -> Image:
    """The image with the FIPS provider installed."""
    shutil.copy(fips, image.modules / "fips.so")
    section = str(image.root) + INSTALLED
    subprocess.run(["openssl", "fipsinstall", "-out", section, "-module", str(fips)], capture_output=True, check=True)
    return image


@pytest.mark.parametrize("text", [None, OWN_NAMES], ids=["stock", "own-names"])
def test_there_and_back(with_fips: Image, text: str | None) -> None:
    image = with_fips
    if text is not None:
        image.conf.write_text(text)
    original = image.files()
    image.ok(*ON)
    assert image.served(image.conf)
    assert image.providers(image.conf) == {"base", "fips", "drng"}
    assert not image.answer(*ON)["changed"]
    assert image.about()["served"]
    image.ok("off", "--system")
    assert image.files() == original


def test_a_default_provider_that_was_named_stays(with_fips: Image) -> None:
    image = with_fips
    image.conf.write_text(
        OWN_NAMES.replace("[base_sect]", "default = my_default\n[my_default]\nactivate = 1\n[base_sect]")
    )
    image.ok(*ON)
    assert image.providers(image.conf) == {"base", "default", "fips", "drng"}
    assert image.served(image.conf)


@pytest.mark.parametrize("text", [None, OWN_NAMES], ids=["stock", "own-names"])
def test_a_service(with_fips: Image, text: str | None) -> None:
    if text is not None:
        with_fips.conf.write_text(text)
    with_fips.ok("on", "nginx", "--profile", "fips")
    assert "LoadCredential=" in with_fips.drop_in.read_text(), "the check of a strict profile"


def test_a_file_that_names_its_providers_by_another_key(with_fips: Image) -> None:
    """OpenSSL takes `provider` and `providers.first` for `providers`."""
    with_fips.conf.write_text(OWN_NAMES.replace("providers = ", "providers.first = "))
    with_fips.ok(*ON)
    assert with_fips.served(with_fips.conf)


def test_a_name_with_a_blank(with_fips: Image) -> None:
    with_fips.conf.write_text(OWN_NAMES.replace("my_providers", "my providers"))
    with_fips.ok(*ON)
    assert with_fips.served(with_fips.conf)


def test_a_name_that_cannot_be_written_is_refused(with_fips: Image) -> None:
    with_fips.conf.write_text(OWN_NAMES.replace("my_providers", r"my\$providers"))
    with_fips.refused(*ON)


def test_another_profile_is_refused_where_the_file_is_for_fips(with_fips: Image) -> None:
    with_fips.conf.write_text(OWN_NAMES)
    said = with_fips.refused("on", "--system", "--profile", "strict")
    assert "for OpenSSL's FIPS provider there is --profile fips" in said


@pytest.mark.parametrize("missing", ["fips.so", "fipsmodule.cnf"])
def test_without_the_fips_provider_it_is_refused(with_fips: Image, missing: str) -> None:
    folder = with_fips.modules if missing == "fips.so" else with_fips.root / "etc/ssl"
    (folder / missing).unlink()
    said = with_fips.refused(*ON)
    assert ("the provider fips would not be active" if missing == "fips.so" else INSTALLED) in said


@pytest.mark.parametrize("line", ["random_provider = none\n", ",-fips"])
def test_a_profile_without_what_keeps_drng_in_use_is_refused(with_fips: Image, line: str) -> None:
    profile = with_fips.root / "usr/share/drng/profiles/drng-fips.cnf"
    lines = profile.read_text().splitlines(True)
    profile.write_text("".join(part if part.startswith("#") else part.replace(line, "") for part in lines))
    assert "random numbers would not come from drng" in with_fips.refused(*ON)


def test_before_3_5_it_is_refused(image: Image) -> None:
    if has_random_provider():
        pytest.skip("this is OpenSSL 3.5 or later")
    assert "random_provider" in image.refused(*ON)
