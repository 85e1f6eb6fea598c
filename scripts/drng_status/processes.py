"""Processes: which there are, who they belong to, and what drng counts in them.

Whatever /proc says of a process may be that process's invention. One that cannot be read, or makes no sense, is one
answer among the others.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from . import VERSION, aside, config_file, units
from .elf import Image
from .memory import Mappings, Memory, OlderError, UnreadableError, file_name, read_mappings
from .stats import read_stats
from .text import printable

PROC = Path("/proc")
SYSTEMD = Path("/run/systemd/system")
YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
CGROUPS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/systemd"))

# For programs that are started: nothing of the caller's environment.
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"

SYMBOL = "drng_counters"

NO_PROC = f"{PROC} is not mounted here, and drng-status learns of processes only from there"

# What can be said of a process.
USES_DRNG, USES_LIBCRYPTO, USES_NEITHER, UNKNOWN = "drng", "libcrypto without drng", "no libcrypto", "unknown"
HAPROXY = "haproxy"
SUPERVISES = "libcrypto without drng, its children use drng"

# Why a process should be restarted.
REPLACED, OLDER, CONFIGURATION = "replaced", "older", "configuration"
RESTART = {
    REPLACED: "the drng.so that it has loaded has been replaced or removed: restart it",
    OLDER: f"it has loaded an older drng than {VERSION}: restart it",
    CONFIGURATION: "its openssl.cnf names drng, but did not when it started: restart it",
}

# Of an environment; the kernel's own limit for a program's start is 6 MB.
MOST_ENVIRONMENT = 6 << 20
MOST_FIELDS = 1 << 14

# CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH.
DAC_CAPABILITIES = 1 << 1 | 1 << 2

O_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY


class TargetError(Exception):
    """There is no such target, or no way to it."""


class HiddenError(Exception):
    """This user may not look at the process."""


@dataclass
class Process:
    """One process; `counters` are there where it uses drng, `message` where there is more to say."""

    pid: int
    name: str
    uses: str
    message: str = ""
    hidden: bool = False  # nothing can be told, not even whether it uses drng
    missed: bool = False  # it was not looked at, since the time for all of them was over
    counters: dict[str, Any] = field(default_factory=dict)
    parent: int = 0
    program: str = ""  # device and inode of what it executes
    program_name: str = ""  # the last component of its path
    config: str | None = None  # OPENSSL_CONF in its environment, None where that cannot be read
    config_problem: str = ""
    unit: str = units.NONE
    owner: str = ""
    ticks: int = 0  # since the machine's start, when it was started; 0 where that is not known
    drng_since: float = 0.0  # when the openssl.cnf that it would read now was changed to load drng, 0 for never
    restart: str = ""  # a key of RESTART


# ---- One process: what /proc says of it ----


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


def start_ticks(entry: int) -> int:
    """Field 22 of /proc/PID/stat, of which the first that follows the name is the third."""
    fields = read_entry(entry, "stat").rpartition(b")")[2].split()
    return int(fields[19]) if len(fields) > 19 and fields[19].isdigit() else 0


def started_at(ticks: int) -> float:
    """As a time of the calendar, and not before the real one: the kernel rounds down to a tick."""
    machine = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return machine + (ticks + 1) / os.sysconf("SC_CLK_TCK")


def living_thread(entry: int) -> str:
    """Where the memory is to be seen: a main thread that has ended before the others shows none. "" for nowhere."""
    if state_and_parent(entry)[0] not in "ZX":
        return "."
    for thread in os.listdir(f"/proc/self/fd/{entry}/task"):
        with contextlib.suppress(OSError, UnreadableError):
            there = os.open(f"task/{thread}", O_READ | os.O_DIRECTORY, dir_fd=entry)
            try:
                if state_and_parent(there)[0] not in "ZX":
                    return f"task/{thread}"
            finally:
                os.close(there)
    return ""


def account(uid: int) -> str:
    """The name of a user, "" where none has this number."""
    try:
        return printable(pwd.getpwuid(uid).pw_name)
    except KeyError:
        return ""


def owner_name(uid: int) -> str:
    return account(uid) or str(uid)


def yama() -> bool:
    """Whether one's own processes are out of reach."""
    with contextlib.suppress(OSError):
        return YAMA.read_text("ascii").strip() != "0"
    return False


