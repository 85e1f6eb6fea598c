# SPDX-License-Identifier: Apache-2.0
"""The manual pages: they render, and they say what the programs, the provider and the version say."""

import ctypes
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import ClassVar

import pytest

from scripts.drng import VERSION
from scripts.drng.enable import arguments
from scripts.drng.instructions import OF_MACHINE
from scripts.drng.terminal import Failure
from tests.support.builds import BUILD, CONF, PAGES, RELEASE, ROOT, ConfigWriter, said_by
from tests.support.keys import instructions_by_machine, keys_of_drng_conf, keys_of_the_provider

BUILT = BUILD / "release" / "docs"
PROGRAMS = {"drng-conf.1": "drng-conf", "drng-status.1": "drng-status", "drng-enable.8": "drng-enable"}


def source(page: str) -> str:
    """A page as it was written, without the backslashes that make hyphens and quotes."""
    return (ROOT / "docs" / page).read_text().replace(r"\-", "-").replace(r"\(dq", '"')


def section(page: str, title: str) -> str:
    """A section or subsection of it, up to the next heading."""
    found = re.search(rf'^\.S[SH] "?{re.escape(title)}"?\n(.*?)(?=^\.S[SH]|\Z)', source(page), flags=re.M | re.S)
    assert found, f"{page} has no section {title}"
    return found[1]


