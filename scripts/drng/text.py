# SPDX-License-Identifier: Apache-2.0
"""Text that somebody else has written, made fit for terminals, logs and parsers."""

from __future__ import annotations

# Of one name or message: a path has no more than 4,096 bytes, and nobody reads as many.
LONGEST = 1024
BACKSLASH = ord("\\")


def visible(text: str) -> str:
    """A whole line for a person: every character that a terminal obeys is escaped, and letters of any script stay."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def printable(text: str | bytes, longest: int = LONGEST) -> str:
    """
    Byte by byte, with an escape in place of all that is not printable ASCII, since it might be meant for the terminal,
    and of the backslash, since it might be meant for a shell's echo.
    """
    # Python keeps a byte of a file's name that is no UTF-8 as half of a pair.
    data = text if isinstance(text, bytes) else text.encode(errors="surrogateescape")
    plain = {*range(32, 127)} - {BACKSLASH}
    shown = "".join(chr(byte) if byte in plain else f"\\x{byte:02x}" for byte in data[: longest + 1])
    return shown if len(data) <= longest else shown[:longest] + "..."
