# SPDX-License-Identifier: Apache-2.0
"""Looks at one process: which libcryptos it has, what drng counts in it, and by what it finds its openssl.cnf.

All of that is the kernel's to tell, or lies in the process's memory. One that cannot be read, or makes no sense, is one
answer among the others.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .. import procfs, systemd
from ..procfs import TargetError, UnreadableError
from ..terminal import printable
from .libraries import Known, Library, libraries_of
from .memory import Mapped, Memory, mapped_files
from .stats import NotOpenError, read_counters

# Of a process that starts another program meanwhile.
TRIES = 3


@dataclass(frozen=True)
class Look:
    """What is known of a process without anybody's openssl.cnf."""

    pid: int
    name: str
    unit: str = systemd.NONE
    owner: str = ""  # whose rights it has
    slice: str = ""  # of the user whose session or service it belongs to
    user: int = 0  # who has started it: a program with the set-user-ID bit does not change that
    parent: int = 0
    ticks: int = 0  # since the machine's start, when its program was started, by itself or by who has forked it
    problem: str = ""  # why nothing more is known of it
    missed: bool = False  # it was not looked at, since the time for its unit's processes was over
    libraries: tuple[Library, ...] = ()
    counters: dict[str, Any] = field(default_factory=dict)  # of its drng.so
    uncounted: str = ""  # why the drng.so that it has loaded has none
    serves_nothing: bool = False  # that drng.so refused to load, or has been unloaded
    is_replaced: bool = False  # its file is not what it was any more
    # OPENSSL_CONF in its environment, /dev/null if that is empty; None where its title has been written over it.
    conf: str | None = None
    is_secure: bool = False  # AT_SECURE: libcrypto takes no variable for true
    mounts_of: int = 0  # whose list of mounts has its files: its own, or that of a process above it

    @property
    def payer(self) -> str:
        """Whose time looking at it takes: its session's user's, its unit's, or, in a container, say, its user's."""
        return self.slice or (self.unit if self.unit != systemd.NONE else str(self.user))


def _module(memory: Memory, files: Sequence[Mapped]) -> dict[str, Any]:
    """Of the first copy of drng whose counters can be read. A module is drng.so, or what an openssl.cnf names by
    "module =": drng-1.0.so, drng.so.1."""
    modules = [each for each in files if each.name.startswith(b"drng") and b".so" in each.name]
    known: dict[str, Any] = {"is_replaced": any(each.path.endswith(b" (deleted)") for each in modules)}
    for mapped in modules:
        try:
            return {"counters": read_counters(memory, mapped.base), "is_replaced": known["is_replaced"]}
        except UnreadableError as error:
            # Of a copy that is open more is known than of one that is not.
            if known.get("serves_nothing", True):
                known |= {"uncounted": str(error), "serves_nothing": isinstance(error, NotOpenError)}
    return known


def environment_of(raw: bytes) -> dict[bytes, bytes] | None:
    """As it was at the start; the first of two is the one that getenv() finds. None where the process has written its
    title over it, as nginx and PostgreSQL do."""
    pairs = (item.partition(b"=") for item in reversed(raw.split(b"\0")))
    found = {key: value for key, equals, value in pairs if equals and re.fullmatch(rb"\w+", key)}
    return found if found or not raw else None


def _conf(entry: int) -> str | None:
    with contextlib.suppress(OSError):
        found = environment_of(procfs.read_entry(entry, "environ"))
        path = (found or {}).get(b"OPENSSL_CONF")
        return None if found is None else "" if path is None else os.fsdecode(path) or os.devnull
    return None


