# SPDX-License-Identifier: Apache-2.0
"""Services, as systemd knows them: their processes, and the OPENSSL_CONF that they are given."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from .. import aside, procfs, systemd
from ..paths import read_once
from ..procfs import TargetError
from ..terminal import Failure, printable
from .sources import changed

NAME = re.compile(r"[A-Za-z0-9:_.\\@][A-Za-z0-9:_.\\@-]{0,254}")


class Setting(NamedTuple):
    """OPENSSL_CONF as systemd would set it at the next start, when the unit's files were last changed, and what systemd
    itself writes into that file."""

    path: str
    changed: float
    text: bytes | None


def openssl_conf(environment: str, unit: str) -> str | None:
    """The value of OPENSSL_CONF in systemd's list; an empty one is no file, as in look.py."""
    found = [word.partition("=")[2] for word in systemd.words(environment) if word.startswith("OPENSSL_CONF=")]
    return found[0].replace("%d", f"/run/credentials/{unit}") or os.devnull if found else None


def credential(files: Sequence[str]) -> bytes | None:
    """The text that drng-enable's drop-in carries. The file that systemd makes of it is the service's user's."""
    for path in reversed(files):
        with contextlib.suppress(OSError, Failure):
            if found := re.search(rb"^SetCredential=drng\.cnf:(.*)", read_once(path), re.M):
                return systemd.unquoted(found[1])
    return None


def settings() -> dict[str, Setting]:
    """Of the services to which systemd would give an OPENSSL_CONF; of none where systemd cannot be asked."""
    found = {}
    with contextlib.suppress(Failure):
        names = "--property=Id,Environment,FragmentPath,DropInPaths"
        # Not for long: what is looked at tells most without it.
        said = systemd.systemctl("show", names, "--", "*.service", seconds=aside.SECONDS)
        for known in (dict(systemd.properties(block)) for block in said.split("\n\n")):
            unit = known.get("Id", "")
            path = openssl_conf(known.get("Environment", ""), unit)
            if path is not None and unit:
                files = [known.get("FragmentPath", ""), *known.get("DropInPaths", "").split()]
                own = path == f"/run/credentials/{unit}/drng.cnf"
                found[unit] = Setting(path, changed(files), credential(files) if own else None)
    return found


def _unit_of(pid: int) -> str:
    with contextlib.suppress(*procfs.ERRORS), procfs.process(pid) as entry:
        return systemd.of_cgroup(procfs.read_entry(entry, "cgroup"))
    return systemd.NONE


def instances_of(template: str) -> list[int]:
    """The processes of all that run of it, by what stands before the @."""
    return [pid for pid in procfs.numbers() if _unit_of(pid).partition("@")[:2] == template.partition("@")[:2]]


def members_of(service: str) -> list[int]:
    """The processes of a service; none where it has been stopped. An alias is the unit that it leads to."""
    if not NAME.fullmatch(service):
        raise TargetError(f"'{printable(service)}' is not the name of a service")
    if not systemd.is_running():
        raise TargetError("systemd does not run here, so services have no names: use --pid")
    known = systemd.show(service, "Id,LoadState,ActiveState", seconds=30)
    if not known.get("Id", "").endswith((".service", ".scope")):
        raise TargetError("this is no service")
    members = [pid for pid in procfs.numbers() if _unit_of(pid) == known["Id"]]
    # What runs although its file has gone has processes still.
    if known.get("LoadState") == "not-found" and not members:
        raise TargetError(f"systemd knows no service {service}")
    # One that is activating without a process waits to be started again.
    if not members and (state := known.get("ActiveState")) in ("failed", "activating"):
        raise TargetError(f"{state}: `systemctl status {service}` says why")
    return members
