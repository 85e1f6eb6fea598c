# SPDX-License-Identifier: Apache-2.0
"""What /proc says: of the machine, and of a process, some of which may be that process's invention."""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import re
import signal
import struct
import time
from collections.abc import Iterator
from pathlib import Path

from .terminal import Failure
from .text import printable

PROC = Path("/proc")
CPUINFO = Path("/proc/cpuinfo")
SUBUID = Path("/etc/subuid")
NO_PROC = f"{PROC} is not mounted here, and drng-status learns of processes only from there"

# Of an environment; the kernel's own limit for a program's start is 6 MB.
MOST_ENVIRONMENT = 6 << 20
MOST_FIELDS = 1 << 14
O_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY
O_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY


class TargetError(Failure):
    """There is no such target, or no way to it."""


class UnreadableError(Exception):
    """There is nothing to read there, or nothing that makes sense."""


# ---- The machine ----


def cpuinfo() -> dict[str, str]:
    """Of the first processor; empty where it cannot be read."""
    try:
        text = CPUINFO.read_text("ascii", "replace").split("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


# ---- Descriptors ----


@contextlib.contextmanager
def closing(fd: int) -> Iterator[int]:
    try:
        yield fd
    finally:
        os.close(fd)


# ---- The processes that are there ----


@contextlib.contextmanager
def process(pid: int) -> Iterator[int]:
    """A descriptor of /proc/PID."""
    try:
        entry = os.open(PROC / str(pid), O_FOLDER)
    except OSError:
        there = (PROC / "self").exists()
        raise TargetError(f"there is no process {pid} that this user may see" if there else NO_PROC) from None
    with closing(entry):
        yield entry


def numbers() -> list[int]:
    """All processes that /proc shows."""
    with contextlib.suppress(FileNotFoundError), os.scandir(PROC) as entries:
        found = sorted(int(entry.name) for entry in entries if entry.name.isascii() and entry.name.isdigit())
        if found:
            return found
    raise TargetError(NO_PROC)


def shows_other_numbers() -> bool:
    """Whether what is mounted there belongs to another PID namespace, as the host's in a container."""
    with contextlib.suppress(OSError):
        found = re.search(rb"^NSpid:\t(.*)$", (PROC / "self" / "status").read_bytes(), re.MULTILINE)
        return found is not None and len(found[1].split()) > 1
    return False


def unended(name: re.Pattern[str]) -> list[str]:
    """What the name of each process says that has such a name, is this user's (a program with the set-user-ID bit is
    its caller's, who chooses its name, too), and does not end when killed."""
    found = []
    for pid in numbers():
        with contextlib.suppress(OSError, TargetError, UnreadableError), process(pid) as entry:
            matched = name.fullmatch(name_of(entry))
            if not matched or users_of(entry)[0] != os.getuid():
                continue
            # Whoever has only just been killed waits for a processor, and not for a file system.
            if state_and_parent(entry)[0] == "D" and is_killed(entry):
                found.append(matched[1])
    return found


def family(pid: int) -> list[int]:
    """The process and all its descendants, as far as they may be known; it first."""
    children: dict[int, list[int]] = {}
    for child in numbers():
        with contextlib.suppress(OSError, TargetError, UnreadableError), process(child) as entry:
            children.setdefault(state_and_parent(entry)[1], []).append(child)
    members, seen = [pid], {pid}
    for member in members:
        # A number that is used anew while it is looked at can make a circle.
        new = [child for child in children.get(member, []) if child not in seen]
        members += new
        seen.update(new)
    return members


# ---- One of them, by the descriptor of its folder ----


def open_entry(entry: int, name: str) -> int:
    return os.open(name, O_READ, dir_fd=entry)


def read_entry(entry: int, name: str, most: int = MOST_FIELDS) -> bytes:
    """A file of /proc/PID, whose descriptor stands for this process and for none that gets its number later."""
    with os.fdopen(open_entry(entry, name), "rb") as file:
        return file.read(most)


def name_of(entry: int) -> str:
    try:
        return printable(read_entry(entry, "comm").removesuffix(b"\n"))
    except OSError:
        return "?"


def state_and_parent(entry: int) -> tuple[str, int]:
    """Behind the name in parentheses, which may have parentheses itself."""
    fields = read_entry(entry, "stat").rpartition(b")")[2].split()
    if len(fields) < 2 or not fields[1].isdigit():
        raise UnreadableError("its /proc/PID/stat cannot be understood")
    return fields[0].decode("ascii", "replace"), int(fields[1])


THREADS, START_TICKS = 20, 22  # fields of /proc/PID/stat, by proc(5)


def number(entry: int, field: int) -> int:
    """A field of /proc/PID/stat, of which the first that follows the name is the third."""
    fields = read_entry(entry, "stat").rpartition(b")")[2].split()
    return int(fields[field - 3]) if len(fields) > field - 3 and fields[field - 3].isdigit() else 0


def started_at(ticks: int) -> float:
    """As a time of the calendar, and not before the real one: the kernel rounds down to a tick."""
    machine = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return machine + (ticks + 1) / os.sysconf("SC_CLK_TCK")


def living_thread(entry: int) -> str:
    """Where the memory is to be seen: a main thread that has ended before the others shows none. "" for nowhere."""
    if state_and_parent(entry)[0] not in "ZX":
        return "."
    for thread in os.listdir(f"/proc/self/fd/{entry}/task"):
        name = f"task/{thread}"
        with contextlib.suppress(OSError, UnreadableError), closing(os.open(name, O_FOLDER, dir_fd=entry)) as there:
            if state_and_parent(there)[0] not in "ZX":
                return name
    if number(entry, THREADS) > 1:
        raise ProcessLookupError("its threads have ended, and others have begun")
    return ""


def owner_name(uid: int) -> str:
    try:
        return printable(pwd.getpwuid(uid).pw_name)
    except KeyError:
        return str(uid)


@functools.cache
def _lent() -> list[tuple[int, int, int]]:
    """By subuid(5): the first number, how many, and whose."""
    found = []
    with contextlib.suppress(OSError):
        for name, first, count in re.findall(
            r"^([^:\n]+):(\d{1,10}):(\d{1,10})$", SUBUID.read_text("utf-8", "replace"), re.M
        ):
            with contextlib.suppress(KeyError):
                found.append((int(first), int(count), int(name) if name.isdigit() else pwd.getpwnam(name).pw_uid))
    return found


def account_of(uid: int) -> int:
    """Whose account that is. The users of a user's containers are he, by 65,536 numbers that are lent to him."""
    return next((owner for first, count, owner in _lent() if first <= uid < first + count), uid) or uid


def who_may_read(entry: int) -> str:
    if os.geteuid() == 0:
        return "reading its memory needs CAP_SYS_PTRACE, which root does not have here (in a container, perhaps)"
    return f"it belongs to {owner_name(os.fstat(entry).st_uid)}, so only root (CAP_SYS_PTRACE) may read its memory"


def environment_of(entry: int) -> dict[bytes, bytes] | None:
    """As it was at the start; the first of two is the one that getenv() finds. None where the process has written its
    title over it, as nginx and PostgreSQL do."""
    raw = read_entry(entry, "environ", MOST_ENVIRONMENT)
    found: dict[bytes, bytes] = {}
    for item in raw.split(b"\0"):
        key, equals, value = item.partition(b"=")
        if equals and re.fullmatch(rb"\w+", key):
            found.setdefault(key, value)
    return found if found or not raw else None


def distrusts_environment(entry: int) -> bool:
    """Whether the kernel has told it to, by AT_SECURE: secure_getenv(), by which libcrypto asks, finds nothing then."""
    words = read_entry(entry, "auxv")
    return (23, 1) in struct.iter_unpack("LL", words[: len(words) & -struct.calcsize("LL")])


def users_of(entry: int) -> tuple[int, int]:
    """Who has started it, and whose rights it has."""
    found = re.search(rb"^Uid:\t(\d+)\t(\d+)\t", read_entry(entry, "status"), re.MULTILINE)
    if found is None:
        raise UnreadableError("its /proc/PID/status cannot be understood")
    return int(found[1]), int(found[2])


def is_killed(entry: int) -> bool:
    """By a SIGKILL that has not ended it yet: a zombie has ended, though nobody has waited for it."""
    if state_and_parent(entry)[0] in "ZX":
        return False
    pending = re.findall(rb"^(?:Sig|Shd)Pnd:\t([0-9a-f]{1,16})$", read_entry(entry, "status"), re.MULTILINE)
    return any(int(mask, 16) >> (signal.SIGKILL - 1) & 1 for mask in pending)