def who_may_read(entry: int) -> str:
    """Which permission is missing."""
    uid = os.fstat(entry).st_uid
    if os.geteuid() == 0:
        return "reading its memory needs CAP_SYS_PTRACE, which root does not have here (in a container, perhaps)"
    if uid == os.geteuid() and yama():
        return "only root (CAP_SYS_PTRACE) may read its memory: kernel.yama.ptrace_scope is not 0"
    if uid == os.geteuid():
        return "it has given up privileges, so only root (CAP_SYS_PTRACE) may read its memory"
    owner = owner_name(uid)
    others = "" if uid == 0 else f" or user {owner}"
    return f"it belongs to {owner}, so only root (CAP_SYS_PTRACE){others} may read its memory"


# ---- One process: its counters ----


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
    raise errors[0]


def is_older(version: str) -> bool:
    """Than this program, which comes in one package with the module."""
    numbers = [re.findall(r"\d+", text) if re.fullmatch(r"\d+(\.\d+)*", text) else [] for text in (version, VERSION)]
    return bool(numbers[0]) and [int(n) for n in numbers[0]] < [int(n) for n in numbers[1]]


def look_into_module(process: Process, entry: int, where: str, maps: Mappings) -> None:
    memory = open_entry(entry, f"{where}/mem")
    try:
        process.counters, process.message = first_counters(Memory(memory), maps.modules)
        process.uses = USES_DRNG
        process.restart = OLDER if is_older(process.counters["version"]) else ""
    except UnreadableError as error:
        older = "it runs an older drng, whose counters this drng-status does not read: restart it"
        process.uses, process.message = UNKNOWN, older if maps.older else str(error)
        process.restart = OLDER if maps.older or isinstance(error, OlderError) else ""
    finally:
        os.close(memory)
    if maps.replaced:
        process.restart = REPLACED


def look_into(process: Process, entry: int, where: str) -> None:
    """Fills in what the process uses."""
    with os.fdopen(open_entry(entry, f"{where}/maps"), "rb", buffering=1 << 16) as stream:
        maps = read_mappings(stream)
    if maps.modules:
        look_into_module(process, entry, where, maps)
    elif maps.libcrypto:
        process.uses, process.message = USES_LIBCRYPTO, "it uses libcrypto without drng"
    else:
        process.uses = USES_NEITHER
        process.message = "it has not loaded libcrypto (a statically linked libcrypto would not be seen)"


# ---- One process: its openssl.cnf ----


def environment_of(entry: int) -> dict[bytes, bytes]:
    """As it was at the start; the first of two is the one that getenv() finds."""
    found: dict[bytes, bytes] = {}
    for item in read_entry(entry, "environ", MOST_ENVIRONMENT).split(b"\0"):
        key, equals, value = item.partition(b"=")
        if equals and key.startswith(b"OPENSSL_"):
            found.setdefault(key, value)
    return found


def mapped(entry: int, name: str) -> config_file.Mapped:
    """The numbers that its user namespace knows, as this process calls them."""
    try:
        lines = [line.split() for line in read_entry(entry, name).splitlines()]
    except FileNotFoundError:
        return (range(1 << 32),)  # a kernel without user namespaces
    if not all(len(line) == 3 and all(field.isdigit() for field in line) for line in lines):
        raise UnreadableError(f"its /proc/PID/{name} cannot be understood")
    return tuple(range(int(first), int(first) + int(count)) for _, first, count in lines)


def real_user_of(entry: int) -> int:
    found = re.search(rb"^Uid:\t(\d+)\t", read_entry(entry, "status"), re.MULTILINE)
    if found is None:
        raise UnreadableError("its /proc/PID/status cannot be understood")
    return int(found[1])


def user_of(entry: int) -> config_file.User:
    pattern = rb"^(Uid|Gid|Groups|CapEff):[ \t]*([0-9a-f \t]*)$"
    fields = dict(re.findall(pattern, read_entry(entry, "status"), re.MULTILINE))
    numbers = (fields.get(key, b"").split() for key in (b"Uid", b"Gid", b"Groups"))
    uids, gids, groups = ([int(n) for n in listed if n.isdigit()] for listed in numbers)
    if len(uids) < 2 or len(gids) < 2:
        raise UnreadableError("its /proc/PID/status cannot be understood")
    overrides = int(fields.get(b"CapEff") or b"0", 16) & DAC_CAPABILITIES != 0
    return config_file.User(
        uids[1], frozenset([gids[1], *groups]), overrides, mapped(entry, "uid_map"), mapped(entry, "gid_map")
    )


@contextlib.contextmanager
def view_of(entry: int, environment: dict[bytes, bytes], was_another: bool) -> Iterator[config_file.View]:
    """Files as the process sees them, and with its rights: its user may name a file that only root should read."""
    user = user_of(entry)
    directory = os.fsdecode(environment.get(b"OPENSSL_CONF_INCLUDE", b""))
    with contextlib.ExitStack() as stack:
        root, cwd = (os.open(name, os.O_PATH | os.O_CLOEXEC, dir_fd=entry) for name in ("root", "cwd"))
        stack.callback(os.close, root)
        stack.callback(os.close, cwd)
        yield config_file.View(root, cwd, user, directory, was_another=was_another)