def checked(*command: str) -> str:
    """What a command says; there must be no error and no warning."""
    env = {"MANWIDTH": "80", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stderr == ""
    return result.stdout


def test_every_page_is_installed() -> None:
    assert {p.name for p in BUILT.iterdir()} >= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_it_renders_without_warnings(page: str) -> None:
    text = checked("man", "--warnings=w", "-E", "UTF-8", "-l", "-Tutf8", str(BUILT / page))
    assert "@" not in text.replace("@ drng", ""), "CMake fills in version and date"
    checked("groff", "-ww", "-t", "-man", "-Tutf8", "-z", str(BUILT / page))


@pytest.mark.parametrize("page", PAGES)
def test_mandoc_finds_nothing(page: str) -> None:
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    assert checked("mandoc", "-T", "lint", "-W", "warning", str(BUILT / page)) == ""


@pytest.mark.parametrize("page", PAGES)
def test_it_has_its_name_and_refers_to_pages_that_are_there(page: str) -> None:
    """Those of drng; OpenSSL's own are not ours to check."""
    name, number = page.rsplit(".", 1)
    assert f".TH {name} {number} ".lower() in source(page).lower()
    assert source(page).split("\n.SH NAME\n")[1].startswith(f"{name} \\- ".replace("\\-", "-"))
    references = re.findall(r"^\.BR (\S+) \((\d)\)", section(page, "SEE ALSO"), flags=re.M)
    ours = [f"{n}.{s}" for n, s in references if "drng" in n.lower() and n != "EVP_RAND-CTR-DRBG"]
    assert set(ours) <= set(PAGES)
    assert ours, "every page leads to another"
    assert references == sorted(references, key=lambda r: r[1]), "by section"


def test_the_version_is_the_same_everywhere() -> None:
    """CMake compares the files that it does not write; the pages have the date of the newest release."""
    version = VERSION
    entry = re.search(r"^## [0-9].* - (.*)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    assert entry
    date = entry[1]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", date)
    module = RELEASE.run(["openssl", "list", "-provider", "drng", "-providers"])
    assert f"version: {version}\n" in module.stdout
    for page in PAGES:
        assert f'"{date}" "drng {version}"' in (BUILT / page).read_text(), page
    for program in PROGRAMS.values():
        said = checked(str(ROOT / "scripts" / program), "--version")
        assert said == f"{program} {version}\n"


# ---- Keys ----


def keys_of_the_page() -> dict[str, tuple[str, ...]]:
    lines = re.findall(r'^\.BR (\w+) " = " (.*)$', section("drng.cnf.5", "Keys of the provider's own section"), re.M)
    return {key: tuple(value for value in shlex.split(values) if value != " | ") for key, values in lines}


def test_keys_and_values_are_those_of_the_provider() -> None:
    provider = keys_of_the_provider()
    assert len(provider) >= 5
    assert keys_of_drng_conf() == provider
    page = keys_of_the_page()
    assert page.pop("activate") == ("1",)
    assert page == provider
    named = set(re.findall(r"^\.(?:BR?) (\w+)(?: [,;])?$", section("provider-drng.7", "CONFIGURATION"), flags=re.M))
    assert named == set(provider)


@pytest.mark.parametrize("key", keys_of_the_provider())
def test_the_provider_takes_every_value_and_no_other(config: ConfigWriter, key: str) -> None:
    values = keys_of_the_page()[key]
    numbers = {"a number from 1024 to 4294967295": "1024", "an even number from 8 to 2048": "780"}
    for value in values:
        written = numbers.get(value, value)
        assert RELEASE.probe(config(**{key: written}))["loaded"] == 1, value
    assert RELEASE.probe(config(**{key: "neither"}))["loaded"] == 0


@pytest.mark.parametrize("profile", sorted(p.name for p in CONF.glob("*.cnf")))
def test_every_profile_and_what_it_sets_is_there(profile: str) -> None:
    assert f"/etc/ssl/drng/{profile}\n" in section("drng.cnf.5", "Profiles")
    lines = (CONF / profile).read_text().splitlines()
    text = section("drng.cnf.5", 'Keys of the section that "random" names')
    start = next(i for i, line in enumerate(lines) if re.fullmatch(r"\[drng_\w+\]", line) and "_sect" not in line)
    keys = re.findall(r"^(?:# )?(\w+) = ", "\n".join(lines[start + 1 : lines.index("", start)]), flags=re.M)
    assert "random" in keys
    for key in keys:
        assert re.search(rf"^\.B {key}$", text, flags=re.M), key


def test_the_examples_load(tmp_path: Path) -> None:
    """Those of drng.cnf(5) that are whole files, with the paths of the sources."""
    examples = re.findall(r"^\.nf\n(.*?)^\.fi", section("drng.cnf.5", "EXAMPLES"), flags=re.M | re.S)
    assert len(examples) == 3
    for example in examples[:2]:
        path = tmp_path / "openssl.cnf"
        path.write_text(example.replace("/etc/ssl/drng/", f"{CONF}/"))
        answer = RELEASE.probe(path)
        assert answer["loaded"] == 1
        assert answer["public"]["provider"] == "drng"


# ---- Parameters ----


def listed(output: str, heading: str) -> list[str]:
    """Names below a heading of `openssl list -verbose`, up to the next one."""
    names = []
    lines = iter(output.splitlines())
    depth = next((len(line) - len(line.lstrip()) for line in lines if line.strip() == heading), 0)
    for line in lines:
        if len(line) - len(line.lstrip()) <= depth:
            break
        names.append(line.strip().split(":")[0])
    return names


def test_parameters_of_the_provider() -> None:
    output = RELEASE.run(["openssl", "list", "-provider", "drng", "-providers", "-verbose"]).stdout
    gettable = listed(output, "gettable provider parameters:")
    assert len(gettable) >= 15
    text = section("provider-drng.7", "PARAMETERS")
    tags = re.findall(r"^\.TP\n\.B\w? (.*)$", text, flags=re.M)
    named = [name for tag in tags for name in re.findall(r"[a-z-]+", re.sub(r"\(.*?\)", "", tag))]
    assert sorted(["name", "version", "buildinfo", "status", *named]) == sorted(gettable)
    assert all(rf"\fB{name}\fR" in text for name in gettable[:4])


PARAMETERS = dict.fromkeys(("DRNG-SEED", "RDRAND"), "DRNG-SEED and RDRAND")


@pytest.mark.parametrize("algorithm", ["CTR-DRBG", "DRNG-SEED", "RDRAND"])
def test_parameters_of_the_generators(algorithm: str) -> None:
    output = RELEASE.run(["openssl", "list", "-provider", "drng", "-random-generators", "-verbose"]).stdout
    part = output.split(f"  {algorithm} @ drng\n")[1].split(" @ ")[0]
    gettable = set(listed(part, "retrievable operation parameters:"))
    settable = set(listed(part, "settable operation parameters:"))
    assert "state" in gettable
    text = section("EVP_RAND-DRNG.7", f"Supported parameters of {PARAMETERS.get(algorithm, algorithm)}")
    assert set(re.findall(r'^\.IP ""([\w-]+)" ', text, flags=re.M)) == gettable | settable
    if settable:
        said = text.split("Of these, ")[1].split(" can be set")[0]
        assert set(re.findall(r"\\fB([\w-]+)\\fR", said)) == settable
        assert settable - gettable == {"properties", "provider-name"}
    else:
        assert "none can be set" in text


class Param(ctypes.Structure):
    """OSSL_PARAM, for one number of 64 bits."""

    _fields_: ClassVar = [
        ("key", ctypes.c_char_p),
        ("data_type", ctypes.c_uint),
        ("data", ctypes.c_void_p),
        ("data_size", ctypes.c_size_t),
        ("return_size", ctypes.c_size_t),
    ]


class Generators:
    """The provider's generators in a library context of their own."""

    def __init__(self) -> None:
        self.crypto = ctypes.CDLL("libcrypto.so.3")
        for name in ("OSSL_LIB_CTX_new", "OSSL_PROVIDER_load", "EVP_RAND_fetch", "EVP_RAND_CTX_new"):
            getattr(self.crypto, name).restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.crypto.OSSL_LIB_CTX_new())
        self.crypto.OSSL_PROVIDER_set_default_search_path(self.context, str(RELEASE.modules).encode())
        self.provider = ctypes.c_void_p(self.crypto.OSSL_PROVIDER_load(self.context, b"drng"))

    def numbers(self, algorithm: str, names: list[str], cipher: bytes = b"", use_df: int = 1) -> list[int]:
        """What a new context answers, once it is told cipher and derivation function."""
        crypto = self.crypto
        rand = ctypes.c_void_p(crypto.EVP_RAND_fetch(self.context, algorithm.encode(), None))
        ctx = ctypes.c_void_p(crypto.EVP_RAND_CTX_new(rand, None))
        df, text = ctypes.c_int(use_df), ctypes.create_string_buffer(cipher)
        settings = (Param * 3)(
            Param(b"use_derivation_function", 1, ctypes.addressof(df), 4, 0),
            Param(b"cipher", 4, ctypes.addressof(text), len(cipher), 0),
        )
        assert not cipher or crypto.EVP_RAND_CTX_set_params(ctx, settings) == 1
        answers = (ctypes.c_uint64 * len(names))()
        params = (Param * (len(names) + 1))()
        for i, name in enumerate(names):
            params[i] = Param(name.encode(), 2, ctypes.addressof(answers) + 8 * i, 8, 0)
        assert crypto.EVP_RAND_CTX_get_params(ctx, params) == 1
        crypto.EVP_RAND_CTX_free(ctx)
        crypto.EVP_RAND_free(rand)
        return list(answers)

    def close(self) -> None:
        self.crypto.OSSL_PROVIDER_unload(self.provider)
        self.crypto.OSSL_LIB_CTX_free(self.context)


def test_strengths_and_lengths() -> None:
    """Each row of the two tables, asked of the provider."""
    text = section("EVP_RAND-DRNG.7", "Strengths and lengths")
    rows = [line.split("\t") for line in text.splitlines() if re.search(r"\t\d", line)]
    assert [len(row) for row in rows] == [3] * 5 + [5] * 6
    lengths = ["min_entropylen", "max_entropylen", "min_noncelen", "max_perslen", "max_adinlen"]
    generators = Generators()
    for name, *numbers in rows:
        if len(numbers) == 2:
            algorithm, _, cipher = name.partition(" with ")
            answers = generators.numbers(algorithm, ["strength", "max_request"], cipher.encode())
        else:
            cipher, _, no_df = name.partition(", ")
            *answers, additional = generators.numbers("CTR-DRBG", lengths, cipher.encode(), use_df=not no_df)
            assert additional == answers[-1]
        assert [int(n) for n in numbers] == answers, name
    generators.close()


def test_every_algorithm_and_alias_can_be_fetched(tmp_path: Path) -> None:
    """By the configuration, which fetches the generator by the name that it is given."""
    names = re.findall(r'"([A-Z-]+)"', section("EVP_RAND-DRNG.7", "Identity"))
    assert names == ["CTR-DRBG", "DRNG-CTR-DRBG", "DRNG-SEED", "SEED-SRC", "RDRAND"]
    strict = (CONF / "drng.cnf").read_text()
    for name in names:
        path = tmp_path / "openssl.cnf"
        key = "seed" if name in ("DRNG-SEED", "SEED-SRC") else "random"
        path.write_text(re.sub(rf"^{key} = (CTR-DRBG|DRNG-SEED)$", f"{key} = {name}", strict, flags=re.M))
        answer = RELEASE.probe(path)
        assert answer["public"]["provider"] == "drng", name


def test_the_example_in_c(tmp_path: Path) -> None:
    """It compiles without a warning, and runs."""
    examples = re.findall(r"^\.nf\n(.*?)^\.fi", section("EVP_RAND-DRNG.7", "EXAMPLES"), flags=re.M | re.S)
    (tmp_path / "example.c").write_text(examples[0])
    program = str(tmp_path / "example")
    checked("gcc", "-Wall", "-Wextra", "-Werror", "-o", program, str(tmp_path / "example.c"), "-lcrypto")
    result = RELEASE.run([program])
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


# ---- Options ----


def test_what_stability_promises_is_what_there_is() -> None:
    """The algorithms by all their names, and what libdrng and its users' builds go by."""
    page = (ROOT / "docs" / "stability.md").read_text()
    row = re.search(r"^\| algorithms: (.*?)\|", page, flags=re.M)
    assert row
    provided = set(re.findall(r'^ +\{"([A-Z-]+)", PROPERTY', (ROOT / "provider/provider.c").read_text(), flags=re.M))
    assert provided >= {"CTR-DRBG", "SEED-SRC"}
    assert {name for name in provided if not re.search(rf"(?<![\w-]){name}(?![\w-])", row[1])} == set()
    library = "".join((ROOT / folder / "library.cmake").read_text() for folder in ("library", "scripts/packaging"))
    soname = re.search(r"\bSOVERSION (\d+)", library)
    assert soname
    assert f"libdrng.so.{soname[1]}," in page
    assert "COMPATIBILITY SameMajorVersion" in library
    assert f"find_package(drng {VERSION.split('.')[0]})" in page


PROMISED = tomllib.loads((ROOT / "tests/support/promised.toml").read_text())


@pytest.mark.parametrize("page", PROMISED)
def test_every_name_that_was_promised_is_still_there(page: str) -> None:
    """Other tests compare the pages with what the programs and the module have."""
    marked = re.findall(r"^\.[BI].*|\\f[BI].*?\\fR|`.*?`", source(page), flags=re.M)
    words = set(re.findall(r"[\w:-]+", re.sub(r"\\f[BIR]", " ", " ".join(marked))))
    assert set(PROMISED[page].split()) <= words


@pytest.mark.parametrize(
    "page",
    [
        "drng-conf.1",
        "drng-enable.8",
        "drng-status.1",
    ],
)
def test_options_are_those_of_the_program(page: str) -> None:
    program = ROOT / "scripts" / PROGRAMS[page]
    said = said_by(program, "--help")
    options = set(re.findall(r"(?<![\w-])--[a-z-]+", said)) | {"--help"}
    tags = re.findall(r"^\.TP\n(\.B.*)$", section(page, "OPTIONS"), flags=re.M)
    assert {o for tag in tags for o in re.findall(r"--[a-z-]+", tag)} == options
    synopsis = set(re.findall(r"--[a-z-]+", section(page, "SYNOPSIS")))
    assert synopsis <= options


# ---- Commands ----

DOCUMENTS = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]


