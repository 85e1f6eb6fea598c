# SPDX-License-Identifier: Apache-2.0
"""Looks at one process: what it uses, what drng counts in it, and what to know of it if drng does not serve it.

One that cannot be read, or makes no sense, is one answer among the others.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import re
import stat
from typing import Any

from .. import VERSION, procfs, systemd
from ..instructions import HAS_VERDICT
from ..procfs import HiddenError, TargetError, UnreadableError
from ..text import printable
from .elf import Image
from .memory import Mappings, Memory, OlderError, OwnMemory, file_name, read_mappings
from .states import OLDER, REPLACED, UNKNOWN, USES_DRNG, USES_LIBCRYPTO, USES_NEITHER, Process
from .stats import NotOpenError, read_stats

SYMBOL = "drng_counters"

# Of a process whose threads come and go.
TRIES = 20

VARIABLES = ("OPENSSL_CONF", "OPENSSL_CONF_INCLUDE", "OPENSSL_MODULES")

# The variables that libcrypto asks for: a program that has both in its text, and is no longer than that, has one in it.
OF_LIBCRYPTO = (b"OPENSSL_CONF\0", b"OPENSSL_CONF_INCLUDE\0")
MOST_PROGRAM = 256 << 20
PIECE = 1 << 20

MOST_PATH = 4097  # bytes; what is longer is no path any more
PROC_MAGIC = 0x9FA0  # linux/magic.h


# ---- Its counters ----


def read_counters(memory: Memory, base: int) -> tuple[dict[str, Any], range]:
    """Of the module that begins there, and the addresses that it takes up."""
    module = Image(memory, base)
    address = module.find(SYMBOL)
    if address is None:
        raise OlderError("it has loaded a drng.so without counters that this drng-status reads: restart it")

    def read(offset: int, length: int) -> bytes:
        if address + offset + length > module.range.stop:
            raise UnreadableError("its counters lie outside its drng.so")
        return memory.read(address + offset, length)

    return read_stats(read), module.range


def first_counters(memory: Memory, modules: list[int]) -> tuple[dict[str, Any], str]:
    """Those of the first copy of drng that can be read, and what to say of the others."""
    errors = []
    for base in modules:
        try:
            counters, module = read_counters(memory, base)
        except UnreadableError as error:
            errors.append(error)
            continue
        copies = 1 + sum(other not in module for other in modules)
        return counters, f"it has loaded drng {copies} times; these are the counters of one" if copies > 1 else ""
    # Of a copy that is open more is known than of one that is not.
    raise min(errors, key=lambda error: isinstance(error, NotOpenError))


def is_older(version: str) -> bool:
    """Than this program, which comes in one package with the module."""
    found = [re.fullmatch(r"(\d+(?:\.\d+)*)(~\w+)?", text) for text in (version, VERSION)]
    # What has a suffix comes before the release of that number.
    keys = [([int(n) for n in match[1].split(".")], match[2] is None) for match in found if match]
    return len(keys) == 2 and keys[0] < keys[1]


def memory_of(pid: int, entry: int, where: str) -> Memory:
    if pid == os.getpid():
        return OwnMemory(pid, entry)
    if procfs.shows_other_numbers():
        raise UnreadableError(
            f"its memory cannot be read from here: {procfs.PROC} shows the processes of another PID namespace; run "
            "drng-status there"
        )
    return Memory(pid if where == "." else int(where.rpartition("/")[2]), entry, where)


def look_into_module(process: Process, entry: int, where: str, maps: Mappings) -> bool:
    """Whether its counters could be read."""
    try:
        process.counters, process.message = first_counters(memory_of(process.pid, entry, where), maps.modules)
        process.uses = USES_DRNG
        process.restart = OLDER if is_older(process.counters["version"]) else ""
    except NotOpenError as error:
        # Without a libcrypto that could have loaded it, the module may be anything.
        process.uses, process.message = USES_LIBCRYPTO if maps.libcrypto else UNKNOWN, str(error)
        process.reason = "module"
    except UnreadableError as error:
        process.uses, process.message = UNKNOWN, str(error)
        process.restart = OLDER if isinstance(error, OlderError) else ""
    if maps.replaced:
        process.restart = REPLACED
    return process.uses == USES_DRNG


def look_into(process: Process, entry: int, where: str) -> bool:
    """Fills in what the process uses. False: it has a module whose counters could not be read, as while it loads it."""
    process.reason = ""
    with os.fdopen(procfs.open_entry(entry, f"{where}/maps"), "rb", buffering=1 << 16) as stream:
        maps = read_mappings(stream)
        if where != "." and stream.tell() == 0:
            raise ProcessLookupError("the thread has ended, and has no memory any more")
    process.own_libcrypto = maps.own_libcrypto
    if maps.modules:
        return look_into_module(process, entry, where, maps)
    process.uses = USES_LIBCRYPTO if maps.libcrypto else USES_NEITHER
    process.message = "" if maps.libcrypto else "it has not loaded libcrypto"
    return True


# ---- What else there is to know ----


def has_libcrypto_in_it(program: int) -> bool:
    """Whether libcrypto is linked into it statically."""
    size = os.fstat(program).st_size
    if not 0 < size <= MOST_PROGRAM:
        return False
    # In pieces: it may be longer than what whoever looks may have of memory. Each begins with the end of the last.
    missing, text = set(OF_LIBCRYPTO), b""
    for place in range(0, size, PIECE):
        text = text[-max(map(len, OF_LIBCRYPTO)) :] + os.pread(program, PIECE, place)
        missing = {words for words in missing if words not in text}
        if not missing:
            return True
    return False


def architecture_of(program: int) -> bytes:
    """Of its file: the class, the order of bytes, and the machine."""
    head = os.pread(program, 20, 0)
    return head[4:6] + head[18:20]


@functools.cache
def own_architecture() -> bytes:
    with open("/proc/self/exe", "rb") as program:
        return architecture_of(program.fileno())


def look_at_program(process: Process, entry: int, where: str, *, closely: bool) -> None:
    """For what it is run, and whether it has a libcrypto that is nowhere else to be seen."""
    with contextlib.suppress(OSError, ValueError):
        file = os.stat(f"{where}/exe", dir_fd=entry)
        process.program = f"{file.st_dev}:{file.st_ino}"
        path = os.fsencode(os.readlink(f"{where}/exe", dir_fd=entry))
        process.program_name = printable(file_name(path))
        if process.uses == USES_DRNG or not stat.S_ISREG(file.st_mode):
            return
        with procfs.closing(procfs.open_entry(entry, f"{where}/exe")) as program:
            process.is_foreign = architecture_of(program) != own_architecture()
            if process.uses == USES_NEITHER and closely and has_libcrypto_in_it(program):
                process.uses, process.is_static, process.message = USES_LIBCRYPTO, True, ""


def look_at_environment(process: Process, entry: int) -> None:
    """Its variables, and from where, and with which rights, it looks for the files that they name."""
    with contextlib.suppress(OSError, UnreadableError):
        environment = procfs.environment_of(entry)
        if environment is not None:
            named = {name: environment.get(name.encode(), b"") for name in VARIABLES}
            process.variables = {name: os.fsdecode(value[:MOST_PATH]) for name, value in named.items()}
        process.secure = procfs.distrusts_environment(entry)
        root, rights = os.stat("root", dir_fd=entry), procfs.rights_of(entry)
        space = [os.readlink(f"ns/{kind}", dir_fd=entry) for kind in ("mnt", "user")]
        process.view = f"{space} {root.st_dev}:{root.st_ino} {rights}"


def knows_no_verdict(entry: int) -> bool:
    """Whether its /proc is one without a cpuinfo. Where there is no /proc, it may have read it before it came there."""
    # A link in its place could lead anywhere, and to ask for a directory may mount one.
    flags = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.suppress(OSError), procfs.closing(os.open("root/proc", flags, dir_fd=entry)) as proc:
        facts = (ctypes.c_long * 64)()
        is_proc = ctypes.CDLL(None).fstatfs(proc, ctypes.byref(facts)) == 0 and facts[0] == PROC_MAGIC
        return is_proc and not os.access("cpuinfo", os.F_OK, dir_fd=proc)
    return False


# ---- All of it ----


def identify(pid: int, entry: int, message: str = "", **known: bool) -> Process:
    """Whose it is, as far as that may be known."""
    process = Process(pid, procfs.name_of(entry), UNKNOWN, message, **known)
    with contextlib.suppress(OSError, UnreadableError, ValueError):
        process.ticks = procfs.number(entry, procfs.START_TICKS)
        process.unit = systemd.of_cgroup(procfs.read_entry(entry, "cgroup"))
        process.user = procfs.real_user_of(entry)
        process.owner = procfs.owner_name(procfs.rights_of(entry).uid)
    return process


def look_at(pid: int, entry: int, *, closely: bool = False) -> Process:
    process = identify(pid, entry)
    try:
        where = procfs.living_thread(entry)
        if where == "":
            raise TargetError(
                f"process {pid} ({process.name}) has ended: it is a zombie, whose parent has not waited for it"
            )
        process.parent = procfs.state_and_parent(entry)[1]
        if not look_into(process, entry, where):
            # It may have loaded or unloaded the module, or started another program, between two looks.
            look_into(process, entry, where)
        if process.uses in (USES_DRNG, USES_LIBCRYPTO) or closely:
            look_at_program(process, entry, where, closely=closely)
            look_at_environment(process, entry)
            process.no_verdict = process.uses == USES_DRNG and HAS_VERDICT and knows_no_verdict(entry)
    except PermissionError:
        process.uses, process.message, process.hidden = UNKNOWN, procfs.who_may_read(entry), True
    except (FileNotFoundError, ProcessLookupError):
        raise
    except (UnreadableError, OSError, ValueError) as error:
        process.uses, process.message, process.hidden = UNKNOWN, printable(str(error)), True
    return process


def inspect(pid: int, *, closely: bool = False) -> Process:
    """Whatever happens is said in the answer; a process that is not there is a TargetError. `closely`: whether it has a
    libcrypto in itself is looked for, too, in the file of its program."""
    try:
        with procfs.process(pid) as entry:
            for _ in range(TRIES):
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    return look_at(pid, entry, closely=closely)
                # If it is there still, the thread has ended by which it was looked at.
                procfs.state_and_parent(entry)
            return identify(pid, entry, "its threads end while it is looked at", hidden=True)
    except HiddenError as error:
        return Process(pid, "?", UNKNOWN, str(error), hidden=True)
    except (FileNotFoundError, ProcessLookupError):
        raise TargetError(f"process {pid} has ended") from None


def own_counters() -> dict[str, Any]:
    """Of the process that this is, whatever number it has in /proc; {} where they cannot be read."""
    itself = str(procfs.PROC / "self")
    with contextlib.suppress(OSError, TargetError), procfs.closing(os.open(itself, procfs.O_FOLDER)) as entry:
        return look_at(os.getpid(), entry).counters
    return {}
