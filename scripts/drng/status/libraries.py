# SPDX-License-Identifier: Apache-2.0
"""Each libcrypto of a process: shared, of a wheel, or linked into a program or a module; which version, and whether it
has been used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..terminal import printable
from .memory import Mapped, Memory, data_of

# What OpenSSL has in its constants: its name, and the variable that it asks for (1.1.1 and later), by which a libcrypto
# is found that no file's name tells of; and BoringSSL, which reads no openssl.cnf.
VERSION = re.compile(rb"((?:OpenSSL|LibreSSL) \d+\.\d[\w.+-]*) +\d{1,2} [A-Z][a-z]{2} \d{4}|\0(BoringSSL)\0")
BEGINS = (b"OpenSSL ", b"LibreSSL ", b"\0BoringSSL\0")
ASKS = b"OPENSSL_CONF_INCLUDE\0"

# Files below that size have no libcrypto in them; what lies behind the second is not looked through.
LEAST, MOST, PIECE = 1 << 20, 256 << 20, 1 << 20

# The zeros (.bss) of a libcrypto that nobody has asked for anything have 16 or 17 bytes that are not zero, 235 once its
# functions have names in Python's ssl, and 2,534 at least (3.0.19) once it has fetched an algorithm, a generator too:
# then it has put the system's error texts there, and pointers.
USED_FROM, MOST_ZEROS = 1024, 1 << 20

# Libraries of the system, in whatever architecture's folder. Its others use that libcrypto, and have none in them.
FOLDER = rb"/(usr/)?lib\w*/([a-z0-9_]+-linux-\w+/)?(glibc-hwcaps/[\w.-]+/)?"
SYSTEMS = re.compile(FOLDER + rb"libcrypto\.so\.\d+( \(deleted\))?")
SYSTEMS_OTHERS = re.compile(FOLDER + rb"lib[\w.+-]+\.so[\d.]*")


@dataclass(frozen=True)
class Library:
    path: str
    version: str  # "OpenSSL 3.0.19", "" where it does not say
    is_shared: bool
    is_systems: bool
    used: bool

    @property
    def has_providers(self) -> bool:
        return not re.match(r"OpenSSL [01]\.|LibreSSL|BoringSSL", self.version)

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "version": self.version, "shared": self.is_shared, "used": self.used}

    def __str__(self) -> str:
        where = self.path if self.is_shared else f"linked into {self.path}"
        return f"{self.version or 'an OpenSSL without a version'} ({where})"


def _version_at(text: bytes) -> bytes:
    """The first of them: to look for their first words is ten times as fast as for all of it."""
    for begin in BEGINS:
        place = text.find(begin)
        while place >= 0:
            if match := VERSION.match(text, place):
                return match[1] or match[2]
            place = text.find(begin, place + 1)
    return b""


def _version_in(memory: Memory, mapped: Mapped, asks: bool) -> str | None:
    """Of the libcrypto in this file, None where there is none: who `asks` for openssl.cnf is one."""
    version, left = b"", MOST
    for start, end in mapped.constant:
        text = b""
        while start < end and left > 0 and not (version and asks):
            piece = memory.read(start, min(PIECE, end - start, left))
            text = text[-128:] + piece
            version = version or _version_at(text)
            asks = asks or ASKS in text or version == b"BoringSSL"
            start, left = start + len(piece), left - len(piece)
    return printable(version) if asks else None


def _is_used(memory: Memory, base: int) -> bool:
    zeros = (
        memory.read(address + in_file, min(length - in_file, MOST_ZEROS))
        for address, in_file, length in data_of(memory, base)
    )
    return sum(len(each) - each.count(0) for each in zeros) >= USED_FROM


# By whose it is, and the file: what one user's process has in the place of a file is no answer for another's.
Known = dict[tuple[int, bytes], "str | None"]


def libraries_of(memory: Memory, files: Sequence[Mapped], user: int, known: Known) -> tuple[Library, ...]:
    found = []
    for mapped in files:
        named = mapped.name.startswith(b"libcrypto") and b".so" in mapped.name
        if not named and (mapped.end - mapped.base < LEAST or SYSTEMS_OTHERS.fullmatch(mapped.path)):
            continue
        key = user, mapped.file + mapped.path
        if key not in known:
            known[key] = _version_in(memory, mapped, named)
        if (version := known[key]) is None:
            continue
        systems = named and SYSTEMS.fullmatch(mapped.path) is not None
        found.append(Library(printable(mapped.path), version, named, systems, _is_used(memory, mapped.base)))
    return tuple(found)
