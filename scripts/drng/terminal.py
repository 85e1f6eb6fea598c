# SPDX-License-Identifier: Apache-2.0
"""What the commands say: lines on standard output and standard error, rows; and wrong arguments."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterable
from typing import NoReturn

from .text import visible

# sysexits.h's: the statuses below it are the commands' own.
USAGE = 64

Row = tuple[str, str]


class Failure(Exception):
    """What cannot be done, in words for the operator."""


class Unchanged(Failure):
    """One by which drng-enable has changed nothing; it says that, too."""


class UsageError(Failure):
    """Wrong arguments."""


class Parser(argparse.ArgumentParser):
    """Raises a UsageError, which the command ends with."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


class Interrupted(BaseException):
    """A signal that ends a command: nothing that takes a Failure for an answer may take this one for it."""


# ---- Lines ----


class Output:
    """Where what is said goes: streams may be closed or full, and what is being done must not stop halfway for that."""

    program = "drng"
    is_quiet = False  # there is one answer for programs, at the end
    lost = ""  # why something that was said cannot be read

    @classmethod
    def line(cls, text: str) -> None:
        try:
            if not cls.is_quiet:
                print(visible(text), flush=True)
        except (OSError, ValueError) as error:
            cls.lost = str(error)


def open_standard_files() -> None:
    """A file that we open must not become somebody's standard output. One that was closed is to fail when written."""
    while (fd := os.open("/dev/null", os.O_RDONLY)) <= 2:
        if fd == 1:
            sys.stdout = os.fdopen(fd, "w", closefd=False)
        elif fd == 2:
            sys.stderr = os.fdopen(fd, "w", closefd=False)
    os.close(fd)


def complain(text: str) -> None:
    """On standard error, in ASCII. Not by Python's own stream, which has the last word on the exit status."""
    with contextlib.suppress(OSError):
        os.write(2, f"{Output.program}: {visible(text)}\n".encode("ascii", "backslashreplace"))


# ---- Rows ----


def print_rows(rows: Iterable[Row]) -> None:
    """Keys and values."""
    rows = list(rows)
    width = max((len(key) for key, _ in rows), default=0)
    for key, value in rows:
        print(f"{key:{width}}  {value}")
