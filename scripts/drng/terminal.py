# SPDX-License-Identifier: Apache-2.0
"""What the commands say: lines on standard output and standard error, rows, tables, colours; and wrong arguments."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn, Optional

from .text import visible

# sysexits.h's: the statuses below it are the commands' own.
USAGE = 64

GREEN, YELLOW, RED, BOLD, PLAIN = "32", "33", "31", "1", "0"

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
    failed = False

    @classmethod
    def line(cls, text: str) -> None:
        try:
            print(visible(text), flush=True)
        except (OSError, ValueError):
            cls.failed = True


def complain(text: str) -> None:
    """On standard error, in ASCII. Not by Python's own stream, which has the last word on the exit status."""
    try:
        os.write(2, f"{Output.program}: {visible(text)}\n".encode("ascii", "backslashreplace"))
    except OSError:
        Output.failed = True


def warn(text: str) -> None:
    complain(f"warning: {text}")


# ---- Rows and tables ----


def paint(text: str, colour: str | None) -> str:
    wanted = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return f"\x1b[{colour}m{text}\x1b[{PLAIN}m" if colour and wanted else text


# The colour of a value behind its key, or below the name of its column: "none" is good news behind one and bad behind
# another.
ColourOf = Callable[[str, str], Optional[str]]


def print_rows(rows: Iterable[Row], colour_of: ColourOf) -> None:
    """Keys and values."""
    rows = list(rows)
    width = max((len(key) for key, _ in rows), default=0)
    for key, value in rows:
        print(f"{key:{width}}  {paint(value, colour_of(key, value))}")


def print_table(lines: Sequence[Sequence[str]], colour_of: ColourOf) -> None:
    """The first line has the names of the columns."""
    head = lines[0]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for number, line in enumerate(lines):
        cells = [f"{cell:{width}}" for cell, width in zip(line, widths)]
        if number == 0:
            print(paint("  ".join(cells).rstrip(), BOLD))
            continue
        painted = [paint(cell, colour_of(name, text)) for cell, name, text in zip(cells, head, line)]
        print("  ".join(painted).rstrip())
