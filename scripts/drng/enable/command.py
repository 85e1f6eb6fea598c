# SPDX-License-Identifier: Apache-2.0
"""drng-enable: turns drng on and off, for the system or for systemd services."""

from __future__ import annotations

import os

# Before anything is imported that loads libcrypto, which would take its configuration, and modules with it, from here.
os.environ.clear()
os.environ.update({"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"})

import contextlib
import fcntl
import json
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

from ..procfs import closing
from ..terminal import USAGE, Failure, Interrupted, Output, Unchanged, UsageError, complain, open_standard_files
from . import arguments
from .act import NOT_DONE, act
from .changes import SIGNALS, ignore_signals

# Nobody but root can put a file there, or open this one: a lock that any user can take is one that any user can keep.
LOCK = "/run/drng-enable.lock"


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """One drng-enable at a time: another one, which comes to an end, is waited for."""
    try:
        fd = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unchanged(f"{LOCK} cannot be made: {error.strerror}; drng-enable takes root, and room there") from None
    with closing(fd):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            complain("waiting for another drng-enable to end")
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield


def end_on(number: int, frame: FrameType | None) -> NoReturn:
    """As an exception, so that what is half done is undone; which no other signal ends."""
    ignore_signals()
    raise Interrupted(f"ended by {signal.Signals(number).name}")


def run() -> NoReturn:
    Output.program, Output.is_quiet = "drng-enable", "--json" in sys.argv
    try:
        open_standard_files()
        for number in SIGNALS:
            signal.signal(number, end_on)
        os.umask(0o022)
        request = arguments.parse(sys.argv[1:])
        with contextlib.nullcontext() if request.verb == "status" or request.dry_run else locked():
            answer = act(request)
        ignore_signals()  # it is done, and is to end as done
    except (Failure, Interrupted, OSError) as error:
        said = str(error)
        if isinstance(error, OSError):
            said = f"{error.filename or ''}: {error.strerror}".removeprefix(": ")
        said = f"{said}; nothing has been changed" if isinstance(error, (Unchanged, Interrupted)) else said
        for line in said.splitlines():
            complain(line)
        answer = {"changed": False, "error": said, "targets": []}
        answer["status"] = USAGE if isinstance(error, UsageError) else NOT_DONE
    except SystemExit as ended:  # --help has been printed
        answer = {"status": ended.code}
    try:
        if "error" in answer and Output.is_quiet:
            print(json.dumps(answer))
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        Output.lost = str(error)
    if Output.lost:
        complain(f"standard output cannot be written: {Output.lost}")
        # What has been done stays done.
        if not answer.get("changed"):
            answer["status"] = answer["status"] or NOT_DONE
    # Python would close a standard output that is full once more, and have the last word.
    os._exit(answer["status"])
