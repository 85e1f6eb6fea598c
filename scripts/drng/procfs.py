# SPDX-License-Identifier: Apache-2.0
"""What /proc says of processes, some of which may be that process's invention."""

import contextlib
import functools
import os
import pwd
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .terminal import Failure, printable

PROC = Path("/proc")

O_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY
O_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY


class TargetError(Failure):
    """There is no such target, or no way to it."""


class UnreadableError(Exception):
    """There is nothing to read there, or nothing that makes sense."""


# What a process may make any of this say, or not say, while it is read.
ERRORS = (OSError, TargetError, UnreadableError, ValueError)


@contextlib.contextmanager
def closing(fd: int) -> Iterator[int]:
    try:
        yield fd
    finally:
        os.close(fd)


# ---- One process, by a descriptor of its folder ----


@contextlib.contextmanager
def process(pid: int) -> Iterator[int]:
    """A descriptor of /proc/PID: it stands for this process, and for none that gets its number later."""
    try:
        entry = os.open(PROC / str(pid), O_FOLDER)
    except OSError:
        raise TargetError(f"there is no process {pid} that this user may see") from None
    with closing(entry):
        yield entry


def read_entry(entry: int, name: str) -> bytes:
    with os.fdopen(os.open(name, O_READ, dir_fd=entry), "rb") as file:
        return file.read()


def name_of(entry: int) -> str:
    try:
        return printable(read_entry(entry, "comm").removesuffix(b"\n"))
    except OSError:
        return "?"


class Stat(NamedTuple):
    """Of /proc/PID/stat, by proc(5)."""

    state: str
    parent: int
    ticks: int = 0  # since the machine's start, when it was started; 0: not known


def stat_of(entry: int) -> Stat:
    """What stands behind the name in parentheses, which may have parentheses itself."""
    fields = read_entry(entry, "stat").rpartition(b")")[2].split()
    try:
        return Stat(fields[0].decode("ascii", "replace"), *(int(fields[place]) for place in (1, 19)))
    except (IndexError, ValueError):
        raise UnreadableError("its /proc/PID/stat cannot be understood") from None


def users_of(entry: int) -> tuple[int, int]:
    """Who has started it, and whose rights it has."""
    found = re.search(rb"^Uid:\t(\d+)\t(\d+)\t", read_entry(entry, "status"), re.MULTILINE)
    if found is None:
        raise UnreadableError("its /proc/PID/status cannot be understood")
    return int(found[1]), int(found[2])


# ---- All of them ----


def numbers() -> list[int]:
    """All processes that /proc shows."""
    with contextlib.suppress(FileNotFoundError), os.scandir(PROC) as entries:
        found = sorted(int(entry.name) for entry in entries if entry.name.isascii() and entry.name.isdigit())
        if found:
            return found
    raise TargetError(f"{PROC} is not mounted here, and drng-status learns of processes only from there")


def family(pid: int) -> list[int]:
    """The process and all its descendants, as far as they may be known; it first."""
    children: dict[int, list[int]] = {}
    for child in numbers():
        with contextlib.suppress(*ERRORS), process(child) as entry:
            children.setdefault(stat_of(entry).parent, []).append(child)
    members = {pid: None}
    to_do = [pid]
    for member in to_do:
        # A number that is used anew while it is looked at can make a circle.
        new = dict.fromkeys(child for child in children.get(member, []) if child not in members)
        members |= new
        to_do += new
    return [*members]


@functools.cache  # each process is asked for twice, and names may come from a network
def owner_name(uid: int) -> str:
    try:
        return printable(pwd.getpwuid(uid).pw_name)
    except KeyError:
        return str(uid)


def started_at(ticks: int) -> float:
    """As a time of the calendar, and not before the real one: the kernel rounds down to a tick."""
    machine = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return machine + (ticks + 1) / os.sysconf("SC_CLK_TCK")
