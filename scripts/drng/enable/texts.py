# SPDX-License-Identifier: Apache-2.0
"""What drng-enable writes: the lines of a profile, made for the openssl.cnf that they stand behind.

libcrypto reaches them by the section that this openssl.cnf names for its start, whatever that is called. A key behind a
dot is run beside the one of the same name: `providers.drng` adds providers, and takes none away. A key that is named
once more has its place where it stands last: behind the generators, then.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ..conf.meaning import known_as, named_sections
from ..conf.probe import Probe
from ..terminal import Failure, Unchanged
from .arguments import PROFILES

MARK = "# made by drng-enable:"

FOLDER = Path(__file__).resolve().parent.parent / "profiles"

# Of a profile's sections, those that a file may have itself.
SHARED = "provider_sect|default_sect|base_sect|algorithm_sect"


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


def head_of(data: bytes | None) -> Head | None:
    """Of what seal() has made; None of everything else."""
    first, _, text = decode(data).partition("\n")
    profile, *words = first.removeprefix(MARK).split() or [""]
    pairs = (word.partition("=") for word in words if "=" in word)
    head = Head(profile, tuple((key, value) for key, _, value in pairs))
    return head if seal(head, text) == data else None


def require_ours(found: Mapping[str, bytes | None]) -> None:
    """Fails where one of these files, which would be replaced or taken away, has been written by somebody else."""
    for path, data in found.items():
        if data is not None and head_of(data) is None:
            raise Unchanged(
                f"{path} exists, and is not as drng-enable writes it: move the lines that you want to keep into a file "
                "of your own, remove this one, and try again"
            )


def lines(base: Probe, head: Head, *, alone: bool) -> str:
    """To stand behind what has been probed. `alone`: they serve where a service does not see that file, too."""
    own = named_sections(base).init
    # OpenSSL 3.5 hands RAND_bytes to the FIPS provider if that is loaded before the generators are named.
    theirs = base.section(own) if head.profile == "fips" else {}
    behind = {key: value for key, value in theirs.items() if known_as(key) == "providers"}
    path = FOLDER / PROFILES.get(head.profile, head.profile)
    if not path.is_file():
        raise Failure(f"{path} is not there: install drng again")
    unwanted = [r"#.*\n", r"\n"] + [r"openssl_conf = .*\n"] * bool(own and not alone)
    # The default provider is there by itself only as long as no other one is activated.
    if "default" not in base.providers or head.profile == "fips":
        unwanted += [r"\[default_sect\]\n(?:.+\n)*", r"default = .*\n"]
    text = re.sub(rf"^(?:{'|'.join(unwanted)})", "", path.read_text("utf-8"), flags=re.M)
    text = re.sub(r"^(providers|alg_section) = ", r"\1.drng = ", text, flags=re.M)
    text = re.sub(rf"\b(?:{SHARED})\b", r"drng_\g<0>", text)
    text = re.sub(r"\bopenssl_init\b", lambda _: own or "drng_init", text)
    again = "".join(f"{key} = {value}\n" for key, value in behind.items())
    text = re.sub(r"^random = drng_fips\n", lambda found: found[0] + again, text, flags=re.M)
    if head.settings:
        text += "".join(["[drng_sect]\n", *(f"{key} = {value}\n" for key, value in head.settings), "[default]\n"])
    return text
