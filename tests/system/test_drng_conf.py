"""What drng-conf says of a profile with a key left out, mistyped or abbreviated is what libcrypto makes of it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.drng.conf import meaning, reading
from tests.support.builds import CONF, RELEASE, ROOT, served_by_drng

PROFILES = ("drng", "drng-permissive")

# What is true only where drng does not serve.
ALARMS = (
    "reads the file no further",
    "drng is not loaded",
    "no generator uses it",
    "there is no such section",
    "OpenSSL takes this for no",
    "programs get no random numbers",
    "the provider does not load",
)


def variants(key: str) -> Iterator[str]:
    """Left out, abbreviated, mistyped, in other letters, and with a dot, as OpenSSL has it for keys that come twice."""
    middle = len(key) // 2
    yield ""
    yield from dict.fromkeys((key[:-1], key[: middle + 1], key[:1]))
    yield key[:middle] + key[middle + 1 :]
    yield key[:middle] + key[middle] + key[middle:]
    yield key[: middle - 1] + key[middle] + key[middle - 1] + key[middle + 1 :]
    yield key + "s"
    yield key.capitalize()
    yield f"{key}.1"
    yield f"1.{key}"


def changed(profile: str) -> Iterator[tuple[str, str]]:
    """The profile with one key of a section changed, and what was done."""
    lines = (CONF / f"{profile}.cnf").read_text().splitlines()
    section = ""
    for number, line in enumerate(lines):
        if found := re.fullmatch(r"\[ ?(\w+) ?\]", line):
            section = found[1]
        elif found := re.fullmatch(r"(\w+)( ?= ?.*)", line):
            for key in dict.fromkeys(variants(found[1])):
                if key != found[1]:
                    there = [f"{key}{found[2]}"] if key else []
                    yield (
                        f"[{section}] {found[1]} -> {key}",
                        "\n".join([*lines[:number], *there, *lines[number + 1 :], ""]),
                    )


@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_said_is_what_libcrypto_does(tmp_path: Path, profile: str) -> None:
    path = tmp_path / "openssl.cnf"
    wrong, served_after, tried = [], 0, 0
    for what, text in changed(profile):
        path.write_text(text)
        answer = RELEASE.probe(path)
        serves = answer["rand_bytes"] == 1 and served_by_drng(answer)
        told = meaning.understand(reading.Conf(str(path)))
        if serves and any(alarm in warning for warning in told.warnings for alarm in ALARMS):
            wrong.append(f"{what}: drng serves, but {told.warnings}")
        if not serves and told.drng and not told.warnings:
            wrong.append(f"{what}: drng does not serve, and nothing is said")
        tried, served_after = tried + 1, served_after + serves
    assert wrong == []
    assert 0 < served_after < tried and tried > 80


def test_where_the_reading_ends_nothing_is_said_of_what_was_not_read(tmp_path: Path) -> None:
    path = tmp_path / "openssl.cnf"
    text = (CONF / "drng.cnf").read_text()
    for name, said, unsaid in (
        ("nowhere", "there is no such section", "no generator uses it"),
        ("drng_sect", "no generator uses it", "there is no such section"),
    ):
        path.write_text(re.sub(r"^random = .*", f"random = {name}", text, count=1, flags=re.M))
        told = " ".join(meaning.understand(reading.Conf(str(path))).warnings)
        assert said in told and unsaid not in told


def test_an_abbreviated_key_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "openssl.cnf"
    path.write_text((CONF / "drng.cnf").read_text().replace("\nproviders = ", "\nprovider = "))
    result = subprocess.run([ROOT / "scripts/drng-conf", path], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert served_by_drng(RELEASE.probe(path))
