"""Looks at one process: what it uses, what drng counts in it, and what its openssl.cnf makes of it.

One that cannot be read, or makes no sense, is one answer among the others.
"""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any

from .. import VERSION, procfs, systemd
from ..instructions import HAS_VERDICT, WORDS
from ..procfs import HiddenError, TargetError, UnreadableError
from ..text import printable
from . import config_file
from .elf import Image
from .memory import Mappings, Memory, OlderError, OwnMemory, file_name, read_mappings
from .services import NOTHING_KNOWN, Configuration
from .states import (
    OLDER,
    REPLACED,
    UNKNOWN,
    USES_DRNG,
    USES_LIBCRYPTO,
    USES_NEITHER,
    Process,
    is_seeded_by_others,
)
from .stats import NotOpenError, read_stats

SYMBOL = "drng_counters"

# Of a process whose threads come and go.
TRIES = 20


# ---- Its counters ----


def read_counters(memory: Memory, base: int) -> tuple[dict[str, Any], range]:
    """Of the module that begins there, and the addresses that it takes up."""
    module = Image(memory, base)
    address = module.find(SYMBOL)
    if address is None:
        # As that of drng 0.1.0, which kept its counters in memory of their own.
        raise OlderError("it runs an older drng, whose counters this drng-status does not read: restart it")

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
    theirs, ours = ([int(n) for n in re.findall(r"\d+", text)] for text in (version, VERSION))
    return re.fullmatch(r"\d+(\.\d+)*", version) is not None and theirs < ours


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
    except UnreadableError as error:
        process.uses, process.message = UNKNOWN, str(error)
        process.restart = OLDER if isinstance(error, OlderError) else ""
    if maps.replaced:
        process.restart = REPLACED
    return process.uses == USES_DRNG


def look_into(process: Process, entry: int, where: str) -> bool:
    """Fills in what the process uses. False: it has a module whose counters could not be read, as while it loads it."""
    with os.fdopen(procfs.open_entry(entry, f"{where}/maps"), "rb", buffering=1 << 16) as stream:
        maps = read_mappings(stream)
        if where != "." and stream.tell() == 0:
            raise ProcessLookupError("the thread has ended, and has no memory any more")
    if maps.modules:
        return look_into_module(process, entry, where, maps)
    if maps.libcrypto:
        process.uses, process.message = USES_LIBCRYPTO, "it uses libcrypto without drng"
    else:
        process.uses = USES_NEITHER
        process.message = "it has not loaded libcrypto (a statically linked libcrypto would not be seen)"
    return True


# ---- Its openssl.cnf ----


def read_config(entry: int, path: str, was_another: bool) -> config_file.Reading:
    """
    An openssl.cnf as the process sees it, and with its rights: its user may name a file that only root should read. It
    reads the file before it goes into its chroot, so what is seen from there says nothing.
    """
    flags, closing = os.O_PATH | os.O_CLOEXEC, procfs.closing
    with contextlib.suppress(OSError, UnreadableError):
        if path == "" or os.readlink("root", dir_fd=entry) != "/":
            return config_file.Reading()
        directory = os.fsdecode(procfs.environment_of(entry).get(b"OPENSSL_CONF_INCLUDE", b""))
        user = procfs.user_of(entry)
        with closing(os.open("root", flags, dir_fd=entry)) as root, closing(os.open("cwd", flags, dir_fd=entry)) as cwd:
            return config_file.read(config_file.View(root, cwd, user, directory, was_another=was_another), path)
    return config_file.Reading()


