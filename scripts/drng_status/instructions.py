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

INSTRUCTIONS = OF_MACHINE.get(os.uname().machine, {"none": None})

# Of all machines, since a process may run under an emulator. What a process names otherwise is its own invention.
KNOWN = frozenset(name for names in OF_MACHINE.values() for name in names)
