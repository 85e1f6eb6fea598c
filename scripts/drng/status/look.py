# SPDX-License-Identifier: Apache-2.0
"""Looks at one process: which libcryptos it has, what drng counts in it, and by what it finds its openssl.cnf.

All of that is the kernel's to tell, or lies in the process's memory. One that cannot be read, or makes no sense, is one
answer among the others.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import procfs, systemd
from ..procfs import TargetError, UnreadableError
from ..text import printable
from .libraries import Known, Library, libraries_of
from .memory import Mapped, Memory, data_of, mapped_files
from .stats import MAGIC, NotOpenError, read_stats

# Of a process whose threads come and go, or that loads the module or another program meanwhile.
TRIES = 20

VARIABLES = ("OPENSSL_CONF", "OPENSSL_MODULES")
MOST_PATH = 4097  # bytes; what is longer is no path any more

# More copies of the module than anybody has, and more data than any of them has.
MOST_MODULES, MOST_DATA = 32, 4 << 20


@dataclass(frozen=True)
class Identity:
    """What its user cannot keep anybody from reading."""

    pid: int
    name: str
    unit: str = systemd.NONE
    owner: str = ""
    user: int = 0  # who has started it: a program with the set-user-ID bit does not change that
    effective: int = 0  # whose rights it has
    ticks: int = 0  # since the machine's start, when it was started; 0 where that is not known


@dataclass(frozen=True)
class Module:
    """drng.so in a process, with its counters, or why there are none."""

    counters: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    is_open: bool = True
    is_replaced: bool = False  # its file is not what it was any more


@dataclass(frozen=True)
class Look:
    who: Identity
    problem: str = ""  # why nothing more is known of it
    missed: bool = False  # it was not looked at, since the time for its unit's processes was over
    parent: int = 0
    program: str = ""  # device and inode of what it executes
    program_name: str = ""  # the last component of its path
    libraries: tuple[Library, ...] = ()
    module: Module | None = None
    variables: dict[str, str] | None = None  # VARIABLES; None where its title has been written over them
    is_secure: bool = False  # AT_SECURE: libcrypto takes no variable for true
    sees_our_files: bool = False  # it has the root directory and the mounts of this process


# ---- The module ----


def read_counters(memory: Memory, base: int) -> dict[str, Any]:
    """Of the module that begins there: in what it may write, they begin with their magic."""
    for address, _, length in data_of(memory, base):
        raw = memory.read(address, min(length, MOST_DATA))
        place = raw.find(MAGIC)
        while place % 8 and place > 0:
            place = raw.find(MAGIC, place + 1)
        if place < 0:
            continue

        def read(offset: int, size: int) -> bytes:
            at = address + place + offset  # noqa: B023 - read at once
            if not (address <= at and at + size <= address + length):  # noqa: B023
                raise UnreadableError("its counters lie outside its drng.so")
            return memory.read(at, size)

        return read_stats(read)
    raise NotOpenError("it has loaded drng.so, which serves nothing: drng refused to load, or has been unloaded")


def _modules_of(memory: Memory, files: Sequence[Mapped]) -> Module | None:
    """The first copy of drng whose counters can be read. A module is drng.so, or what an openssl.cnf names by
    "module =": drng-1.0.so, drng.so.1."""
    modules = [each for each in files if each.name.startswith(b"drng") and b".so" in each.name][:MOST_MODULES]
    found = []
    is_replaced = any(each.is_replaced for each in modules)
    for mapped in modules:
        try:
            return Module(read_counters(memory, mapped.base), is_replaced=is_replaced)
        except UnreadableError as error:
            found.append(Module({}, str(error), not isinstance(error, NotOpenError), is_replaced))
    # Of a copy that is open more is known than of one that is not.
    return max(found, key=lambda module: module.is_open, default=None)


# ---- The rest ----


def identify(pid: int, entry: int) -> Identity:
    """Whose it is, as far as that may be known."""
    known: dict[str, Any] = {}
    with contextlib.suppress(OSError, UnreadableError):
        known["ticks"] = procfs.number(entry, procfs.START_TICKS)
        known["unit"] = systemd.of_cgroup(procfs.read_entry(entry, "cgroup"))
        known["user"], known["effective"] = procfs.users_of(entry)
        known["user"] = procfs.account_of(known["user"])
        known["owner"] = procfs.owner_name(known["effective"])
    return Identity(pid, procfs.name_of(entry), **known)


def _environment_of(entry: int) -> dict[str, Any]:
    """Its variables, and whether the files that they name are those that this process sees."""
    known: dict[str, Any] = {}
    with contextlib.suppress(OSError, UnreadableError):
        environment = procfs.environment_of(entry)
        if environment is not None:
            named = {name: environment.get(name.encode(), b"") for name in VARIABLES}
            known["variables"] = {name: os.fsdecode(value[:MOST_PATH]) for name, value in named.items()}
        known["is_secure"] = procfs.distrusts_environment(entry)
        # A server that changes its root does that after it has read the file.
        mounts = [os.readlink(f"{folder}/ns/mnt", dir_fd=entry) for folder in (".", "/proc/self")]
        root, program = os.readlink("root", dir_fd=entry), os.readlink("exe", dir_fd=entry)
        known["sees_our_files"] = mounts[0] == mounts[1] and (root == "/" or not program.startswith(f"{root}/"))
    return known


def _memory_of(pid: int, entry: int, where: str) -> Memory:
    if procfs.shows_other_numbers():
        raise UnreadableError(
            f"its memory cannot be read from here: {procfs.PROC} shows the processes of another PID namespace; run "
            "drng-status where they are seen"
        )
    # As long as it is there, its number is nobody else's; a thread has one of its own.
    return Memory(pid if where == "." else int(where.rpartition("/")[2]), entry, where)


def _program_of(entry: int, where: str) -> tuple[str, str]:
    """Device and inode, and the name; "" where there is none to be seen."""
    with contextlib.suppress(PermissionError, FileNotFoundError):
        file = os.stat(f"{where}/exe", dir_fd=entry)
        path = os.fsencode(os.readlink(f"{where}/exe", dir_fd=entry))
        return f"{file.st_dev}:{file.st_ino}", printable(Mapped(path, b"").name)
    return "", ""


def look_at(who: Identity, entry: int, known: Known) -> Look:
    """What has ended, or begun another program, meanwhile is a ProcessLookupError."""
    where = procfs.living_thread(entry)
    if where == "":
        raise TargetError(
            f"process {who.pid} ({who.name}) has ended: it is a zombie, whose parent has not waited for it"
        )
    program, name = _program_of(entry, where)
    memory = _memory_of(who.pid, entry, where)
    with os.fdopen(procfs.open_entry(entry, f"{where}/maps"), "rb", buffering=1 << 16) as stream:
        files = mapped_files(stream)
        if stream.tell() == 0 and program:
            raise ProcessLookupError("it has ended, and has no memory any more")
    look = Look(
        who,
        parent=procfs.state_and_parent(entry)[1],
        program=program,
        program_name=name,
        libraries=tuple(libraries_of(memory, files, who.user, known)),
        module=_modules_of(memory, files),
        **_environment_of(entry),
    )
    if procfs.living_thread(entry) != where or _program_of(entry, where) != (program, name):
        raise ProcessLookupError("it has ended, or has started another program")
    return look


def inspect(pid: int, known: Known | None = None) -> Look:
    """Whatever happens is said in the answer; a process that is not there, or not any more, is a TargetError."""
    known = {} if known is None else known
    try:
        with procfs.process(pid) as entry:
            who = identify(pid, entry)
            for tried in range(TRIES):
                try:
                    look = look_at(who, entry, known)
                    if look.module is None or look.module.counters or tried > 1:
                        return look
                    # It may be loading or unloading the module, or starting another program.
                except PermissionError:
                    return Look(who, procfs.who_may_read(entry))
                except (FileNotFoundError, ProcessLookupError):
                    # If it is there still, the thread has ended by which it was looked at.
                    procfs.state_and_parent(entry)
                except (UnreadableError, OSError, ValueError) as error:
                    return Look(who, printable(str(error)))
            return Look(who, "its threads end while it is looked at")
    except (FileNotFoundError, ProcessLookupError):
        raise TargetError(f"process {pid} has ended") from None
