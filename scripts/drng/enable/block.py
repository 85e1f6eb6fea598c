# SPDX-License-Identifier: Apache-2.0
"""The lines that drng-enable puts into an openssl.cnf, between two marks.

They hold the profile itself and do not include it: libcrypto passes over an include that leads nowhere, and serves by
itself without a word. The first of them says which profile it is, and what was set by --set.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..conf.meaning import DRNG_KEYS, Meaning, allows
from ..conf.reading import logical_lines, value_of
from ..terminal import Failure
from .arguments import PROFILES

START, END = "# >>> drng-enable", "# <<< drng-enable"
NO_NEWLINE = " (no newline before)"
NAMES_OF_PROFILES = ("openssl_init", "provider_sect", "default_sect")

# Installed, beside these modules; in the sources, in conf.
PACKAGE = Path(__file__).resolve().parent.parent
FOLDERS = (PACKAGE / "profiles", PACKAGE.parent.parent / "conf")


def decode(data: bytes | None) -> str:
    """So that what is no UTF-8 is written back as it was."""
    return (data or b"").decode(errors="surrogateescape")


def encode(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


class Head(NamedTuple):
    """What our lines say."""

    profile: str = ""
    settings: tuple[tuple[str, str], ...] = ()


def of(text: str) -> str:
    """Our lines in a file; empty where there are none."""
    found = re.search(rf"^{START}[^\n]*\n.*?^{END}[^\n]*(\n|\Z)", text, flags=re.M | re.S)
    return found[0] if found else ""


def without_block(text: str, path: str) -> str:
    """The file without our lines, byte for byte what it was before they came."""
    found = list(re.finditer(r"^# (>>>|<<<) drng-enable", text, flags=re.M))
    marks = [each[1] for each in found]
    if ">>>" not in marks:
        return text
    if marks != [">>>", "<<<"]:
        lines = ", ".join(f"{text.count(chr(10), 0, each.start()) + 1} {each[0]}" for each in found)
        raise Failure(
            f"{path}: the lines that mark drng-enable's own are out of order; remove its lines by hand: line {lines}"
        )
    before, ours, after = text.partition(of(text))
    if NO_NEWLINE in ours.split("\n", 1)[0] and not after:
        before = before.removesuffix("\n")
    return before + after


def seal(text: str) -> str:
    """With a checksum in its first line, so that what somebody writes into the file later is known as theirs."""
    first, rest = text.split("\n", 1)
    # Not by hashlib, which loads libcrypto, and with it an openssl.cnf that may be endless.
    return f"{first} crc32:{zlib.crc32(encode(rest)):08x}\n{rest}"


def unseal(text: str) -> str:
    return re.sub(r"\A([^\n]*) crc32:[0-9a-f]{8}$", r"\1", text, count=1, flags=re.M)


def is_as_sealed(text: str) -> bool:
    return unseal(text) != text and seal(unseal(text)) == text


def statements(text: str) -> str:
    """A profile without its comments and empty lines."""
    return "".join(f"{decode(line)}\n" for line in logical_lines(encode(text)) if line.strip())


def _settings(ours: str) -> Iterator[tuple[str, str]]:
    """What drng's section sets in our lines; drng 0.2.0 copied them from a profile that somebody might have edited."""
    section = ""
    for line in statements(ours).splitlines():
        if found := re.match(r"\s*\[\s*(\S+)\s*\]", line):
            section = found[1]
        key, _, rest = line.partition("=")
        key, value = key.strip(), decode(value_of(encode(rest.strip())))
        if section == "drng_sect" and key in DRNG_KEYS and allows(key, value):
            yield key, value


def head_of(text: str) -> Head | None:
    """Of our lines in a file; None where there are none."""
    found = re.search(rf"^{START}:? ?([a-z-]*)", text, flags=re.M)
    return found and Head(found[1], tuple(dict(_settings(of(text))).items()))


def profile_text(profile: str) -> str:
    for folder in FOLDERS:
        if (path := folder / PROFILES[profile].file).is_file():
            return path.read_text("utf-8")
    raise Failure(f"{FOLDERS[0]}/{PROFILES[profile].file} is not there: install drng again")


def _put_back(meaning: Meaning, profile: str) -> str:
    """Where a file has other names than the profile, the profile's have put themselves in their place."""
    found = (meaning.init, meaning.providers, meaning.default)
    names = tuple(name or usual for name, usual in zip(found, NAMES_OF_PROFILES))
    for name in names:
        if not re.fullmatch(r"[\w.:;,+-]+", name, flags=re.A):
            raise Failure(
                f"a section is named [{name}]: drng-enable writes only names of letters, digits and . : ; , + - _"
            )
    if names == NAMES_OF_PROFILES:
        return ""
    init, providers, default = names
    lines = ["[default]", f"openssl_conf = {init}", f"[{init}]", f"random = {PROFILES[profile].section}"]
    lines += ["alg_section = algorithm_sect"] if profile == "fips" else []
    lines += [f"providers = {providers}", f"[{providers}]"]
    if profile == "fips":
        lines += ["base = base_sect", "fips = fips_sect", "drng = drng_sect"]
    else:
        lines += [f"default = {default}", *(f"{name} = drng_sect" for name in PROFILES[profile].names)]
        lines += [f"[{default}]", "activate = 1"]
    return "".join(f"{line}\n" for line in [*lines, "[default]"])


def lines(base: str, head: Head, meaning: Meaning) -> str:
    """Ours, to stand after the base."""
    newline = base == "" or base.endswith("\n")
    profile = profile_text(head.profile)
    there = set(_settings(profile))
    own = "".join(f"{key} = {value}\n" for key, value in head.settings if (key, value) not in there)
    return (
        ("" if newline else "\n")
        + f"{START}: {head.profile}"
        + ("" if newline else NO_NEWLINE)
        + "\n# Not to be edited: drng-enable on writes these lines, with what --set says, and off removes them.\n"
        + statements(profile)
        + (f"[drng_sect]\n{own}[default]\n" if own else "")
        + _put_back(meaning, head.profile)
        + f"{END}\n"
    )
