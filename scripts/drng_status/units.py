"""Which systemd unit a process belongs to, and which openssl.cnf systemd gives to that unit now."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .text import printable

# Of a process that is in no service and no scope.
NONE = "none"

# Names that systemd or a container's manager makes up anew for each connection, session or container. As labels they
# would be without bound.
MADE_UP = (
    (re.compile(r"@\d+-[^@]*(?=\.service$)"), "@*"),
    (re.compile(r"^user@\d+(?=\.service$)"), "user@*"),
    (re.compile(r"^(session|run)-[a-z]*\d+(-i\d+)?(?=\.)"), r"\1-*"),
    (re.compile(r"[0-9a-f]{8}([-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{12,}"), "*"),
)


@dataclass(frozen=True)
class Setting:
    """OPENSSL_CONF as systemd would set it at the next start, and when the unit's files were last changed."""

    path: str
    changed: float


@dataclass(frozen=True)
class Configuration:
    """Where openssl.cnf is for a program that starts now: the default, and what units have in its place."""

    default: str = ""
    units: dict[str, Setting] = field(default_factory=dict)


def of_cgroup(text: bytes) -> str:
    """The first service or scope on the way to the process: what is below belongs to whoever manages that unit."""
    for line in text.splitlines():
        fields = line.split(b":", 2)
        if len(fields) == 3 and fields[1] in (b"", b"name=systemd"):
            for part in fields[2].split(b"/"):
                if part.endswith((b".service", b".scope")):
                    return printable(part)
    return NONE


def label(unit: str) -> str:
    """The unit's name, and one name for all of those that are made up for the occasion."""
    for pattern, name in MADE_UP:
        unit = pattern.sub(name, unit)
    return unit
