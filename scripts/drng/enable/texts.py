# SPDX-License-Identifier: Apache-2.0
"""What drng-enable writes: the lines of a profile, made for the openssl.cnf that they stand behind.

libcrypto reaches them by the section that this openssl.cnf names for its start, whatever that is called. A key behind a
dot is run beside the one of the same name: `providers.drng` adds providers, and takes none away.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ..conf.meaning import named_sections
from ..conf.probe import Probe
from ..terminal import Failure, Unchanged
from .arguments import PROFILES

MARK = "# made by drng-enable:"

# Installed, beside these modules; in the sources, in conf.
PACKAGE = Path(__file__).resolve().parent.parent
FOLDERS = (PACKAGE / "profiles", PACKAGE.parent.parent / "conf")

# In openssl_init; and the sections that a file may have itself.
BESIDE = {"providers": "providers.drng", "alg_section": "alg_section.drng"}
OWN = {name: f"drng_{name}" for name in ("provider_sect", "default_sect", "base_sect", "algorithm_sect")}


class Head(NamedTuple):
    """What is on, as the first line of our files says it."""

    profile: str = ""
    settings: tuple[tuple[str, str], ...] = ()


def decode(data: bytes | None) -> str:
    """So that what is no UTF-8 is written back as it was."""
    return (data or b"").decode(errors="surrogateescape")


def encode(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def seal(head: Head, text: str) -> bytes:
    """With a checksum, so that what somebody writes into the file later is known as theirs. Not by hashlib, which loads
    libcrypto."""
    settings = "".join(f" {key}={value}" for key, value in head.settings)
    return encode(f"{MARK} {head.profile}{settings} crc32:{zlib.crc32(encode(text)):08x}\n{text}")


def unseal(data: bytes | None) -> tuple[Head, str] | None:
    """The head and the rest of what seal() has made; None of everything else."""
    first, _, text = decode(data).partition("\n")
    if not first.startswith(f"{MARK} "):
        return None
    profile, *words = first.removeprefix(MARK).split() or [""]
    pairs = (word.partition("=") for word in words if "=" in word)
    head = Head(profile, tuple((key, value) for key, _, value in pairs))
    return (head, text) if seal(head, text) == data else None


def require_ours(found: Mapping[str, bytes | None]) -> None:
    """Fails where one of these files, which would be replaced or taken away, has been written by somebody else."""
    for path, data in found.items():
        if data is None or unseal(data):
            continue
        if not data.startswith(encode(MARK)):
            raise Unchanged(f"{path} exists, and drng-enable did not make it")
        raise Unchanged(
            f"{path} is not as drng-enable wrote it: move the lines that you want to keep into a file of your own, "
            "remove this one, and try again"
        )


def head_of(data: bytes | None) -> Head | None:
    found = unseal(data)
    return found and found[0]


def _profile(name: str) -> str:
    for folder in FOLDERS:
        if (path := folder / PROFILES[name].file).is_file():
            return path.read_text("utf-8")
    raise Failure(f"{FOLDERS[0]}/{PROFILES[name].file} is not there: install drng again")


def lines(base: Probe, head: Head, *, alone: bool) -> str:
    """To stand behind what has been probed. `alone`: they serve where a service does not see that file, too."""
    own = named_sections(base).init
    if own and not re.fullmatch(r"[\w.:;,+-]+", own, flags=re.A):
        raise Failure(f"a section is named [{own}]: drng-enable writes only names of letters, digits and . : ; , + - _")
    # The default provider is there by itself only as long as no other one is activated.
    with_default = "default" in base.providers and head.profile != "fips"
    names = {"openssl_init": own or "drng_init", **OWN}
    section, written = "", []
    for line in _profile(head.profile).splitlines():
        if not line or line.startswith("#"):
            continue
        if found := re.fullmatch(r"\[(\w+)\]", line):
            section = found[1]
        key, _, value = line.partition(" = ")
        is_default = section == "default_sect" or (section, key) == ("provider_sect", "default")
        if is_default and not with_default:
            continue
        if key == "openssl_conf" and own and not alone:
            continue
        if found:
            written.append(f"[{names.get(section, section)}]")
        elif value:
            key = BESIDE.get(key, key) if section == "openssl_init" else key
            written.append(f"{key} = {names.get(value, value)}")
        else:
            written.append(line)
    if head.settings:
        written += ["[drng_sect]", *(f"{key} = {value}" for key, value in head.settings), "[default]"]
    return "".join(f"{line}\n" for line in written)


def credential(text: str) -> str:
    """As a unit file has it, in one line. Some versions of systemd expand a % there, and others do not."""
    return text.replace("\\", "\\\\").replace("%", "\\x25").replace("\n", "\\n")
