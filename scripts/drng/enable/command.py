# SPDX-License-Identifier: Apache-2.0
"""Turns drng on and off: in the system's openssl.cnf, or for systemd services.

libcrypto loads what would be there first: it must keep all settings of openssl.cnf, activate no other provider than
drng in addition, and serve random numbers from drng. Only then is it written, in one step. Who serves is seen in the
processes.
"""

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
import time
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

from ..terminal import USAGE, Failure, Interrupted, Output, Unchanged, UsageError, complain, open_standard_files
from . import arguments
from .act import NOT_DONE, Report, act
from .changes import SIGNALS, ignore_signals

# Nobody but root can put a file there, or open this one: a lock that any user can take is one that any user can keep.
LOCK, SECONDS = "/run/drng-enable.lock", 30


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """One drng-enable at a time: another one is waited for, but not for ever."""
    try:
        fd = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unchanged(
            f"{LOCK} cannot be made: {error.strerror}; run drng-enable as root, where /run has room"
        ) from None
    for passed in range(20 * SECONDS):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        if passed == 0:
            complain("waiting for another drng-enable to end")
        time.sleep(0.05)
    else:
        raise Unchanged(f"another drng-enable has been at work for {SECONDS} seconds; try again later")
    try:
        yield
    finally:
        os.close(fd)


def end_on(number: int, frame: FrameType | None) -> NoReturn:
    """As an exception, so that what is half done is undone; which no other signal ends."""
    ignore_signals()
    raise Interrupted(f"ended by {signal.Signals(number).name}")


def do(request: arguments.Request, report: Report) -> int:
    os.umask(0o022)
    writes = request.verb != "status" and not request.dry_run
    with locked() if writes else contextlib.nullcontext():
        result = act(request, report)
    ignore_signals()  # it is done, and is to end as done
    return result


def run() -> NoReturn:
    Output.program = "drng-enable"
    report = Report("--json" in sys.argv)
    try:
        open_standard_files()
        for number in SIGNALS:
            signal.signal(number, end_on)
        status = do(arguments.parse(sys.argv[1:]), report)
    except (Failure, Interrupted, OSError) as error:
        said = str(error)
        if isinstance(error, OSError):
            said = f"{error.filename or ''}: {error.strerror}".removeprefix(": ")
        said = f"{said}; nothing has been changed" if isinstance(error, (Unchanged, Interrupted)) else said
        for line in said.splitlines():
            complain(line)
        report.answer["error"], report.targets = said, []
        status = USAGE if isinstance(error, UsageError) else NOT_DONE
    if report.as_json:
        Output.line(
            json.dumps({**report.answer, "targets": [each.facts() for each in report.targets], "status": status})
        )
    # What Python would say when it closes a standard output that is full has been said.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    os._exit(status)