def is_chrooted(entry: int) -> bool:
    return os.readlink("root", dir_fd=entry) != "/"


def look_at_config(process: Process, entry: int, configured: str | None = None) -> None:
    """Why libcrypto has not read what OPENSSL_CONF names, the service's where the process's own cannot be read."""
    with contextlib.suppress(OSError, UnreadableError):
        environment = environment_of(entry)
        path = environment.get(b"OPENSSL_CONF")
        # A server that writes its title over its environment, as nginx does, has nothing left there.
        process.config = os.fsdecode(path) if path is not None else configured or ""
        # It read the file before it went into its chroot, so what is seen there says nothing.
        if process.config and not is_chrooted(entry):
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
        if path and not is_chrooted(entry):
            environment = environment_of(entry)
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


# ---- One process: all of it ----


def identify(process: Process, entry: int) -> None:
    """Whose it is, as far as that may be known."""
    with contextlib.suppress(OSError, UnreadableError, ValueError):
        process.ticks = start_ticks(entry)
        process.unit = units.of_cgroup(read_entry(entry, "cgroup"))
        process.owner = owner_name(user_of(entry).uid)


def look_at(pid: int, entry: int, configured: str | None = None, now: units.Configuration | None = None) -> Process:
    process = Process(pid, name_of(entry), UNKNOWN)
    identify(process, entry)
    try:
        where = living_thread(entry)
        if where == "":
            raise TargetError(
                f"process {pid} ({process.name}) has ended: it is a zombie, whose parent has not waited for it"
            )
        process.parent = state_and_parent(entry)[1]
        look_into(process, entry, where)
        if process.uses == UNKNOWN:
            # It may have started another program, or unloaded the module, between two looks.
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
        process.uses, process.message, process.hidden = UNKNOWN, who_may_read(entry), True
    except (FileNotFoundError, ProcessLookupError):
        raise
    except (UnreadableError, OSError, ValueError) as error:
        process.uses, process.message, process.hidden = UNKNOWN, printable(str(error)), True
    return process


