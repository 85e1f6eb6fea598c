# SPDX-License-Identifier: Apache-2.0
"""The instructions that drng knows; mixing/machine/rows.h has the same."""

from __future__ import annotations

import os

# By the machine. For x86-64 with the bits of libcrypto's two words, OPENSSL_ia32cap(3); elsewhere only drng knows what
# it has found.
OF_MACHINE: dict[str, dict[str, tuple[int, int] | None]] = {
    "x86_64": {"rdseed": (1, 18), "rdrand": (0, 62)},
    "aarch64": {"rndrrs": None, "rndr": None},
}

NONE: dict[str, tuple[int, int] | None] = {"none": None}  # the one row of a machine that has none

INSTRUCTIONS = OF_MACHINE.get(os.uname().machine, NONE)

# drng's generator of words that nothing seeds, by the name that openssl.cnf gives as `random`, in any case of letters.
# None: this machine has none.
WORDS = {"x86_64": "RDRAND", "aarch64": "RNDR"}.get(os.uname().machine)

# The variable by which an operator takes an instruction away; None where there is no such variable.
MASK = {"x86_64": "OPENSSL_ia32cap", "aarch64": "OPENSSL_armcap"}.get(os.uname().machine)

# Of all machines, since a process may run under an emulator. What a process names otherwise is its own invention.
KNOWN = frozenset(name for names in (*OF_MACHINE.values(), NONE) for name in names)
