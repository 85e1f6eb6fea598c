"""Looks at one process: what it uses, what drng counts in it, and what its openssl.cnf makes of it.

One that cannot be read, or makes no sense, is one answer among the others.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Any

from . import VERSION, config_file, procfs, units
from .answers import (
    OLDER,
    REPLACED,
    UNKNOWN,
    USES_DRNG,
    USES_LIBCRYPTO,
    USES_NEITHER,
    HiddenError,
    Process,
    TargetError,
)
from .elf import Image
from .memory import Mappings, Memory, OlderError, UnreadableError, file_name, read_mappings
from .stats import NotOpenError, read_stats
from .text import printable

SYMBOL = "drng_counters"


# ---- Its counters ----


def read_counters(memory: Memory, base: int) -> tuple[dict[str, Any], range]:
    """Of the module that begins there, and the addresses that it takes up."""
    symbol = Image(memory, base).find(SYMBOL)
    if symbol is None:
        raise OlderError("it has loaded a drng.so without counters: another version of drng; restart it")

    def read(offset: int, length: int) -> bytes:
        if symbol.address + offset + length > symbol.module.stop:
            raise UnreadableError("its counters lie outside its drng.so")
        return memory.read(symbol.address + offset, length)

    return read_stats(read), symbol.module


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
    numbers = [re.findall(r"\d+", text) if re.fullmatch(r"\d+(\.\d+)*", text) else [] for text in (version, VERSION)]
    return bool(numbers[0]) and [int(n) for n in numbers[0]] < [int(n) for n in numbers[1]]


def look_into_module(process: Process, entry: int, where: str, maps: Mappings) -> bool:
    """Whether its counters could be read."""
    memory = procfs.open_entry(entry, f"{where}/mem")
    try:
        process.counters, process.message = first_counters(Memory(memory), maps.modules)
        process.uses = USES_DRNG
        process.restart = OLDER if is_older(process.counters["version"]) else ""
    except NotOpenError as error:
        # Without a libcrypto that could have loaded it, the module may be anything.
        process.uses, process.message = USES_LIBCRYPTO if maps.libcrypto else UNKNOWN, str(error)
    except UnreadableError as error:
        older = "it runs an older drng, whose counters this drng-status does not read: restart it"
        process.uses, process.message = UNKNOWN, older if maps.older else str(error)
        process.restart = OLDER if maps.older or isinstance(error, OlderError) else ""
    finally:
        os.close(memory)
    if maps.replaced:
        process.restart = REPLACED
    return process.uses == USES_DRNG


def look_into(process: Process, entry: int, where: str) -> bool:
    """Fills in what the process uses. False: it has a module whose counters could not be read, as while it loads it."""
    with os.fdopen(procfs.open_entry(entry, f"{where}/maps"), "rb", buffering=1 << 16) as stream:
        maps = read_mappings(stream)
    if maps.modules:
        return look_into_module(process, entry, where, maps)
    if maps.libcrypto:
        process.uses, process.message = USES_LIBCRYPTO, "it uses libcrypto without drng"
    else:
        process.uses = USES_NEITHER
        process.message = "it has not loaded libcrypto (a statically linked libcrypto would not be seen)"
    return True


# ---- Its openssl.cnf ----


@contextlib.contextmanager
def view_of(entry: int, environment: dict[bytes, bytes], was_another: bool) -> Iterator[config_file.View]:
    """Files as the process sees them, and with its rights: its user may name a file that only root should read."""
    user = procfs.user_of(entry)
    directory = os.fsdecode(environment.get(b"OPENSSL_CONF_INCLUDE", b""))
    with contextlib.ExitStack() as stack:
        root, cwd = (os.open(name, os.O_PATH | os.O_CLOEXEC, dir_fd=entry) for name in ("root", "cwd"))
        stack.callback(os.close, root)
        stack.callback(os.close, cwd)
        yield config_file.View(root, cwd, user, directory, was_another=was_another)


def look_at_config(process: Process, entry: int, configured: str | None = None) -> None:
    """Why libcrypto has not read what OPENSSL_CONF names, the service's where the process's own cannot be read."""
    with contextlib.suppress(OSError, UnreadableError):
        environment = procfs.environment_of(entry)
        path = environment.get(b"OPENSSL_CONF")
        # A server that writes its title over its environment, as nginx does, has nothing left there.
        process.config = os.fsdecode(path) if path is not None else configured or ""
        # It read the file before it went into its chroot, so what is seen there says nothing.
        if process.config and not procfs.is_chrooted(entry):
            # One that has drng has read it, perhaps as another user than it is now.
            with view_of(entry, environment, was_another=process.uses == USES_DRNG) as view:
                process.config_problem = config_file.problem(view, process.config)
    process.config = None if process.config is None else printable(process.config)


def look_for_drng(process: Process, entry: int, now: units.Configuration) -> None:
    """Whether the process would load drng if it were started now, and since when."""
    setting = now.units.get(process.unit)
    path = setting.path if setting else process.config or now.default
    with contextlib.suppress(OSError, UnreadableError):
        # What is seen from within a chroot is not what it reads when it starts.
        if path and not procfs.is_chrooted(entry):
            environment = procfs.environment_of(entry)
            with view_of(entry, environment, was_another=True) as view:
                since = config_file.drng_since(view, path)
            process.drng_since = max(since, setting.changed) if since and setting else since


def explain_config(process: Process) -> None:
    """Puts the problem into words, by what the process does in spite of it."""
    said = f"OPENSSL_CONF names {process.config_problem}"
    if process.config_problem == "":
        return
    if process.uses == USES_LIBCRYPTO:
        process.message += f": {said}, so OpenSSL's own generator serves"
    elif process.uses == USES_DRNG:
        drawn = process.counters["requests"] > 0 or not process.counters["begun"]
        consequence = "drng would not serve it if it started now" if drawn else "drng is loaded and serves nothing"
        if not drawn:
            process.counters["active-source"] = "none"
        process.message = "; ".join(filter(None, (process.message, f"{said}: {consequence}")))


# ---- All of it ----


def identify(process: Process, entry: int) -> None:
    """Whose it is, as far as that may be known."""
    with contextlib.suppress(OSError, UnreadableError, ValueError):
        process.ticks = procfs.start_ticks(entry)
        process.unit = units.of_cgroup(procfs.read_entry(entry, "cgroup"))
        process.owner = procfs.owner_name(procfs.user_of(entry).uid)


def look_at(pid: int, entry: int, configured: str | None = None, now: units.Configuration | None = None) -> Process:
    process = Process(pid, procfs.name_of(entry), UNKNOWN)
    identify(process, entry)
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
            look_at_config(process, entry, configured)
            if process.uses == USES_LIBCRYPTO and now is not None:
                look_for_drng(process, entry, now)
            explain_config(process)
    except PermissionError:
        process.uses, process.message, process.hidden = UNKNOWN, procfs.who_may_read(entry), True
    except (FileNotFoundError, ProcessLookupError):
        raise
    except (UnreadableError, OSError, ValueError) as error:
        process.uses, process.message, process.hidden = UNKNOWN, printable(str(error)), True
    return process


def inspect(pid: int, configured: str | None = None, now: units.Configuration | None = None) -> Process:
    """Whatever happens is said in the answer; a process that is not there is a TargetError."""
    try:
        entry = procfs.open_process(pid)
    except HiddenError as error:
        return Process(pid, "?", UNKNOWN, str(error), hidden=True)
    try:
        return look_at(pid, entry, configured, now)
    except (FileNotFoundError, ProcessLookupError):
        raise TargetError(f"process {pid} has ended") from None
    finally:
        os.close(entry)


def own_counters() -> dict[str, Any]:
    """Of the process that this is, whatever number it has in /proc; {} where they cannot be read."""
    with contextlib.suppress(OSError, TargetError):
        entry = os.open(procfs.PROC / "self", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return look_at(os.getpid(), entry).counters
        finally:
            os.close(entry)
    return {}
