# SPDX-License-Identifier: Apache-2.0
"""What the commands say: lines on standard output and standard error; and wrong arguments."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from typing import NoReturn

# sysexits.h's: the statuses below it are the commands' own.
USAGE = 64


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


# ---- Text that somebody else has written, made fit for terminals, logs and parsers ----

# Of one name or message: a path has no more than 4,096 bytes, and nobody reads as many.
LONGEST = 1024
BACKSLASH = ord("\\")


def visible(text: str) -> str:
    """A whole line for a person: every character that a terminal obeys is escaped, and letters of any script stay."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def printable(text: str | bytes) -> str:
    """
    Byte by byte, with an escape in place of all that is not printable ASCII, since it might be meant for the terminal,
    and of the backslash, since it might be meant for a shell's echo.
    """
    # Python keeps a byte of a file's name that is no UTF-8 as half of a pair.
    data = text if isinstance(text, bytes) else text.encode(errors="surrogateescape")
    plain = {*range(32, 127)} - {BACKSLASH}
    shown = "".join(chr(byte) if byte in plain else f"\\x{byte:02x}" for byte in data[: LONGEST + 1])
    return shown if len(data) <= LONGEST else shown[:LONGEST] + "..."


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
