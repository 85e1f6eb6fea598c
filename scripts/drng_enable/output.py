"""What drng-enable says, and the exception that ends it."""

from __future__ import annotations

import sys


class Failure(Exception):
    """What cannot be done, in words for the operator."""


class Interrupted(BaseException):
    """A signal that ends us: nothing that takes a Failure for an answer may take this one for it."""


def visible(text: str) -> str:
    """Without characters that a terminal obeys: names and files may be hostile."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class Output:
    """Standard output that may be closed or full: what is being done must not stop halfway for that."""

    failed = False

    @classmethod
    def line(cls, text: str) -> None:
        try:
            print(visible(text), flush=True)
        except (OSError, ValueError):
            cls.failed = True


def say(text: str) -> None:
    Output.line(f"drng-enable: {text}")


def warn(text: str) -> None:
    complain(f"warning: {text}")


def complain(text: str) -> None:
    """On standard error, where nothing can be done if that fails too."""
    try:
        print(f"drng-enable: {visible(text)}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        Output.failed = True