def _program(entry: int) -> bytes:
    """What a forked child has, too, and another program, which has begun in its place, has not: the auxiliary vector;
    or the file, for the collector, which may not read that. A thread of the kernel's has neither."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        try:
            return procfs.read_entry(entry, "auxv")
        except PermissionError:
            file = os.stat("exe", dir_fd=entry)
            return b"%d:%d" % (file.st_dev, file.st_ino)
    return b""


def _mounts_of(pid: int, entry: int) -> int:
    """Whose list of mounts has its files. A server that changes its root does so after it has read openssl.cnf, and the
    kernel lists none outside that: then who has begun it has the list."""
    with contextlib.suppress(*procfs.ERRORS):
        root, program, mounts = (os.readlink(name, dir_fd=entry) for name in ("root", "exe", "ns/mnt"))
        parent = procfs.stat_of(entry).parent
        if root != "/" and not program.startswith(f"{root}/"):
            with procfs.process(parent) as above:
                return _mounts_of(parent, above) if os.readlink("ns/mnt", dir_fd=above) == mounts else pid
    return pid


def _as_started(look: Look, program: bytes) -> Look:
    """With the time, and the variable where a title is over its own, of whose forked child it is."""
    passed = {look.pid}
    with contextlib.suppress(*procfs.ERRORS):
        # A number that is used anew can make a circle.
        while look.parent not in passed:
            passed.add(look.parent)
            with procfs.process(look.parent) as entry:
                if _program(entry) != program:
                    break
                _, parent, ticks = procfs.stat_of(entry)
                conf = look.conf if look.conf is not None else _conf(entry)
            look = replace(look, parent=parent, ticks=ticks, conf=conf)
    return look


def identify(pid: int, entry: int) -> Look:
    """What its user cannot keep anybody from reading."""
    known: dict[str, Any] = {}
    with contextlib.suppress(*procfs.ERRORS):
        _, known["parent"], known["ticks"] = procfs.stat_of(entry)
        groups, (known["user"], owner) = procfs.read_entry(entry, "cgroup"), procfs.users_of(entry)
        found = systemd.USERS_SLICE.search(groups)
        known["unit"], known["slice"] = systemd.of_cgroup(groups), found[1].decode() if found else ""
        known["owner"] = procfs.owner_name(owner)
    return Look(pid, procfs.name_of(entry), **known)


def look_at(who: Look, entry: int, known: Known) -> Look:
    """What has ended, or begun another program, meanwhile is a ProcessLookupError."""
    if procfs.stat_of(entry).state in "ZX":
        raise TargetError(f"process {who.pid} ({who.name}) has ended: its parent has not waited for it")
    program, memory = _program(entry), Memory(who.pid, entry)
    if not program:
        return who
    with os.fdopen(os.open("maps", procfs.O_READ, dir_fd=entry), "rb", buffering=1 << 16) as stream:
        files = mapped_files(stream)
    # First, since it waits for the lock of the process's mappings so that a signal ends it: see Memory.
    conf = _conf(entry)
    # AT_SECURE, by which the kernel tells it so: secure_getenv(), by which libcrypto asks, finds nothing then.
    is_secure = (23, 1) in struct.iter_unpack("LL", program[: len(program) & -struct.calcsize("LL")])
    look = replace(who, conf=conf, is_secure=is_secure, mounts_of=_mounts_of(who.pid, entry))
    look = replace(look, libraries=libraries_of(memory, files, who.user, known), **_module(memory, files))
    if _program(entry) != program:
        raise ProcessLookupError("it has ended, or has started another program")
    return _as_started(look, program)


def who_may_read(entry: int) -> str:
    if os.geteuid() == 0:
        return "reading its memory needs CAP_SYS_PTRACE, which root does not have here (in a container, perhaps)"
    owner = procfs.owner_name(os.fstat(entry).st_uid)
    return f"it belongs to {owner}, so only root (CAP_SYS_PTRACE) may read its memory"


def inspect(pid: int, known: Known | None = None) -> Look:
    """Whatever happens is said in the answer; a process that is not there, or not any more, is a TargetError."""
    try:
        with procfs.process(pid) as entry:
            who = identify(pid, entry)
            for _ in range(TRIES):
                try:
                    return look_at(who, entry, {} if known is None else known)
                except PermissionError:
                    return replace(who, problem=who_may_read(entry))
                except (FileNotFoundError, ProcessLookupError):
                    # If it is there still, it has started another program.
                    procfs.stat_of(entry)
                except (UnreadableError, OSError, ValueError) as error:
                    return replace(who, problem=printable(str(error)))
            return replace(who, problem="it starts one program after another")
    except (FileNotFoundError, ProcessLookupError):
        raise TargetError(f"process {pid} has ended") from None