def look_at_config(process: Process, entry: int, configured: str | None, now: Configuration) -> None:
    """
    OPENSSL_CONF, the service's where the process's own cannot be read: why libcrypto has not read what it names, what
    takes drng's words without a seed, and since when the process would have drng if it were started now.
    """
    has_drng, config, problem = process.uses == USES_DRNG, "", ""
    with contextlib.suppress(OSError, UnreadableError):
        path = procfs.environment_of(entry).get(b"OPENSSL_CONF")
        # A server that writes its title over its environment, as nginx does, has nothing left there.
        config = os.fsdecode(path) if path is not None else configured or ""
        process.config = printable(config)
        # One that has drng has read it, perhaps as another user than it is now.
        problem = printable(read_config(entry, config, has_drng).problem)
        if config and not has_drng and procfs.distrusts_environment(entry):
            problem = f"{process.config}, which libcrypto ignores in a program with capabilities or a set-ID bit"
    if not has_drng:
        setting = now.units.get(process.unit)
        since = read_config(entry, setting.path if setting else config or now.default, True).drng_since
        process.drng_since = max(since, setting.changed) if since and setting else since
    elif is_seeded_by_others(process.counters):
        process.words_alone = read_config(entry, config or now.default, True).generator.upper() == WORDS
        if process.words_alone:
            process.counters["active-source"] = WORDS.lower()
    if problem:
        explain(process, f"OPENSSL_CONF names {problem}")


def explain(process: Process, problem: str) -> None:
    """By what the process does in spite of it."""
    if process.uses == USES_LIBCRYPTO:
        process.message += f": {problem}, so OpenSSL's own generator serves"
        return
    drawn = process.counters["requests"] > 0 or not process.counters["begun"]
    consequence = "drng would not serve it if it started now" if drawn else "drng is loaded and serves nothing"
    if not drawn:
        process.counters["active-source"] = "none"
    process.message = "; ".join(filter(None, (process.message, f"{problem}: {consequence}")))


def knows_no_verdict(entry: int) -> bool:
    """
    Whether its /proc is one without a cpuinfo. Where there is no /proc, it may have read it before it came there; and a
    main thread that has ended before the others shows none.
    """
    # A link in its place could lead anywhere, and to ask for a directory may mount one.
    with contextlib.suppress(OSError), procfs.closing(os.open("root/proc", config_file.O_LOOK, dir_fd=entry)) as proc:
        return config_file.is_kernels_own(proc) and not os.access("cpuinfo", os.F_OK, dir_fd=proc)
    return False


# ---- All of it ----


def identify(pid: int, entry: int, message: str = "", **known: bool) -> Process:
    """Whose it is, as far as that may be known."""
    process = Process(pid, procfs.name_of(entry), UNKNOWN, message, **known)
    with contextlib.suppress(OSError, UnreadableError, ValueError):
        process.ticks = procfs.number(entry, procfs.START_TICKS)
        process.unit = systemd.of_cgroup(procfs.read_entry(entry, "cgroup"))
        process.owner = procfs.owner_name(procfs.user_of(entry).uid)
    return process


def look_at(pid: int, entry: int, configured: str | None = None, now: Configuration = NOTHING_KNOWN) -> Process:
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
        if process.uses in (USES_DRNG, USES_LIBCRYPTO):
            with contextlib.suppress(OSError):
                program = os.stat(f"{where}/exe", dir_fd=entry)
                process.program = f"{program.st_dev}:{program.st_ino}"
                path = os.fsencode(os.readlink(f"{where}/exe", dir_fd=entry))
                process.program_name = printable(file_name(path))
            look_at_config(process, entry, configured, now)
            process.no_verdict = process.uses == USES_DRNG and HAS_VERDICT and knows_no_verdict(entry)
    except PermissionError:
        process.uses, process.message, process.hidden = UNKNOWN, procfs.who_may_read(entry), True
    except (FileNotFoundError, ProcessLookupError):
        raise
    except (UnreadableError, OSError, ValueError) as error:
        process.uses, process.message, process.hidden = UNKNOWN, printable(str(error)), True
    return process


def inspect(pid: int, configured: str | None = None, now: Configuration = NOTHING_KNOWN) -> Process:
    """Whatever happens is said in the answer; a process that is not there is a TargetError."""
    try:
        with procfs.process(pid) as entry:
            for _ in range(TRIES):
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    return look_at(pid, entry, configured, now)
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
