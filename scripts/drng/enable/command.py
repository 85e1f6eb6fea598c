"""Turns drng on and off: in the system's openssl.cnf, or for one systemd service.

Changes are tested on a copy of openssl.cnf first, which must load, keep all settings of the file, activate no other
provider than drng in addition, and serve random numbers from drng. Only then does it replace the file, in one step.
"""

from __future__ import annotations

import os

# Before anything is imported that loads libcrypto, which would take its configuration, and modules with it, from here.
os.environ.clear()
os.environ.update({"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"})

import contextlib
import signal
import sys
from types import FrameType
from typing import NoReturn

from ..files import Tree
from ..terminal import USAGE, Failure, Interrupted, Output, Unchanged, UsageError, complain, say
from . import arguments, openssl_d, programs, trial
from .arguments import Request
from .lock import locked
from .service import Service
from .system import System

# Exit statuses. UNSAID: it is done, but standard output took not all that there was to say.
DONE, NOT_DONE, UNSAID = 0, 1, 2


def open_standard_files() -> None:
    """A file that we open must not become somebody's standard output. One that was closed is to fail when written."""
    while (fd := os.open("/dev/null", os.O_RDONLY)) <= 2:
        if fd == 1:
            sys.stdout = os.fdopen(fd, "w", closefd=False)
        elif fd == 2:
            sys.stderr = os.fdopen(fd, "w", closefd=False)
    os.close(fd)


def end_on(number: int, frame: FrameType | None) -> NoReturn:
    """As an exception, so that what is half written is taken away."""
    raise Interrupted(f"ended by {signal.Signals(number).name}")


def find(tree: Tree, request: Request) -> System | Service:
    """A service that lets go of drng needs neither openssl.cnf nor openssl."""
    if request.conf == openssl_d.PATH:
        request.conf = None  # no openssl.cnf by itself
    lets_go = request.service is not None and request.verb == "off"
    try:
        with tree.place(request.conf or f"{programs.openssl_directory('-d')}/openssl.cnf") as place:
            if place.stat() is None and not lets_go:
                raise Failure(f"{place.path}: there is no such file; --conf names another")
            path = place.inside
    except (FileNotFoundError, Failure):
        if not lets_go:
            raise
        path = "/etc/ssl/openssl.cnf"
    if request.service is not None:
        return Service(tree, request, request.service, path)
    return openssl_d.choose(tree, request, path)


def end_trial(tree: Tree, request: Request) -> None:
    """By systemd, when its time is over or the machine has been started again."""
    under_way = trial.Trial.find(tree)
    if under_way is None:
        say("nothing is on trial")
    elif under_way.left > 1:
        say(under_way.describe())
    else:
        request.conf = under_way.conf
        say(f"{under_way.conf}: nobody has confirmed the trial of drng")
        find(tree, request).off()


def act(request: Request) -> int:
    tree = Tree(request.root)
    os.umask(0o022)
    writes = request.verb != "status" and not request.dry_run
    with locked() if writes else contextlib.nullcontext():
        if request.verb == "confirm":
            trial.confirm(tree)
        elif request.verb == "end-trial":
            end_trial(tree, request)
        elif getattr(find(tree, request), request.verb)() is False:
            return NOT_DONE  # status: drng would not serve
    return DONE


def run() -> NoReturn:
    Output.program = "drng-enable"
    try:
        open_standard_files()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, end_on)
        status = act(arguments.parse(sys.argv[1:]))
    except (Failure, Interrupted) as error:
        complain(f"{error}; nothing has been changed" if isinstance(error, Unchanged) else str(error))
        status = USAGE if isinstance(error, UsageError) else NOT_DONE
    except OSError as error:
        complain(f"{error.filename or ''}: {error.strerror}".removeprefix(": "))
        status = NOT_DONE
    else:
        status = UNSAID if Output.failed else status
    # What Python would say when it closes a standard output that is full has been said by the status.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)