def typed_commands(document: str) -> list[str]:
    """What its lines of commands, and the remarks on them, give drng-enable."""
    lines = [line for line in (ROOT / document).read_text().splitlines() if line.startswith("    ")]
    return [
        words for line in lines for words in re.findall(r"drng-enable ((?:on|off|status|confirm)\b[\w ./=-]*)", line)
    ]


def test_drng_enable_takes_every_command_of_the_documents() -> None:
    """A reader types them one after the other, and does not stop where one of them was refused."""
    commands = [(document, words) for document in DOCUMENTS for words in typed_commands(document)]
    assert len(commands) > 10
    for document, words in commands:
        try:
            arguments.parse(words.split())
        except Failure as error:
            pytest.fail(f"{document}: drng-enable {words}: {error}")


def test_the_programs_know_the_instructions_of_every_machine() -> None:
    assert instructions_by_machine() == OF_MACHINE


def test_the_manual_names_the_instructions_of_every_machine() -> None:
    text = re.sub(r"\\f.", "", section("drng.cnf.5", "Keys of the provider's own section"))
    for names in instructions_by_machine().values():
        for name in names:
            assert re.search(rf"\b{name}\b", text), name


def test_the_table_of_platforms_has_the_instructions_of_every_machine_in_their_order() -> None:
    text = (ROOT / "docs/platforms.md").read_text()
    for names in instructions_by_machine().values():
        seeds = ", ".join([*map(str.upper, names), "OpenSSL's default seed source"])
        assert f" | {seeds} | " in text
