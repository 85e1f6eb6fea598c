"""What drng-conf says of a profile with a key or a section left out, mistyped or abbreviated is what libcrypto does."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.drng.conf import meaning, reading
from tests.support.builds import CONF, RELEASE, ROOT, served_by_drng

PROFILES = ("drng", "drng-permissive")
SECTIONS = ("default", "openssl_init", "drng_strict", "drng_permissive", "provider_sect", "default_sect", "drng_sect")
HEADER = re.compile(r"\[(\w+)\]")

# What drng-conf says, and of which answers it is true.
ALARMS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "reads the file no further": lambda answer: not serves(answer),
    "OpenSSL takes this for no": lambda answer: not serves(answer),
    "drng is not loaded": lambda answer: answer["loaded"] == 0,
    "the provider does not load": lambda answer: answer["loaded"] == 0,
    "drng is loaded, and no generator uses it": lambda answer: answer["loaded"] == 1 and not serves(answer),
    "programs have no ciphers": lambda answer: answer["loaded"] == 1,
    "programs get no random numbers": lambda answer: answer["rand_bytes"] != 1,
    "OpenSSL's own generator serves": lambda answer: (answer["public"] or {}).get("provider") == "default",
}


def serves(answer: dict[str, Any]) -> bool:
    return answer["rand_bytes"] == 1 and served_by_drng(answer)


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


def section_names(name: str) -> Iterator[str]:
    """The same, doubled, with spaces, in capitals, quoted, escaped, and with what ends or spoils a line."""
    half = len(name) // 2
    yield from variants(name)
    yield from (name.upper(), name.swapcase(), name + name, f"{name} {name}", f"{name},{name}", f"{name}::{name}")
    yield from (f"{name[:half]} {name[half:]}", f"  {name}  ", f"\t{name}\t", f"{name} # so", f"{name}#", f"{name};")
    yield from (f'"{name}"', f"'{name}", f"[{name}]", f"{name}]", f"[{name}", f"\\{name}", f"{name}\\", f"${name}")
    yield from ("nowhere", *SECTIONS)


Change = tuple[str, list[str]]  # what was done, and the lines


def changed_keys(lines: list[str]) -> Iterator[Change]:
    """One key of a section is another."""
    section = ""
    for number, line in enumerate(lines):
        if found := HEADER.fullmatch(line):
            section = found[1]
        elif found := re.fullmatch(r"(\w+)( ?= ?.*)", line):
            for key in dict.fromkeys(variants(found[1])):
                there = [f"{key}{found[2]}"] if key else []
                yield f"[{section}] {found[1]} -> {key}", [*lines[:number], *there, *lines[number + 1 :]]


def changed_sections(lines: list[str]) -> Iterator[Change]:
    """One header, or one line that names a section, is another, has gone, or is there twice; or both are another."""
    for number, line in enumerate(lines):
        before, after = lines[:number], lines[number + 1 :]
        if found := HEADER.fullmatch(line):
            name, start, end = found[1], "[", "]"
            length = next((i for i, other in enumerate(after) if HEADER.fullmatch(other)), len(after))
            body, rest = after[:length], after[length:]
            more = {
                "its section left out": [*before, *rest],
                "its section doubled": [*before, line, *body, line, *body, *rest],
                "its section empty": [*before, line, "[apart]", *body, *rest],
                "not closed": [*before, f"[{name}", *after],
                "not opened": [*before, f"{name}]", *after],
                "with something behind it": [*before, f"{line} something", *after],
            }
        elif (found := re.fullmatch(r"(\w+ = )(\w+)", line)) and found[2] in SECTIONS:
            name, start, end = found[2], found[1], ""
            # OpenSSL takes a number away behind the keys of one section, and in front of those of the other.
            is_provider = start in ("default = ", "drng = ")
            second = f"2.{start}" if is_provider else start.replace(" ", ".2 ", 1)
            less = name if is_provider else "apart"
            more = {
                "then nowhere": [*before, line, f"{start}nowhere", *after],
                "after nowhere": [*before, f"{start}nowhere", *lines[number:]],
                "before another of its kind": [*before, line, f"{second}{less}", *after, "[apart]"],
                "behind another of its kind, nowhere": [*before, f"{second}nowhere", *lines[number:]],
            }
        else:
            continue
        yield f"{line}, left out", before + after
        yield f"{line}, twice", [*before, line, *lines[number:]]
        for what, text in more.items():
            yield f"{line}, {what}", text
        for other in dict.fromkeys(section_names(name)):
            yield f"{line} -> {start}{other}{end}", [*before, f"{start}{other}{end}", *after]
            if other and not start.startswith("["):
                yield (
                    f"{name} -> {other} everywhere",
                    [re.sub(rf"(?<=^\[){name}(?=\]$)|(?<= = ){name}$", lambda _, o=other: o, each) for each in lines],
                )


def said_of(path: Path) -> list[str]:
    """What drng-conf says; drng-status, which has a reader of its own for other processes, finds the same sections."""
    try:
        told = meaning.understand(reading.Conf(str(path)))
    except reading.ConfError as error:
        return [str(error)]
    found = meaning.named_sections(reading.Sections(reading.Walk(reading.Opener()).go(str(path)).lines))
    assert (found.random, found.drng) == (told.random, told.drng), path.read_text()
    return told.warnings


@pytest.mark.parametrize("change", [changed_keys, changed_sections])
@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_said_is_what_libcrypto_does(
    tmp_path: Path, profile: str, change: Callable[[list[str]], Iterator[Change]]
) -> None:
    path = tmp_path / "openssl.cnf"
    lines = [line for line in (CONF / f"{profile}.cnf").read_text().splitlines() if line and line[0] != "#"]
    wrong, served, tried = [], 0, 0
    for what, text in change(lines):
        path.write_text("\n".join([*text, ""]))
        answer, warnings = RELEASE.probe(path), said_of(path)
        wrong += [
            f"{what}: {warning}"
            for warning in warnings
            for alarm, is_true in ALARMS.items()
            if alarm in warning and not is_true(answer)
        ]
        if not serves(answer) and not warnings:
            wrong.append(f"{what}: drng does not serve, and nothing is said")
        tried, served = tried + 1, served + serves(answer)
    assert not wrong, "\n".join(wrong)
    assert 0 < served < tried and tried > 80


def test_an_abbreviated_key_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "openssl.cnf"
    path.write_text((CONF / "drng.cnf").read_text().replace("\nproviders = ", "\nprovider = "))
    result = subprocess.run([ROOT / "scripts/drng-conf", path], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert served_by_drng(RELEASE.probe(path))


@pytest.mark.parametrize("ends", [False, True])
def test_sections_that_lead_on_and_on_are_gone_through_once(tmp_path: Path, ends: bool) -> None:
    """By 2^2000 ways, each of 2,000 sections: to an end, or back to where they began."""
    path = tmp_path / "openssl.cnf"
    ladder = [f"[s{number}]\none = s{number + 1}\ntwo = s{number + 1}\n" for number in range(2000)]
    text = f"{(CONF / 'drng.cnf').read_text()}[s2000]\n{'' if ends else 'one = default_sect'}\n"
    # As many providers begin somewhere on the way, and none of them goes it again.
    text += "[provider_sect]\n" + "".join(f"p{number} = s{number}\n" for number in range(2000))
    path.write_text(text.replace("[default_sect]\n", "[default_sect]\nfirst = s0\n") + "".join(ladder))
    command = [ROOT / "scripts/drng-conf", path]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ("this section leads back to itself" in result.stderr) == (not ends)
    assert (result.returncode == 0) == ends, result.stderr


def test_a_second_section_for_the_generators_counts(tmp_path: Path) -> None:
    """OpenSSL goes through both, and reads no further than the key of either that it does not know."""
    path = tmp_path / "openssl.cnf"
    text = (CONF / "drng.cnf").read_text().replace("[openssl_init]\n", "[openssl_init]\nrandom.too = more\n")
    for line, known in (("cipher = AES-256-CTR", True), ("cypher = AES-256-CTR", False)):
        path.write_text(f"{text}[more]\n{line}\n")
        result = subprocess.run([ROOT / "scripts/drng-conf", path], capture_output=True, text=True, check=False)
        assert ("[more] cypher = AES-256-CTR: OpenSSL does not know this key" in result.stderr) == (not known)
        assert served_by_drng(RELEASE.probe(path)) == known