def open_process(pid: int) -> int:
    """A descriptor of /proc/PID."""
    with contextlib.suppress(OSError):
        return os.open(PROC / str(pid), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    if not (PROC / "self").exists():
        raise TargetError(NO_PROC)
    with contextlib.suppress(ProcessLookupError, OverflowError):
        if pid > 0:
            with contextlib.suppress(PermissionError):
                os.kill(pid, 0)
            raise HiddenError(f"{PROC} hides it from this user (hidepid)")
    raise TargetError(f"there is no process {pid}")


def inspect(pid: int, configured: str | None = None, now: units.Configuration | None = None) -> Process:
    """Whatever happens is said in the answer; a process that is not there is a TargetError."""
    try:
        entry = open_process(pid)
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
        entry = os.open(PROC / "self", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return look_at(os.getpid(), entry).counters
        finally:
            os.close(entry)
    return {}


def inspect_aside(pid: int, configured: str | None, now: units.Configuration | None) -> dict[str, Any]:
    try:
        return asdict(inspect(pid, configured, now))
    except TargetError as error:
        return {"ended": str(error)}


def payer(pid: int) -> int | None:
    """
    Whose share of the time it takes: the user who has started it, which not even a program with the set-user-ID bit
    changes. None for all users together who have no account, since one user may have thousands of such numbers.
    """
    with contextlib.suppress(OSError, TargetError, HiddenError, UnreadableError):
        entry = open_process(pid)
        try:
            uid = real_user_of(entry)
        finally:
            os.close(entry)
        return uid if account(uid) else None
    return None


def not_looked_at(pid: int, failure: aside.Failure) -> Process | TargetError:
    """What its user cannot keep anybody from reading, its name, unit and owner, and why there is no more."""
    missed = failure.reason == aside.OUT_OF_TIME
    message = failure.reason if missed else f"it cannot be looked at: {failure.reason}"
    process = Process(pid, "?", UNKNOWN, printable(message), hidden=True, missed=missed)
    try:
        entry = open_process(pid)
    except HiddenError:
        return process
    except TargetError as error:
        return error
    try:
        process.name = name_of(entry)
        identify(process, entry)
    finally:
        os.close(entry)
    return process


def inspect_each(
    pids: list[int], configured: str | None = None, now: units.Configuration | None = None
) -> list[Process | TargetError]:
    """In other processes, since looking may hang; see aside.py."""
    work = partial(inspect_aside, configured=configured, now=now)
    found: dict[int, Process | TargetError] = {}
    for pid, answer in aside.each(pids, work, altogether=aside.ALTOGETHER, owner_of=payer):
        if isinstance(answer, aside.Failure):
            found[pid] = not_looked_at(pid, answer)
        else:
            found[pid] = TargetError(answer["ended"]) if "ended" in answer else Process(**answer)
    return [found[pid] for pid in pids]


def mark_supervisors(found: list[Process]) -> None:
    """
    HAProxy's master, where HAProxy's configuration and not openssl.cnf loads drng: it serves nobody, and the workers
    that do have drng. One with an openssl.cnf of its own is to have drng by that, and is not excused; nor is any other
    program, whose parent may well serve.
    """
    for process in found:
        if process.uses != USES_LIBCRYPTO or process.config != "" or process.program_name != HAPROXY:
            continue
        workers = [other for other in found if other.parent == process.pid and other.program == process.program]
        if workers and all(worker.uses == USES_DRNG for worker in workers):
            process.uses, process.message = SUPERVISES, "it has not loaded drng, and serves nobody: its children serve"


def first_ticks(process: Process, others: dict[int, Process]) -> int:
    """When the program was started that it is, or is a forked child of."""
    seen = {process.pid}
    while (
        process.program
        and (parent := others.get(process.parent)) is not None
        and parent.program == process.program
        and parent.pid not in seen
    ):
        process = parent
        seen.add(process.pid)
    return process.ticks


def mark_restarts(found: list[Process]) -> None:
    """Those that would have drng if they had been started later."""
    others = {process.pid: process for process in found}
    for process in found:
        if process.uses != USES_LIBCRYPTO or not process.drng_since:
            continue
        ticks = first_ticks(process, others)
        if ticks and started_at(ticks) < process.drng_since:
            process.restart = CONFIGURATION


def marked(found: list[Process]) -> list[Process]:
    """With what only the others tell of each."""
    mark_supervisors(found)
    mark_restarts(found)
    return found


def inspect_all(
    pids: list[int], configured: str | None = None, now: units.Configuration | None = None
) -> list[Process]:
    """Those that have not ended meanwhile."""
    return marked([process for process in inspect_each(pids, configured, now) if isinstance(process, Process)])


# ---- Many ----


def inspect_family(pid: int, now: units.Configuration | None = None) -> list[Process]:
    """The process, which must be there, and all its descendants."""
    if pid <= 0:
        raise TargetError(f"there is no process {pid}")
    first, *others = inspect_each(family(pid), now=now)
    if isinstance(first, TargetError):
        raise first
    return marked([first, *(process for process in others if isinstance(process, Process))])


def numbers() -> list[int]:
    """All processes that /proc shows."""
    with contextlib.suppress(FileNotFoundError), os.scandir(PROC) as entries:
        found = sorted(int(entry.name) for entry in entries if entry.name.isascii() and entry.name.isdigit())
        if found:
            return found
    raise TargetError(NO_PROC)


def parents() -> dict[int, int]:
    """Each process's parent, as far as it may be known."""
    found = {}
    for pid in numbers():
        with contextlib.suppress(OSError, TargetError, HiddenError, UnreadableError):
            entry = open_process(pid)
            try:
                found[pid] = state_and_parent(entry)[1]
            finally:
                os.close(entry)
    return found


def family(pid: int) -> list[int]:
    """The process and all its descendants, it first."""
    children: dict[int, list[int]] = {}
    for child, parent in parents().items():
        children.setdefault(parent, []).append(child)
    members, seen = [pid], {pid}
    for member in members:
        # A number that is used anew while it is looked at can make a circle.
        new = [child for child in sorted(children.get(member, [])) if child not in seen]
        members += new
        seen.update(new)
    return members


def everybody(now: units.Configuration | None = None) -> list[Process]:
    """All that have libcrypto, and all of which that cannot be told."""
    # There is always a process 1: where /proc does not show it, it does not show others either.
    return [process for process in inspect_all(sorted({1, *numbers()}), now=now) if process.uses != USES_NEITHER]


def concerned(found: list[Process]) -> list[Process]:
    """Those that use drng, may use it, or would use it if they were restarted."""
    return [process for process in found if process.uses in (USES_DRNG, UNKNOWN) or process.restart]


# ---- Services ----

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
        members = family(int(main))
    if not members:
        raise TargetError(f"service {service} is not running")
    return members
