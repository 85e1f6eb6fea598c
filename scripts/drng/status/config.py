# SPDX-License-Identifier: Apache-2.0
"""What an openssl.cnf says to a process: libcrypto reads it in a child that has the process's root, user and rights.

Nothing of the file is loaded, and no code of the process's is run: only the bytes of its files are parsed, and with no
more rights than the process has.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .. import aside, procfs
from ..conf import meaning, reading
from ..conf.libcrypto import Libcrypto
from ..procfs import UnreadableError
from ..text import printable
from .states import Process

MODULES_DIRECTORY = 1003  # openssl/crypto.h

# linux/sched.h, linux/prctl.h, linux/capability.h, linux/mount.h: devices of another namespace are not opened, since
# some act on that, and what a container keeps from its root it keeps by other means than rights.
CLONE_NEWNS, KEEP_CAPABILITIES, VERSION_3, NODEV = 0x20000, 8, 0x20080522, 0x4
MOUNT_SETATTR, AT_RECURSIVE = 442, 0x8000

# CAP_SETGID, CAP_SETUID, CAP_SYS_CHROOT.
NEEDED = 1 << 6 | 1 << 7 | 1 << 18

# More users' files than that, of one user, are not read.
MOST_OF_A_USER = 32


@dataclass(frozen=True)
class Question:
    """The file of this name, as the processes of a view see it, one of which is named."""

    view: str
    path: str
    include: str
    modules: str
    by_system: bool  # systemd or libcrypto has chosen the path, and not the process


@dataclass(frozen=True)
class Answer:
    """What an openssl.cnf makes libcrypto do; nothing where none can tell."""

    known: bool = False
    failure: str = ""  # why none can tell
    problem: str = ""  # why it goes on without this file or one that it includes
    names_drng: bool = False  # it activates drng
    generator: str = ""  # what it takes as the generator
    asks_drng: bool = False  # the generators are to be drng's
    is_strict: bool = False  # and nobody else's
    module: str = ""  # why the module cannot be loaded
    changed: float = 0.0  # when the file and what it includes came to be what is there


def question_of(process: Process, path: str, *, by_system: bool) -> Question:
    variables = process.variables or {}
    include, modules = (
        "" if process.secure else variables.get(n, "") for n in ("OPENSSL_CONF_INCLUDE", "OPENSSL_MODULES")
    )
    # Where the name begins elsewhere, the working directory counts.
    view = process.view if path.startswith("/") else f"{process.view} {process.pid}"
    return Question(view, path, include, modules, by_system)


# ---- In the child ----


def _call(function: Any, *arguments: Any) -> None:
    if function(*arguments) != 0:
        raise UnreadableError(os.strerror(ctypes.get_errno()))


def _enter(libc: ctypes.CDLL, entry: int, path: str) -> None:
    """The process's root directory, and its working directory for a relative path."""
    namespace = os.open("ns/mnt", os.O_RDONLY | os.O_CLOEXEC, dir_fd=entry)
    here = os.path.samestat(os.fstat(namespace), os.stat("/proc/self/ns/mnt"))
    root = os.open("root", os.O_PATH | os.O_CLOEXEC, dir_fd=entry)
    name, program = os.readlink("root", dir_fd=entry), os.readlink("exe", dir_fd=entry)
    # A server changes its root after it has read the file; only who was started below it has read another.
    changes = name != "/" and program.startswith(f"{name}/")
    if here and not changes:
        if not path.startswith("/"):
            os.chdir(os.open("cwd", os.O_PATH | os.O_CLOEXEC, dir_fd=entry))
        return
    if not path.startswith("/"):
        raise UnreadableError("a relative path in another root directory")
    if not here:
        _call(libc.setns, namespace, CLONE_NEWNS)
    os.fchdir(root)
    if not here:
        _call(libc.unshare, CLONE_NEWNS)
        attributes = ctypes.create_string_buffer(struct.pack("=4Q", NODEV, 0, 0, 0), 32)
        flags, size = ctypes.c_uint(AT_RECURSIVE), ctypes.c_size_t(32)
        _call(libc.syscall, ctypes.c_long(MOUNT_SETATTR), -100, b"/", flags, attributes, size)
    if here or changes:
        os.chroot(".")
    os.chdir("/")


def _become(libc: ctypes.CDLL, entry: int, own: int) -> None:
    """The process's user, with those capabilities of its own that we have, and no others."""
    rights = procfs.rights_of(entry)
    if rights.uid == os.geteuid() != 0 and not rights.capabilities:
        return
    may = own & rights.capabilities
    os.setgroups(rights.groups)
    os.setresgid(rights.gid, rights.gid, rights.gid)
    _call(libc.prctl, KEEP_CAPABILITIES, 1, 0, 0, 0)
    os.setresuid(rights.uid, rights.uid, rights.uid)
    low, high = may & 0xFFFFFFFF, may >> 32
    _call(libc.capset, struct.pack("=Ii", VERSION_3, 0), struct.pack("=6I", low, low, 0, high, high, 0))


