"""Processes: which there are, who they belong to, and what drng counts in them."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drng_status.page import NAMES, PageError, read_page

PROC = Path("/proc")
SYSTEMD = Path("/run/systemd/system")
CGROUPS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/systemd"))

# What can be said of a process.
USES_DRNG, USES_LIBCRYPTO, USES_NEITHER, UNKNOWN = "drng", "libcrypto without drng", "no libcrypto", "unknown"


class TargetError(Exception):
    """There is no such target, or no way to it."""


@dataclass
class Process:
    """One process; `counters` are there where it uses drng, `message` where there is more to say."""

    pid: int
    name: str
    uses: str
    message: str = ""
    hidden: bool = False  # this user may not look at it
    counters: dict[str, Any] = field(default_factory=dict)


# ---- One process ----


def name_of(pid: int) -> str:
    try:
        raw = (PROC / str(pid) / "comm").read_bytes().rstrip(b"\n")
    except OSError:
        return "?"
    return "".join(chr(byte) if 32 <= byte < 127 else "?" for byte in raw)


def who_may_read(pid: int) -> str:
    """Which permission is missing."""
    try:
        uid = (PROC / str(pid)).stat().st_uid
    except OSError:
        return "it has ended"
    if os.geteuid() == 0:
        return "reading its memory takes CAP_SYS_PTRACE, which root lacks here (in a container, perhaps)"
    if uid == os.geteuid():
        return "it has given up privileges, so reading its memory takes root (CAP_SYS_PTRACE)"
    try:
        owner = pwd.getpwuid(uid).pw_name
    except KeyError:
        owner = str(uid)
    others = "" if uid == 0 else f" or user {owner}"
    return f"it belongs to {owner}, so reading its memory takes root (CAP_SYS_PTRACE){others}"


def mappings(pid: int) -> list[tuple[int, str]]:
    """Where each begins, and its name."""
    found = []
    for line in (PROC / str(pid) / "maps").read_text(errors="replace").splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6:
            found.append((int(fields[0].split("-")[0], 16), fields[5]))
    return found


def read_counters(pid: int, start: int) -> dict[str, Any]:
    memory = os.open(PROC / str(pid) / "mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return read_page(lambda offset, length: os.pread(memory, length, start + offset))
    finally:
        os.close(memory)


def is_libcrypto(path: str) -> bool:
    return path.rpartition("/")[2].startswith("libcrypto") and ".so" in path


def look_at(pid: int, name: str) -> Process:
    maps = mappings(pid)
    pages = [start for start, path in maps if path.startswith(NAMES)]
    if pages:
        return Process(pid, name, USES_DRNG, counters=read_counters(pid, pages[0]))
    # "(deleted)" may follow: the module has been replaced since.
    if any(path.split(" (")[0].endswith("/drng.so") for _, path in maps):
        return Process(
            pid,
            name,
            UNKNOWN,
            "it has loaded drng and shows no counters: an older drng, or a kernel that names no memory",
        )
    if any(is_libcrypto(path.split(" (")[0]) for _, path in maps):
        return Process(pid, name, USES_LIBCRYPTO, "it uses libcrypto without drng")
    return Process(pid, name, USES_NEITHER, "it has not loaded libcrypto (linked statically, it would not be seen)")


def inspect(pid: int) -> Process:
    """Whatever happens is said in the answer; a process that is not there is a TargetError."""
    if not (PROC / str(pid)).is_dir():
        raise TargetError(f"there is no process {pid}")
    name = name_of(pid)
    try:
        return look_at(pid, name)
    except PermissionError:
        return Process(pid, name, UNKNOWN, who_may_read(pid), hidden=True)
    except (FileNotFoundError, ProcessLookupError):
        raise TargetError(f"process {pid} has ended") from None
    except (PageError, OSError) as error:
        return Process(pid, name, UNKNOWN, str(error))


def inspect_all(pids: list[int]) -> list[Process]:
    """Those that have not ended meanwhile."""
    found = []
    for pid in pids:
        try:
            found.append(inspect(pid))
        except TargetError:
            continue
    return found


# ---- Many ----


def parents() -> dict[int, int]:
    """Each process's parent."""
    found = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text(errors="replace")
            except OSError:
                continue
            found[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    return found


def family(pid: int) -> list[int]:
    """The process and all its descendants, it first."""
    of = parents()
    members = [pid]
    for member in members:
        members += sorted(child for child, parent in of.items() if parent == member)
    return members


def everybody() -> list[Process]:
    """All that use drng, and all of which that cannot be told."""
    return [process for process in inspect_all(sorted(parents())) if process.uses in (USES_DRNG, UNKNOWN)]


# ---- Services ----


def properties(service: str) -> dict[str, str]:
    if not SYSTEMD.is_dir() or shutil.which("systemctl") is None:
        raise TargetError("systemd does not run here, so services have no names: use --pid")
    command = ["systemctl", "show", "--property=LoadState,MainPID,ControlGroup", "--", service]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise TargetError(f"systemctl cannot tell of {service}: {result.stderr.strip()}")
    return dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)


def cgroup_members(group: str) -> list[int]:
    for root in CGROUPS:
        members: set[int] = set()
        for file in (root / group.lstrip("/")).rglob("cgroup.procs"):
            members |= {int(pid) for pid in file.read_text().split()}
        if members:
            return sorted(members)
    return []


def service_members(service: str) -> list[int]:
    known = properties(service)
    if known.get("LoadState") == "not-found":
        raise TargetError(f"systemd knows no service {service}")
    group, main = known.get("ControlGroup", ""), int(known.get("MainPID", "0"))
    members = cgroup_members(group) if group.strip("/") else []
    if not members and main > 0:
        members = family(main)
    if not members:
        raise TargetError(f"service {service} is not running")
    return members
