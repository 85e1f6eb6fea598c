"""The instructions that drng knows; mixing/machine/rows_*.h have the same."""

from __future__ import annotations

import os

# By the machine. For x86-64 with the bits of libcrypto's two words, OPENSSL_ia32cap(3); elsewhere only drng knows what
# it has found.
OF_MACHINE: dict[str, dict[str, tuple[int, int] | None]] = {
    "x86_64": {"rdseed": (1, 18), "rdrand": (0, 62)},
    "aarch64": {"rndrrs": None, "rndr": None},
    "ppc64le": {"darn": None, "darn-raw": None},
    "s390x": {"trng": None},
}

NONE: dict[str, tuple[int, int] | None] = {"none": None}  # the one row of a machine that has none

INSTRUCTIONS = OF_MACHINE.get(os.uname().machine, NONE)

# Of all machines, since a process may run under an emulator. What a process names otherwise is its own invention.
KNOWN = frozenset(name for names in (*OF_MACHINE.values(), NONE) for name in names)