def _module_problem(crypto: Libcrypto, section: dict[str, str], modules: str) -> str:
    """Why the module cannot be loaded; "" where none can tell."""
    path = section.get("module", "drng.so")
    folder = modules or os.fsdecode(crypto.lib.OPENSSL_info(MODULES_DIRECTORY) or b"")
    path = os.path.join(folder, path)
    if "$" in path:
        return ""
    if not os.path.exists(path):
        return f"{path} is not there, or may not be seen"
    executable = not os.statvfs(path).f_flag & os.ST_NOEXEC
    return "" if os.access(path, os.R_OK) and executable else f"{path} may not be read or executed"


def _read(question: Question, pid: int, ticks: int) -> dict[str, Any]:
    libc = ctypes.CDLL(None, use_errno=True)
    crypto = Libcrypto()
    with procfs.process(pid) as entry:
        if procfs.number(entry, procfs.START_TICKS) != ticks:
            raise UnreadableError("it has ended")
        in_their_own = os.readlink("ns/user", dir_fd=entry) != os.readlink("/proc/self/ns/user")
        overrides = procfs.rights_of(entry).capabilities & 6 != 0
        with procfs.closing(os.open("/proc/self", procfs.O_FOLDER)) as own:
            ours = procfs.rights_of(own)
        # What Python imports later would be the process's.
        sys.meta_path.clear()
        # The collector has no right to become anybody; it reads what the system names as it is itself.
        if ours.uid != 0 or ours.capabilities & NEEDED == NEEDED or not question.by_system:
            _enter(libc, entry, question.path)
            # Capabilities in a user namespace of its own are none in ours.
            _become(libc, entry, 0 if in_their_own else ours.capabilities)
    os.environ.pop("OPENSSL_CONF_INCLUDE", None)
    if question.include:
        os.environ["OPENSSL_CONF_INCLUDE"] = question.include
    # A device may be meant to be empty, and some act on being opened.
    found: dict[str, Any] = {"sections": {}, "passed-over": []}
    if not (os.path.exists(question.path) and stat.S_ISCHR(os.stat(question.path).st_mode)):
        found = reading.load(question.path)
    problem = found.get("problem", "") and f"{question.path}{found['problem']}"
    if not problem and found["passed-over"]:
        problem = f"{question.path}, which includes what cannot be read: {found['passed-over'][0]}"
    if problem and in_their_own and overrides:
        return {"failure": "its rights are those of a user namespace of its own"}
    sections = found.get("sections", {})
    conf = reading.Conf.of(question.path, sections, found.get("version", 0))
    named = meaning.named_sections(conf)
    random = meaning.generators_of(conf, named.init)
    query = random.get("properties", "").replace(" ", "").split(",")
    active = bool(named.drng) and meaning.is_active(conf, named.drng)
    section = meaning.undotted(sections.get(named.drng))
    return {
        "known": True,
        "problem": problem,
        "names_drng": active,
        "generator": random.get("random", ""),
        "asks_drng": "provider=drng" in query or "?provider=drng" in query or random.get("random_provider") == "drng",
        "is_strict": "provider=drng" in query,
        "module": _module_problem(crypto, section, question.modules) if active else "",
        "changed": reading.last_change(question.path),
    }


# ---- In the process that asks ----


def read_each(asked: Iterable[tuple[Process, Question]]) -> dict[Question, Answer]:
    """Each question once, by the first process that asks it."""
    first: dict[Question, Process] = {}
    of_user: dict[int, int] = {}
    for process, question in asked:
        if question in first or not question.path or "\0" in question.path:
            continue
        of_user[process.user] = of_user.get(process.user, 0) + 1
        if process.user == 0 or of_user[process.user] <= MOST_OF_A_USER:
            first[question] = process
    answers = {}
    with contextlib.suppress(OSError):
        # Loaded here, it is there in every child, where the system's files may not be.
        Libcrypto()
    for question, answer in aside.each(
        [*first],
        lambda question: _read(question, first[question].pid, first[question].ticks),
        seconds=reading.SECONDS,
        altogether=aside.ALTOGETHER,
        owner_of=lambda question: first[question].user or None,
        room=reading.ROOM,
        anew=True,
    ):
        answers[question] = checked(answer)
    return answers


def checked(answer: Any) -> Answer:
    """From a child that has been its process's user: what makes no sense is no answer."""
    if isinstance(answer, aside.Failure):
        return Answer(failure=printable(answer.reason.removeprefix("UnreadableError: ")))
    try:
        found = Answer(**answer)
        for name in ("problem", "module", "generator"):
            object.__setattr__(found, name, printable(getattr(found, name)))
        kinds = {name: type(value) for name, value in vars(Answer()).items()}
        return found if all(isinstance(vars(found)[name], kind) for name, kind in kinds.items()) else Answer()
    except TypeError:
        return Answer()
