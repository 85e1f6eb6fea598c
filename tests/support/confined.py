#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command that may read nothing but what it is told: confined.py PATH... -- COMMAND [ARGUMENT...]

Landlock denies every other file, as a profile of AppArmor does that does not name it: open() fails with EACCES, for
root too. Folders may be listed, and everything may be written and executed. Exits with 77 where there is no Landlock.
"""

import ctypes
import os
import struct
import sys

# Numbers of system calls, the same on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
READ_FILE, PATH_BENEATH, PR_SET_NO_NEW_PRIVS, SKIPPED = 1 << 2, 1, 38, 77

LIBC = ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: object) -> int:
    result = LIBC.syscall(number, *arguments)
    if result < 0:
        error = ctypes.get_errno()
        print(f"confined.py: Landlock: {os.strerror(error)}", file=sys.stderr)
        sys.exit(SKIPPED)
    return result


def allow(rules: int, path: str) -> None:
    """The file, or all below the folder; what is not there needs no rule."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    call(ADD_RULE, rules, PATH_BENEATH, struct.pack("=Qi", READ_FILE, place), 0)
    os.close(place)


def main() -> None:
    end = sys.argv.index("--")
    handled = struct.pack("=Q", READ_FILE)
    rules = call(CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0)
    for path in sys.argv[1:end]:
        allow(rules, path)
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    call(RESTRICT_SELF, rules, 0)
    os.execvp(sys.argv[end + 1], sys.argv[end + 1 :])


if __name__ == "__main__":
    main()
