"""Services, as systemd knows them: their processes, and the OPENSSL_CONF that they are given."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from . import aside, procfs, units
from .answers import TargetError
from .text import printable

SYSTEMD = Path("/run/systemd/system")
CGROUPS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/systemd"))

# For programs that are started: nothing of the caller's environment.
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"

NAME = re.compile(r"[A-Za-z0-9:_.\\@-]{1,255}")


def pairs(lines: list[str]) -> dict[str, str]:
    return dict(line.split("=", 1) for line in lines if "=" in line)


def show(service: str, names: str, seconds: float = 30) -> str:
    """The properties of these names, as systemctl prints them."""
    program = shutil.which("systemctl", path=PATH)
    if not SYSTEMD.is_dir() or program is None:
        raise TargetError("systemd does not run here, so services have no names: use --pid")
    command = [program, "show", f"--property={names}", "--", service]
    try:
        result = subprocess.run(
            command, capture_output=True, check=False, timeout=seconds, env={"PATH": PATH, "LC_ALL": "C"}
        )
    except subprocess.TimeoutExpired:
        raise TargetError("systemctl does not answer") from None
    if result.returncode != 0:
        raise TargetError(f"systemctl gives no answer about {service}: {printable(result.stderr.strip())}")
    return os.fsdecode(result.stdout)


def properties(service: str) -> dict[str, str]:
    if not NAME.fullmatch(service) or service.startswith("-"):
        raise TargetError(f"'{printable(service)}' is not the name of a service")
    return pairs(show(service, "LoadState,MainPID,ControlGroup,Environment").splitlines())


def cgroup_members(group: str) -> list[int]:
    """Of the group and all below it; their users may nest groups as deep as they like."""
    for root in CGROUPS:
        members: set[int] = set()
        folders = [root / group.lstrip("/")]
        while folders:
            folder = folders.pop()
            with contextlib.suppress(OSError):
                folders += [Path(entry.path) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
                # 0 stands for one of another pid namespace.
                members |= {int(pid) for pid in (folder / "cgroup.procs").read_text("ascii").split()} - {0}
        if members:
            return sorted(members)
    return []


def openssl_conf(environment: str) -> str | None:
    """The value of OPENSSL_CONF in systemd's list."""
    with contextlib.suppress(ValueError):
        for item in shlex.split(environment):
            if item.startswith("OPENSSL_CONF="):
                return item.partition("=")[2]
    return None


def service_config(service: str) -> str | None:
    """The OPENSSL_CONF that it is configured with."""
    return openssl_conf(properties(service).get("Environment", ""))


def changed_at(paths: list[str]) -> float:
    """The last of their changes, as far as they are there."""
    last = 0.0
    for path in paths:
        with contextlib.suppress(OSError, ValueError):
            last = max(last, os.stat(path).st_ctime)
    return last


def unit_settings() -> dict[str, units.Setting]:
    """Of the services to which systemd would give an OPENSSL_CONF; none where systemd cannot be asked."""
    found = {}
    with contextlib.suppress(TargetError):
        # Not for long: what is looked at tells most without it.
        said = show("*.service", "Id,Environment,FragmentPath,DropInPaths", aside.SECONDS)
        for block in said.split("\n\n"):
            known = pairs(block.splitlines())
            path = openssl_conf(known.get("Environment", ""))
            if path is not None and "Id" in known:
                files = [known.get("FragmentPath", ""), *known.get("DropInPaths", "").split()]
                found[printable(known["Id"])] = units.Setting(path, changed_at(files))
    return found


def service_members(service: str) -> list[int]:
    known = properties(service)
    if known.get("LoadState") == "not-found":
        raise TargetError(f"systemd knows no service {service}")
    group, main = known.get("ControlGroup", ""), known.get("MainPID", "0")
    members = cgroup_members(group) if group.strip("/") else []
    if not members and main.isdigit() and int(main) > 0:
        members = procfs.family(int(main))
    if not members:
        raise TargetError(f"service {service} is not running")
    return members
